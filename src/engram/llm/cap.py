"""The day's cap: what is spent, what a call may take, and the reservation that keeps several processes within it."""

from __future__ import annotations

import time
from typing import Any

from engram import host
from engram.clock import SECOND, moment
from engram.errors import BudgetSpent
from engram.hub import Hub
from engram.llm.prices import Prices
from engram.llm.provider import Budget, Provider
from engram.store import ledger
from engram.text import tokens
from engram.value import value

_LAPSE = 4  # a reservation counts this many times as long as a call may take


@value
class Estimate:
    """The most a call may take."""

    input: int
    output: int
    cost: float | None  # None without a known price


@value
class Reservation:
    """A call that was counted before it is made."""

    call: int
    left: float  # US dollars the day's cap has left, this call's own among them


def estimate(hub: Hub, provider: Provider, words: str, budget: Budget) -> Estimate:
    """Return the most a call may take, its answer shortened to what the caller pays for."""
    prices = Prices(hub.settings.home).likely(provider.model) if provider.priced else None
    taken, most = tokens(words) + provider.overhead, budget.max_tokens
    if prices is None:
        return Estimate(input=taken, output=most, cost=None)
    read, written = taken * prices[0] / 1_000_000, prices[1] / 1_000_000
    if budget.max_dollars is not None and read + most * written > budget.max_dollars:
        most = int((budget.max_dollars - read) / written) if written else 0
    if most < 1:
        reason = f"Reading the prompt alone may cost ${read:.4f}, more than the ${budget.max_dollars:.4f} allowed."
        raise BudgetSpent(reason=reason, hint="Allow more, or send less.", free_at=None)
    return Estimate(input=taken, output=most, cost=read + most * written)


def reserve(hub: Hub, provider: Provider, purpose: str, wanted: Estimate) -> Reservation:
    """Count a call before it is made, or refuse it; nobody else can take what is left meanwhile."""
    now = hub.now()
    lapses = now + hub.settings.model_seconds * _LAPSE * SECOND
    with hub.engine.transaction(durable=True):
        ledger.serialize(hub.engine)
        left = _left(hub, now, wanted)
        call = ledger.reserve(
            hub.engine, at=now, host=host.name(), purpose=purpose, provider=provider.name, model=provider.model,
            input=wanted.input, output=wanted.output, cost=wanted.cost, lapses_at=lapses,
        )  # fmt: skip
    return Reservation(call=call, left=left)


def today(hub: Hub) -> dict[str, Any]:
    """Return what this day's calls took, those under way with the most they may take."""
    now = hub.now()
    return ledger.spent(hub.engine, _midnight(now), now, host.name())


def free_at(now: int) -> int:
    """Return when the cap is whole again: the user's next midnight."""
    return _midnight(now, days=1)


def _left(hub: Hub, now: int, wanted: Estimate) -> float:
    spent, settings = today(hub), hub.settings
    dollars = settings.model_daily_cents / 100
    if spent["money"] + (wanted.cost or 0) > dollars or spent["money"] >= dollars:
        may = "" if wanted.cost is None else f", and this call may cost ${wanted.cost:.4f}"
        reason = f"Of today's ${dollars:.2f} for models ${spent['money']:.4f} is spent or reserved{may}."
        raise _refusal(now, reason, "model_daily_cents")
    more = wanted.input + wanted.output
    if wanted.cost is None and spent["tokens"] + more > settings.model_daily_tokens:
        reason = (
            f"Of today's {settings.model_daily_tokens:,} tokens without a price {spent['tokens']:,} are spent or "
            f"reserved, and this call may take {more:,}."
        )
        raise _refusal(now, reason, "model_daily_tokens")
    return float(dollars - spent["money"])


def _refusal(now: int, reason: str, setting: str) -> BudgetSpent:
    free = moment(free_at(now))
    hint = f"It is free again at {free.astimezone():%Y-%m-%d %H:%M}; or raise {setting}."
    return BudgetSpent(reason=reason, hint=hint, free_at=free)


def _midnight(now: int, days: int = 0) -> int:
    """Return when the user's day began, or another begins."""
    day = time.localtime(now // SECOND)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday + days, 0, 0, 0, 0, 0, -1))) * SECOND
