"""Failed flushes: why they failed and when they are retried."""

from __future__ import annotations

from engram.clock import to_datetime
from engram.operation import operation
from engram.platform.value import value
from engram.store import log_entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.hub import Hub


@value
class FlushFailure:
    """A session whose last flush failed."""

    session_id: str
    flavor: str
    project: str
    summary: str
    problem: str
    tries: int
    next_at: datetime  # not retried automatically before this time


@operation(agent=False)
def list_failures(hub: Hub) -> list[FlushFailure]:
    """Show the sessions whose last flush failed, the next to be retried first."""
    return [
        FlushFailure(
            session_id=row["session_id"], flavor=row["flavor"], project=row["project"], summary=row["summary"],
            problem=row["problem"] or "", tries=row["tries"], next_at=to_datetime(row["next_at"]),
        )
        for row in log_entries.list_failed(hub.engine)
    ]  # fmt: skip
