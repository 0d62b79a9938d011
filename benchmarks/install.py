"""Measure what installing costs: megabytes by package, and the time to the first use, as a ratio to a bare interpreter.

The base package, without extras, goes into a fresh environment; --quick measures the environment it runs in, and asks
nothing of the network. Sizes leave out pip and setuptools; compiled files, which pip makes and others do not, stand
apart. Starts of all kinds take turns, so that a busy machine slows them alike.

python -m benchmarks.install [--quick] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from engram.distribution import NAME

ROOT = Path(__file__).resolve().parents[1]
OUTER = str(getattr(sys, "_base_executable", sys.executable))  # an environment of ours has no pip of its own
AIM = 60  # MB of the base package
MB = 1_000_000

IMPORTS = ("engram", "engram.api", "engram.surfaces.hooks")
FIRST = "engram mcp, first tools/list"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
ASKED: tuple[dict[str, Any], ...] = (
    {"id": 0, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list", "params": {}},
)


# ---- Installing


def installed(folder: Path) -> tuple[str, Path]:
    """Install the base package into a fresh environment; return its interpreter and the wheel."""
    run(sys.executable, "-m", "venv", "--without-pip", str(folder / "venv"))
    python = str(folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    pip = (OUTER, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT))
    wheel = next(folder.glob("engram_agents-*.whl"))
    run(*pip, "--python", python, "install", "-q", str(wheel))
    return python, wheel


def run(*command: str) -> str:
    """Run a command and return what it said; what it says of a failure goes to the person."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- Sizes


def sizes(python: str) -> list[dict[str, Any]]:
    """Return what Engram and all it needs take on the disk, the largest first."""
    path = json.loads(run(python, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"))
    here = {named(each.metadata["Name"]): each for each in distributions(path=path)}
    rows = [{"package": name, "version": here[name].version, **measured(here[name])} for name in needed(here)]
    return sorted(rows, key=lambda row: -row["mb"])


def needed(here: dict[str, Distribution]) -> list[str]:
    """Return the names of Engram and what it needs without extras, as far as it is here."""
    found = [NAME]
    for name in found:  # grows as it goes
        wanted = [each for each in here[name].requires or () if "extra ==" not in each]
        names = [named(re.split(r"[^\w.-]", each, maxsplit=1)[0]) for each in wanted]
        found += [each for each in names if each in here and each not in found]
    return found


def named(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def measured(package: Distribution) -> dict[str, float]:
    """Return the megabytes of a package's files, and of those that were compiled."""
    files = [Path(str(package.locate_file(each))) for each in package.files or ()]
    if any(each.suffix == ".pth" for each in files):  # the sources stay where they are
        files += (ROOT / "src").rglob("*.*")
    of = {each: each.stat().st_size for each in files if each.is_file()}
    compiled = sum(size for each, size in of.items() if each.suffix == ".pyc")
    return {"mb": (sum(of.values()) - compiled) / MB, "compiled_mb": compiled / MB}


# ---- Starts


def starts(python: str, folder: str, rounds: int) -> list[dict[str, Any]]:
    """Measure how long each way of starting takes, all in turns."""
    took: dict[str, list[float]] = {}
    for turn in range(rounds + 1):
        for what, seconds in started(python, folder):
            if turn:  # the first turn only warms the disk
                took.setdefault(what, []).append(seconds)
    bare = statistics.median(next(iter(took.values())))
    return [
        {"what": what, "ms": statistics.median(each) * 1000, "ratio": statistics.median(each) / bare}
        for what, each in took.items()
    ]


def started(python: str, folder: str) -> Iterator[tuple[str, float]]:
    """Yield each way of starting with the seconds it took once."""
    env = {**os.environ, "ENGRAM_HOME": str(Path(folder) / "home")}
    ways = {"python, bare": ("-c", "pass"), **{f"import {name}": ("-c", f"import {name}") for name in IMPORTS}}
    for what, words in (*ways.items(), ("engram --help", ("-m", "engram", "--help"))):
        began = time.perf_counter()
        subprocess.run((python, *words), cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
        yield what, time.perf_counter() - began
    yield FIRST, tools_listed(python, folder, env)


def tools_listed(python: str, folder: str, env: dict[str, str]) -> float:
    """Return the seconds from the start of the MCP server to its answer with the tools."""
    asked = "".join(json.dumps({"jsonrpc": "2.0", **each}) + "\n" for each in ASKED)
    began = time.perf_counter()
    command, pipe = (python, "-m", "engram", "mcp"), subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, env=env, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(asked)
        server.stdin.flush()
        if not any(json.loads(line).get("id") == 1 for line in server.stdout):
            raise SystemExit("engram mcp ended before it named its tools.")
        return time.perf_counter() - began


# ---- The table


def figures(quick: bool) -> dict[str, Any]:
    """Return every figure: of a fresh installation, or quickly of this one."""
    with tempfile.TemporaryDirectory() as folder:
        python, wheel = (sys.executable, None) if quick else installed(Path(folder))
        packages = sizes(python)
        return {
            "fresh": not quick,
            "packages": packages,
            "mb": sum(each["mb"] for each in packages),
            "compiled_mb": sum(each["compiled_mb"] for each in packages),
            "aim_mb": AIM,
            "wheel_mb": wheel.stat().st_size / MB if wheel else None,
            "starts": starts(python, folder, 3 if quick else 20),
        }


def table(found: dict[str, Any]) -> str:
    """Write the figures for people."""
    lines = [f"{'package':24} {'version':>10} {'MB':>8} {'compiled':>9}"]
    lines += [
        f"{each['package']:24} {each['version']:>10} {each['mb']:8.1f} {each['compiled_mb']:9.1f}"
        for each in found["packages"]
    ]
    count = f"{len(found['packages'])} packages"
    lines.append(f"{count:35} {found['mb']:8.1f} {found['compiled_mb']:9.1f}   aim below {found['aim_mb']} MB")
    lines.append(f"wheel: {found['wheel_mb']:.1f} MB" if found["wheel_mb"] else "wheel: not built (--quick)")
    lines += ["", f"{'start':35} {'ms':>8} {'ratio':>9}"]
    lines += [f"{each['what']:35} {each['ms']:8.1f} {each['ratio']:9.2f}" for each in found["starts"]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure this environment, in few rounds")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = figures(given.quick)
    print(json.dumps(found) if given.json else table(found))


if __name__ == "__main__":
    main()
