"""Tasks of this repository, on a machine that has only Python, pip and git.

python3 dev.py install   create .venv and link `engram` into ~/.local/bin
python3 dev.py check     format, lint, types, layers, tests: what CI runs; --browser also installs Chromium with apt
python3 dev.py test …    only the tests; further words go to pytest; --thorough runs the long ones in full
python3 dev.py fix       format the code and fix what the linter can
python3 dev.py docs      write the generated references below docs/reference
python3 dev.py bench …   run a benchmark: answers, coordination, capture, dashboard, digests, dream, evidence, hooks,
                         install, measure, patterns, recall, redaction, wiki
python3 dev.py mutate …  change the code in one place at a time and see whether a test fails: overlap, blobs, fuse …
python3 dev.py packages  write the packages for the agents' own stores; --mcpb also packs Claude Desktop's into dist/
python3 dev.py pictures  take the screenshots of the README again, in a real Chromium
python3 dev.py race      the full race of eight processes for locks
python3 dev.py torture   an ingest killed a thousand times
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
        "docs": docs,
        "bench": bench,
        "mutate": mutate,
        "packages": packages,
        "pictures": pictures,
        "race": race,
        "torture": torture,
        "live": live,
    }
    if sys.version_info < (3, 11):  # noqa: UP036  (an older Python runs this file first)
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
    shown = "engram" if on_path(link) else str(link)
    status = run(str(command), "--version")
    print(f"Installed. Next: `{shown} init` connects your agents, `{shown} demo` shows how it works.")
    return status


def check(words: list[str]) -> int:
    prepare(".[dev]")
    clients()
    words = with_browser(words)
    steps = (
        ("format", (str(BIN / "ruff"), "format", "--check", ".")),
        ("lint", (str(BIN / "ruff"), "check", ".")),
        ("types", (str(BIN / "mypy"),)),
        ("layers", (str(BIN / "lint-imports"), "--cache-dir", ".cache/import-linter")),
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
    """Install a browser if asked to, or in CI; return the other words."""
    if "--browser" in words or os.environ.get("CI"):
        print("== browser: Chromium, installed with apt if it is missing", flush=True)
        run(str(BIN / "python"), str(ROOT / "tools" / "browser.py"))
    return [word for word in words if word != "--browser"]


@contextmanager
def own_folder() -> Iterator[None]:
    """Give the tests, and the agents they start, a temporary folder, in memory if there is enough of it.

    The tests sync thousands of stores to disk.
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


def docs(words: list[str]) -> int:
    prepare(".[dev]")
    return run(str(BIN / "python"), "-m", "tools.references", *words)


def bench(words: list[str]) -> int:
    prepare(".[dev]")
    chosen = words[0] if words and not words[0].startswith("-") else "coordination"
    return run(str(BIN / "python"), "-m", f"benchmarks.{chosen}", *words[chosen in words :])


def mutate(words: list[str]) -> int:
    prepare(".[dev]")
    with own_folder():
        return run(str(BIN / "python"), "-m", "tools.mutate", *words)


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
    """Install the real agent programs if npm is available; tests of missing ones are skipped."""
    return run(str(BIN / "python"), str(ROOT / "tools" / "clients.py"), *names)


def prepare(what: str) -> None:
    """Create the environment and install packages, unless exactly these are installed."""
    stamp = VENV / "installed"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + what.encode()).hexdigest()
    held = stamp.read_text().split() if stamp.exists() else []
    if wanted in held:
        return
    # Debian's Python has no ensurepip: create an empty environment and let the outer pip fill it.
    print(f"Installing {what} into {VENV.name} (a minute on a slow connection) …", flush=True)
    if not VENV.exists() and run(sys.executable, "-m", "venv", "--without-pip", str(VENV)):
        raise SystemExit("Could not create a virtual environment.")
    python = str(BIN / "python")
    if run(*_pip_install(python), "-e", what):
        raise SystemExit("Could not install the packages; see the message of pip above.")
    stamp.write_text("\n".join([*held, wanted]))


def _pip_install(python: str) -> list[str]:
    """Return the pip command, with its progress bar on a terminal and one line per package in CI."""
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--disable-pip-version-check"]
    return pip if sys.stdout.isatty() else [*pip, "-q"]


def place(link: Path, command: Path) -> None:
    """Link the command into the PATH, unless something else is there."""
    if link.is_symlink() or not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(command)
    else:
        print(f"{link} exists and is not a link; run {command} instead.")


def on_path(link: Path) -> bool:
    return str(link.parent) in os.environ.get("PATH", "").split(os.pathsep)


def run(*command: str) -> int:
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
