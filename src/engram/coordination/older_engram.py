"""Rows of an older Engram made into ours: times, ids, texts and whole sessions, mended where they must be."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

from engram import host, text
from engram.clock import MINUTE, moment
from engram.errors import InvalidInput
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo
    from typing import Any

    from engram.store.engine import Row

# What had to be mended, as a person is told.
ABSENT = "values that were missing"
BROKEN_ID = "session ids that no store can keep"
BROKEN_TEXT = "texts with characters that cannot be kept"
BROKEN_TIME = "times that could not be read"
FUTURE_TIME = "times that lay in the future (written in another time zone?)"
LONG_TEXT = "texts over the limit, kept whole in the log"
NOT_TEXT = "values that were not text"
REVIVED = "active sessions that still carried a completion, kept in the log"
STATUS = "sessions of an unknown status"
UNDATED = "completed sessions without a time of completion"

STATE = ("status", "summary", "last_heartbeat", "completed_at", "completion_summary")  # what may change
_ANY_SIZE = 1 << 62
_LONGEST_ID = 1024  # bytes; an index of PostgreSQL takes no more than some 2,700
_SKEW = 5 * MINUTE  # as far as the clocks of two machines may differ
_EPOCH = moment(0)
_STAMP = re.compile("([0-9]{8})(-?)([0-9]{6})-")


class Times:
    """Reads both ways of writing time: Elixir's in UTC, Python's in the local time of its machine."""

    def __init__(self, zone: tzinfo | None, now: int) -> None:
        self.now = now
        self._zone = zone

    def read(self, given: object) -> int | None:
        """Return microseconds, or None for what is no time.

        An hour that a clock change repeats is taken as its first turn; one that it skips, as if the
        clock had not changed yet.
        """
        words = given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)
        try:
            found = datetime.fromisoformat(words.strip())
            if found.tzinfo is None:
                found = found.astimezone() if self._zone is None else found.replace(tzinfo=self._zone)
            return (found - _EPOCH) // timedelta(microseconds=1)
        except (ValueError, OverflowError, OSError):
            return None

    def of_id(self, session_id: str) -> int | None:
        """Return the time a session id itself names: local with a dash inside, UTC without."""
        found = _STAMP.match(session_id)
        return self.read(f"{found[1]}T{found[3]}{'' if found[2] else 'Z'}") if found else None

    def mend(self, given: object, notes: list[str], *neighbours: int | None) -> int:
        """Return a time that can be true: the one given, else the nearest fact, else now."""
        found = self.read(given)
        if found is not None and found <= self.now + _SKEW:
            return min(found, self.now)
        notes.append(BROKEN_TIME if found is None else FUTURE_TIME)
        return next((near for near in neighbours if near is not None and near <= self.now), self.now)


@value
class Entry:
    """A log entry on its way in."""

    session_id: str
    at: int
    words: str
    origin: str
    notes: tuple[str, ...] = ()


class OlderSession:
    """A session of the source, made into one of ours."""

    def __init__(self, times: Times, row: Row) -> None:
        self.notes: list[str] = []
        self.kept: list[Entry] = []  # what our columns have no place for
        self.raw = fingerprint(row.values())
        self.recovered = False
        self.fresh = False  # written by this import
        self.ours = True  # until it turns out to have lived on here
        self.id = self._name(row)
        self.started = times.mend(row["started_at"], self.notes, times.of_id(self.id))
        self.heartbeat = times.mend(row["last_heartbeat"], self.notes, self.started)
        kind = self._fit("session type", row["session_type"] or None, "unknown", text.LINE)
        self.facts: dict[str, Any] = {
            "id": self.id, "flavor": _flavor(kind), "session_type": kind, "project": "",
            "summary": self._fit("summary", row["summary"], "(no summary)", text.LINE),
            "started_at": self.started, "last_heartbeat": self.heartbeat,
            "metadata": self._metadata(row["metadata"]), **self._ending(times, row),
        }  # fmt: skip

    @property
    def state(self) -> dict[str, Any]:
        """Return what may change in the course of a session."""
        return {name: self.facts[name] for name in (*STATE, "started_at")}

    def keep(self, at: int, words: str) -> Entry:
        """Keep a text as a log entry, once."""
        entry = Entry(session_id=self.id, at=at, words=words, origin=f"engram:kept:{fingerprint((self.id, words))}")
        self.kept.append(entry)
        return entry

    def _name(self, row: Row) -> str:
        given = row["id"]
        # SQLite lets a text key be null, even several times.
        found = id_of((row["session_type"], row["started_at"]) if given is None else given)
        if found != given:
            self.notes.append(BROKEN_ID)
        return found

    def _ending(self, times: Times, row: Row) -> dict[str, Any]:
        status = self._status(row)
        said = row["completion_summary"]
        if status == "active":
            if said is not None or row["completed_at"] is not None:
                self._revived(times, row)
            return {"status": status, "completed_at": None, "completion_summary": None}
        if row["completed_at"] is None:
            self.notes.append(UNDATED)
            at = self.heartbeat
        else:
            at = times.mend(row["completed_at"], self.notes, self.heartbeat)
        summary = self._fit("completion summary", said, "(no summary)", text.PAGE)
        return {"status": status, "completed_at": at, "completion_summary": summary}

    def _status(self, row: Row) -> str:
        status = words_of(row["status"], [], "")
        if status.strip().casefold() in ("active", "completed"):
            return status.strip().casefold()
        self.notes.append(STATUS)
        if status:
            self.keep(self.heartbeat, f"Its status had been {status!r}.")
        return "active" if row["completed_at"] is None else "completed"

    def _revived(self, times: Times, row: Row) -> None:
        """Keep what a session said when it was completed, before a heartbeat opened it again."""
        self.notes.append(REVIVED)
        at = self.heartbeat if row["completed_at"] is None else times.mend(row["completed_at"], [], self.heartbeat)
        said = words_of(row["completion_summary"], self.notes if row["completion_summary"] else [], "(no summary)")
        self.keep(at, f"Re-opened. It had been completed at {moment(at).isoformat(timespec='seconds')}: {said}")

    def _metadata(self, given: Any) -> str | None:
        if given is None:
            return None
        words = _json(words_of(given, self.notes, ""))
        if len(words.encode()) <= text.PAGE:
            return words
        self._overflow("metadata", words)
        return None

    def _fit(self, field: str, given: Any, instead: str, limit: int) -> str:
        words = words_of(given, self.notes, instead)
        if len(words.encode()) <= limit:
            return words
        self._overflow(field, words)
        return words.encode()[: limit - 3].decode("utf-8", "ignore") + "…"

    def _overflow(self, field: str, words: str) -> None:
        self.notes.append(LONG_TEXT)
        self.keep(self.heartbeat, f"Its whole {field}:\n{words}")


def id_of(given: object) -> str:
    """Return a session id exactly as given, or for one that no store can keep another that is always the same."""
    try:
        found = text.name("session_id", given)
    except InvalidInput:
        found = ""
    return found if 0 < len(found.encode()) <= _LONGEST_ID else f"recovered-{fingerprint((given,))[:8]}"


def _flavor(session_type: str) -> str:
    flavor = host.flavor_of([session_type]) or session_type
    return text.one_line(flavor, 1000)


def words_of(given: object, notes: list[str], instead: str) -> str:
    """Return any value as text that any engine can store."""
    if given is None:
        notes.append(ABSENT)
        return instead
    if isinstance(given, str):
        words = given
    else:
        notes.append(NOT_TEXT)
        words = given.decode("utf-8", "backslashreplace") if isinstance(given, bytes) else str(given)
    cleaned = text.clean("text", words, _ANY_SIZE)
    if cleaned != words.replace("\r\n", "\n"):
        notes.append(BROKEN_TEXT)
    return cleaned


def _json(words: str) -> str:
    """Return metadata as JSON: what it was already, or the text itself."""
    try:
        found = json.loads(words, parse_constant=_no_number)
        return text.clean("metadata", json.dumps(found, ensure_ascii=False), _ANY_SIZE)
    except (ValueError, RecursionError):
        return json.dumps(words, ensure_ascii=False)


def _no_number(word: str) -> None:
    raise ValueError(word)


def parts(entry: Entry) -> Iterator[Entry]:
    """Yield an entry, in parts if it is longer than an entry may be."""
    length = text.PAGE // 4  # no character takes more than four bytes
    if len(entry.words) <= length or len(entry.words.encode()) <= text.PAGE:
        yield entry
        return
    for number, start in enumerate(range(0, len(entry.words), length)):
        yield Entry(
            session_id=entry.session_id, at=entry.at, words=entry.words[start : start + length],
            origin=f"{entry.origin}+{number}" if number else entry.origin, notes=entry.notes,
        )  # fmt: skip


def fingerprint(facts: Iterable[object]) -> str:
    """Return what tells these facts from any others."""
    import hashlib

    return hashlib.sha256(repr(tuple(facts)).encode()).hexdigest()[:32]
