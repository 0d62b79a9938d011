"""JSON schemas, the part of them we use, and whether an answer fits one. Pure.

Known are type, properties, required, items, enum, additionalProperties (a boolean) and maxLength; title and description
are for the model. A schema that says more is refused: a rule nobody checks is worse than none.
"""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

from engram.errors import InvalidInput

_KNOWN = {
    "type", "properties", "required", "items", "enum", "additionalProperties", "maxLength", "title", "description",
}  # fmt: skip
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_TOLD = 5  # problems that are worth telling


class Unreadable(ValueError):
    """A text that should be JSON is not."""


def check(schema: object, place: str = "schema") -> None:
    """Refuse a schema that says what we do not check."""
    if not isinstance(schema, dict):
        raise InvalidInput(field=place, reason="expected an object.")
    unknown = sorted(map(str, set(schema) - _KNOWN))
    if unknown:
        raise InvalidInput(field=place, reason=f"{', '.join(unknown)} is not among {', '.join(sorted(_KNOWN))}.")
    if not set(_types(schema)) <= set(_TYPES):
        raise InvalidInput(field=f"{place}.type", reason=f"{schema['type']!r} is none of {', '.join(_TYPES)}.")
    _check_parts(schema, place)


def _check_parts(schema: dict[str, Any], place: str) -> None:
    shapes = {"properties": dict, "required": list, "enum": list, "additionalProperties": bool, "maxLength": int}
    for name, kind in shapes.items():
        if name in schema and not isinstance(schema[name], kind):
            raise InvalidInput(field=f"{place}.{name}", reason=f"expected {kind.__name__}.")
    for name, part in schema.get("properties", {}).items():
        check(part, f"{place}.properties.{name}")
    if "items" in schema:
        check(schema["items"], f"{place}.items")


def parse(text: str) -> Any:
    """Read the JSON a model wrote, also from within a fence of backticks."""
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        bare = bare[bare.index("\n") : -3]
    try:
        return orjson.loads(bare)
    except ValueError as problem:
        raise Unreadable(f"it is not JSON ({problem})") from problem


def strict(data: Any) -> Any:
    """Return data that a lenient reader took in as strict JSON has it: no NaN, no half of a character."""
    try:
        return parse(json.dumps(data))
    except RecursionError as problem:
        raise Unreadable("it is nested too deeply") from problem


def problems(schema: dict[str, Any], data: Any) -> list[str]:
    """Return what is wrong with an answer, the first few things; nothing if it fits."""
    found: list[str] = []
    _judge(schema, data, "the answer", found)
    return found[:_TOLD]


def _judge(schema: dict[str, Any], data: Any, place: str, found: list[str]) -> None:
    if len(found) >= _TOLD:
        return
    types = _types(schema)
    if types and not any(_is(data, each) for each in types):
        found.append(f"{place} must be {' or '.join(types)}, not {_type_of(data)}")
        return
    if "enum" in schema and not any(_same(data, each) for each in schema["enum"]):
        found.append(f"{place} must be one of {_quoted(schema['enum'])}")
    if isinstance(data, str) and len(data) > schema.get("maxLength", math.inf):
        found.append(f"{place} has {len(data)} characters, {schema['maxLength']} are allowed")
    if isinstance(data, dict):
        _judge_object(schema, data, place, found)
    if isinstance(data, list) and "items" in schema:
        for n, each in enumerate(data):
            _judge(schema["items"], each, f"{place}[{n}]", found)


def _judge_object(schema: dict[str, Any], data: dict[str, Any], place: str, found: list[str]) -> None:
    known = schema.get("properties", {})
    found += [f"{place} lacks {name!r}" for name in schema.get("required", ()) if name not in data]
    if not schema.get("additionalProperties", True):
        found += [f"{place} has {name[:40]!r}, which is not asked for" for name in data if name not in known]
    for name, part in known.items():
        if name in data:
            _judge(part, data[name], f"{place}.{name}", found)


def _types(schema: dict[str, Any]) -> list[str]:
    given = schema.get("type", [])
    return [given] if isinstance(given, str) else list(given)


def _is(data: Any, kind: str) -> bool:
    """Tell whether something is of a type; true is no number, 3.0 is an integer, as JSON Schema has it."""
    if isinstance(data, bool):
        return kind == "boolean"
    if isinstance(data, float):
        return (kind == "number" and math.isfinite(data)) or (kind == "integer" and data.is_integer())
    return isinstance(data, _TYPES[kind])


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _type_of(data: Any) -> str:
    return next(name for name in (*_TYPES, "null") if _is(data, name) or name == "null")


def _quoted(choices: list[Any]) -> str:
    return ", ".join(repr(each) for each in choices)[:200]
