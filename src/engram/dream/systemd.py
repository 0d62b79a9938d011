"""The dream as a timer of systemd, the user's own."""

from __future__ import annotations

import os
import shutil

from engram.dream.job import Job, ask, minutes_in, prune, put_back, read, require, write

_SERVICE = """# {about}
[Unit]
Description=Engram dreams: memory tends itself

[Service]
Type=oneshot
ExecStart={command}
# another dreamer is at work: not a failure
SuccessExitStatus=3
StandardOutput=null
Nice=19
IOSchedulingClass=best-effort
IOSchedulingPriority=7
"""
_TIMER = """# {about}
[Unit]
Description=Engram dreams: memory tends itself

[Timer]
OnCalendar={when}
RandomizedDelaySec={delay}
Persistent=true

[Install]
WantedBy=timers.target
"""


def usable() -> bool:
    """Tell whether this user has a systemd that answers."""
    return bool(shutil.which("systemctl")) and ask("systemctl", "--user", "show-environment").returncode == 0


def files(job: Job) -> dict[str, str]:
    """Return the files that make a job, and what they say."""
    command = " ".join(map(_quoted, job.command))
    delay = min(job.minutes * 6, 900)  # seconds: a tenth, for not all shall begin at once
    return {
        _path(f"{job.name}.service"): _SERVICE.format(about=job.about, command=command),
        _path(f"{job.name}.timer"): _TIMER.format(about=job.about, when=_when(job.minutes), delay=delay),
    }


def found(job: Job) -> dict[str, str]:
    """Return the files that are there of a job."""
    texts = {path: read(path) for path in files(job)}
    return {path: text for path, text in texts.items() if text is not None}


def minutes(job: Job) -> int:
    """Return how often the job runs that is there; 0 if none is."""
    return minutes_in(" ".join(found(job).values()))


def put(job: Job) -> None:
    """Let a job run, or leave all as it was."""
    wanted, before = files(job), {path: read(path) for path in files(job)}
    timer = f"{job.name}.timer"
    if before == wanted and _stands(timer):
        return
    try:
        for path, content in wanted.items():
            write(path, content)
        require(ask("systemctl", "--user", "daemon-reload"))
        require(ask("systemctl", "--user", "enable", timer))
        require(ask("systemctl", "--user", "restart", timer))  # one that runs already goes by its new times
    except BaseException:
        if any(content is None for content in before.values()):
            take(job)
        else:
            put_back(before)
            ask("systemctl", "--user", "daemon-reload")
        raise


def take(job: Job) -> None:
    """Let a job run no more and leave nothing of it; also where systemd does not answer any more."""
    timer = f"{job.name}.timer"
    ask("systemctl", "--user", "disable", "--now", timer)
    link = _path(os.path.join("timers.target.wants", timer))
    state = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    stamp = os.path.join(state, "systemd", "timers", f"stamp-{timer}")
    put_back(dict.fromkeys([link, stamp, *files(job)]))
    ask("systemctl", "--user", "daemon-reload")
    prune(os.path.dirname(link), 3)


def _stands(timer: str) -> bool:
    asked = (ask("systemctl", "--user", word, timer) for word in ("is-enabled", "is-active"))
    return all(each.returncode == 0 for each in asked)


def _path(name: str) -> str:
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    return os.path.join(settings, "systemd", "user", name)


def _when(minutes: int) -> str:
    """Return the times of a job, for only calendar times are caught up with after a machine was off."""
    if minutes < 60:
        return f"*-*-* *:00/{minutes}:00"
    return f"*-*-* 00/{minutes // 60}:00:00" if minutes < 24 * 60 else "*-*-* 03:00:00"


def _quoted(word: str) -> str:
    """Return a word of a command as a unit says it: % and $ stand for something there unless doubled."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return plain if plain == word and " " not in word and "'" not in word and ";" not in word else f'"{plain}"'
