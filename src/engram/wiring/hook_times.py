"""How long the agents wait for our hooks, and how often one failed."""

from __future__ import annotations

from engram.operation import operation
from engram.store import hook_log
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from engram.hub import Hub
    from engram.store.hook_log import Firing

_LATELY = 200  # of the last events, those that are looked at


@value
class HookTimes:
    """The last events of a kind that an agent told us of; times are milliseconds."""

    flavor: str
    event: str
    calls: int
    p50: float
    p95: float
    longest: float
    failures: int
    problem: str  # why the last one failed that did
    last_at: datetime | None
    failed_at: datetime | None


@operation(agent=False)
def hook_times(hub: Hub) -> list[HookTimes]:
    """Show for each agent and event how long hooks took lately and which failed."""
    found: dict[tuple[str, str], list[Firing]] = {}
    for each in hook_log.recent(hub.settings.home):
        found.setdefault((each.flavor, each.event), []).append(each)
    return [measured(flavor, event, firings) for (flavor, event), firings in sorted(found.items())]


def measured(flavor: str, event: str, firings: Sequence[Firing]) -> HookTimes:
    """Return what the last of some events came to; there must be one."""
    lately = firings[-_LATELY:]
    times = sorted(each.milliseconds for each in lately)
    failed = [each for each in lately if each.problem]
    return HookTimes(
        flavor=flavor, event=event, calls=len(lately), p50=times[len(times) // 2],
        p95=times[min(len(times) - 1, len(times) * 95 // 100)], longest=times[-1], failures=len(failed),
        problem=failed[-1].problem if failed else "", last_at=moment_of(lately[-1]),
        failed_at=moment_of(failed[-1]) if failed else None,
    )  # fmt: skip


def moment_of(firing: Firing) -> datetime | None:
    """Return when an event was met; None if the log does not say it in our way."""
    from datetime import datetime

    try:
        return datetime.strptime(firing.at, "%Y-%m-%dT%H:%M:%S%z")
    except ValueError:
        return None
