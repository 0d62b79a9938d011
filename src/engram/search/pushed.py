"""What agents were given unasked, and what a person says of it."""

from __future__ import annotations

from engram.clock import to_datetime
from engram.errors import InvalidInput, NotFound
from engram.operation import Help, operation
from engram.platform.value import value
from engram.search.push_record import MOMENTS
from engram.sessions import lifecycle
from engram.store import pushes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated

    from engram.hub import Hub
    from engram.store.engine import Row

_TAKE_BACK = "none"


@value
class Pushed:
    """A text that a hook gave to an agent unasked."""

    id: int
    at: datetime
    session_id: str
    flavor: str
    project: str
    moment: str  # prompt, read, edit, command, failure
    reason: str  # what it was matched by
    text: str
    tokens: int
    shown: bool  # False if it was only recorded
    verdict: str | None  # useful, wrong, never
    sources: tuple[str, ...]


@operation()
def list_pushed(
    hub: Hub,
    project: Annotated[str | None, Help("only what was given in this project")] = None,
    session: Annotated[str | None, Help("only what this session was given")] = None,
    moment: Annotated[str | None, Help("only at this moment: prompt, read, edit, command or failure")] = None,
    hours: Annotated[float | None, Help("how many hours back")] = None,
    limit: Annotated[int, Help("maximum number to show")] = 20,
) -> list[Pushed]:
    """Show what agents were given unasked and why, newest first."""
    if moment is not None and moment not in MOMENTS:
        raise InvalidInput(field="moment", reason=f"Unknown value {moment!r}. Choose one of: {', '.join(MOMENTS)}.")
    filters = {
        "project": lifecycle.parse_project_filter(project), "moment": moment,
        "session_id": lifecycle.get_session(hub, session).id if session else None,
    }  # fmt: skip
    since = lifecycle.compute_since(hub, "hours", hours) if hours is not None else 0
    chosen = {name: choice for name, choice in filters.items() if choice}
    rows = pushes.list_recent(hub.engine, since, lifecycle.require_positive("limit", limit), **chosen)
    return _build_list(hub, rows)


@operation(writes=True, agent=False)
def judge_pushed(
    hub: Hub,
    number: Annotated[int, Help("its number in the list")],
    verdict: Annotated[str, Help("useful; wrong: not again until something newer is known; never again; or none")],
) -> Pushed:
    """Say whether a text that an agent was given was useful, wrong, or is never to be given again in its project."""
    if verdict not in (*pushes.VERDICTS, _TAKE_BACK):
        choices = ", ".join((*pushes.VERDICTS, _TAKE_BACK))
        raise InvalidInput(field="verdict", reason=f"Unknown value {verdict!r}. Choose one of: {choices}.")
    with hub.engine.transaction():
        row = pushes.set_verdict(hub.engine, number, None if verdict == _TAKE_BACK else verdict, hub.now())
    if row is None:
        raise NotFound(kind="text given to an agent", id=str(number), hint="`engram pushed` lists them.")
    return _build_list(hub, pushes.list_by_ids(hub.engine, [number]))[0]


def _build_list(hub: Hub, rows: list[Row]) -> list[Pushed]:
    sources = pushes.list_sources(hub.engine, [row["id"] for row in rows])
    return [
        Pushed(
            id=row["id"], at=to_datetime(row["at"]), session_id=row["session_id"], flavor=row["flavor"],
            project=row["project"], moment=row["moment"], reason=row["reason"], text=row["content"],
            tokens=row["tokens"], shown=bool(row["shown"]), verdict=row["verdict"],
            sources=tuple(sources.get(row["id"], ())),
        )
        for row in rows
    ]  # fmt: skip
