"""What one pass may take: time, tokens and money."""

from __future__ import annotations

import re

from engram.clock import SECOND
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.value import value

_PART = re.compile(r"(?P<money>\$(?P<dollars>\d+(?:\.\d+)?))|(?P<number>\d+(?:\.\d+)?)(?P<unit>[a-z]+)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_TOKENS = {"t": 1, "tokens": 1, "kt": 1000, "k": 1000, "ktokens": 1000}


@value
class Budget:
    """Limits of one pass."""

    seconds: float
    tokens: int
    dollars: float  # 0: no model is asked

    def told(self) -> str:
        """Return the limits as a person reads them."""
        money = f"${self.dollars:.2f} and {self.tokens:,} tokens" if self.dollars else "no model"
        return f"{self.seconds:g} s, {money}"


def limits_of(hub: Hub, given: str | None) -> Budget:
    """Return the limits of the settings, changed by what somebody gives: "5m, 50k tokens, $0.20"."""
    settings = hub.settings
    found = {"seconds": float(settings.dream_seconds), "tokens": settings.dream_tokens,
             "dollars": settings.dream_cents / 100}  # fmt: skip
    for part in re.split(r"[,;]+", given or ""):
        if part.strip():
            name, amount = _part("".join(part.lower().split()))
            found[name] = amount
    return Budget(seconds=found["seconds"], tokens=int(found["tokens"]), dollars=found["dollars"])


class Deadline:
    """When a pass has to end."""

    def __init__(self, hub: Hub, seconds: float) -> None:
        self._hub = hub
        self._at = hub.clock.steady() + int(seconds * SECOND)

    @property
    def passed(self) -> bool:
        """Tell whether no time is left."""
        return self._hub.clock.steady() >= self._at


def _part(part: str) -> tuple[str, float]:
    found = _PART.fullmatch(part)
    if found and found["dollars"]:
        return "dollars", float(found["dollars"])
    unit, number = (found["unit"], float(found["number"])) if found else ("", 0.0)
    if unit in _SECONDS:
        return "seconds", number * _SECONDS[unit]
    if unit in _TOKENS:
        return "tokens", number * _TOKENS[unit]
    if unit in ("c", "cents"):
        return "dollars", number / 100
    reason = f"{part!r} is no limit; say time (90s, 5m), tokens (50k) or money ($0.20, 20c), parted by commas."
    raise InvalidInput(field="budget", reason=reason)
