"""Read the parameters of an operation from its signature, for every surface."""

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
from engram.platform.value import value


@value
class Parameter:
    """One parameter of an operation."""

    name: str
    type: Any  # str, int, float, bool, list or Any
    help: str
    required: bool
    default: Any = None
    choices: tuple[str, ...] = ()  # accepted values; empty if there is no fixed list


@cache
def list_parameters(operation: Operation) -> list[Parameter]:
    """Return an operation's parameters in order, without the hub."""
    hints = typing.get_type_hints(operation.call, _build_namespace(operation), include_extras=True)
    signature_parameters = list(inspect.signature(operation.call).parameters.values())[1:]
    choices = operation.list_choices()
    return [
        _build_parameter(parameter, hints[parameter.name], tuple(choices.get(parameter.name, ())))
        for parameter in signature_parameters
    ]


def bind_arguments(operation: Operation, arguments_sent: Mapping[str, Any]) -> dict[str, Any]:
    """Check JSON arguments against the signature; raise InvalidInput for the first invalid one."""
    parameters_by_name = {parameter.name: parameter for parameter in list_parameters(operation)}
    for name in arguments_sent:
        if name not in parameters_by_name:
            raise InvalidInput(
                field=name, reason=f"{operation.name} takes {', '.join(parameters_by_name) or 'nothing'}."
            )
    for parameter in parameters_by_name.values():
        if parameter.required and parameter.name not in arguments_sent:
            raise InvalidInput(field=parameter.name, reason=f"required: {parameter.help}.")
    arguments = {
        name: arguments_sent[name]
        for name in arguments_sent
        if arguments_sent[name] is not None or parameters_by_name[name].required
    }
    return {name: _check_argument(parameters_by_name[name], argument) for name, argument in arguments.items()}


def _build_namespace(operation: Operation) -> dict[str, Any]:
    """Return the names used in annotations; many are imported only for type checkers."""
    return {
        **vars(typing),
        "Help": Help,
        "Hub": engram.hub.Hub,
        **_list_value_types(),
        **vars(inspect.getmodule(operation.call)),
    }


def _list_value_types() -> dict[str, Any]:
    import engram.types

    return vars(engram.types)


def _build_parameter(signature_parameter: inspect.Parameter, hint: Any, choices: tuple[str, ...]) -> Parameter:
    kind, note = hint, ""
    if get_origin(hint) is typing.Annotated:
        kind, *extras = get_args(hint)
        note = next((extra.text for extra in extras if isinstance(extra, Help)), "")
    required = signature_parameter.default is inspect.Parameter.empty
    default = None if required else signature_parameter.default
    return Parameter(
        name=signature_parameter.name,
        type=_simplify_type(kind),
        help=note,
        required=required,
        default=default,
        choices=choices,
    )


def _simplify_type(kind: Any) -> Any:
    """Reduce `int | None` to int and `list[str]` to list."""
    if isinstance(kind, UnionType) or get_origin(kind) is typing.Union:
        kind = next(part for part in get_args(kind) if part is not NoneType)
    return get_origin(kind) or kind


def _check_argument(parameter: Parameter, argument: Any) -> Any:
    if parameter.type is Any or argument is None:
        return argument
    if isinstance(argument, int) and not -(2**63) <= argument < 2**63:  # the range of a database integer
        raise InvalidInput(field=parameter.name, reason="the number is too large.")
    if parameter.type is float and isinstance(argument, int) and not isinstance(argument, bool):
        return float(argument)
    if not isinstance(argument, parameter.type) or (isinstance(argument, bool) and parameter.type is not bool):
        type_name = {"str": "a string", "list": "a list"}.get(parameter.type.__name__, parameter.type.__name__)
        raise InvalidInput(field=parameter.name, reason=f"expected {type_name}, got {type(argument).__name__}.")
    return argument
