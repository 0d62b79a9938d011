"""Drives: why something is due, as a number with its reasons.

A pressure comes from counts: each has a half, the count that alone makes it 0.5, and halves multiply what is left open.
A level is the pressure raised by waiting: after the patience of the settings, half of what is left open is filled as
well. So much at once acts at once, and little acts in the end.
"""

from __future__ import annotations

from engram.clock import HOUR, moment
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONTINUITY, COHERENCE, CURIOSITY, HYGIENE, STABILITY = "continuity", "coherence", "curiosity", "hygiene", "stability"
WORKING = (CONTINUITY, COHERENCE, CURIOSITY, HYGIENE)  # those that make something due


@value
class Count:
    """So many of one thing, which press on a drive."""

    number: float
    half: float  # the number that presses with 0.5
    one: str  # what is counted, in words
    many: str


@value
class Drive:
    """How much one thing is due."""

    name: str
    level: float  # 0 to 1
    pressure: float  # what of it comes from what is there now
    threshold: float
    since: int | None  # when it began to press, microseconds
    why: str

    @property
    def is_due(self) -> bool:
        """Tell whether it is past its threshold."""
        return self.pressure > 0 and self.level >= self.threshold

    def told(self) -> str:
        """Return the drive as a person reads it."""
        return f"{self.name} {self.level:.2f}: {self.why}"


def pressure(counts: tuple[Count, ...]) -> float:
    """Return how much several counts press together."""
    return 1.0 - 2.0 ** -sum(max(0.0, each.number) / each.half for each in counts)


def built(name: str, counts: tuple[Count, ...], before: Any, now: int, threshold: float, patience: float) -> Drive:
    """Return a drive as it stands now, by its counts and by how long it has pressed."""
    found = pressure(counts)
    began = _since(before) if found > 0 else None
    since = None if found <= 0 else now if began is None or began > now else began
    hours = (now - since) / HOUR if since is not None else 0.0
    level = 1.0 - (1.0 - found) * 0.5 ** (hours / patience) if found > 0 else 0.0
    return Drive(
        name=name, level=round(level, 4), pressure=round(found, 4), threshold=threshold, since=since,
        why=_why(counts, hours),
    )  # fmt: skip


def stability(drives: dict[str, Drive]) -> Drive:
    """Return how caught-up memory is: what the strongest drive leaves. It triggers nothing."""
    worst = max((drives[name] for name in WORKING), key=lambda each: each.level)
    why = "all caught up" if worst.level == 0 else f"{worst.name} is at {worst.level:.2f}"
    return Drive(
        name=STABILITY, level=round(1.0 - worst.level, 4), pressure=0.0, threshold=1.0, since=None, why=why
    )  # fmt: skip


def kept(drives: dict[str, Drive]) -> dict[str, Any]:
    """Return drives as the self state holds them."""
    return {
        name: {"level": round(each.level, 2), "why": each.why}
        | ({"since": moment(each.since).isoformat()} if each.since is not None else {})
        for name, each in drives.items()
    }


def _why(counts: tuple[Count, ...], hours: float) -> str:
    told = [f"{each.number:g} {each.one if each.number == 1 else each.many}" for each in counts if each.number > 0]
    waited = f", waiting for {hours:.0f} h" if hours >= 1 and told else ""
    return (", ".join(told) or "nothing waits") + waited


def _since(before: Any) -> int | None:
    """Return since when a drive pressed, by what the self state held; None if it says nothing sensible."""
    from datetime import datetime, timedelta

    try:
        return (datetime.fromisoformat(before["since"]) - moment(0)) // timedelta(microseconds=1)
    except (TypeError, KeyError, ValueError):
        return None
