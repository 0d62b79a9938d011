"""Call the configured model: reserve its cost, retry if that helps, and return a valid answer or raise an error."""

from __future__ import annotations

import json
from typing import Any

from engram.clock import SECOND
from engram.errors import Error, InvalidInput, ModelInvalid, ModelUnavailable
from engram.hub import Hub
from engram.models import call_budget, daily_cap, reentry_guard, schema
from engram.models.prices import Prices
from engram.models.provider import Budget, Completion, Provider, Reply, Request
from engram.models.registry import load_provider
from engram.models.retries import call_with_retries
from engram.platform.text import to_one_line, validate_name, validate_text
from engram.store import model_calls
from engram.store.token_usage import find_band

_KEPT = 20_000  # characters kept of an unusable reply
_LONGEST = 4_000_000  # bytes of a prompt
_SUMMED = ("input", "output", "cache_read", "cache_write")

Schema = dict[str, Any]


def complete(
    hub: Hub, prompt: str, *, purpose: str, system: str | None = None, schema: Schema | None = None,
    budget: Budget | None = None,
) -> Completion:  # fmt: skip
    """Return the model's answer to a prompt; with a schema, also as validated data."""
    reentry_guard.refuse_inside()
    chosen_provider = load_provider(hub.settings)
    clean_prompt = validate_text("prompt", prompt, _LONGEST)
    if not clean_prompt.strip():
        raise InvalidInput(field="prompt", reason="The prompt is empty.")
    clean_system = None if system is None else validate_text("system", system, _LONGEST)
    return _ModelCall(
        hub, chosen_provider, validate_name("purpose", purpose), clean_system, schema, budget or Budget()
    ).answer_prompt(clean_prompt)


