"""The dream as an agent of launchd, on macOS."""

from __future__ import annotations

import os

from engram.dream.job import Job, ask, prune, put_back, read, require, write


def usable() -> bool:
    """Tell whether launchd answers."""
    return ask("launchctl", "help").returncode == 0


def files(job: Job) -> dict[str, str]:
    """Return the file that makes a job, and what it says."""
    import plistlib

    facts = {
        "Label": job.name, "ProgramArguments": [*job.command], "StartInterval": job.minutes * 60,
        "ProcessType": "Background", "Nice": 19, "LowPriorityIO": True, "LowPriorityBackgroundIO": True,
        "StandardOutPath": "/dev/null",
    }  # fmt: skip
    return {_path(job): plistlib.dumps(facts).decode()}


def found(job: Job) -> dict[str, str]:
    """Return the file that is there of a job."""
    text = read(_path(job))
    return {} if text is None else {_path(job): text}


def minutes(job: Job) -> int:
    """Return how often the job runs that is there; 0 if none is, or nobody can tell."""
    import plistlib

    try:
        return int(plistlib.loads((read(_path(job)) or "").encode())["StartInterval"]) // 60
    except Exception:  # which errors its parser has for damage is told nowhere
        return 0


def put(job: Job) -> None:
    """Let a job run, or leave all as it was."""
    wanted, before = files(job), {_path(job): read(_path(job))}
    if before == wanted and ask("launchctl", "print", _target(job)).returncode == 0:
        return
    try:
        for path, content in wanted.items():
            write(path, content)
        ask("launchctl", "bootout", _target(job))  # what runs by an older file
        require(ask("launchctl", "bootstrap", _domain(), _path(job)))
    except BaseException:
        put_back(before)
        if before[_path(job)] is not None:
            ask("launchctl", "bootstrap", _domain(), _path(job))
        raise


def take(job: Job) -> None:
    """Let a job run no more and leave nothing of it."""
    ask("launchctl", "bootout", _target(job))
    put_back({_path(job): None})
    prune(os.path.dirname(_path(job)), 1)


def _path(job: Job) -> str:
    return os.path.expanduser(f"~/Library/LaunchAgents/{job.name}.plist")


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _target(job: Job) -> str:
    return f"{_domain()}/{job.name}"
