"""Convert rows of an older Engram: times, ids, texts and whole sessions, with repairs."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

from engram.agents.running import match_command
from engram.clock import MINUTE, to_datetime
from engram.errors import InvalidInput
from engram.platform import text
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo
    from typing import Any

    from engram.store.engine import Row

# The repairs, as shown to the user.
ABSENT = "values that were missing"
BROKEN_ID = "session ids that cannot be stored"
BROKEN_TEXT = "texts with characters that cannot be stored"
BROKEN_TIME = "times that could not be read"
FUTURE_TIME = "times in the future (written in another time zone?)"
LONG_TEXT = "texts over the size limit, kept in full in the log"
NOT_TEXT = "values that were not text"
REVIVED = "active sessions with an old completion, kept in the log"
STATUS = "sessions with an unknown status"
UNDATED = "completed sessions without a completion time"

STATE = ("status", "summary", "last_heartbeat", "completed_at", "completion_summary")  # fields that may change
_ANY_SIZE = 1 << 62
_LONGEST_ID = 1024  # bytes; a PostgreSQL index accepts at most about 2,700
_SKEW = 5 * MINUTE  # allowed clock difference between two machines
_EPOCH = to_datetime(0)
_STAMP = re.compile("([0-9]{8})(-?)([0-9]{6})-")


class TimeParser:
    """Parse both time formats: UTC from Elixir, local time of the machine from Python."""

    def __init__(self, zone: tzinfo | None, now: int) -> None:
        self.now = now
        self._zone = zone

    def parse_time(self, raw: object) -> int | None:
        """Return microseconds, or None if it is not a time.

        An hour repeated by a clock change counts as its first occurrence; a skipped one as if the clock had not changed
        yet.
        """
        words = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
        try:
            parsed = datetime.fromisoformat(words.strip())
            if parsed.tzinfo is None:
                parsed = parsed.astimezone() if self._zone is None else parsed.replace(tzinfo=self._zone)
            return (parsed - _EPOCH) // timedelta(microseconds=1)
        except (ValueError, OverflowError, OSError):
            return None

    def time_from_id(self, session_id: str) -> int | None:
        """Return the time in a session id: local with a dash inside, UTC without."""
        match = _STAMP.match(session_id)
        return self.parse_time(f"{match[1]}T{match[3]}{'' if match[2] else 'Z'}") if match else None

    def repair_time(self, raw: object, notes: list[str], *neighbours: int | None) -> int:
        """Return a plausible time: the given one, else the nearest known one, else now."""
        parsed = self.parse_time(raw)
        if parsed is not None and parsed <= self.now + _SKEW:
            return min(parsed, self.now)
        notes.append(BROKEN_TIME if parsed is None else FUTURE_TIME)
        return next(
            (neighbour for neighbour in neighbours if neighbour is not None and neighbour <= self.now), self.now
        )


@value
class ImportedEntry:
    """A log entry to import."""

    session_id: str
    at: int
    words: str
    origin: str
    notes: tuple[str, ...] = ()


class OlderSession:
    """A session of the source, converted to ours."""

    def __init__(self, times: TimeParser, row: Row) -> None:
        self.notes: list[str] = []
        self.kept: list[ImportedEntry] = []  # fields without a column here
        self.raw = fingerprint(row.values())
        self.recovered = False
        self.fresh = False  # written by this import
        self.ours = True  # until it turns out that it went on here
        self.id = self._read_id(row)
        self.started = times.repair_time(row["started_at"], self.notes, times.time_from_id(self.id))
        self.heartbeat = times.repair_time(row["last_heartbeat"], self.notes, self.started)
        kind = self._fit_text("session type", row["session_type"] or None, "unknown", text.LINE)
        self.facts: dict[str, Any] = {
            "id": self.id, "flavor": _guess_flavor(kind), "session_type": kind, "project": "",
            "summary": self._fit_text("summary", row["summary"], "(no summary)", text.LINE),
            "started_at": self.started, "last_heartbeat": self.heartbeat,
            "metadata": self._read_metadata(row["metadata"]), **self._read_ending(times, row),
        }  # fmt: skip

    @property
    def state(self) -> dict[str, Any]:
        """The fields that may change during a session."""
        return {name: self.facts[name] for name in (*STATE, "started_at")}

    def keep_as_entry(self, at: int, words: str) -> ImportedEntry:
        """Keep a text as a log entry, once."""
        entry = ImportedEntry(
            session_id=self.id, at=at, words=words, origin=f"engram:kept:{fingerprint((self.id, words))}"
        )
        self.kept.append(entry)
        return entry

    def _read_id(self, row: Row) -> str:
        raw_id = row["id"]
        # SQLite allows NULL in a text key, even several times.
        own_id = make_session_id((row["session_type"], row["started_at"]) if raw_id is None else raw_id)
        if own_id != raw_id:
            self.notes.append(BROKEN_ID)
        return own_id

    def _read_ending(self, times: TimeParser, row: Row) -> dict[str, Any]:
        status = self._read_status(row)
        completion = row["completion_summary"]
        if status == "active":
            if completion is not None or row["completed_at"] is not None:
                self._keep_completion(times, row)
            return {"status": status, "completed_at": None, "completion_summary": None}
        if row["completed_at"] is None:
            self.notes.append(UNDATED)
            at = self.heartbeat
        else:
            at = times.repair_time(row["completed_at"], self.notes, self.heartbeat)
        summary = self._fit_text("completion summary", completion, "(no summary)", text.PAGE)
        return {"status": status, "completed_at": at, "completion_summary": summary}

    def _read_status(self, row: Row) -> str:
        status = to_text(row["status"], [], "")
        if status.strip().casefold() in ("active", "completed"):
            return status.strip().casefold()
        self.notes.append(STATUS)
        if status:
            self.keep_as_entry(self.heartbeat, f"Its status had been {status!r}.")
        return "active" if row["completed_at"] is None else "completed"

    def _keep_completion(self, times: TimeParser, row: Row) -> None:
        """Keep the completion text of a session that a heartbeat reopened."""
        self.notes.append(REVIVED)
        at = (
            self.heartbeat
            if row["completed_at"] is None
            else times.repair_time(row["completed_at"], [], self.heartbeat)
        )
        completion = to_text(row["completion_summary"], self.notes if row["completion_summary"] else [], "(no summary)")
        self.keep_as_entry(
            at, f"Re-opened. It had been completed at {to_datetime(at).isoformat(timespec='seconds')}: {completion}"
        )

    def _read_metadata(self, raw: Any) -> str | None:
        if raw is None:
            return None
        words = _normalize_json(to_text(raw, self.notes, ""))
        if len(words.encode()) <= text.PAGE:
            return words
        self._keep_overflow("metadata", words)
        return None

    def _fit_text(self, field: str, raw: Any, fallback: str, limit: int) -> str:
        words = to_text(raw, self.notes, fallback)
        if len(words.encode()) <= limit:
            return words
        self._keep_overflow(field, words)
        return words.encode()[: limit - 3].decode("utf-8", "ignore") + "…"

    def _keep_overflow(self, field: str, words: str) -> None:
        self.notes.append(LONG_TEXT)
        self.keep_as_entry(self.heartbeat, f"Its whole {field}:\n{words}")


def make_session_id(raw_id: object) -> str:
    """Return a session id as given, or a stable replacement if it cannot be stored."""
    try:
        own_id = text.validate_name("session_id", raw_id)
    except InvalidInput:
        own_id = ""
    return own_id if 0 < len(own_id.encode()) <= _LONGEST_ID else f"recovered-{fingerprint((raw_id,))[:8]}"


def _guess_flavor(session_type: str) -> str:
    flavor = match_command([session_type]) or session_type
    return text.to_one_line(flavor, 1000)


def to_text(raw: object, notes: list[str], fallback: str) -> str:
    """Return any value as text that any engine can store."""
    if raw is None:
        notes.append(ABSENT)
        return fallback
    if isinstance(raw, str):
        words = raw
    else:
        notes.append(NOT_TEXT)
        words = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else str(raw)
    cleaned = text.validate_text("text", words, _ANY_SIZE)
    if cleaned != words.replace("\r\n", "\n"):
        notes.append(BROKEN_TEXT)
    return cleaned


def _normalize_json(words: str) -> str:
    """Return metadata as JSON: unchanged if valid, else as a JSON string."""
    try:
        parsed = json.loads(words, parse_constant=_reject_constant)
        return text.validate_text("metadata", json.dumps(parsed, ensure_ascii=False), _ANY_SIZE)
    except (ValueError, RecursionError):
        return json.dumps(words, ensure_ascii=False)


def _reject_constant(word: str) -> None:
    raise ValueError(word)


def split_entry(entry: ImportedEntry) -> Iterator[ImportedEntry]:
    """Yield an entry, split into parts if it is too long."""
    length = text.PAGE // 4  # no character takes more than four bytes
    if len(entry.words) <= length or len(entry.words.encode()) <= text.PAGE:
        yield entry
        return
    for number, start in enumerate(range(0, len(entry.words), length)):
        yield ImportedEntry(
            session_id=entry.session_id, at=entry.at, words=entry.words[start : start + length],
            origin=f"{entry.origin}+{number}" if number else entry.origin, notes=entry.notes,
        )  # fmt: skip


def fingerprint(facts: Iterable[object]) -> str:
    """Return a fingerprint of these facts."""
    import hashlib

    return hashlib.sha256(repr(tuple(facts)).encode()).hexdigest()[:32]
