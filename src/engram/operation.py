"""The registry of operations: one function, offered on every surface.

A domain function that takes the hub first and has `@operation` is offered by the library, the
command line, HTTP and MCP. Surfaces read its signature, so nothing is described twice.
"""

from __future__ import annotations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


@value
class Help:
    """The description of a parameter, used by every surface."""

    text: str


@value
class Operation:
    """A public function and how surfaces may offer it."""

    name: str
    call: Callable[..., Any]
    writes: bool
    agent: bool
    list_choices: Callable[[], Mapping[str, Sequence[str]]] = dict  # the accepted values of parameters, by name

    @property
    def summary(self) -> str:
        """Return the first line of the docstring."""
        return (self.call.__doc__ or "").strip().splitlines()[0]


_registry: dict[str, Operation] = {}


def operation(
    *, writes: bool = False, agent: bool = True, choices: Callable[[], Mapping[str, Sequence[str]]] = dict
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Offer a function on every surface; `agent=False` keeps it from agents.

    `choices` returns the accepted values of parameters by name. It is called when a surface describes the operation, so
    it may import what the operation itself imports late.
    """

    def register(call: Callable[P, R]) -> Callable[P, R]:
        name = call.__name__
        _registry[name] = Operation(name=name, call=call, writes=writes, agent=agent, list_choices=choices)
        return call

    return register


def list_operations() -> Iterator[Operation]:
    """Yield every registered operation, sorted by name."""
    yield from (_registry[name] for name in sorted(_registry))


def find_operation(name: str) -> Operation | None:
    """Return the operation with this name."""
    return _registry.get(name)
