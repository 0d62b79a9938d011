"""Measure the install: megabytes by package, and start times as a ratio to a bare Python interpreter.

The package without extras is installed into a fresh environment. --quick measures the environment it runs in and does
not use the network. Sizes exclude pip and setuptools; compiled files, which only pip creates, are listed separately.
All starts take turns, so that a busy machine slows them equally.

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
OUTER = str(getattr(sys, "_base_executable", sys.executable))  # our environment has no pip
AIM = 60  # MB without extras
MB = 1_000_000

IMPORTS = ("engram", "engram.api", "engram.surfaces.hooks")
FIRST = "engram mcp, first tools/list"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}
REQUESTS: tuple[dict[str, Any], ...] = (
    {"id": 0, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 1, "method": "tools/list", "params": {}},
)


# ---- Install


def installed(folder: Path) -> tuple[str, Path]:
    """Install the package without extras into a fresh environment; return its interpreter and the wheel."""
    run(sys.executable, "-m", "venv", "--without-pip", str(folder / "venv"))
    python = str(folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    pip = (OUTER, "-m", "pip", "--disable-pip-version-check")
    run(*pip, "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT))
    wheel = next(folder.glob("engram_agents-*.whl"))
    run(*pip, "--python", python, "install", "-q", str(wheel))
    return python, wheel


def run(*command: str) -> str:
    """Run a command and return its output; standard error goes to the terminal."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- Sizes


def sizes(python: str) -> list[dict[str, Any]]:
    """Return the disk usage of Engram and its dependencies, largest first."""
    path = json.loads(run(python, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"))
    here = {named(package.metadata["Name"]): package for package in distributions(path=path)}
    rows = [{"package": name, "version": here[name].version, **measured(here[name])} for name in needed(here)]
    return sorted(rows, key=lambda row: -row["mb"])


def needed(here: dict[str, Distribution]) -> list[str]:
    """Return the names of Engram and its installed dependencies, without extras."""
    names = [NAME]
    for name in names:  # grows during the loop
        requirements = [line for line in here[name].requires or () if "extra ==" not in line]
        required = [named(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in requirements]
        names += [other for other in required if other in here and other not in names]
    return names


def named(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def measured(package: Distribution) -> dict[str, float]:
    """Return the megabytes of a package, source and compiled files apart."""
    files = [Path(str(package.locate_file(path))) for path in package.files or ()]
    if any(path.suffix == ".pth" for path in files):  # an editable install
        files += (ROOT / "src").rglob("*.*")
    file_sizes = {path: path.stat().st_size for path in files if path.is_file()}
    compiled = sum(size for path, size in file_sizes.items() if path.suffix == ".pyc")
    return {"mb": (sum(file_sizes.values()) - compiled) / MB, "compiled_mb": compiled / MB}


# ---- Starts


def starts(python: str, folder: str, rounds: int) -> list[dict[str, Any]]:
    """Measure how long each command takes to start, taking turns."""
    took: dict[str, list[float]] = {}
    for turn in range(rounds + 1):
        for what, seconds in started(python, folder):
            if turn:  # the first turn fills the disk cache
                took.setdefault(what, []).append(seconds)
    bare = statistics.median(next(iter(took.values())))
    return [
        {"what": what, "ms": statistics.median(times) * 1000, "ratio": statistics.median(times) / bare}
        for what, times in took.items()
    ]


def started(python: str, folder: str) -> Iterator[tuple[str, float]]:
    """Run each command once and yield its seconds."""
    env = {**os.environ, "ENGRAM_HOME": str(Path(folder) / "home")}
    ways = {"python, bare": ("-c", "pass"), **{f"import {name}": ("-c", f"import {name}") for name in IMPORTS}}
    for what, words in (*ways.items(), ("engram --help", ("-m", "engram", "--help"))):
        began = time.perf_counter()
        subprocess.run((python, *words), cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
        yield what, time.perf_counter() - began
    yield FIRST, tools_listed(python, folder, env)


def tools_listed(python: str, folder: str, env: dict[str, str]) -> float:
    """Return the seconds from the start of the MCP server to its list of tools."""
    requests = "".join(json.dumps({"jsonrpc": "2.0", **request}) + "\n" for request in REQUESTS)
    began = time.perf_counter()
    command, pipe = (python, "-m", "engram", "mcp"), subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, env=env, stdin=pipe, stdout=pipe, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(requests)
        server.stdin.flush()
        if not any(json.loads(line).get("id") == 1 for line in server.stdout):
            raise SystemExit("engram mcp exited before it listed its tools.")
        return time.perf_counter() - began


# ---- The table


def figures(quick: bool) -> dict[str, Any]:
    """Return all figures, for a fresh environment or, if quick, for this one."""
    with tempfile.TemporaryDirectory() as folder:
        python, wheel = (sys.executable, None) if quick else installed(Path(folder))
        packages = sizes(python)
        return {
            "fresh": not quick,
            "packages": packages,
            "mb": sum(package["mb"] for package in packages),
            "compiled_mb": sum(package["compiled_mb"] for package in packages),
            "aim_mb": AIM,
            "wheel_mb": wheel.stat().st_size / MB if wheel else None,
            "starts": starts(python, folder, 3 if quick else 20),
        }


def table(measured: dict[str, Any]) -> str:
    """Format the figures as a table."""
    lines = [f"{'package':24} {'version':>10} {'MB':>8} {'compiled':>9}"]
    lines += [
        f"{package['package']:24} {package['version']:>10} {package['mb']:8.1f} {package['compiled_mb']:9.1f}"
        for package in measured["packages"]
    ]
    count = f"{len(measured['packages'])} packages"
    lines.append(f"{count:35} {measured['mb']:8.1f} {measured['compiled_mb']:9.1f}   aim below {measured['aim_mb']} MB")
    lines.append(f"wheel: {measured['wheel_mb']:.1f} MB" if measured["wheel_mb"] else "wheel: not built (--quick)")
    lines += ["", f"{'start':35} {'ms':>8} {'ratio':>9}"]
    lines += [f"{start['what']:35} {start['ms']:8.1f} {start['ratio']:9.2f}" for start in measured["starts"]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="measure this environment, with few repetitions")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = figures(options.quick)
    print(json.dumps(results) if options.json else table(results))


if __name__ == "__main__":
    main()
