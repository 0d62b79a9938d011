"""What the model calls of one stretch of work may take together, beside the day's cap; none at all without money."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engram.errors import BudgetSpent, ModelOff

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.llm.cap import Estimate


class Allowance:
    """Money and tokens for a stretch of work, and what it took of them."""

    def __init__(self, dollars: float, tokens: int) -> None:
        self.dollars, self.tokens = dollars, tokens
        self.spent, self.used, self.calls = 0.0, 0, 0

    def require(self, wanted: Estimate) -> None:
        """Refuse a call that may take more than is left."""
        if self.dollars <= 0:
            raise ModelOff(place="config.toml; this work was given no money for one")
        more = wanted.input + wanted.output
        if self.spent + (wanted.cost or 0) > self.dollars or self.used + more > self.tokens:
            reason = (
                f"Of the ${self.dollars:.2f} and {self.tokens:,} tokens for this work ${self.spent:.4f} and "
                f"{self.used:,} are spent, and this call may take {more:,} tokens."
            )
            raise BudgetSpent(reason=reason, hint="Give it more, or let it go on next time.", free_at=None)

    def take(self, facts: dict[str, Any]) -> None:
        """Count what a call took."""
        self.calls += 1
        self.spent += facts["cost"] or 0.0
        self.used += sum(facts[name] for name in ("input", "output", "cache_read", "cache_write"))


_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def allowed(allowance: Allowance) -> Iterator[Allowance]:
    """Let the model calls of a block share an allowance."""
    before = _current.set(allowance)
    try:
        yield allowance
    finally:
        _current.reset(before)


def current() -> Allowance | None:
    """Return the allowance of the work at hand; None where only the day's cap counts."""
    return _current.get()


def silent() -> bool:
    """Tell whether the work at hand may call no model."""
    found = _current.get()
    return found is not None and found.dollars <= 0
