"""Sessions with a gist by calendar month, in the user's time zone."""

from __future__ import annotations

from engram.clock import HOUR, load_timezone, to_datetime
from engram.store import documents, session_gists
from engram.summaries import versions
from engram.summaries.versions import GIST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

_DAY = 24 * HOUR
_LONGEST = 36  # maximum months a session is followed
_NOTHING: dict[str, Any] = {"content": "", "sources": "{}", "made_by": "", "made_at": 0, "version": 0}


class Months:
    """Which sessions began or continued in which month; gists are read on demand."""

    def __init__(self, hub: Hub) -> None:
        self._hub, self._zone = hub, load_timezone(hub.settings.timezone)
        self.sessions: dict[str, Row] = {row["session_id"]: row for row in session_gists.list_all(hub.engine)}
        self.began: dict[str, list[str]] = {}
        self.touched: dict[str, list[str]] = {}  # sessions that began or continued there
        self._gists: dict[str, Row] = {}
        self._sources: dict[str, dict[str, Any]] = {}  # of months
        self._month_by_day: dict[int, str] = {}
        for row in self.sessions.values():
            if row["first_at"] is not None:
                self._add_session(row)

    def get_gist(self, session: str) -> Row:
        """Return the current gist of a session."""
        if session not in self._gists:
            self._gists[session] = documents.get_current(self._hub.engine, GIST, session) or _NOTHING
        return self._gists[session]

    def _add_session(self, row: Row) -> None:
        session, first, last = row["session_id"], self.month_of(row["first_at"]), self.month_of(row["last_at"])
        self.began.setdefault(first, []).append(session)
        self.touched.setdefault(first, []).append(session)
        month = first
        for _ in range(_LONGEST - 1):
            if month >= last:
                break
            month = _next_month(month)
            self.touched.setdefault(month, []).append(session)

    def to_local(self, at: int) -> datetime:
        """Return a time in the user's time zone."""
        return to_datetime(at).astimezone(self._zone)

    def month_of(self, at: int) -> str:
        """Return the month of a time."""
        day = at // _DAY
        if day not in self._month_by_day:
            ends = {f"{self.to_local(edge):%Y-%m}" for edge in (day * _DAY, day * _DAY + _DAY - 1)}
            self._month_by_day[day] = ends.pop() if len(ends) == 1 else ""  # the month changes within this day
        return self._month_by_day[day] or f"{self.to_local(at):%Y-%m}"

    def get_span(self, month: str) -> tuple[int, int]:
        """Return when a month begins and ends in the user's time zone."""
        from datetime import datetime

        year, number = int(month[:4]), int(month[5:])
        following = _next_month(month)
        ends = (
            datetime(year, number, 1, tzinfo=self._zone),
            datetime(int(following[:4]), int(following[5:]), 1, tzinfo=self._zone),
        )
        since, until = (round(end.timestamp() * 1_000_000) for end in ends)
        return since, until

    def build_era_sources(self, month: str) -> dict[str, Any]:
        """Return the sources of a month's era."""
        if month not in self._sources:
            self._sources[month] = self.build_sources(self.touched.get(month, []))
        return self._sources[month] | {"session_count": len(self.began.get(month, ()))}

    def build_sources(self, sessions: list[str]) -> dict[str, Any]:
        """Return sessions as sources: their gists, trust and end time."""
        rows = [self.sessions[session] for session in sorted(sessions)]
        return {
            "sessions": sorted(sessions),
            "hash": versions.fingerprint([(row["session_id"], row["version"]) for row in rows]),
            "trust": versions.get_least_trusted({row["trust"] for row in rows}),
            "at": max((row["last_at"] or 0 for row in rows), default=0),
        }


def _next_month(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04}-{number % 12 + 1:02}"
