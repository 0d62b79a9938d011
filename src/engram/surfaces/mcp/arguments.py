"""Check the arguments of a tool call against the tool's schema."""

from __future__ import annotations

from typing import Any

from engram.errors import InvalidInput
from engram.platform.text import to_one_line

_TYPE_WORDS = {
    "string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false",
    "array": "a list of strings",
}  # fmt: skip


def check_arguments(schema: dict[str, Any], arguments_sent: Any) -> dict[str, Any]:
    """Return the checked arguments, without nulls; raise InvalidInput for the first invalid one."""
    if not isinstance(arguments_sent, dict):
        raise InvalidInput(field="arguments", reason="expected an object.")
    properties = schema["properties"]
    arguments = {name: argument for name, argument in arguments_sent.items() if argument is not None}
    for name in arguments:
        if name not in properties:
            raise InvalidInput(field=to_one_line(name), reason=f"unknown parameter. Use {', '.join(properties)}.")
    for name in schema["required"]:
        if name not in arguments:
            raise InvalidInput(field=name, reason=f"required: {properties[name]['description']}.")
    return {name: _check_argument(name, properties[name], argument) for name, argument in arguments.items()}


def _check_argument(name: str, schema: dict[str, Any], argument: Any) -> Any:
    argument = _coerce_argument(schema["type"], argument)
    if not _is_of_type(schema["type"], argument):
        raise InvalidInput(field=name, reason=f"expected {_TYPE_WORDS[schema['type']]}: {schema['description']}.")
    for element in argument if isinstance(argument, list) else [argument]:
        choices = schema.get("items", schema).get("enum")
        if choices and element not in choices:
            raise InvalidInput(
                field=name,
                reason=f"unknown value {to_one_line(str(element), 60)!r}. Choose one of: {', '.join(choices)}.",
            )
    if not schema.get("minimum", argument) <= argument <= schema.get("maximum", argument):
        raise InvalidInput(field=name, reason=f"must be from {schema['minimum']} to {schema['maximum']}.")
    return argument


def _coerce_argument(kind: str, argument: Any) -> Any:
    """Convert obvious equivalents: a string to a list with one element, 5.0 to 5."""
    if kind == "array" and isinstance(argument, str):
        return [argument]
    return int(argument) if kind == "integer" and isinstance(argument, float) and argument.is_integer() else argument


def _is_of_type(kind: str, argument: Any) -> bool:
    if kind == "array":
        return isinstance(argument, list) and all(isinstance(element, str) for element in argument)
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    return isinstance(argument, kinds[kind]) and (kind == "boolean" or not isinstance(argument, bool))  # type: ignore[arg-type]
