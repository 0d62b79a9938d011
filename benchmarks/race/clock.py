"""The one time all racers go by, and the lengths of time that matter in a race."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

SECOND = 1_000_000_000
SLACK = 2_000_000  # how far two clocks of one machine may drift within a lease
ENDLESS = math.inf

LONG = 30.0  # minutes a lock lasts for those who get killed
SHORTEST = 0.01  # minutes a lock lasts, at least, for those who get stopped
LONGEST = 0.02  # and at most


def steady() -> int:
    """Return the time that all processes of this machine share and nobody can set."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def skew(clock: Callable[[], int]) -> int:
    """Return how far a clock of the product is ahead of ours, from the least disturbed of a few looks."""
    looks = [(steady(), clock() * 1000, steady()) for _ in range(3)]
    before, then, after = min(looks, key=lambda look: look[2] - look[0])
    return then - (before + after) // 2
