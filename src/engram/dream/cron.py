"""The dream as a line of the user's crontab. All other lines stay as they are, byte for byte.

Our line stands first, so that taking it out again leaves exactly what was there, and no setting of the user's own lines
(PATH, MAILTO, SHELL) reaches it.
"""

from __future__ import annotations

import shutil

from engram.dream.job import Job, ask, minutes_in, require
from engram.errors import ScheduleRefused

PLACE = "crontab"
_PERCENT = "'\"$(printf '\\045')\"'"  # a crontab takes the sign itself for the end of a line, each cron in its own way


def usable() -> bool:
    """Tell whether there is a crontab to write to."""
    return bool(shutil.which("crontab"))


def files(job: Job) -> dict[str, str]:
    """Return the line that makes a job."""
    command = " ".join(map(_quoted, job.command))
    return {PLACE: f"{_when(job)} {command} >/dev/null # {job.name} every {job.minutes} minutes\n"}


def found(job: Job) -> dict[str, str]:
    """Return the line that is there of a job."""
    ours = [] if not usable() else [line for line in _lines(_read()) if _is_ours(line, job)]
    return {PLACE: b"".join(ours).decode("utf-8", "replace")} if ours else {}


def minutes(job: Job) -> int:
    """Return how often the job runs that is there; 0 if none is."""
    return minutes_in(found(job).get(PLACE, "").rpartition("#")[2])


def put(job: Job) -> None:
    """Let a job run; a crontab that cannot be read is not written."""
    before = _read()
    wanted = files(job)[PLACE].encode() + _without(before, job)
    if wanted != before:
        require(ask("crontab", "-", given=wanted))


def take(job: Job) -> None:
    """Let a job run no more; a crontab that held nothing else goes."""
    before = _read() if usable() else b""
    left = _without(before, job)
    if left != before:
        require(ask("crontab", "-", given=left) if left else ask("crontab", "-r"))


def _read() -> bytes:
    done = ask("crontab", "-l")
    if done.returncode and b"no crontab" in done.stderr.lower():
        return b""
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"`crontab -l` ended with {done.returncode}"
        raise ScheduleRefused(reason=f"your crontab cannot be read: {said}", hint="It was left as it is.")
    return done.stdout


def _without(content: bytes, job: Job) -> bytes:
    return b"".join(line for line in _lines(content) if not _is_ours(line, job))


def _lines(content: bytes) -> list[bytes]:
    *whole, last = content.split(b"\n")
    return [line + b"\n" for line in whole] + ([last] if last else [])


def _is_ours(line: bytes, job: Job) -> bool:
    mark = line.rpartition(b" # ")[2].split()
    return mark[:1] == [job.name.encode()] and b" dream --once" in line and not line.lstrip().startswith(b"#")


def _when(job: Job) -> str:
    """Return the times of a job; which minute of the hour is its own."""
    if job.minutes < 60:
        start = job.spread % job.minutes
        return f"{start}-59/{job.minutes} * * * *" if job.minutes > 1 else "* * * * *"
    hours = f"*/{job.minutes // 60}" if job.minutes < 24 * 60 else "3"
    return f"{job.spread % 60} {hours if hours != '*/1' else '*'} * * *"


def _quoted(word: str) -> str:
    """Return a word as the shell and every cron take it."""
    import shlex

    if "%" not in word:
        return shlex.quote(word)
    plain = word.replace("'", "'\"'\"'").replace("%", _PERCENT)
    return f"'{plain}'"
