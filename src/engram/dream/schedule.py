"""Schedule the dream with the system's scheduler, and remove the schedule."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from engram.dream import cron, launchd, systemd
from engram.dream.scheduled_job import ScheduledJob, build_job
from engram.errors import ScheduleRefused
from engram.hub import Hub
from engram.platform.value import value
from engram.settings import load_settings

EVERY = 60  # minutes
_KINDS: dict[str, ModuleType] = {"systemd": systemd, "launchd": launchd, "cron": cron}


@value
class Schedule:
    """The schedule of a home's dream."""

    kind: str  # systemd, launchd, cron
    files: dict[str, str]  # its files with their content; for cron the crontab line
    command: tuple[str, ...]  # the command that runs
    minutes: int  # minutes between two runs


def install(hub: Hub, minutes: int = EVERY, *, dry_run: bool = False) -> Schedule:
    """Install the schedule of a home, or change its interval; a dry run only returns what would be installed."""
    scheduled_job = build_job(hub.settings.home, minutes)
    _refuse_hidden_store(hub)
    kind = _choose_scheduler(scheduled_job)
    if not dry_run:
        _KINDS[kind].put(scheduled_job)
        for other, scheduler in _KINDS.items():
            if other != kind and scheduler.found(scheduled_job):
                scheduler.take(scheduled_job)
    return Schedule(kind=kind, files=_KINDS[kind].files(scheduled_job), command=scheduled_job.command, minutes=minutes)


def uninstall(hub: Hub, *, dry_run: bool = False) -> Schedule | None:
    """Remove the schedule of a home and return it; None if there was none."""
    schedule = find_schedule(hub)
    if not dry_run:
        remove_schedules(hub.settings.home)
    return schedule


def remove_schedules(home: str) -> None:
    """Remove every schedule of a home from the system."""
    scheduled_job = build_job(home, EVERY)
    for scheduler in _KINDS.values():
        if scheduler.found(scheduled_job):
            scheduler.take(scheduled_job)


def find_schedule(hub: Hub) -> Schedule | None:
    """Return the schedule of a home; None if there is none."""
    scheduled_job = build_job(hub.settings.home, EVERY)
    for kind, scheduler in _KINDS.items():
        if files := scheduler.found(scheduled_job):
            return Schedule(
                kind=kind, files=files, command=scheduled_job.command, minutes=scheduler.minutes(scheduled_job)
            )
    return None


def _choose_scheduler(scheduled_job: ScheduledJob) -> str:
    """Return an available scheduler; otherwise raise an error that says what to do."""
    if sys.platform == "darwin" and launchd.usable():
        return "launchd"
    if os.name == "posix":
        for kind in ("systemd", "cron"):
            if _KINDS[kind].usable():
                return kind
    raise ScheduleRefused(
        reason="no supported scheduler was found on this system.", hint=_suggest_alternative(scheduled_job)
    )


def _suggest_alternative(scheduled_job: ScheduledJob) -> str:
    if os.name == "nt":
        return f"Run this command: {_format_windows_task(scheduled_job)}"
    interval = f"every {scheduled_job.minutes} minutes"
    return f"Schedule `engram dream --once --idle` {interval} yourself, or keep `engram dream --loop` running."


def _format_windows_task(scheduled_job: ScheduledJob) -> str:
    """Return the command that creates a Windows task for a job."""
    from subprocess import list2cmdline

    _, home, *program = scheduled_job.command
    interval = ["DAILY"] if scheduled_job.minutes == 24 * 60 else ["MINUTE", "/MO", str(scheduled_job.minutes)]
    run = list2cmdline(["cmd", "/c", f'set "{home}" && {list2cmdline(program)}'])
    return list2cmdline(["schtasks", "/Create", "/SC", *interval, "/TN", scheduled_job.name, "/TR", run])


def _refuse_hidden_store(hub: Hub) -> None:
    """Refuse if the dream would use another store: it does not see the variables of this shell."""
    if load_settings({}, home=hub.settings.home).store != hub.settings.store:
        reason = "the store is set by ENGRAM_STORE, which a scheduled job does not see."
        hint = f"Set `store` in {os.path.join(hub.settings.home, 'config.toml')} and run this again."
        raise ScheduleRefused(reason=reason, hint=hint)
