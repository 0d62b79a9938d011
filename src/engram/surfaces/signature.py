"""What an operation asks for, read from its own signature: the one description every surface uses."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import engram.hub
import engram.store.engine
from engram.errors import InvalidInput
from engram.operation import Help, Operation
from engram.value import value


@value
class Parameter:
    """One parameter of an operation."""

    name: str
    type: Any  # str, int, float, bool, list or Any
    help: str
    required: bool
    default: Any = None


@cache
def parameters(operation: Operation) -> list[Parameter]:
    """Return an operation's parameters in order, the hub left out."""
    hints = typing.get_type_hints(operation.call, _namespace(operation), include_extras=True)
    found = list(inspect.signature(operation.call).parameters.values())[1:]
    return [_parameter(each, hints[each.name]) for each in found]


def bind(operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check JSON arguments against the signature; say which one is wrong."""
    known = {parameter.name: parameter for parameter in parameters(operation)}
    for name in given:
        if name not in known:
            raise InvalidInput(field=name, reason=f"{operation.name} takes {', '.join(known) or 'nothing'}.")
    for parameter in known.values():
        if parameter.required and parameter.name not in given:
            raise InvalidInput(field=parameter.name, reason=f"it is required: {parameter.help}.")
    meant = {name: given[name] for name in given if given[name] is not None or known[name].required}
    return {name: _checked(known[name], argument) for name, argument in meant.items()}


def _namespace(operation: Operation) -> dict[str, Any]:
    """Return what the annotations name: much of it is imported for checkers only."""
    return {**vars(typing), "Help": Help, "Hub": engram.hub.Hub, **_values(), **vars(inspect.getmodule(operation.call))}


def _values() -> dict[str, Any]:
    import engram.model

    return vars(engram.model)


def _parameter(found: inspect.Parameter, hint: Any) -> Parameter:
    kind, note = hint, ""
    if get_origin(hint) is typing.Annotated:
        kind, *extras = get_args(hint)
        note = next((extra.text for extra in extras if isinstance(extra, Help)), "")
    required = found.default is inspect.Parameter.empty
    default = None if required else found.default
    return Parameter(name=found.name, type=_simple(kind), help=note, required=required, default=default)


def _simple(kind: Any) -> Any:
    """Reduce `int | None` to int and `list[str]` to list."""
    if isinstance(kind, UnionType) or get_origin(kind) is typing.Union:
        kind = next(part for part in get_args(kind) if part is not NoneType)
    return get_origin(kind) or kind


def _checked(parameter: Parameter, argument: Any) -> Any:
    if parameter.type is Any or argument is None:
        return argument
    if isinstance(argument, int) and not -(2**63) <= argument < 2**63:  # no engine stores more
        raise InvalidInput(field=parameter.name, reason="it is too large a number.")
    if parameter.type is float and isinstance(argument, int) and not isinstance(argument, bool):
        return float(argument)
    if not isinstance(argument, parameter.type) or (isinstance(argument, bool) and parameter.type is not bool):
        wanted = {"str": "text", "list": "a list"}.get(parameter.type.__name__, parameter.type.__name__)
        raise InvalidInput(field=parameter.name, reason=f"expected {wanted}, got {type(argument).__name__}.")
    return argument
