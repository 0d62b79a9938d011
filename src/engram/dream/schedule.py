"""Let a home dream by itself, every so many minutes, through what the system has for that; and let it stop."""

from __future__ import annotations

import os
import sys
from types import ModuleType

from engram.dream import cron, launchd, systemd
from engram.dream.job import Job, job
from engram.errors import ScheduleRefused
from engram.hub import Hub
from engram.settings import load
from engram.value import value

EVERY = 60  # minutes
_KINDS: dict[str, ModuleType] = {"systemd": systemd, "launchd": launchd, "cron": cron}


@value
class Schedule:
    """How a home dreams by itself."""

    kind: str  # systemd, launchd, cron
    files: dict[str, str]  # what makes it, and what each says; for cron the line of the crontab
    command: tuple[str, ...]  # what is run
    minutes: int  # between two runs


def install(hub: Hub, minutes: int = EVERY, *, dry_run: bool = False) -> Schedule:
    """Let a home dream by itself; said again, it goes by the new times. A dry run only tells what would be there."""
    wanted = job(hub.settings.home, minutes)
    _refuse_hidden_store(hub)
    kind = _chosen(wanted)
    if not dry_run:
        _KINDS[kind].put(wanted)
        for other, scheduler in _KINDS.items():
            if other != kind and scheduler.found(wanted):
                scheduler.take(wanted)
    return Schedule(kind=kind, files=_KINDS[kind].files(wanted), command=wanted.command, minutes=minutes)


def uninstall(hub: Hub, *, dry_run: bool = False) -> Schedule | None:
    """Let a home no longer dream by itself; return how it did, None if it did not."""
    known = installed(hub)
    if not dry_run:
        take_out(hub.settings.home)
    return known


def take_out(home: str) -> None:
    """Take whatever lets a home dream by itself out of the system."""
    named = job(home, EVERY)
    for scheduler in _KINDS.values():
        if scheduler.found(named):
            scheduler.take(named)


def installed(hub: Hub) -> Schedule | None:
    """Tell how a home dreams by itself; None if it does not."""
    named = job(hub.settings.home, EVERY)
    for kind, scheduler in _KINDS.items():
        if files := scheduler.found(named):
            return Schedule(kind=kind, files=files, command=named.command, minutes=scheduler.minutes(named))
    return None


def _chosen(wanted: Job) -> str:
    """Return the scheduler to ask, or say what a person can do where there is none."""
    if sys.platform == "darwin" and launchd.usable():
        return "launchd"
    if os.name == "posix":
        for kind in ("systemd", "cron"):
            if _KINDS[kind].usable():
                return kind
    raise ScheduleRefused(reason="this system has no scheduler we know.", hint=_way_out(wanted))


def _way_out(wanted: Job) -> str:
    if os.name == "nt":
        return f"Run this yourself: {_task(wanted)}"
    often = f"every {wanted.minutes} minutes"
    return f"Let something run `engram dream --once --idle` {often}, or keep `engram dream --loop` running."


def _task(wanted: Job) -> str:
    """Return the command that makes a job a task of Windows."""
    from subprocess import list2cmdline

    _, home, *program = wanted.command
    often = ["DAILY"] if wanted.minutes == 24 * 60 else ["MINUTE", "/MO", str(wanted.minutes)]
    run = list2cmdline(["cmd", "/c", f'set "{home}" && {list2cmdline(program)}'])
    return list2cmdline(["schtasks", "/Create", "/SC", *often, "/TN", wanted.name, "/TR", run])


def _refuse_hidden_store(hub: Hub) -> None:
    """Refuse where the dream would tend another store: it does not see the variables of this shell."""
    if load({}, home=hub.settings.home).store != hub.settings.store:
        reason = "the store of this home is named by ENGRAM_STORE, which nothing that runs by itself sees."
        hint = f"Write `store` into {os.path.join(hub.settings.home, 'config.toml')} and run this again."
        raise ScheduleRefused(reason=reason, hint=hint)
