"""Every chore of this repository, on a machine that has only Python, pip and git.

python3 dev.py install   make .venv, put `engram` on your PATH, show the sitrep
python3 dev.py check     format, lint, types, layers, tests: what CI runs; --browser also installs Chromium with apt
python3 dev.py test …    only the tests; further words go to pytest; --thorough makes the long proofs whole
python3 dev.py fix       format and repair what the linter can
python3 dev.py bench …   a benchmark as ratios: coordination, capture, dashboard, digests, dream, hooks, install,
                         measure, patterns, recall, redaction, wiki
python3 dev.py packages  write the packages for the agents' own stores; --mcpb also packs Claude Desktop's into dist/
python3 dev.py pictures  take the pictures of the README anew, in a real Chromium
python3 dev.py race      the full race of eight processes over locks
python3 dev.py torture   a sweep killed a thousand times
python3 dev.py live …    the tests with all seven real agent programs, installed from npm; further words go to pytest
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
WORKERS = str((os.cpu_count() or 1) + 2)  # tests wait for processes, servers and browsers half of their time
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")


def main(words: list[str]) -> int:
    recipes = {
        "install": install,
        "check": check,
        "test": test,
        "fix": fix,
        "bench": bench,
        "packages": packages,
        "pictures": pictures,
        "race": race,
        "torture": torture,
        "live": live,
    }
    if sys.version_info < (3, 11):  # noqa: UP036  (this file is what an older Python meets first)
        print(f"Engram needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
        return 2
    if not words or words[0] not in recipes:
        print(__doc__)
        return 2
    return recipes[words[0]](words[1:])


def install(_: list[str]) -> int:
    prepare(".[serve,watch]")
    command = BIN / "engram"
    link = Path.home() / ".local" / "bin" / "engram"
    place(link, command)
    status = run(str(command), "sitrep")
    shown = "engram" if on_path(link) else str(link)
    print(
        f"\nEngram is installed. Next: {shown} init (your agents remember), {shown} demo (see it first), {shown} --help"
    )
    return status


def check(words: list[str]) -> int:
    prepare(".[dev]")
    clients()
    words = with_browser(words)
    steps = (
        ("format", (str(BIN / "ruff"), "format", "--check", ".")),
        ("lint", (str(BIN / "ruff"), "check", ".")),
        ("types", (str(BIN / "mypy"),)),
        ("layers", (str(BIN / "lint-imports"),)),
        ("tests", (str(BIN / "pytest"), "-n", WORKERS, "--dist", "worksteal", *words)),
    )
    with own_folder():
        for name, command in steps:
            print(f"== {name}", flush=True)
            status = run(*command)
            if status:
                print(f"== {name} failed")
                return status
    return 0


def with_browser(words: list[str]) -> list[str]:
    """Install a browser if that was asked for, or if this is CI; return the other words."""
    if "--browser" in words or os.environ.get("CI"):
        print("== browser: Chromium, installed with apt unless it is here", flush=True)
        run(str(BIN / "python"), str(ROOT / "tools" / "browser.py"))
    return [word for word in words if word != "--browser"]


@contextmanager
def own_folder() -> Iterator[None]:
    """Give the tests, and the agents they start, a folder for all their files, and remove it in the end.

    It lies in memory where there is plenty: the tests sync thousands of stores to disk.
    """
    memory = Path("/dev/shm")
    plenty = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free >= 6 << 30
    folder = tempfile.mkdtemp(prefix="engram-", dir=memory if plenty else None)
    os.chmod(folder, 0o755)  # as root, PostgreSQL runs as another user
    os.environ.update(TMPDIR=folder, PYTEST_DEBUG_TEMPROOT=folder)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test(words: list[str]) -> int:
    prepare(".[dev]")
    with own_folder():
        return run(str(BIN / "pytest"), *words)


def fix(_: list[str]) -> int:
    prepare(".[dev]")
    return run(str(BIN / "ruff"), "check", "--fix", ".") or run(str(BIN / "ruff"), "format", ".")


def bench(words: list[str]) -> int:
    prepare(".[dev]")
    chosen = words[0] if words and not words[0].startswith("-") else "coordination"
    return run(str(BIN / "python"), "-m", f"benchmarks.{chosen}", *words[chosen in words :])


def packages(words: list[str]) -> int:
    prepare(".[dev]")
    return run(str(BIN / "python"), str(ROOT / "tools" / "packages.py"), *words)


def pictures(words: list[str]) -> int:
    prepare(".[dev]")
    return run(str(BIN / "python"), "-m", "tools.pictures", *words)


def race(words: list[str]) -> int:
    prepare(".[dev]")
    return run(str(BIN / "python"), "-m", "benchmarks.race", *words)


def torture(words: list[str]) -> int:
    prepare(".[dev]")
    return run(str(BIN / "python"), "-m", "benchmarks.torture", *words)


def live(words: list[str]) -> int:
    prepare(".[dev]")
    clients("all")
    run(sys.executable, str(ROOT / "tools" / "local_model.py"))  # the Python that has pip
    os.environ["ENGRAM_LIVE"] = "all"
    with own_folder():
        return run(str(BIN / "pytest"), "tests/live", *words)


def clients(*names: str) -> int:
    """Install the real agent programs where npm is at hand; what is not there is skipped by name."""
    return run(str(BIN / "python"), str(ROOT / "tools" / "clients.py"), *names)


def prepare(what: str) -> None:
    """Make the environment, unless it already holds exactly this."""
    stamp = VENV / "installed"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + what.encode()).hexdigest()
    held = stamp.read_text().split() if stamp.exists() else []
    if wanted in held:
        return
    # Debian's Python comes without ensurepip: make an empty environment and let the outer pip fill it.
    if not VENV.exists() and run(sys.executable, "-m", "venv", "--without-pip", str(VENV)):
        raise SystemExit("Could not make a virtual environment.")
    python = str(BIN / "python")
    quiet = ("-q", "--disable-pip-version-check")
    if run(sys.executable, "-m", "pip", "--python", python, "install", *quiet, "-e", what):
        raise SystemExit("Could not install the packages; pip says why above.")
    stamp.write_text("\n".join([*held, wanted]))


def place(link: Path, command: Path) -> None:
    """Put the command on the PATH, leaving alone what somebody else put there."""
    if link.is_symlink() or not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(command)
    else:
        print(f"{link} exists and is not ours; call {command} instead.")


def on_path(link: Path) -> bool:
    return str(link.parent) in os.environ.get("PATH", "").split(os.pathsep)


def run(*command: str) -> int:
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
