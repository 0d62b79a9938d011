"""The limits of one pass: time, tokens and money."""

from __future__ import annotations

import re

from engram.clock import SECOND
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.platform.value import value

_PART = re.compile(r"(?P<money>\$(?P<dollars>\d+(?:\.\d+)?))|(?P<number>\d+(?:\.\d+)?)(?P<unit>[a-z]+)")
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_TOKENS = {"t": 1, "tokens": 1, "kt": 1000, "k": 1000, "ktokens": 1000}


@value
class PassLimits:
    """The limits of one pass."""

    seconds: float
    tokens: int
    dollars: float  # 0 to call no model

    def describe(self) -> str:
        """Describe the limits."""
        money = f"${self.dollars:.2f} and {self.tokens:,} tokens" if self.dollars else "no model"
        return f"{self.seconds:g} s, {money}"


def parse_limits(hub: Hub, expression: str | None) -> PassLimits:
    """Return the configured limits, overridden by a text such as "5m, 50k tokens, $0.20"."""
    settings = hub.settings
    limits = {"seconds": float(settings.dream_seconds), "tokens": settings.dream_tokens,
             "dollars": settings.dream_cents / 100}  # fmt: skip
    for part in re.split(r"[,;]+", expression or ""):
        if part.strip():
            name, amount = _parse_part("".join(part.lower().split()))
            limits[name] = amount
    return PassLimits(seconds=limits["seconds"], tokens=int(limits["tokens"]), dollars=limits["dollars"])


class Deadline:
    """The time when a pass has to end."""

    def __init__(self, hub: Hub, seconds: float) -> None:
        self._hub = hub
        self._at = hub.clock.steady() + int(seconds * SECOND)

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self._hub.clock.steady() >= self._at


def _parse_part(part: str) -> tuple[str, float]:
    match = _PART.fullmatch(part)
    if match and match["dollars"]:
        return "dollars", float(match["dollars"])
    unit, number = (match["unit"], float(match["number"])) if match else ("", 0.0)
    if unit in _SECONDS:
        return "seconds", number * _SECONDS[unit]
    if unit in _TOKENS:
        return "tokens", number * _TOKENS[unit]
    if unit in ("c", "cents"):
        return "dollars", number / 100
    reason = f"Cannot read {part!r} as a limit. Use time (5m), tokens (50k) or money ($0.20), separated by commas."
    raise InvalidInput(field="budget", reason=reason)
