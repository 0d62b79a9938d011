"""Trying again what can heal: three times at most, with growing pauses, within one time limit."""

from __future__ import annotations

import os

from engram.clock import SECOND, Clock
from engram.errors import ModelUnavailable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    T = TypeVar("T")

TRIES = 3
_FIRST_PAUSE = 0.5  # seconds


def persist(act: Callable[[float], T], seconds: float, clock: Clock) -> T:
    """Do something that takes the seconds left, again if the world was not ready for it."""
    end = clock.steady() + int(seconds * SECOND)
    attempt = 1
    while True:
        try:
            return act((end - clock.steady()) / SECOND)
        except ModelUnavailable as problem:
            pause = _pause(attempt, problem.after)
            if attempt == TRIES or clock.steady() + pause * SECOND >= end:
                raise
        clock.sleep(pause)
        attempt += 1


def _pause(attempt: int, after: float | None) -> float:
    """Return how long to wait: longer each time, no two callers alike, never less than we were asked to."""
    jitter = 0.5 + os.urandom(1)[0] / 255
    return max(_FIRST_PAUSE * 2.0 ** (attempt - 1) * jitter, after or 0.0)
