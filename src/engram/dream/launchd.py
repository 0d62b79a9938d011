"""Run the dream as a launchd agent on macOS."""

from __future__ import annotations

import os

from engram.dream.scheduled_job import (
    ScheduledJob,
    read_file,
    remove_empty_folders,
    require_success,
    restore_files,
    run_program,
    write_file,
)


def usable() -> bool:
    """Check whether launchd responds."""
    return run_program("launchctl", "help").returncode == 0


def files(job: ScheduledJob) -> dict[str, str]:
    """Return the file of a job and its content."""
    import plistlib

    facts = {
        "Label": job.name, "ProgramArguments": [*job.command], "StartInterval": job.minutes * 60,
        "ProcessType": "Background", "Nice": 19, "LowPriorityIO": True, "LowPriorityBackgroundIO": True,
        "StandardOutPath": "/dev/null",
    }  # fmt: skip
    return {_get_plist_path(job): plistlib.dumps(facts).decode()}


def found(job: ScheduledJob) -> dict[str, str]:
    """Return the installed file of a job."""
    text = read_file(_get_plist_path(job))
    return {} if text is None else {_get_plist_path(job): text}


def minutes(job: ScheduledJob) -> int:
    """Return the interval of the installed job; 0 if there is none or it is unknown."""
    import plistlib

    try:
        return int(plistlib.loads((read_file(_get_plist_path(job)) or "").encode())["StartInterval"]) // 60
    except Exception:  # the parser does not document its errors for damaged files
        return 0


def put(job: ScheduledJob) -> None:
    """Install a job, or change nothing."""
    new_files, before = files(job), {_get_plist_path(job): read_file(_get_plist_path(job))}
    if before == new_files and run_program("launchctl", "print", _get_target(job)).returncode == 0:
        return
    try:
        for path, content in new_files.items():
            write_file(path, content)
        run_program("launchctl", "bootout", _get_target(job))  # a job that runs by an older file
        require_success(run_program("launchctl", "bootstrap", _get_domain(), _get_plist_path(job)))
    except BaseException:
        restore_files(before)
        if before[_get_plist_path(job)] is not None:
            run_program("launchctl", "bootstrap", _get_domain(), _get_plist_path(job))
        raise


def take(job: ScheduledJob) -> None:
    """Remove a job completely."""
    run_program("launchctl", "bootout", _get_target(job))
    restore_files({_get_plist_path(job): None})
    remove_empty_folders(os.path.dirname(_get_plist_path(job)), 1)


def _get_plist_path(job: ScheduledJob) -> str:
    return os.path.expanduser(f"~/Library/LaunchAgents/{job.name}.plist")


def _get_domain() -> str:
    return f"gui/{os.getuid()}"


def _get_target(job: ScheduledJob) -> str:
    return f"{_get_domain()}/{job.name}"
