"""The only source of time and of new ids."""

from __future__ import annotations

import os
import time

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, tzinfo

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

# Keeps counting while the machine sleeps and never jumps; macOS names it differently, Windows has one clock.
_STEADY = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


@value
class Instant:
    """One moment on both clocks of a store."""

    now: int  # wall-clock time
    steady: int  # monotonic time, used for leases


class Clock:
    """The machine's clocks, in microseconds."""

    def now(self) -> int:
        """Return the wall-clock time, UTC."""
        return time.time_ns() // 1000

    def steady(self) -> int:
        """Return the time since boot, unaffected by clock changes."""
        return (time.clock_gettime_ns(_STEADY) if _STEADY is not None else time.monotonic_ns()) // 1000

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


def to_datetime(microseconds: int) -> datetime:
    """Turn stored microseconds into an aware UTC datetime."""
    # Imported late for hooks that show no time; `_datetime` skips the pure Python wrapper.
    try:
        import _datetime as calendar  # type: ignore[import-not-found]
    except ImportError:
        import datetime as calendar
    epoch = calendar.datetime(1970, 1, 1, tzinfo=calendar.timezone.utc)
    converted: datetime = epoch + calendar.timedelta(microseconds=microseconds)
    return converted


def load_timezone(name: str) -> tzinfo | None:
    """Return a time zone by name; None means the machine's own, also without a database of time zones."""
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None


def make_session_id(now: int) -> str:
    """Return a new session id: local time and eight random hex digits."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(now // SECOND))
    return f"{stamp}-{os.urandom(4).hex()}"
