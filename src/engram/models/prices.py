"""Model prices: a dated table that users can override in the Engram home."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from engram.errors import SettingsInvalid
from engram.store.token_usage import BANDS

_CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_long")
_ENDING = re.compile(r"\[\d+[km]\]$|:0$")  # claude-opus-4-6[1m] is the same model with a long context; …-v1:0
_REGION = re.compile(r"^(?:[a-z-]+\.)*")  # us.anthropic.…
# What follows a name may be a date or an effort. A number of one or two digits is another version, and a size another
# model.
_BOUNDARY = re.compile(
    r"$|[-@:](?!\d{1,2}(?:$|[-.@:])|(?:.*[-@:])?(?:mini|nano|lite|flash|pro|air|spark|fast|cyber|audio|image)(?:$|[-@:]))"
)
_VERSION_FIRST = re.compile(r"^claude-(\d{1,2}(?:-\d{1,2})?)-([a-z]+)")
_LIST_NAME = re.compile(r"prices|(?:fast_)?above_(\d+)k|fast")

# A model's prices: one list, or several by name: prices, above_200k, fast, fast_above_200k.
ModelPrices = list[float] | dict[str, list[float]]


class Prices:
    """The price table in use."""

    def __init__(self, home: str) -> None:
        shipped = load_shipped_table()
        own = os.path.join(home, "prices.toml")
        changed = _load_own_table(own) if os.path.exists(own) else {}
        self.dated: str = changed.get("dated", shipped["dated"])
        self._models: Mapping[str, ModelPrices] = {**shipped["models"], **changed.get("models", {})}

    def find_prices(self, model: str, speed: str = "", band: int = 0) -> list[float] | None:
        """Return a model's prices, not those of another version; the longest name that fits wins.

        `band` is the limit that the context of a reply exceeds; `speed` is the fast mode, if it was used.
        """
        entry = find_entry(self._models, model)
        return None if entry is None else _select_list(entry, speed, band)

    def knows_speed(self, model: str, speed: str) -> bool:
        """Return whether the price of this speed is known."""
        entry = find_entry(self._models, model)
        return not speed or (isinstance(entry, dict) and speed in entry)

    def guess_prices(self, model: str, band: int = 0) -> list[float] | None:
        """Return a model's prices; for an alias (haiku, sonnet) the highest it may stand for."""
        alias = model.lower()
        fitting = [
            _select_list(entry, "", band)
            for name, entry in self._models.items()
            if alias and alias in name and alias in re.split("[-.]", name) and _is_own_name(name)
        ]
        return self.find_prices(model, "", band) or max(fitting, key=lambda prices: prices[1], default=None)

    def compute_cost(self, row: Mapping[str, Any]) -> float | None:
        """Return the price of a row of tokens, or None for an unknown model."""
        prices = self.find_prices(row["model"], row["speed"], row["band"])
        if prices is None:
            return None
        per = dict(zip(_CLASSES, _fill_prices(prices), strict=True))
        total = sum(row[name] * per[name] for name in per) + row["reasoning"] * per["output"]
        return float(total) / 1_000_000


def find_entry(models: Mapping[str, ModelPrices], model: str) -> ModelPrices | None:
    """Return the entry of the longest name that fits a model."""
    for name in _iter_name_variants(strip_ending(model.lower())):
        for end in range(len(name), 0, -1):
            if _BOUNDARY.match(name, end) and name[:end] in models:
                return models[name[:end]]
    return None


def strip_ending(name: str) -> str:
    """Return a model's name without what does not change its price."""
    return _ENDING.sub("", name)


def _is_own_name(name: str) -> bool:
    """Return whether a name is its vendor's own: another provider's may cost more."""
    return "/" not in name and not _REGION.match(name)[0]  # type: ignore[index]


def _select_list(entry: ModelPrices, speed: str, band: int) -> list[float]:
    """Return the prices of the highest band that a context exceeds."""
    if isinstance(entry, list):
        return entry
    is_fast = bool(speed) and speed in entry
    prefix = f"{speed}_" if is_fast else ""
    reached = (limit for limit in reversed(BANDS) if limit <= band)
    names = [f"{prefix}above_{limit // 1000}k" for limit in reached]
    return next((entry[name] for name in names if name in entry), entry[speed if is_fast else "prices"])


def _fill_prices(prices: list[float]) -> list[float]:
    """Return all five prices: a missing one is the uncached price, for the long cache that of the short one."""
    filled = [*prices, *prices[:1] * (4 - len(prices))]
    return [*filled, *filled[3:4] * (5 - len(filled))]


def _iter_name_variants(model: str) -> Iterator[str]:
    """Yield a model's name as given, without its provider and region, and as its vendor writes it."""
    parts = model.split("/")
    for start in range(len(parts)):
        yield "/".join(parts[start:])
    yield (name := _REGION.sub("", parts[-1]))
    if name.startswith("claude-"):
        yield (dashed := name.replace(".", "-"))
        yield _VERSION_FIRST.sub(r"claude-\2-\1", dashed)


@lru_cache(maxsize=1)
def load_shipped_table() -> dict[str, Any]:
    """Return the table that comes with Engram, which tools/price_table.py writes."""
    import json  # orjson takes longer to import than json to read this table

    with open(os.path.join(os.path.dirname(__file__), "prices.json"), encoding="utf-8") as file:
        table: dict[str, Any] = json.load(file)
    return table


def _load_own_table(path: str) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
        models = table.get("models", {})
        for name, entry in models.items():
            _check_entry(name, entry if isinstance(entry, dict) else {"prices": entry})
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise SettingsInvalid(source=path, reason=f"{problem}.") from problem
    return {**table, "models": {name.lower(): entry for name, entry in models.items()}}


def _check_entry(name: str, entry: Mapping[str, Any]) -> None:
    """Raise ValueError unless a model's prices can be used."""
    if "prices" not in entry:
        raise ValueError(f"{name} has no prices")
    for key, prices in entry.items():
        known = _LIST_NAME.fullmatch(key)
        if not known or (known[1] and int(known[1]) * 1000 not in BANDS):
            limits = ", ".join(f"above_{limit // 1000}k" for limit in BANDS)
            raise ValueError(f"{name} has {key}; choose prices, {limits}, fast or fast_above_…")
        if not 2 <= len(prices) <= 5 or not all(isinstance(price, int | float) and price >= 0 for price in prices):
            raise ValueError(f"{name} needs two to five prices")
