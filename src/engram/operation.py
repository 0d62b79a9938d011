"""The registry of operations: one function, every surface.

A domain function that takes the hub first and carries `@operation` is offered by the library, the
command line, HTTP and MCP. Surfaces read its signature; nothing is described twice.
"""

from __future__ import annotations

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


@value
class Help:
    """What a parameter means, said once for every surface."""

    text: str


@value
class Operation:
    """A public verb and how surfaces may offer it."""

    name: str
    call: Callable[..., Any]
    writes: bool
    agent: bool

    @property
    def summary(self) -> str:
        """Return the first line of the docstring."""
        return (self.call.__doc__ or "").strip().splitlines()[0]


_registry: dict[str, Operation] = {}


def operation(*, writes: bool = False, agent: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Offer a function on every surface; `agent=False` keeps it from agents."""

    def enter(call: Callable[P, R]) -> Callable[P, R]:
        name = call.__name__
        _registry[name] = Operation(name=name, call=call, writes=writes, agent=agent)
        return call

    return enter


def operations() -> Iterator[Operation]:
    """Yield every registered operation by name."""
    yield from (_registry[name] for name in sorted(_registry))


def find(name: str) -> Operation | None:
    """Return the operation of that name."""
    return _registry.get(name)
