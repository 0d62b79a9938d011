"""A job for a scheduler: its command, interval and name; and how we call scheduler programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from engram.errors import InvalidInput, ScheduleRefused
from engram.platform.value import value

_EVERY = re.compile(r"every (\d+) minutes")
_OURS = "Made by `engram dream --install`; `engram dream --uninstall` removes it."
_DAY = 24 * 60
_SECONDS = 30  # seconds a scheduler has to respond


@value
class ScheduledJob:
    """One command that runs at an interval."""

    name: str  # unique per home
    command: tuple[str, ...]
    minutes: int
    spread: int  # a number per home, so that not all homes dream in the same minute

    @property
    def about(self) -> str:
        """The description, which includes the interval."""
        return f"Engram dreams every {self.minutes} minutes. {_OURS}"


def build_job(home: str, minutes: int) -> ScheduledJob:
    """Return the dream of a home as a job; it calls the launcher, if there is one."""
    from hashlib import blake2b

    if not isinstance(minutes, int) or isinstance(minutes, bool) or minutes < 1 or _is_uneven(minutes):
        reason = f"{minutes!r} does not divide an hour or a day evenly. Use 5, 10, 15, 20, 30, 60, 120, 240, 1440 …"
        raise InvalidInput(field="minutes", reason=reason)
    if any(ord(mark) < 32 or 127 <= ord(mark) < 160 for mark in home + sys.executable):
        reason = "the path of the Engram home or of Python contains a character that schedulers do not support."
        raise ScheduleRefused(reason=reason, hint="Move it to another path.")
    launcher = os.path.join(home, "bin", "engram")
    program = (launcher,) if os.access(launcher, os.X_OK) else (sys.executable, "-EPm", "engram")
    command = ("/usr/bin/env", f"ENGRAM_HOME={home}", *program, "dream", "--once", "--idle")
    mark = blake2b(os.fsencode(home), digest_size=4).digest()
    return ScheduledJob(
        name=f"engram-dream-{mark.hex()}", command=command, minutes=minutes, spread=int.from_bytes(mark)
    )


def _is_uneven(minutes: int) -> bool:
    return bool(60 % minutes if minutes < 60 else minutes % 60 or _DAY % minutes)


def parse_minutes(text: str) -> int:
    """Return the interval in the text of a job of ours; 0 if there is none."""
    match = _EVERY.search(text)
    return int(match[1]) if match else 0


def run_program(*words: str, stdin_data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a scheduler's program; a missing or unresponsive one counts as failed."""
    try:
        return subprocess.run(words, input=stdin_data or b"", capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return subprocess.CompletedProcess(words, 127, b"", str(problem).encode())


def require_success(process: subprocess.CompletedProcess[bytes]) -> None:
    """Raise an error if a scheduler's program failed."""
    if process.returncode:
        lines = process.stderr.decode("utf-8", "replace").split("\n")
        words = " ".join(map(str, process.args[:3]))
        reason = f"`{words}` failed ({process.returncode}): {next(filter(None, lines), 'no output')}"
        raise ScheduleRefused(reason=reason, hint="Nothing was changed. Fix it and run this again.")


def write_file(path: str, content: str) -> None:
    """Write a file atomically."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    draft = f"{path}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as file:
        file.write(content)
    os.replace(draft, path)


def read_file(path: str) -> str | None:
    """Return the content of a file; None if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return None


def restore_files(before: dict[str, str | None]) -> None:
    """Restore files to their earlier content; delete those that did not exist."""
    for path, content in before.items():
        if content is not None:
            write_file(path, content)
        elif os.path.lexists(path):
            os.remove(path)


def remove_empty_folders(folder: str, levels: int) -> None:
    """Remove a folder and this many levels above it, if empty."""
    for _ in range(levels):
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            pass
        except OSError:
            return
        folder = os.path.dirname(folder)
