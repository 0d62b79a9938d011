"""Drives: how urgent each kind of upkeep is, as a number with its reasons.

Pressure comes from counts: each count has a half value, at which it alone gives a pressure of 0.5; several counts
combine as 1 minus the product of what each leaves. A level is the pressure raised by waiting: after the configured
patience, half of the remaining gap to 1 is filled. So a large backlog acts immediately, and a small one acts in the
end.
"""

from __future__ import annotations

from engram.clock import HOUR, to_datetime
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONTINUITY, COHERENCE, CURIOSITY, HYGIENE, STABILITY = "continuity", "coherence", "curiosity", "hygiene", "stability"
WORKING = (CONTINUITY, COHERENCE, CURIOSITY, HYGIENE)  # drives that make work due


@value
class PressureCount:
    """A count that adds pressure to a drive."""

    number: float
    half: float  # the number that gives a pressure of 0.5
    one: str  # what is counted, in words
    many: str


@value
class Drive:
    """How urgent one kind of upkeep is."""

    name: str
    level: float  # 0 to 1
    pressure: float  # the part that comes from the current counts
    threshold: float
    since: int | None  # when it became non-zero, in microseconds
    why: str

    @property
    def is_due(self) -> bool:
        """Whether it is past its threshold."""
        return self.pressure > 0 and self.level >= self.threshold

    def told(self) -> str:
        """The drive as one line."""
        return f"{self.name} {self.level:.2f}: {self.why}"


def compute_pressure(counts: tuple[PressureCount, ...]) -> float:
    """Return the combined pressure of several counts."""
    return 1.0 - 2.0 ** -sum(max(0.0, count.number) / count.half for count in counts)


def build_drive(
    name: str, counts: tuple[PressureCount, ...], before: Any, now: int, threshold: float, patience: float
) -> Drive:
    """Build a drive from its counts and its waiting time."""
    current_pressure = compute_pressure(counts)
    began = _parse_since(before) if current_pressure > 0 else None
    since = None if current_pressure <= 0 else now if began is None or began > now else began
    hours = (now - since) / HOUR if since is not None else 0.0
    level = 1.0 - (1.0 - current_pressure) * 0.5 ** (hours / patience) if current_pressure > 0 else 0.0
    return Drive(
        name=name, level=round(level, 4), pressure=round(current_pressure, 4), threshold=threshold, since=since,
        why=_explain_counts(counts, hours),
    )  # fmt: skip


def build_stability(drives: dict[str, Drive]) -> Drive:
    """Return how up to date the memory is: what the strongest drive leaves. It triggers nothing."""
    worst = max((drives[name] for name in WORKING), key=lambda drive: drive.level)
    why = "all caught up" if worst.level == 0 else f"{worst.name} is at {worst.level:.2f}"
    return Drive(
        name=STABILITY, level=round(1.0 - worst.level, 4), pressure=0.0, threshold=1.0, since=None, why=why
    )  # fmt: skip


def dump_drives(drives: dict[str, Drive]) -> dict[str, Any]:
    """Return drives as stored in the self state."""
    return {
        name: {"level": round(drive.level, 2), "why": drive.why}
        | ({"since": to_datetime(drive.since).isoformat()} if drive.since is not None else {})
        for name, drive in drives.items()
    }


def _explain_counts(counts: tuple[PressureCount, ...], hours: float) -> str:
    parts = [
        f"{count.number:,.12g} {count.one if count.number == 1 else count.many}" for count in counts if count.number > 0
    ]
    waited = f", waiting for {hours:.0f} h" if hours >= 1 and parts else ""
    return (", ".join(parts) or "nothing to do") + waited


def _parse_since(before: Any) -> int | None:
    """Return since when a drive has been waiting, from the self state; None if it is invalid."""
    from datetime import datetime, timedelta

    try:
        return (datetime.fromisoformat(before["since"]) - to_datetime(0)) // timedelta(microseconds=1)
    except (TypeError, KeyError, ValueError):
        return None
