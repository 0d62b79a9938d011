"""What could not be flushed, why, and when it is tried again."""

from __future__ import annotations

from engram.clock import moment
from engram.operation import operation
from engram.store import entries
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from engram.hub import Hub


@value
class Failure:
    """A session whose last flush failed."""

    session_id: str
    flavor: str
    project: str
    summary: str
    problem: str
    tries: int
    next_at: datetime  # before that it is not tried again by itself


@operation(agent=False)
def list_failures(hub: Hub) -> list[Failure]:
    """Show the sessions whose last flush failed, the one that is tried first in front."""
    return [
        Failure(
            session_id=row["session_id"], flavor=row["flavor"], project=row["project"], summary=row["summary"],
            problem=row["problem"] or "", tries=row["tries"], next_at=moment(row["next_at"]),
        )
        for row in entries.failed(hub.engine)
    ]  # fmt: skip
