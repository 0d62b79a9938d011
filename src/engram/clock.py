"""The only source of time and of new ids."""

from __future__ import annotations

import os
import time

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, tzinfo

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

# Counts while the machine sleeps and never jumps; macOS names it differently, Windows has one clock.
_STEADY = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


@value
class Instant:
    """One moment on both clocks of a store."""

    now: int  # wall time
    steady: int  # the time leases live on


class Clock:
    """The machine's clocks, in microseconds."""

    def now(self) -> int:
        """Return the wall-clock time, UTC."""
        return time.time_ns() // 1000

    def steady(self) -> int:
        """Return a time since boot that no clock change moves."""
        return (time.clock_gettime_ns(_STEADY) if _STEADY is not None else time.monotonic_ns()) // 1000

    def sleep(self, seconds: float) -> None:
        """Let others go first."""
        time.sleep(seconds)


def moment(microseconds: int) -> datetime:
    """Turn stored microseconds into an aware UTC datetime."""
    # A hook that shows no time need not load it, and one that does is spared the module around the compiled one.
    try:
        import _datetime as calendar  # type: ignore[import-not-found]
    except ImportError:
        import datetime as calendar
    epoch = calendar.datetime(1970, 1, 1, tzinfo=calendar.timezone.utc)
    found: datetime = epoch + calendar.timedelta(microseconds=microseconds)
    return found


def zone(name: str) -> tzinfo | None:
    """Return a time zone by its name; None stands for the machine's own, also where nobody knows the name."""
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        import warnings

        told = f"timezone {name!r} is not known here; the machine's own is used. Say e.g. Europe/Berlin."
        warnings.warn(told, stacklevel=2)
        return None


def session_id(now: int) -> str:
    """Return a new session id: local time and eight random hex digits."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now // SECOND))
    return f"{stamp}-{os.urandom(4).hex()}"
