"""What a scheduler is asked for: which command, how often, under which name; and how we ask its programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from engram.errors import InvalidInput, ScheduleRefused
from engram.value import value

_EVERY = re.compile(r"every (\d+) minutes")
_OURS = "Made by `engram dream --install`; `engram dream --uninstall` removes it."
_DAY = 24 * 60
_SECONDS = 30  # in which a scheduler answers


@value
class Job:
    """One command, run again and again."""

    name: str  # a home has one of its own
    command: tuple[str, ...]
    minutes: int
    spread: int  # a number of its own, so that not all homes dream in the same minute

    @property
    def about(self) -> str:
        """Return what it is, in words that tell how often."""
        return f"Engram dreams every {self.minutes} minutes. {_OURS}"


def job(home: str, minutes: int) -> Job:
    """Return the dream of a home as a job; it calls what agents call, if that is here."""
    from hashlib import blake2b

    if not isinstance(minutes, int) or isinstance(minutes, bool) or minutes < 1 or _uneven(minutes):
        reason = f"{minutes!r} does not divide an hour or a day evenly; say 5, 10, 15, 20, 30, 60, 120, 240, 1440 …"
        raise InvalidInput(field="minutes", reason=reason)
    if any(ord(mark) < 32 or 127 <= ord(mark) < 160 for mark in home + sys.executable):
        reason = "the path of its home or of Python holds a character no scheduler takes."
        raise ScheduleRefused(reason=reason, hint="Move it.")
    launcher = os.path.join(home, "bin", "engram")
    program = (launcher,) if os.access(launcher, os.X_OK) else (sys.executable, "-EPm", "engram")
    command = ("/usr/bin/env", f"ENGRAM_HOME={home}", *program, "dream", "--once", "--idle")
    mark = blake2b(os.fsencode(home), digest_size=4).digest()
    return Job(name=f"engram-dream-{mark.hex()}", command=command, minutes=minutes, spread=int.from_bytes(mark))


def _uneven(minutes: int) -> bool:
    return bool(60 % minutes if minutes < 60 else minutes % 60 or _DAY % minutes)


def minutes_in(text: str) -> int:
    """Return how often a job of ours runs, as its text tells; 0 if it does not."""
    found = _EVERY.search(text)
    return int(found[1]) if found else 0


def ask(*words: str, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a scheduler's program; one that is not here, or is silent for long, has failed."""
    try:
        return subprocess.run(words, input=given or b"", capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(words, 127, b"", str(problem).encode())


def require(done: subprocess.CompletedProcess[bytes]) -> None:
    """Refuse to go on where a scheduler's program failed."""
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").split("\n")
        words = " ".join(map(str, done.args[:3]))
        reason = f"`{words}` failed ({done.returncode}): {next(filter(None, said), 'it said nothing')}"
        raise ScheduleRefused(reason=reason, hint="Nothing was left behind; mend it and run this again.")


def write(path: str, content: str) -> None:
    """Write a file whole."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(draft, path)


def read(path: str) -> str | None:
    """Return what a file says; None if it is not there."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def put_back(before: dict[str, str | None]) -> None:
    """Let files say what they said before; those that were not there go."""
    for path, content in before.items():
        if content is not None:
            write(path, content)
        elif os.path.lexists(path):
            os.remove(path)


def prune(folder: str, levels: int) -> None:
    """Remove a folder and those above it, as many levels, if nothing is left in them."""
    for _ in range(levels):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError:
            return
        folder = os.path.dirname(folder)