class _ModelCall:
    """One request, from the first try to the answer that is used."""

    def __init__(
        self, hub: Hub, chosen: Provider, purpose: str, system: str | None, answer_schema: Schema | None, budget: Budget
    ) -> None:  # fmt: skip
        if answer_schema is not None:
            schema.check_schema(answer_schema)
        self.hub, self.provider, self.purpose, self.system = hub, chosen, purpose, system
        self.schema, self.budget = answer_schema, budget
        self.prices = Prices(hub.settings.home)
        self.began = hub.clock.steady()
        self.seconds = budget.seconds or hub.settings.model_seconds
        self.total: dict[str, Any] = {**dict.fromkeys(_SUMMED, 0), "cost": None, "basis": "exact", "calls": 0}

    def answer_prompt(self, prompt: str) -> Completion:
        """Call the model; if the answer is invalid, call it once more with the reason."""
        reply, data, flaw = self._ask_with_retries(prompt)
        if flaw:
            again = f"{prompt}\n\nYour last answer could not be used: {flaw}. Answer again without this mistake."
            reply, data, flaw = self._ask_with_retries(again)
        if flaw:
            raise ModelInvalid(provider=self.provider.name, reason=f"{flaw}.", reply_text=_format_reply(reply))
        return Completion(
            text=reply.text, data=data, provider=self.provider.name, model=reply.model or self.provider.model,
            seconds=self._elapsed_seconds(self.began), **self.total,
        )  # fmt: skip

    def _ask_with_retries(self, prompt: str) -> tuple[Reply, Any, str]:
        """Return a reply, its data, and why it is invalid."""
        remaining = self.seconds - self._elapsed_seconds(self.began)
        return call_with_retries(
            lambda seconds: self._call_once(prompt, seconds), max(remaining, 0.001), self.hub.clock
        )

    def _call_once(self, prompt: str, seconds: float) -> tuple[Reply, Any, str]:
        """Make one call, with its cost reserved before and settled after, outside any transaction."""
        words = prompt + (self.system or "") + (json.dumps(self.schema) if self.schema else "")
        estimate = daily_cap.estimate_call(self.hub, self.provider, words, self.budget)
        if (shared := call_budget.get_allowance()) is not None:
            shared.require_room(estimate)
        reservation = daily_cap.reserve_call(self.hub, self.provider, self.purpose, estimate)
        dollars = (
            reservation.left if self.budget.max_dollars is None else min(reservation.left, self.budget.max_dollars)
        )
        request = Request(
            prompt=prompt, system=self.system, schema=self.schema, max_tokens=estimate.output, max_dollars=dollars,
            seconds=max(seconds, 0.001),
        )  # fmt: skip
        began = self.hub.clock.steady()
        try:
            reply = self.provider.ask(request)
        except BaseException as problem:
            self._record_failure(reservation.call, began, problem, estimate)
            raise
        data, flaw = self._check_reply(reply)
        self._record_reply(reservation.call, began, reply, estimate, flaw)
        if reply.error is not None:
            raise reply.error
        return reply, data, flaw

    def _check_reply(self, reply: Reply) -> tuple[Any, str]:
        """Return the data of an answer, and why it is invalid."""
        if reply.flaw or reply.error is not None:
            return None, reply.flaw
        if self.schema is None:
            return None, "" if reply.text.strip() else "it is empty"
        if reply.data is None and not reply.text.strip():
            return None, "it is empty"
        try:
            data = schema.parse_json(reply.text) if reply.data is None else schema.to_strict_json(reply.data)
        except schema.InvalidJson as problem:
            return None, str(problem)
        return data, "; ".join(schema.find_problems(self.schema, data))

    def _record_reply(self, call: int, began: int, reply: Reply, estimate: daily_cap.Estimate, flaw: str) -> None:
        """Record what a call used."""
        facts = self._compute_usage(reply, estimate)
        problem = flaw or str(reply.error or "")
        with self.hub.engine.transaction(durable=True):
            model_calls.record_result(
                self.hub.engine,
                call,
                state="failed" if problem else "done",
                model=reply.model or self.provider.model,
                seconds=self._elapsed_seconds(began),
                error=to_one_line(problem, 1000) or None,
                reply=_format_reply(reply) if problem else None,
                **facts,
            )
        self._add_usage(facts)

    def _compute_usage(self, reply: Reply, estimate: daily_cap.Estimate) -> dict[str, Any]:
        """Return the tokens and the price of a reply; estimate what the provider does not report."""
        facts: dict[str, Any] = {field: getattr(reply, field) for field in _SUMMED}
        if not reply.counted:
            facts |= {"input": estimate.input, "output": estimate.output}
        cost = reply.cost
        if cost is None and self.provider.priced:
            cost = self._compute_price(facts, reply.model) or self._compute_price(facts, self.provider.model)
        return {**facts, "cost": cost, "basis": "exact" if reply.counted else "uncertain"}

    def _compute_price(self, facts: dict[str, Any], model: str) -> float | None:
        band = find_band(facts["input"] + facts["cache_read"] + facts["cache_write"])
        fixed = {"cache_write_long": 0, "reasoning": 0, "speed": "", "band": band, "model": model}
        return self.prices.compute_cost({**facts, **fixed})

    def _record_failure(self, call: int, began: int, problem: BaseException, estimate: daily_cap.Estimate) -> None:
        """Record a failed call; a cost that may have been billed keeps counting."""
        billed = getattr(problem, "billed", not isinstance(problem, Error) or isinstance(problem, ModelInvalid))
        reply_text = (
            validate_text("reply", problem.reply_text[:_KEPT], _LONGEST) if isinstance(problem, ModelInvalid) else None
        )
        words = str(problem) if isinstance(problem, Error) else type(problem).__name__
        with self.hub.engine.transaction(durable=True):
            model_calls.record_failure(
                self.hub.engine,
                call,
                seconds=self._elapsed_seconds(began),
                error=to_one_line(words, 1000),
                reply=reply_text,
                billed=bool(billed),
            )
        if isinstance(problem, ModelUnavailable) and billed:
            usage = {"input": estimate.input, "output": estimate.output, "cache_read": 0, "cache_write": 0}
            self._add_usage({**usage, "cost": estimate.cost, "basis": "uncertain"})

    def _add_usage(self, facts: dict[str, Any]) -> None:
        total = self.total
        for field in _SUMMED:
            total[field] += facts[field]
        total["calls"] += 1
        if (shared := call_budget.get_allowance()) is not None:
            shared.add_usage(facts)
        if facts["cost"] is not None:
            total["cost"] = (total["cost"] or 0.0) + facts["cost"]
        if facts["basis"] != "exact":
            total["basis"] = facts["basis"]

    def _elapsed_seconds(self, since: int) -> float:
        return (self.hub.clock.steady() - since) / SECOND


def _format_reply(reply: Reply) -> str:
    """Return the text of a reply, cut and cleaned for storage."""
    text = reply.text if reply.data is None else json.dumps(reply.data, ensure_ascii=False)
    return validate_text("reply", text[:_KEPT], _LONGEST)
