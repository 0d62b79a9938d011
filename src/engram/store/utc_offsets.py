"""Days in SQL: a UTC offset that changes with daylight saving."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def build_day_sql(moment: str, offsets: Sequence[tuple[int, int]]) -> str:
    """Return the SQL of the day since 1970 of a moment, given the offsets and until when each applies."""
    *earlier, (_, last) = offsets
    steps = " ".join(f"when {moment} < {int(until)} then {int(ahead)}" for until, ahead in earlier)
    offset = f"case {steps} else {int(last)} end" if earlier else str(int(last))
    return f"({moment} + {offset}) / 86400000000"
