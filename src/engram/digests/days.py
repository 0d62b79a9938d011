"""How much was done on each day, by the clocks of where the user lives."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from engram import text
from engram.clock import HOUR, SECOND, moment, zone
from engram.coordination import sessions
from engram.hub import Hub
from engram.operation import Help, operation
from engram.store import exchanges
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from engram.store.engine import Row

_DAY = 24 * HOUR
_LONGEST = 3_660  # days; each is looked at for a change of clocks


@value
class Day:
    """One day on which something was asked or answered."""

    day: str  # YYYY-MM-DD
    sessions: int  # in which a person asked something
    prompts: int
    answers: int


@operation()
def count_days(
    hub: Hub,
    days: Annotated[int, Help("how many, with today")] = 365,
    project: Annotated[str | None, Help("only this project")] = None,
    flavor: Annotated[str | None, Help("only this agent's")] = None,
) -> list[Day]:
    """Count sessions, prompts and answers of each day on which there were any, the oldest first."""
    here, back = zone(hub.settings.timezone), min(sessions.positive("days", days), _LONGEST)
    today = moment(hub.now()).astimezone(here).date()
    since, until = (_midnight(today + timedelta(days=n), here) for n in (1 - back, 1))
    given: dict[str, Any] = {
        "offsets": list(_offsets(here, since, until)), "since": since, "until": until,
        "project": sessions.room(project), "flavor": text.name_or_none("flavor", flavor),
    }  # fmt: skip
    prompts, answers = (
        {int(row["day"]): row for row in exchanges.by_day(hub.engine, role, sessions=role == "user", **given)}
        for role in ("user", "assistant")
    )
    return [_day(number, prompts.get(number, {}), answers.get(number, {})) for number in sorted({*prompts, *answers})]


def _day(number: int, asked: Row, answered: Row) -> Day:
    return Day(
        day=str(date(1970, 1, 1) + timedelta(days=number)), sessions=int(asked.get("sessions", 0)),
        prompts=int(asked.get("said", 0)), answers=int(answered.get("said", 0)),
    )  # fmt: skip


def _offsets(here: tzinfo | None, since: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield by how much clocks are ahead of UTC, each up to when: days have 23 or 25 hours where they are changed."""
    start, ahead = since, _ahead(here, since)
    while start < until:
        end = min(start + _DAY, until)
        if (after := _ahead(here, end)) != ahead:
            yield _turn(here, start, end, ahead), ahead
            ahead = after
        start = end
    yield until, ahead


def _turn(here: tzinfo | None, low: int, high: int, ahead: int) -> int:
    """Return the moment at which clocks are set, between two that differ."""
    while high - low > SECOND:
        middle = (low + high) // 2
        low, high = (middle, high) if _ahead(here, middle) == ahead else (low, middle)
    return high - high % SECOND


def _ahead(here: tzinfo | None, at: int) -> int:
    offset = moment(at).astimezone(here).utcoffset()
    return int(offset.total_seconds()) * SECOND if offset else 0


def _midnight(day: date, here: tzinfo | None) -> int:
    return int(datetime.combine(day, time.min, here).timestamp()) * SECOND
