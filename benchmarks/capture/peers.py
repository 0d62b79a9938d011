"""The programs we compare with, and how to install them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.capture.flavors import Flavor
from benchmarks.capture.running import Run, last_line, run


@dataclass(frozen=True)
class Peer:
    """A program that reads the same transcripts."""

    name: str
    does: str
    words: str  # its arguments, with the placeholders `{home}` and `{flavor}`
    install: Callable[[Path], str]  # returns the path of the program
    env: dict[str, str] = field(default_factory=dict)
    flavors: tuple[str, ...] = ("claude", "codex")
    tokens: str = ""  # its arguments for token totals

    def run(self, program: str, words: str, home: Path, flavor: Flavor) -> Run:
        """Run it in a home directory."""
        arguments = [word.format(home=home, flavor=flavor.name) for word in words.split()]
        return run([program, *arguments], home, {name: word.format(home=home) for name, word in self.env.items()})


def from_pypi(package: str, folder: Path) -> str:
    """Install a package into its own virtual environment; return the path of its program."""
    program = folder / package / "bin" / package
    if not program.exists():
        base = getattr(sys, "_base_executable", sys.executable)  # our environment may have no pip
        _do(base, "-m", "venv", "--without-pip", str(folder / package))
        _do(base, "-m", "pip", "--python", str(folder / package / "bin" / "python"), "install", "-q", package)
    return str(program)


def from_npm(package: str, versions: tuple[str, ...], folder: Path) -> str:
    """Install the first version of an npm package that runs; return the path of its program."""
    program = folder / package / "node_modules" / ".bin" / package
    if shutil.which("npm") is None:
        raise OSError("npm not found")
    for version in versions:
        if not program.exists():
            _do("npm", "install", "--silent", "--prefix", str(folder / package), f"{package}@{version}")
        if subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0:
            return str(program)
        shutil.rmtree(folder / package)
    raise OSError(f"none of the versions {', '.join(versions)} runs on this machine")


def _do(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    if done.returncode:
        raise OSError(f"{command[0]}: {last_line(done.stderr or done.stdout)}")


PEERS = (
    Peer(
        name="agentsview",
        does="SQLite and search",
        words="sync",
        install=partial(from_pypi, "agentsview"),
        env={
            "AGENTSVIEW_DATA_DIR": "{home}/agentsview", "AGENTSVIEW_NO_DAEMON": "1",
            "AGENTSVIEW_TELEMETRY_ENABLED": "false", "AGENTSVIEW_DISABLE_UPDATE_CHECK": "1",
        },
        tokens="usage daily --json --all --offline --no-sync",
    ),
    Peer(
        name="ccusage",
        does="cost only",
        words="{flavor} daily --json --offline",
        install=partial(from_npm, "ccusage", ("latest", "20.0.24", "18.0.11")),
        tokens="{flavor} daily --json --offline",
    ),
    Peer(
        name="claude-code-log",
        does="HTML and a cache",
        words="--all-projects --projects-dir {home}/.claude/projects -o {home}/html",
        install=partial(from_pypi, "claude-code-log"),
        flavors=("claude",),
    ),
)  # fmt: skip


def installed(folder: Path) -> dict[str, str | OSError]:
    """Return the program of each peer, or why it is not available."""

    def tried(peer: Peer) -> str | OSError:
        try:
            return peer.install(folder)
        except (OSError, subprocess.SubprocessError) as problem:
            return OSError(f"could not be installed: {problem}")

    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(len(PEERS)) as pool:
        return dict(zip((peer.name for peer in PEERS), pool.map(tried, PEERS), strict=True))
