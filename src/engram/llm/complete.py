"""Ask the chosen model: counted before, tried again where that helps, and either an answer that fits or an error."""

from __future__ import annotations

import json
from typing import Any

from engram.clock import SECOND
from engram.errors import Error, InvalidInput, ModelInvalid, ModelUnavailable
from engram.hub import Hub
from engram.llm import allowance, cap, guard, schema
from engram.llm.attempts import persist
from engram.llm.prices import Prices
from engram.llm.provider import Budget, Completion, Provider, Reply, Request
from engram.llm.registry import provider
from engram.store import ledger
from engram.text import clean, name, one_line

_KEPT = 20_000  # characters of a reply nobody could use
_LONGEST = 4_000_000  # bytes of a prompt
_SUMMED = ("input", "output", "cache_read", "cache_write")

Schema = dict[str, Any]


def complete(
    hub: Hub, prompt: str, *, purpose: str, system: str | None = None, schema: Schema | None = None,
    budget: Budget | None = None,
) -> Completion:  # fmt: skip
    """Return the model's answer to a prompt; with a schema, also as data that fits it."""
    guard.refuse_inside()
    chosen = provider(hub.settings)
    asked = clean("prompt", prompt, _LONGEST)
    if not asked.strip():
        raise InvalidInput(field="prompt", reason="it is empty.")
    told = None if system is None else clean("system", system, _LONGEST)
    return _Call(hub, chosen, name("purpose", purpose), told, schema, budget or Budget()).answer(asked)


