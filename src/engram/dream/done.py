"""What a step of the dream came to."""

from __future__ import annotations

from engram.value import value


@value
class Done:
    """What a step came to."""

    step: str
    did: str  # in words
    count: int  # how much it made or changed
    seconds: float = 0.0
    failed: dict[str, str] = {}  # noqa: RUF012  what could not be done, and why; tried again next time
    left: int = 0  # what is left for another pass
