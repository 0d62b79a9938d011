"""What a model passed to a tool, held to the tool's own schema."""

from __future__ import annotations

from typing import Any

from engram.errors import InvalidInput
from engram.text import one_line

_WANTED = {
    "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
    "array": "a list of texts",
}  # fmt: skip


def checked(schema: dict[str, Any], given: Any) -> dict[str, Any]:
    """Return the arguments a tool can rely on, or say which one is wrong; null is as good as left out."""
    if not isinstance(given, dict):
        raise InvalidInput(field="arguments", reason="expected an object.")
    known = schema["properties"]
    meant = {name: each for name, each in given.items() if each is not None}
    for name in meant:
        if name not in known:
            raise InvalidInput(field=one_line(name), reason=f"there are {', '.join(known)}.")
    for name in schema["required"]:
        if name not in meant:
            raise InvalidInput(field=name, reason=f"it is required: {known[name]['description']}.")
    return {name: _checked(name, known[name], each) for name, each in meant.items()}


def _checked(name: str, schema: dict[str, Any], given: Any) -> Any:
    given = _meant(schema["type"], given)
    if not _fits(schema["type"], given):
        raise InvalidInput(field=name, reason=f"expected {_WANTED[schema['type']]}: {schema['description']}.")
    for each in given if isinstance(given, list) else [given]:
        choices = schema.get("items", schema).get("enum")
        if choices and each not in choices:
            raise InvalidInput(field=name, reason=f"{one_line(str(each))!r} is none of {', '.join(choices)}.")
    if not schema.get("minimum", given) <= given <= schema.get("maximum", given):
        raise InvalidInput(field=name, reason=f"it must be from {schema['minimum']} to {schema['maximum']}.")
    return given


def _meant(kind: str, given: Any) -> Any:
    """Return what was meant where it is plain: one text for a list of one, 5.0 for 5."""
    if kind == "array" and isinstance(given, str):
        return [given]
    return int(given) if kind == "integer" and isinstance(given, float) and given.is_integer() else given


def _fits(kind: str, given: Any) -> bool:
    if kind == "array":
        return isinstance(given, list) and all(isinstance(each, str) for each in given)
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    return isinstance(given, kinds[kind]) and (kind == "boolean" or not isinstance(given, bool))  # type: ignore[arg-type]
