"""What a model's tokens cost: a dated price table that anybody may overrule in the home."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from engram.errors import SettingsInvalid

_PROVIDER = re.compile(r"^(?:.*/)?(?:[a-z-]+\.)*")  # anthropic/…, us.anthropic.…
_BOUNDARY = re.compile(r"$|[-@:](?!\d{1,2}(?:$|[-.@:]))")  # a number of one or two digits is a further version
_VERSION_FIRST = re.compile(r"^claude-(\d{1,2}(?:-\d{1,2})?)-([a-z]+)")


class Prices:
    """The price table in force."""

    def __init__(self, home: str) -> None:
        shipped = _table(os.path.join(os.path.dirname(__file__), "prices.toml"))
        own = os.path.join(home, "prices.toml")
        changed = _table(own) if os.path.exists(own) else {}
        self.dated: str = changed.get("dated", shipped["dated"])
        self._models: dict[str, list[float]] = {**shipped["models"], **changed.get("models", {})}

    def of(self, model: str) -> list[float] | None:
        """Return a model's prices, not those of another version; a provider before its name does not matter."""
        for name in _names(model.lower()):
            fitting = [each for each in self._models if name.startswith(each) and _BOUNDARY.match(name, len(each))]
            if fitting:
                return self._models[max(fitting, key=len)]
        return None

    def likely(self, model: str) -> list[float] | None:
        """Return what a model costs, for a mere alias (haiku, sonnet) the dearest it may stand for."""
        fitting = [prices for name, prices in self._models.items() if model and model.lower() in re.split("[-.]", name)]
        return self.of(model) or max(fitting, key=lambda prices: prices[1], default=None)

    def money(self, row: dict[str, Any]) -> float | None:
        """Return the price of a row of tokens, or None for a model the table does not know."""
        prices = self.of(row["model"])
        if prices is None:
            return None
        per = dict(
            zip(("input", "output", "cache_read", "cache_write", "cache_write_long"), _filled(prices), strict=True)
        )
        total = sum(row[name] * per[name] for name in per) + row["reasoning"] * per["output"]
        return float(total) / 1_000_000


def _filled(prices: list[float]) -> list[float]:
    """Return all five prices; where none is given, a token costs what it costs uncached."""
    return [*prices, *prices[:1] * (5 - len(prices))]


def _names(model: str) -> Iterator[str]:
    """Yield a model's name as it was told and as its maker writes it: others say us.anthropic.claude-4.5-sonnet."""
    yield model
    yield (name := _PROVIDER.sub("", model))
    if name.startswith("claude-"):
        yield (dashed := name.replace(".", "-"))
        yield _VERSION_FIRST.sub(r"claude-\2-\1", dashed)


def _table(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            found = tomllib.load(file)
        for name, prices in found.get("models", {}).items():
            if not 2 <= len(prices) <= 5 or not all(isinstance(each, int | float) and each >= 0 for each in prices):
                raise ValueError(f"{name} needs two to five prices")
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise SettingsInvalid(source=path, reason=f"{problem}.") from problem
    return found