class _Call:
    """One question, from the first try to the answer that is used."""

    def __init__(
        self, hub: Hub, chosen: Provider, purpose: str, system: str | None, wanted: Schema | None, budget: Budget
    ) -> None:  # fmt: skip
        if wanted is not None:
            schema.check(wanted)
        self.hub, self.provider, self.purpose, self.system = hub, chosen, purpose, system
        self.schema, self.budget = wanted, budget
        self.prices = Prices(hub.settings.home)
        self.began = hub.clock.steady()
        self.seconds = budget.seconds or hub.settings.model_seconds
        self.total: dict[str, Any] = {**dict.fromkeys(_SUMMED, 0), "cost": None, "basis": "exact", "calls": 0}

    def answer(self, prompt: str) -> Completion:
        """Ask; ask once more, telling what was wrong, if the answer cannot be used."""
        reply, data, flaw = self._asked(prompt)
        if flaw:
            again = f"{prompt}\n\nYour last answer could not be used: {flaw}. Answer again, without that mistake."
            reply, data, flaw = self._asked(again)
        if flaw:
            raise ModelInvalid(provider=self.provider.name, reason=f"{flaw}.", reply_text=_shown(reply))
        return Completion(
            text=reply.text, data=data, provider=self.provider.name, model=reply.model or self.provider.model,
            seconds=self._passed(self.began), **self.total,
        )  # fmt: skip

    def _asked(self, prompt: str) -> tuple[Reply, Any, str]:
        """Return a reply, what it says as data, and why it cannot be used."""
        left = self.seconds - self._passed(self.began)
        return persist(lambda seconds: self._once(prompt, seconds), max(left, 0.001), self.hub.clock)

    def _once(self, prompt: str, seconds: float) -> tuple[Reply, Any, str]:
        """Make one call, reserved before and settled after, with no transaction open meanwhile."""
        words = prompt + (self.system or "") + (json.dumps(self.schema) if self.schema else "")
        most = cap.estimate(self.hub, self.provider, words, self.budget)
        if (shared := allowance.current()) is not None:
            shared.require(most)
        held = cap.reserve(self.hub, self.provider, self.purpose, most)
        dollars = held.left if self.budget.max_dollars is None else min(held.left, self.budget.max_dollars)
        request = Request(
            prompt=prompt, system=self.system, schema=self.schema, max_tokens=most.output, max_dollars=dollars,
            seconds=max(seconds, 0.001),
        )  # fmt: skip
        began = self.hub.clock.steady()
        try:
            reply = self.provider.ask(request)
        except BaseException as problem:
            self._failed(held.call, began, problem, most)
            raise
        data, flaw = self._judged(reply)
        self._settle(held.call, began, reply, most, flaw)
        if reply.error is not None:
            raise reply.error
        return reply, data, flaw

    def _judged(self, reply: Reply) -> tuple[Any, str]:
        """Return an answer as data, and why it cannot be used."""
        if reply.flaw or reply.error is not None:
            return None, reply.flaw
        if self.schema is None:
            return None, "" if reply.text.strip() else "it is empty"
        if reply.data is None and not reply.text.strip():
            return None, "it is empty"
        try:
            data = schema.parse(reply.text) if reply.data is None else schema.strict(reply.data)
        except schema.Unreadable as problem:
            return None, str(problem)
        return data, "; ".join(schema.problems(self.schema, data))

    def _settle(self, call: int, began: int, reply: Reply, most: cap.Estimate, flaw: str) -> None:
        """Write down what a call took."""
        facts = self._taken(reply, most)
        bad = flaw or str(reply.error or "")
        with self.hub.engine.transaction(durable=True):
            ledger.settle(
                self.hub.engine, call, state="failed" if bad else "done", model=reply.model or self.provider.model,
                seconds=self._passed(began), error=one_line(bad, 1000) or None, reply=_shown(reply) if bad else None,
                **facts,
            )  # fmt: skip
        self._add(facts)

    def _taken(self, reply: Reply, most: cap.Estimate) -> dict[str, Any]:
        """Return the tokens and the price of a reply; what the other side does not count is our estimate."""
        facts: dict[str, Any] = {each: getattr(reply, each) for each in _SUMMED}
        if not reply.counted:
            facts |= {"input": most.input, "output": most.output}
        cost = reply.cost
        if cost is None and self.provider.priced:
            cost = self._price(facts, reply.model) or self._price(facts, self.provider.model)
        return {**facts, "cost": cost, "basis": "exact" if reply.counted else "uncertain"}

    def _price(self, facts: dict[str, Any], model: str) -> float | None:
        return self.prices.money({**facts, "cache_write_long": 0, "reasoning": 0, "model": model})

    def _failed(self, call: int, began: int, problem: BaseException, most: cap.Estimate) -> None:
        """Write down that nobody answered; what may have been billed keeps counting."""
        billed = getattr(problem, "billed", not isinstance(problem, Error) or isinstance(problem, ModelInvalid))
        said = clean("reply", problem.reply_text[:_KEPT], _LONGEST) if isinstance(problem, ModelInvalid) else None
        words = str(problem) if isinstance(problem, Error) else type(problem).__name__
        with self.hub.engine.transaction(durable=True):
            ledger.fail(
                self.hub.engine, call, seconds=self._passed(began), error=one_line(words, 1000), reply=said,
                billed=bool(billed),
            )  # fmt: skip
        if isinstance(problem, ModelUnavailable) and billed:
            taken = {"input": most.input, "output": most.output, "cache_read": 0, "cache_write": 0}
            self._add({**taken, "cost": most.cost, "basis": "uncertain"})

    def _add(self, facts: dict[str, Any]) -> None:
        total = self.total
        for each in _SUMMED:
            total[each] += facts[each]
        total["calls"] += 1
        if (shared := allowance.current()) is not None:
            shared.take(facts)
        if facts["cost"] is not None:
            total["cost"] = (total["cost"] or 0.0) + facts["cost"]
        if facts["basis"] != "exact":
            total["basis"] = facts["basis"]

    def _passed(self, since: int) -> float:
        return (self.hub.clock.steady() - since) / SECOND


def _shown(reply: Reply) -> str:
    """Return what a reply said, cut and fit to be stored."""
    said = reply.text if reply.data is None else json.dumps(reply.data, ensure_ascii=False)
    return clean("reply", said[:_KEPT], _LONGEST)
