"""Activity per day, in the user's time zone."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from engram.capture.digests.calendar_days import LONGEST, find_range, list_offsets
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import text
from engram.platform.value import value
from engram.sessions import lifecycle as sessions
from engram.store import exchanges

if TYPE_CHECKING:
    from engram.store.engine import Row


@value
class Day:
    """One day with prompts or answers."""

    day: str  # YYYY-MM-DD
    sessions: int  # sessions with a prompt by a person
    prompts: int
    answers: int


@operation()
def count_days(
    hub: Hub,
    days: Annotated[int, Help("number of days, including today")] = 365,
    project: Annotated[str | None, Help("only sessions in this project")] = None,
    flavor: Annotated[str | None, Help("only sessions of this agent")] = None,
) -> list[Day]:
    """Count sessions, prompts and answers per day, oldest first; days without any are left out."""
    since, until = find_range(hub, min(sessions.require_positive("days", days), LONGEST))
    filters: dict[str, Any] = {
        "offsets": list_offsets(hub, since, until), "since": since, "until": until,
        "project": sessions.parse_project_filter(project), "flavor": text.validate_optional_name("flavor", flavor),
    }  # fmt: skip
    prompts, answers = (
        {int(row["day"]): row for row in exchanges.count_by_day(hub.engine, role, sessions=role == "user", **filters)}
        for role in ("user", "assistant")
    )
    return [
        _build_day(number, prompts.get(number, {}), answers.get(number, {})) for number in sorted({*prompts, *answers})
    ]


def _build_day(number: int, prompt_row: Row, answer_row: Row) -> Day:
    return Day(
        day=str(date(1970, 1, 1) + timedelta(days=number)), sessions=int(prompt_row.get("sessions", 0)),
        prompts=int(prompt_row.get("said", 0)), answers=int(answer_row.get("said", 0)),
    )  # fmt: skip
