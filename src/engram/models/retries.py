"""Retry temporary failures: at most three times, with growing pauses, within one time limit."""

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


def call_with_retries(call: Callable[[float], T], seconds: float, clock: Clock) -> T:
    """Call a function with the seconds left; retry after a temporary failure."""
    end = clock.steady() + int(seconds * SECOND)
    attempt = 1
    while True:
        try:
            return call((end - clock.steady()) / SECOND)
        except ModelUnavailable as problem:
            pause = _compute_pause(attempt, problem.after)
            if attempt == TRIES or clock.steady() + pause * SECOND >= end:
                raise
        clock.sleep(pause)
        attempt += 1


def _compute_pause(attempt: int, after: float | None) -> float:
    """Return the pause before the next try: growing, random, and at least what the server asked for."""
    jitter = 0.5 + os.urandom(1)[0] / 255
    return max(_FIRST_PAUSE * 2.0 ** (attempt - 1) * jitter, after or 0.0)
