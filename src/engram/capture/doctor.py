"""Doctor: what stands between you and a memory that loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from engram.clock import HOUR
from engram.hub import Hub
from engram.model import Finding
from engram.operation import operation
from engram.settings import without_password
from engram.store import audit, blobs, cursors, filesystem, sessions
from engram.text import duration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.capture.discover import Source

_DAY = 24 * HOUR
# Where an agent says after how many days it deletes its transcripts, and when it says nothing.
_RETENTION = {
    "claude": ("~/.claude/settings.json", ("cleanupPeriodDays",), 30),
    "gemini": ("~/.gemini/settings.json", ("general", "sessionRetention", "maxAge"), 30),
}


@operation(agent=False)
def doctor(hub: Hub) -> list[Finding]:
    """Show what is well and what needs attention: the store, the agents found, what is not captured yet."""
    return [*_store(hub), *_agents(hub), *_budget(hub)]


def _store(hub: Hub) -> Iterator[Finding]:
    shown = without_password(hub.settings.store)
    yield Finding(level="ok", subject="store", text=f"{shown} ({audit.library(hub.engine)})")
    kind = filesystem.network_kind(hub.settings.home)
    if kind and hub.engine.dialect == "sqlite":
        yield Finding(level="problem", subject="store", text=f"It lies on {kind}, where SQLite loses data.")
    problems = list(audit.structure(hub.engine))
    for problem in problems:
        yield Finding(level="problem", subject="store", text=f"{problem}. Run `engram check --repair`.")


def _agents(hub: Hub) -> Iterator[Finding]:
    """Say for each agent on this machine what is captured, and what will be gone before it is."""
    from engram.adapters.registry import adapters
    from engram.capture import discover

    known = cursors.known(hub.engine, discover.machine(hub.engine.dialect))
    now = hub.now()
    for flavor in adapters():
        found = list(discover.sources(sessions.projects(hub.engine), flavor))
        if not found:
            continue
        waiting = [each for each in found if each.name not in known or not each.unchanged(known[each.name])]
        text = f"{len(found)} transcripts, {len(found) - len(waiting)} captured"
        yield Finding(level="ok" if not waiting else "warning", subject=flavor, text=_next(text, waiting))
        yield from _expiring(flavor, waiting, now)


def _next(text: str, waiting: list[Source]) -> str:
    return f"{text}, {len(waiting)} to come: run `engram ingest`." if waiting else f"{text}."


def _expiring(flavor: str, waiting: list[Source], now: int) -> Iterator[Finding]:
    days = _kept_days(flavor)
    if days is None:
        return
    first = min((each.changed_at for each in waiting), default=None)
    if first is not None:
        left = first + days * _DAY - now
        when = f"within {duration(left)}" if left > 0 else "any moment"
        text = f"It deletes transcripts after {days} days; the oldest not captured goes {when}."
        yield Finding(level="problem" if left < 3 * _DAY else "warning", subject=flavor, text=text)
    else:
        text = f"It deletes transcripts after {days} days; what is captured stays."
        yield Finding(level="ok", subject=flavor, text=text)


def _kept_days(flavor: str) -> int | None:
    """Return after how many days an agent deletes its transcripts."""
    if flavor not in _RETENTION:
        return None
    path, names, default = _RETENTION[flavor]
    try:
        with open(os.path.expanduser(path), "rb") as file:
            found: Any = json.loads(file.read())
        for name in names:
            found = found[name]
        return int(str(found).removesuffix("d"))
    except (OSError, ValueError, KeyError, TypeError):
        return default


def _budget(hub: Hub) -> Iterator[Finding]:
    from engram.digests import retention

    used, cap = blobs.usage(hub.engine), hub.settings.raw_soft_cap_bytes
    yield Finding(level="ok", subject="budget", text=f"{used:,} of {cap:,} bytes of bodies.")
    if hub.engine.dialect == "sqlite" and not retention.has_ballast(hub):
        text = "No room is put aside for making room; the next sweep does it if the disk allows."
        yield Finding(level="warning", subject="disk", text=text)
