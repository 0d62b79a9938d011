"""Days in the user's time zone: when they begin, and how far they are from UTC."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta, tzinfo

from engram.clock import HOUR, SECOND, load_timezone, to_datetime
from engram.hub import Hub

LONGEST = 3_660  # maximum days; each is checked for a clock change
_DAY = 24 * HOUR
_ALL_DAYS = 36_500  # more days than any transcript is old


def find_range(hub: Hub, days: float) -> tuple[int, int]:
    """Return when the first of a number of whole days begins and when today, the last one, ends."""
    user_zone = load_timezone(hub.settings.timezone)
    today = to_datetime(hub.now()).astimezone(user_zone).date()
    count = min(math.ceil(days), _ALL_DAYS)
    return _get_midnight(today + timedelta(days=1 - count), user_zone), _get_midnight(today + timedelta(1), user_zone)


def list_offsets(hub: Hub, since: int, until: int) -> list[tuple[int, int]]:
    """Return UTC offsets, each with the time it applies until: with daylight saving, days have 23 or 25 hours."""
    user_zone = load_timezone(hub.settings.timezone)
    return list(_iter_offsets(user_zone, max(since, until - LONGEST * _DAY), until))


def _iter_offsets(user_zone: tzinfo | None, since: int, until: int) -> Iterator[tuple[int, int]]:
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
