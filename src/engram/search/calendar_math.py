"""Calendar arithmetic in the user's time zone. Pure."""

from __future__ import annotations

from engram.search.calendar_words import IN_MONTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date, datetime


def to_datetime(now: datetime, day: date, hour: int = 0) -> datetime:
    """Return an hour of a day in the user's time zone; 24 or more falls on the next day."""
    day, hour = add_days(day, hour // 24), hour % 24
    start = now.replace(hour=hour, minute=0, second=0, microsecond=0, fold=0)
    return start.replace(year=day.year, month=day.month, day=day.day)


def add_days(day: date, days: int) -> date:
    """Return the date this many days later."""
    return day.fromordinal(day.toordinal() + days)


def add_months(day: date, months: int) -> date:
    """Return the same day of another month, or that month's last day."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return day.replace(year=year, month=month + 1, day=min(day.day, days_in_month(day, year, month + 1)))


def days_in_month(day: date, year: int, month: int) -> int:
    """Return the number of days in a month."""
    following = day.replace(year=year + month // 12, month=month % 12 + 1, day=1)
    return add_days(following, -1).day


def subtract_seconds(now: datetime, seconds: float) -> datetime:
    """Return the time this many seconds earlier."""
    return now.fromtimestamp(now.timestamp() - seconds, now.tzinfo)


def subtract_units(day: date, count: int, unit: str) -> date:
    """Return the date this many days, weeks, months, quarters or years earlier."""
    if unit in ("day", "week"):
        return add_days(day, -count * (7 if unit == "week" else 1))
    return add_months(day, -count * IN_MONTHS[unit])
