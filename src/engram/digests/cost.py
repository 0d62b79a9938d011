"""What sessions cost: tokens by class, and money from a dated price table that anybody may overrule."""

from __future__ import annotations

import os
import re
import time
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Annotated, Any

from engram.clock import SECOND
from engram.coordination import sessions
from engram.errors import InvalidInput, SettingsInvalid
from engram.hub import Hub
from engram.model import Cost
from engram.operation import Help, operation
from engram.store import usage
from engram.text import name_or_none

PLACES = ("session", "project", "day", "flavor", "model")
_CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_long", "reasoning")
_EPOCH = date(1970, 1, 1)
_CERTAINTY = ("exact", "floor", "uncertain")  # a sum is as sure as its least sure part
_PROVIDER = re.compile(r"^(?:.*/)?(?:[a-z-]+\.)*")  # anthropic/…, us.anthropic.…
_BOUNDARY = re.compile(r"$|[-@:](?!\d{1,2}(?:$|[-.@:]))")  # a number of one or two digits is a further version
_VERSION_FIRST = re.compile(r"^claude-(\d{1,2}(?:-\d{1,2})?)-([a-z]+)")


@operation()
def cost(
    hub: Hub,
    by: Annotated[str, Help("one line per session, project, day, flavor or model")] = "day",
    session: Annotated[str | None, Help("only this session, with the subagents it sent")] = None,
    project: Annotated[str | None, Help("only this project")] = None,
    flavor: Annotated[str | None, Help("only this agent's")] = None,
    days: Annotated[float, Help("how far back")] = 30.0,
) -> list[Cost]:
    """Show tokens and money, each answer counted once, every figure marked exact, floor or uncertain."""
    if by not in PLACES:
        raise InvalidInput(field="by", reason=f"{by!r} is none of {', '.join(PLACES)}.")
    one = sessions.get_session(hub, session).id if session else None
    since = sessions.back(hub, "days", days)
    rows = usage.totals(
        hub.engine, by, _offset(hub), session=one, project=sessions.room(project),
        flavor=name_or_none("flavor", flavor), since=None if one else since,
    )  # fmt: skip
    return _summed(rows, Prices(hub.settings.home), by)


def of_session(hub: Hub, session_id: str) -> Cost | None:
    """Return what one session cost, with the subagents it sent."""
    found = _summed(usage.totals(hub.engine, "flavor", 0, session=session_id), Prices(hub.settings.home), "flavor")
    return found[0] if found else None


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


def _summed(rows: Iterable[dict[str, Any]], prices: Prices, by: str) -> list[Cost]:
    places: dict[Any, dict[str, Any]] = {}
    for row in rows:
        total = places.setdefault(row["place"], {**dict.fromkeys(_CLASSES, 0), "answers": 0, "money": 0.0})
        for name in (*_CLASSES, "answers"):
            total[name] += int(row[name])
        _add_money(total, row, prices)
        total["basis"] = max(total.get("basis", "exact"), row["basis"], key=_CERTAINTY.index)
    return [_cost(place, total, by, prices.dated) for place, total in places.items()]


def _add_money(total: dict[str, Any], row: dict[str, Any], prices: Prices) -> None:
    """Add what the flavor itself says a row cost, or what the table says."""
    told = row["cost"] if row["priced"] == row["answers"] else None
    money = float(told) if told is not None else prices.money(row)
    if money is None:
        total.setdefault("unpriced", set()).add(row["model"] or "unknown model")
    else:
        total["money"] += money


def _cost(place: Any, total: dict[str, Any], by: str, dated: str) -> Cost:
    name = str(_EPOCH + timedelta(days=int(place))) if by == "day" else str(place)
    return Cost(
        place=name, **{each: total[each] for each in (*_CLASSES, "answers", "money", "basis")},
        unpriced=tuple(sorted(total.get("unpriced", ()))), prices_dated=dated,
    )  # fmt: skip


def _offset(hub: Hub) -> int:
    """Return how far the user's clock is from UTC: a day ends at their midnight."""
    moment = time.localtime(hub.now() // SECOND)
    return moment.tm_gmtoff * SECOND
