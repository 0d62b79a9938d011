"""A shared budget for the model calls of one task, in addition to the daily limit; without money, no call is made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engram.errors import BudgetSpent, ModelOff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.models.daily_cap import Estimate


class Allowance:
    """Dollars and tokens for a task, and what it has used."""

    def __init__(self, dollars: float, tokens: int) -> None:
        self.dollars, self.tokens = dollars, tokens
        self.spent, self.used, self.calls = 0.0, 0, 0

    def require_room(self, call_estimate: Estimate) -> None:
        """Raise BudgetSpent if a call may take more than is left."""
        if self.dollars <= 0:
            raise ModelOff(place="config.toml; this task has no budget for a model")
        tokens_needed = call_estimate.input + call_estimate.output
        if self.spent + (call_estimate.cost or 0) > self.dollars or self.used + tokens_needed > self.tokens:
            reason = (
                f"${self.spent:.4f} of ${self.dollars:.2f} and "
                f"{self.used:,} of {self.tokens:,} tokens are used, and this call may take {tokens_needed:,} tokens."
            )
            raise BudgetSpent(reason=reason, hint="Raise the budget, or continue next time.", free_at=None)

    def add_usage(self, facts: dict[str, Any]) -> None:
        """Count the usage of a call."""
        self.calls += 1
        self.spent += facts["cost"] or 0.0
        self.used += sum(facts[name] for name in ("input", "output", "cache_read", "cache_write"))


_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def use_allowance(allowance: Allowance) -> Iterator[Allowance]:
    """Share an allowance among the model calls of a block."""
    token = _current.set(allowance)
    try:
        yield allowance
    finally:
        _current.reset(token)


def get_allowance() -> Allowance | None:
    """Return the current allowance; None if only the daily limit applies."""
    return _current.get()


def is_silent() -> bool:
    """Check whether the current task may not call a model."""
    allowance = _current.get()
    return allowance is not None and allowance.dollars <= 0
