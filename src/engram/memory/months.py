"""Sessions with a gist by calendar month, as the user's own calendar has it."""

from __future__ import annotations

from engram.clock import moment, zone
from engram.memory import versions
from engram.memory.versions import GIST
from engram.store import documents, exchanges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from engram.hub import Hub
    from engram.store.engine import Row

_LONGEST = 36  # months a session is followed through


class Months:
    """Which sessions began in which month, and which went on in it."""

    def __init__(self, hub: Hub) -> None:
        self._zone = zone(hub.settings.timezone)
        self.gists: dict[str, Row] = {row["key"]: row for row in documents.currents(hub.engine, GIST) if row["content"]}
        self.began: dict[str, list[str]] = {}
        self.touched: dict[str, list[str]] = {}  # those that began there or went on
        self.last_at: dict[str, int] = {}
        for span in sorted(exchanges.spans(hub.engine), key=lambda span: (span["first_at"], span["session_id"])):
            if span["session_id"] in self.gists:
                self._enter(span)

    def _enter(self, span: Row) -> None:
        session, first, last = span["session_id"], self.of(span["first_at"]), self.of(span["last_at"])
        self.began.setdefault(first, []).append(session)
        self.last_at[session] = span["last_at"]
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
        return f"{self.local(at):%Y-%m}"

    def sources(self, month: str) -> dict[str, Any]:
        """Return what a month's era is made of."""
        sessions = self.touched.get(month, [])
        return self.made_of(sessions) | {"session_count": len(self.began.get(month, ()))}

    def made_of(self, sessions: list[str]) -> dict[str, Any]:
        """Return these sessions as sources: which gists, how far to be trusted, and until when."""
        facts = [versions.loaded(self.gists[each]["sources"]) for each in sessions]
        return {
            "sessions": sorted(sessions),
            "hash": versions.fingerprint(sorted((each, self.gists[each]["version"]) for each in sessions)),
            "trust": versions.trust(str(each.get("trust")) for each in facts),
            "at": max((self.last_at.get(each, 0) for each in sessions), default=0),
        }


def _after(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year + number // 12:04}-{number % 12 + 1:02}"
