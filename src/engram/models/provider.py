"""The protocol of model providers: requests and replies."""

from __future__ import annotations

from typing import Any, Protocol

from engram.errors import Error
from engram.platform.value import value


class Provider(Protocol):
    """A way to call a model, built from the settings."""

    name: str
    model: str  # model name; empty for the provider's default
    priced: bool  # whether an answer costs what the price table says
    overhead: int  # approximate tokens it adds to every prompt

    def ask(self, request: Request) -> Reply:
        """Make one call, or raise ModelUnavailable, ModelRefused or ModelInvalid."""

    def reach(self) -> None:
        """Raise the error a call would raise, as far as it can be known without one."""


@value
class Budget:
    """The limits of one call."""

    max_tokens: int = 4096  # output tokens
    max_dollars: float | None = None
    seconds: float | None = None  # defaults to the setting model_seconds


@value
class Request:
    """One request to a model."""

    prompt: str
    system: str | None
    schema: dict[str, Any] | None
    max_tokens: int
    max_dollars: float | None
    seconds: float


@value
class Reply:
    """A model's answer, valid or not, and its usage."""

    text: str
    model: str = ""
    data: Any = None  # the typed answer, if the provider returns it separately
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    counted: bool = True  # whether the provider reported the tokens
    cost: float | None = None  # US dollars, if the provider reports them
    flaw: str = ""  # why it is unusable; worth another try
    error: Error | None = None  # why it is unusable; another try would not help


@value
class Completion:
    """A valid answer, and the total usage of all tries."""

    text: str
    data: Any  # matches the schema; None without one
    provider: str
    model: str
    input: int
    output: int
    cache_read: int
    cache_write: int
    cost: float | None  # US dollars; None if no price is known
    basis: str  # exact, floor (some calls have no price), uncertain
    seconds: float
    calls: int


def clean_token_count(number: object) -> int:
    """Return a reported number of tokens, limited to a plausible range."""
    return number if type(number) is int and 0 <= number < 10**9 else 0
