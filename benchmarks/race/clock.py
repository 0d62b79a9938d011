"""The clock all racers share, and the durations in a race."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

SECOND = 1_000_000_000
SLACK = 2_000_000  # nanoseconds two clocks of one machine may drift apart within a lease
ENDLESS = math.inf

LONG = 30.0  # minutes a lock lasts for racers that get killed
SHORTEST = 0.01  # minimum minutes a lock lasts for racers that get stopped
LONGEST = 0.02  # and the maximum


def steady() -> int:
    """Return the time of a clock that all processes on this machine share and that cannot be set."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def skew(clock: Callable[[], int]) -> int:
    """Return how far a clock of Engram is ahead of ours, from the quickest of three readings."""
    looks = [(steady(), clock() * 1000, steady()) for _ in range(3)]
    before, then, after = min(looks, key=lambda look: look[2] - look[0])
    return then - (before + after) // 2
