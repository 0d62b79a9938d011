"""Link each line of a page to the log entry of the session it comes from."""

from __future__ import annotations

from engram.clock import load_timezone, to_datetime
from engram.platform.text import format_count
from engram.store import log_entries
from engram.wiki.vault.daily_log import format_title, link_to_title
from engram.wiki.vault.links import format_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.hub import Hub
    from engram.store.engine import Row

_SHOWN_SESSION = 15  # characters of a session's id


def shorten_session(session_id: str) -> str:
    """Return the start of a session's id, as pages show it."""
    return session_id[:_SHOWN_SESSION]


class EntryLinks:
    """The log entries of the sessions that lines cite, read when they are cited."""

    def __init__(self, hub: Hub) -> None:
        self._engine, self._timezone = hub.engine, hub.settings.timezone
        self._entries: dict[str, list[Row]] = {}

    def find_entry(self, session_id: str, at: int) -> tuple[str, str]:
        """Return the log and the link of the entry about a moment of a session; empty if no log has it."""
        rows = self._list_entries(session_id)
        row = next((row for row in rows if row["at"] >= at), rows[-1] if rows else None)
        if row is None:
            return "", ""
        return f"daily/{row['day']}", link_to_title(row["day"], format_title(row, self._timezone))

    def find_last_time(self, session_id: str) -> int:
        """Return when the last entry of a session ends; 0 if it has none."""
        rows = self._list_entries(session_id)
        return rows[-1]["at"] if rows else 0

    def _list_entries(self, session_id: str) -> list[Row]:
        if session_id not in self._entries:
            self._entries[session_id] = log_entries.list_by_session(self._engine, session_id)
        return self._entries[session_id]

    def format_day(self, at: int) -> str:
        """Return the day of a moment."""
        return f"{to_datetime(at).astimezone(load_timezone(self._timezone)):%Y-%m-%d}"


class LineSources:
    """The sources of one page, collected while its lines are written."""

    def __init__(self, links: EntryLinks) -> None:
        self._links = links
        self._names: dict[str, int] = {}
        self._days: set[str] = set()

    def cite(self, session_id: str, at: int) -> str:
        """Return the day of a moment, as a link to the log entry about it."""
        day = self._links.format_day(at)
        log, link = self._links.find_entry(session_id, at)
        name = log or session_id
        self._names[name] = max(at, self._names.get(name, 0))
        self._days.add(day)
        return format_link(link, day) if link else f"{day} (session {shorten_session(session_id)})"

    def format_day(self, at: int) -> str:
        """Return the day of a moment."""
        return self._links.format_day(at)

    def cite_sessions(self, session_ids: Sequence[str]) -> str:
        """Return a link to the last entry of the first of some sessions, and the number of the others."""
        if not session_ids:
            return ""
        first = session_ids[0]
        at = self._links.find_last_time(first)
        if not at:
            self._names.setdefault(first, 0)
        cited = self.cite(first, at) if at else f"session {shorten_session(first)}"
        more = len(session_ids) - 1
        return f"{cited} and {format_count(more, 'other session')}" if more else cited

    @property
    def names(self) -> tuple[str, ...]:
        """The logs and sessions that were cited, newest first."""
        return tuple(sorted(self._names, key=lambda name: (-self._names[name], name)))

    @property
    def days(self) -> tuple[str, ...]:
        """The first and the last day that were cited."""
        return (min(self._days), max(self._days)) if self._days else ()
