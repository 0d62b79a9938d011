"""Run the dream with a systemd user timer."""

from __future__ import annotations

import os
import shutil

from engram.dream.scheduled_job import (
    ScheduledJob,
    parse_minutes,
    read_file,
    remove_empty_folders,
    require_success,
    restore_files,
    run_program,
    write_file,
)

_SERVICE = """# {about}
[Unit]
Description=Engram: background upkeep of the memory

[Service]
Type=oneshot
ExecStart={command}
# another dream is running: not a failure
SuccessExitStatus=3
StandardOutput=null
Nice=19
IOSchedulingClass=best-effort
IOSchedulingPriority=7
"""
_TIMER = """# {about}
[Unit]
Description=Engram: background upkeep of the memory

[Timer]
OnCalendar={when}
RandomizedDelaySec={delay}
Persistent=true

[Install]
WantedBy=timers.target
"""


def usable() -> bool:
    """Check whether this user has a systemd that responds."""
    return bool(shutil.which("systemctl")) and run_program("systemctl", "--user", "show-environment").returncode == 0


def files(job: ScheduledJob) -> dict[str, str]:
    """Return the files of a job and their content."""
    command = " ".join(map(_quote_word, job.command))
    delay = min(job.minutes * 6, 900)  # seconds: a tenth of the interval, so that not all start at the same time
    return {
        _get_unit_path(f"{job.name}.service"): _SERVICE.format(about=job.about, command=command),
        _get_unit_path(f"{job.name}.timer"): _TIMER.format(
            about=job.about, when=_format_schedule(job.minutes), delay=delay
        ),
    }


def found(job: ScheduledJob) -> dict[str, str]:
    """Return the installed files of a job."""
    texts = {path: read_file(path) for path in files(job)}
    return {path: text for path, text in texts.items() if text is not None}


def minutes(job: ScheduledJob) -> int:
    """Return the interval of the installed job; 0 if there is none."""
    return parse_minutes(" ".join(found(job).values()))


def put(job: ScheduledJob) -> None:
    """Install a job, or change nothing."""
    new_files, before = files(job), {path: read_file(path) for path in files(job)}
    timer = f"{job.name}.timer"
    if before == new_files and _is_active(timer):
        return
    try:
        for path, content in new_files.items():
            write_file(path, content)
        require_success(run_program("systemctl", "--user", "daemon-reload"))
        require_success(run_program("systemctl", "--user", "enable", timer))
        require_success(
            run_program("systemctl", "--user", "restart", timer)
        )  # a running timer needs a restart to use its new times
    except BaseException:
        if any(content is None for content in before.values()):
            take(job)
        else:
            restore_files(before)
            run_program("systemctl", "--user", "daemon-reload")
        raise


def take(job: ScheduledJob) -> None:
    """Remove a job completely, even if systemd no longer responds."""
    timer = f"{job.name}.timer"
    run_program("systemctl", "--user", "disable", "--now", timer)
    link = _get_unit_path(os.path.join("timers.target.wants", timer))
    state = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    stamp = os.path.join(state, "systemd", "timers", f"stamp-{timer}")
    restore_files(dict.fromkeys([link, stamp, *files(job)]))
    run_program("systemctl", "--user", "daemon-reload")
    remove_empty_folders(os.path.dirname(link), 3)


def _is_active(timer: str) -> bool:
    results = (run_program("systemctl", "--user", word, timer) for word in ("is-enabled", "is-active"))
    return all(result.returncode == 0 for result in results)


def _get_unit_path(name: str) -> str:
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(settings, "systemd", "user", name)


def _format_schedule(minutes: int) -> str:
    """Return the schedule of a job as calendar times, since only these are caught up after downtime."""
    if minutes < 60:
        return f"*-*-* *:00/{minutes}:00"
    return f"*-*-* 00/{minutes // 60}:00:00" if minutes < 24 * 60 else "*-*-* 03:00:00"


def _quote_word(word: str) -> str:
    """Quote a word for a unit file, where % and $ must be doubled."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return plain if plain == word and " " not in word and "'" not in word and ";" not in word else f'"{plain}"'
