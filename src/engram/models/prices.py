"""Model prices: a dated table that users can override in the Engram home."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from engram.errors import SettingsInvalid

_PROVIDER = re.compile(r"^(?:.*/)?(?:[a-z-]+\.)*")  # anthropic/…, us.anthropic.…
_BOUNDARY = re.compile(r"$|[-@:](?!\d{1,2}(?:$|[-.@:]))")  # a number of one or two digits is another version
_VERSION_FIRST = re.compile(r"^claude-(\d{1,2}(?:-\d{1,2})?)-([a-z]+)")


class Prices:
    """The price table in use."""

    def __init__(self, home: str) -> None:
        shipped = _load_table(os.path.join(os.path.dirname(__file__), "prices.toml"))
        own = os.path.join(home, "prices.toml")
        changed = _load_table(own) if os.path.exists(own) else {}
        self.dated: str = changed.get("dated", shipped["dated"])
        self._models: dict[str, list[float]] = {**shipped["models"], **changed.get("models", {})}

    def find_prices(self, model: str) -> list[float] | None:
        """Return a model's prices, not those of another version; a provider prefix is ignored."""
        for name in _iter_name_variants(model.lower()):
            fitting = [
                prefix for prefix in self._models if name.startswith(prefix) and _BOUNDARY.match(name, len(prefix))
            ]
            if fitting:
                return self._models[max(fitting, key=len)]
        return None

    def guess_prices(self, model: str) -> list[float] | None:
        """Return a model's prices; for an alias (haiku, sonnet) the highest it may stand for."""
        fitting = [prices for name, prices in self._models.items() if model and model.lower() in re.split("[-.]", name)]
        return self.find_prices(model) or max(fitting, key=lambda prices: prices[1], default=None)

    def compute_cost(self, row: dict[str, Any]) -> float | None:
        """Return the price of a row of tokens, or None for an unknown model."""
        prices = self.find_prices(row["model"])
        if prices is None:
            return None
        per = dict(
            zip(("input", "output", "cache_read", "cache_write", "cache_write_long"), _fill_prices(prices), strict=True)
        )
        total = sum(row[name] * per[name] for name in per) + row["reasoning"] * per["output"]
        return float(total) / 1_000_000


def _fill_prices(prices: list[float]) -> list[float]:
    """Return all five prices; if one is missing, use the uncached price."""
    return [*prices, *prices[:1] * (5 - len(prices))]


def _iter_name_variants(model: str) -> Iterator[str]:
    """Yield a model's name as given and as its vendor writes it: some write us.anthropic.claude-4.5-sonnet."""
    yield model
    yield (name := _PROVIDER.sub("", model))
    if name.startswith("claude-"):
        yield (dashed := name.replace(".", "-"))
        yield _VERSION_FIRST.sub(r"claude-\2-\1", dashed)


def _load_table(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
        for name, prices in table.get("models", {}).items():
            if not 2 <= len(prices) <= 5 or not all(isinstance(price, int | float) and price >= 0 for price in prices):
                raise ValueError(f"{name} needs two to five prices")
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise SettingsInvalid(source=path, reason=f"{problem}.") from problem
    return table
