"""Sessions with a gist by calendar month, as the user's own calendar has it."""

from __future__ import annotations

from engram.clock import HOUR, moment, zone
from engram.memory import versions
from engram.memory.versions import GIST
from engram.store import documents, gisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

_DAY = 24 * HOUR
_LONGEST = 36  # months a session is followed through
_NOTHING: dict[str, Any] = {"content": "", "sources": "{}", "made_by": "", "made_at": 0, "version": 0}


class Months:
    """Which sessions began in which month, and which went on in it; what their gists say is read when asked for."""

    def __init__(self, hub: Hub) -> None:
        self._hub, self._zone = hub, zone(hub.settings.timezone)
        self.sessions: dict[str, Row] = {row["session_id"]: row for row in gisted.all_of_them(hub.engine)}
        self.began: dict[str, list[str]] = {}
        self.touched: dict[str, list[str]] = {}  # those that began there or went on
        self._read: dict[str, Row] = {}
        self._of: dict[int, str] = {}
        for row in self.sessions.values():
            if row["first_at"] is not None:
                self._enter(row)

    def gist(self, session: str) -> Row:
        """Return the gist of a session as it stands."""
        if session not in self._read:
            self._read[session] = documents.current(self._hub.engine, GIST, session) or _NOTHING
        return self._read[session]

    def _enter(self, row: Row) -> None:
        session, first, last = row["session_id"], self.of(row["first_at"]), self.of(row["last_at"])
        self.began.setdefault(first, []).append(session)
        month = first
        for _ in range(_LONGEST):
            self.touched.setdefault(month, []).append(session)
            if month >= last:
                break
            month = _after(month)

    def local(self, at: int) -> datetime:
        """Return a time on the user's clock."""
        return moment(at).astimezone(self._zone)

    def of(self, at: int) -> str:
        """Return the month of a time."""
        day = at // _DAY
        if day not in self._of:
            ends = {f"{self.local(each):%Y-%m}" for each in (day * _DAY, day * _DAY + _DAY - 1)}
            self._of[day] = ends.pop() if len(ends) == 1 else ""  # a month begins in the middle of it
        return self._of[day] or f"{self.local(at):%Y-%m}"

    def sources(self, month: str) -> dict[str, Any]:
        """Return what a month's era is made of."""
        sessions = self.touched.get(month, [])
        return self.made_of(sessions) | {"session_count": len(self.began.get(month, ()))}

    def made_of(self, sessions: list[str]) -> dict[str, Any]:
        """Return these sessions as sources: which gists, how far to be trusted, and until when."""
        rows = [self.sessions[each] for each in sorted(sessions)]
        return {
            "sessions": sorted(sessions),
            "hash": versions.fingerprint([(row["session_id"], row["version"]) for row in rows]),
            "trust": versions.trust(row["trust"] for row in rows),
            "at": max((row["last_at"] or 0 for row in rows), default=0),
        }


def _after(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04}-{number % 12 + 1:02}"
