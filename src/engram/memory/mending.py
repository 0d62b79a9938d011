"""What an import has to mend: texts, times and ids that cannot stand as they are, counted by what was wrong."""

from __future__ import annotations

from collections import Counter

from engram import text
from engram.clock import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.redaction.redactor import Redactor

_ANY_SIZE = 1 << 62

BROKEN_ID = "session ids that no store can keep"
BROKEN_TEXT = "texts with characters that cannot be kept"
DELETED = "exchanges of sessions you deleted, left out"
FORGOTTEN = "documents made of sessions you deleted, left out"
EMPTY = "empty texts, left out"
NEWER = "documents that are newer here, left alone"
NO_ROW = "sessions that had no row of their own"
NO_TIME = "times that could not be read, set by what stands beside them"
NO_ZONE = "times without a zone, taken as UTC"
OTHER_ZONE = "times of another zone, moved to UTC"
UNREADABLE = "self states that are no JSON, kept as they are and passed over"
ODD_VECTOR = "vectors of a broken size"


class Mending:
    """Mends and counts."""

    def __init__(self, redactor: Redactor, now: int) -> None:
        self.redactor, self.now = redactor, now
        self.counts: Counter[str] = Counter()

    def note(self, what: str) -> None:
        """Count something that was mended."""
        self.counts[what] += 1

    def text(self, given: object) -> str:
        """Return any value as text that any engine can store."""
        words = "" if given is None else str(given)
        found = text.clean("text", words, _ANY_SIZE)
        if found != words.replace("\r\n", "\n") or "�" in words:
            self.note(BROKEN_TEXT)
        return found

    def said(self, given: object) -> str:
        """Return a text without secrets."""
        return self.redactor.clean(self.text(given)).strip()

    def time(self, given: object, beside: int | None, *, quiet: bool = False) -> int:
        """Return a time that can be true: the one given, else the one beside it, else now."""
        found, note = _read(given)
        if found is None or found > self.now:
            found, note = beside if beside is not None else self.now, NO_TIME
        if note and not quiet:
            self.note(note)
        return found


def is_count(number: object) -> bool:
    """Tell whether something is a number rows can be counted or named by."""
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**63


def _read(given: object) -> tuple[int | None, str]:
    """Return microseconds, and what had to be mended."""
    from datetime import datetime, timedelta, timezone

    words = str(given or "").strip()
    try:
        if words.replace(".", "", 1).isdigit() and len(words) > 8:
            return int(float(words) * 1_000_000), NO_ZONE
        found = datetime.fromisoformat(words)
        note = NO_ZONE if found.tzinfo is None else OTHER_ZONE if found.utcoffset() else ""
        aware = found.replace(tzinfo=timezone.utc) if found.tzinfo is None else found
        return (aware - moment(0)) // timedelta(microseconds=1), note
    except (ValueError, OverflowError):
        return None, NO_TIME
