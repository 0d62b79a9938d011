"""The daily limit: what is spent, what a call may cost, and reservations that hold across processes."""

from __future__ import annotations

import time
from typing import Any

from engram.clock import SECOND, to_datetime
from engram.errors import BudgetSpent
from engram.hub import Hub
from engram.models.prices import Prices
from engram.models.provider import Budget, Provider
from engram.platform import host
from engram.platform.text import count_tokens
from engram.platform.value import value
from engram.store import model_calls
from engram.store.token_usage import find_band

_LAPSE = 4  # a reservation counts this many times as long as a call may take


@value
class Estimate:
    """The maximum a call may use."""

    input: int
    output: int
    cost: float | None  # None without a known price


@value
class Reservation:
    """A call that is counted before it is made."""

    call: int
    left: float  # US dollars left of the daily limit, including this call


def estimate_call(hub: Hub, provider: Provider, words: str, budget: Budget) -> Estimate:
    """Estimate the maximum of a call, with its answer limited to what the caller pays for."""
    input_tokens, max_output = count_tokens(words) + provider.overhead, budget.max_tokens
    band = find_band(input_tokens)
    prices = Prices(hub.settings.home).guess_prices(provider.model, band) if provider.priced else None
    if prices is None:
        return Estimate(input=input_tokens, output=max_output, cost=None)
    input_cost, output_price = input_tokens * prices[0] / 1_000_000, prices[1] / 1_000_000
    if budget.max_dollars is not None and input_cost + max_output * output_price > budget.max_dollars:
        max_output = int((budget.max_dollars - input_cost) / output_price) if output_price else 0
    if max_output < 1:
        reason = f"The prompt alone may cost ${input_cost:.4f}; only ${budget.max_dollars:.4f} is allowed."
        raise BudgetSpent(reason=reason, hint="Raise the budget, or shorten the prompt.", free_at=None)
    return Estimate(input=input_tokens, output=max_output, cost=input_cost + max_output * output_price)


def reserve_call(hub: Hub, provider: Provider, purpose: str, call_estimate: Estimate) -> Reservation:
    """Reserve a call before it is made, or raise BudgetSpent; no other process can use what it reserves."""
    now = hub.now()
    lapses = now + hub.settings.model_seconds * _LAPSE * SECOND
    with hub.engine.transaction(durable=True):
        model_calls.lock_table(hub.engine)
        remaining = _compute_remaining(hub, now, call_estimate)
        call = model_calls.reserve(
            hub.engine,
            at=now,
            host=host.get_host_name(),
            purpose=purpose,
            provider=provider.name,
            model=provider.model,
            input=call_estimate.input,
            output=call_estimate.output,
            cost=call_estimate.cost,
            lapses_at=lapses,
        )
    return Reservation(call=call, left=remaining)


def get_today_usage(hub: Hub) -> dict[str, Any]:
    """Return what today's calls used, with the maximum for those still running."""
    now = hub.now()
    return model_calls.sum_spending(hub.engine, _get_midnight(now), now, host.get_host_name())


def get_next_midnight(now: int) -> int:
    """Return when the limit resets: the user's next midnight."""
    return _get_midnight(now, days=1)


def _compute_remaining(hub: Hub, now: int, call_estimate: Estimate) -> float:
    spent, settings = get_today_usage(hub), hub.settings
    dollars = settings.model_daily_cents / 100
    if spent["money"] + (call_estimate.cost or 0) > dollars or spent["money"] >= dollars:
        may = "" if call_estimate.cost is None else f", and this call may cost ${call_estimate.cost:.4f}"
        reason = f"${spent['money']:.4f} of today's ${dollars:.2f} for models is spent or reserved{may}."
        raise _build_refusal(now, reason, "model_daily_cents")
    tokens_needed = call_estimate.input + call_estimate.output
    if call_estimate.cost is None and spent["tokens"] + tokens_needed > settings.model_daily_tokens:
        reason = (
            f"{spent['tokens']:,} of today's {settings.model_daily_tokens:,} tokens without a price are spent or "
            f"reserved, and this call may take {tokens_needed:,}."
        )
        raise _build_refusal(now, reason, "model_daily_tokens")
    return float(dollars - spent["money"])


def _build_refusal(now: int, reason: str, setting: str) -> BudgetSpent:
    free = to_datetime(get_next_midnight(now))
    hint = f"The limit resets at {free.astimezone():%Y-%m-%d %H:%M}. To change it, set {setting}."
    return BudgetSpent(reason=reason, hint=hint, free_at=free)


def _get_midnight(now: int, days: int = 0) -> int:
    """Return when the user's day began, or another one begins."""
    day = time.localtime(now // SECOND)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday + days, 0, 0, 0, 0, 0, -1))) * SECOND
