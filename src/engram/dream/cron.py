"""Run the dream from the user's crontab. All other lines are preserved byte for byte.

Our line comes first, so that removing it restores exactly what was there, and none of the user's settings (PATH,
MAILTO, SHELL) applies to it.
"""

from __future__ import annotations

import shutil

from engram.dream.scheduled_job import ScheduledJob, parse_minutes, require_success, run_program
from engram.errors import ScheduleRefused

PLACE = "crontab"
_PERCENT = "'\"$(printf '\\045')\"'"  # in a crontab a percent sign ends the line, with different escapes in each cron


def usable() -> bool:
    """Check whether there is a crontab to write to."""
    return bool(shutil.which("crontab"))


def files(job: ScheduledJob) -> dict[str, str]:
    """Return the line of a job."""
    command = " ".join(map(_quote_word, job.command))
    return {PLACE: f"{_format_schedule(job)} {command} >/dev/null # {job.name} every {job.minutes} minutes\n"}


def found(job: ScheduledJob) -> dict[str, str]:
    """Return the installed line of a job."""
    ours = [] if not usable() else [line for line in _split_lines(_read_crontab()) if _is_ours(line, job)]
    return {PLACE: b"".join(ours).decode("utf-8", "replace")} if ours else {}


def minutes(job: ScheduledJob) -> int:
    """Return the interval of the installed job; 0 if there is none."""
    return parse_minutes(found(job).get(PLACE, "").rpartition("#")[2])


def put(job: ScheduledJob) -> None:
    """Install a job; a crontab that cannot be read is not written."""
    before = _read_crontab()
    new_content = files(job)[PLACE].encode() + _remove_job_line(before, job)
    if new_content != before:
        require_success(run_program("crontab", "-", stdin_data=new_content))


def take(job: ScheduledJob) -> None:
    """Remove a job; delete a crontab that has nothing else."""
    before = _read_crontab() if usable() else b""
    left = _remove_job_line(before, job)
    if left != before:
        require_success(run_program("crontab", "-", stdin_data=left) if left else run_program("crontab", "-r"))


def _read_crontab() -> bytes:
    process = run_program("crontab", "-l")
    if process.returncode and b"no crontab" in process.stderr.lower():
        return b""
    if process.returncode:
        message = process.stderr.decode("utf-8", "replace").strip() or f"`crontab -l` ended with {process.returncode}"
        raise ScheduleRefused(reason=f"cannot read your crontab: {message}", hint="It was not changed.")
    return process.stdout


def _remove_job_line(content: bytes, job: ScheduledJob) -> bytes:
    return b"".join(line for line in _split_lines(content) if not _is_ours(line, job))


def _split_lines(content: bytes) -> list[bytes]:
    *complete, last = content.split(b"\n")
    return [line + b"\n" for line in complete] + ([last] if last else [])


def _is_ours(line: bytes, job: ScheduledJob) -> bool:
    mark = line.rpartition(b" # ")[2].split()
    return mark[:1] == [job.name.encode()] and b" dream --once" in line and not line.lstrip().startswith(b"#")


def _format_schedule(job: ScheduledJob) -> str:
    """Return the schedule of a job; each job has its own minute of the hour."""
    if job.minutes < 60:
        start = job.spread % job.minutes
        return f"{start}-59/{job.minutes} * * * *" if job.minutes > 1 else "* * * * *"
    hours = f"*/{job.minutes // 60}" if job.minutes < 24 * 60 else "3"
    return f"{job.spread % 60} {hours if hours != '*/1' else '*'} * * *"


def _quote_word(word: str) -> str:
    """Quote a word for the shell and every cron."""
    import shlex

    if "%" not in word:
        return shlex.quote(word)
    plain = word.replace("'", "'\"'\"'").replace("%", _PERCENT)
    return f"'{plain}'"
