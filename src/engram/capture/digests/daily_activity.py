"""Activity per day, in the user's time zone."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import HOUR, SECOND, load_timezone, to_datetime
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import text
from engram.platform.value import value
from engram.sessions import lifecycle as sessions
from engram.store import exchanges

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

    from engram.store.engine import Row

_DAY = 24 * HOUR
_LONGEST = 3_660  # maximum days; each is checked for a clock change


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
    user_zone, day_count = load_timezone(hub.settings.timezone), min(sessions.require_positive("days", days), _LONGEST)
    today = to_datetime(hub.now()).astimezone(user_zone).date()
    since, until = (_get_midnight(today + timedelta(days=n), user_zone) for n in (1 - day_count, 1))
    filters: dict[str, Any] = {
        "offsets": list(_iter_offsets(user_zone, since, until)), "since": since, "until": until,
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


def _iter_offsets(user_zone: tzinfo | None, since: int, until: int) -> Iterator[tuple[int, int]]:
    """Yield UTC offsets, each with the time it applies until: with daylight saving, days have 23 or 25 hours."""
    start, ahead = since, _get_utc_offset(user_zone, since)
    while start < until:
        end = min(start + _DAY, until)
        if (after := _get_utc_offset(user_zone, end)) != ahead:
            yield _find_clock_change(user_zone, start, end, ahead), ahead
            ahead = after
        start = end
    yield until, ahead


def _find_clock_change(user_zone: tzinfo | None, low: int, high: int, ahead: int) -> int:
    """Return the time of the clock change between two times with different offsets."""
    while high - low > SECOND:
        middle = (low + high) // 2
        low, high = (middle, high) if _get_utc_offset(user_zone, middle) == ahead else (low, middle)
    return high - high % SECOND


def _get_utc_offset(user_zone: tzinfo | None, at: int) -> int:
    offset = to_datetime(at).astimezone(user_zone).utcoffset()
    return int(offset.total_seconds()) * SECOND if offset else 0


def _get_midnight(day: date, user_zone: tzinfo | None) -> int:
    return int(datetime.combine(day, time.min, user_zone).timestamp()) * SECOND
