"""Repair texts, times and ids during an import, and count the repairs by kind."""

from __future__ import annotations

from collections import Counter

from engram.clock import to_datetime
from engram.platform import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.redaction.redactor import Redactor

_ANY_SIZE = 1 << 62

BROKEN_ID = "session ids that cannot be stored"
BROKEN_TEXT = "texts with characters that cannot be stored"
DELETED = "messages of sessions you deleted, skipped"
FORGOTTEN = "documents made from sessions you deleted, skipped"
EMPTY = "empty texts, skipped"
NEWER = "documents that are newer here, kept"
NO_ROW = "sessions without a row of their own"
NO_TIME = "unreadable times, set from neighbouring rows"
NO_ZONE = "times without a zone, read as UTC"
OTHER_ZONE = "times in another zone, converted to UTC"
UNREADABLE = "self states that are not JSON, stored but not used"
ODD_VECTOR = "vectors with an invalid size"


class Repairs:
    """Repairs values and counts the repairs."""

    def __init__(self, redactor: Redactor, now: int) -> None:
        self.redactor, self.now = redactor, now
        self.counts: Counter[str] = Counter()

    def count_repair(self, what: str) -> None:
        """Count a repair."""
        self.counts[what] += 1

    def clean_text(self, raw: object) -> str:
        """Return any value as text that any engine can store."""
        words = "" if raw is None else str(raw)
        cleaned = text.validate_text("text", words, _ANY_SIZE)
        if cleaned != words.replace("\r\n", "\n") or "�" in words:
            self.count_repair(BROKEN_TEXT)
        return cleaned

    def redact_text(self, raw: object) -> str:
        """Return a text without secrets."""
        return self.redactor.redact(self.clean_text(raw)).strip()

    def repair_time(self, raw: object, neighbour: int | None, *, quiet: bool = False) -> int:
        """Return a plausible time: the given one, else a neighbouring one, else now."""
        parsed, note = _parse_time(raw)
        if parsed is None or parsed > self.now:
            parsed, note = neighbour if neighbour is not None else self.now, NO_TIME
        if note and not quiet:
            self.count_repair(note)
        return parsed


def is_count(number: object) -> bool:
    """Check whether a value is a valid row number or count."""
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**63


def _parse_time(raw: object) -> tuple[int | None, str]:
    """Return microseconds, and the repair that was needed."""
    from datetime import datetime, timedelta, timezone

    words = str(raw or "").strip()
    try:
        if words.replace(".", "", 1).isdigit() and len(words) > 8:
            return int(float(words) * 1_000_000), NO_ZONE
        parsed = datetime.fromisoformat(words)
        note = NO_ZONE if parsed.tzinfo is None else OTHER_ZONE if parsed.utcoffset() else ""
        aware = parsed.replace(tzinfo=timezone.utc) if parsed.tzinfo is None else parsed
        return (aware - to_datetime(0)) // timedelta(microseconds=1), note
    except (ValueError, OverflowError):
        return None, NO_TIME
