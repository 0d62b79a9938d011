"""How long hooks take, and how often they fail."""

from __future__ import annotations

from engram.operation import operation
from engram.platform.value import value
from engram.store import hook_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engram.hub import Hub
    from engram.store.hook_log import HookLogEntry

_RECENT_EVENTS = 200  # latest events measured


@value
class HookTimes:
    """Statistics of the latest events of a kind from an agent, in milliseconds."""

    flavor: str
    event: str
    calls: int
    p50: float
    p95: float
    longest: float
    failures: int
    problem: str  # why the last failure happened
    last_at: datetime | None
    failed_at: datetime | None


@operation(agent=False)
def hook_times(hub: Hub) -> list[HookTimes]:
    """Show recent hook durations and failures by agent and event."""
    by_event: dict[tuple[str, str], list[HookLogEntry]] = {}
    for entry in hook_log.read_recent(hub.settings.home):
        by_event.setdefault((entry.flavor, entry.event), []).append(entry)
    return [measure_times(flavor, event, entries) for (flavor, event), entries in sorted(by_event.items())]


def measure_times(flavor: str, event: str, entries: Sequence[HookLogEntry]) -> HookTimes:
    """Return the statistics of some events; there must be at least one."""
    recent = entries[-_RECENT_EVENTS:]
    times = sorted(entry.milliseconds for entry in recent)
    failed_entries = [entry for entry in recent if entry.problem]
    return HookTimes(
        flavor=flavor, event=event, calls=len(recent), p50=times[len(times) // 2],
        p95=times[min(len(times) - 1, len(times) * 95 // 100)], longest=times[-1], failures=len(failed_entries),
        problem=failed_entries[-1].problem if failed_entries else "", last_at=parse_entry_time(recent[-1]),
        failed_at=parse_entry_time(failed_entries[-1]) if failed_entries else None,
    )  # fmt: skip


def parse_entry_time(entry: HookLogEntry) -> datetime | None:
    """Return the time of an event; None if the log line has none."""
    from datetime import datetime

    try:
        return datetime.strptime(entry.at, "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None
