"""What a provider is asked and what it answers: the small protocol every one of them keeps."""

from __future__ import annotations

from typing import Any, Protocol

from engram.errors import Error
from engram.value import value


class Provider(Protocol):
    """A way to a model; made from the settings."""

    name: str
    model: str  # as it is asked for; empty leaves the choice to the other side
    priced: bool  # whether an answer costs what the price table says
    overhead: int  # tokens it adds to every prompt, about

    def ask(self, request: Request) -> Reply:
        """Answer once, or raise ModelUnavailable, ModelRefused or ModelInvalid."""

    def reach(self) -> None:
        """Raise what asking would raise, as far as it shows without asking."""


@value
class Budget:
    """What one call may take."""

    max_tokens: int = 4096  # of output
    max_dollars: float | None = None
    seconds: float | None = None  # the setting model_seconds if not given


@value
class Request:
    """One question to a model."""

    prompt: str
    system: str | None
    schema: dict[str, Any] | None
    max_tokens: int
    max_dollars: float | None
    seconds: float


@value
class Reply:
    """What a model answered, good or not, and what it took."""

    text: str
    model: str = ""
    data: Any = None  # the typed answer, where the provider tells it apart from text
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    counted: bool = True  # whether the other side told the tokens
    cost: float | None = None  # US dollars, where the other side tells them
    flaw: str = ""  # why it is no use, though it was answered: worth asking again
    error: Error | None = None  # why it is no use, and asking again would not help


@value
class Completion:
    """An answer that can be used, and what all asking for it took."""

    text: str
    data: Any  # fits the schema; None without one
    provider: str
    model: str
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: float | None  # US dollars; None where no price is known
    basis: str  # exact, floor (some calls have no price), uncertain
    seconds: float
    calls: int


def count(number: object) -> int:
    """Return a number of tokens as told by a stranger: never negative, never absurd."""
    return number if type(number) is int and 0 <= number < 10**9 else 0
