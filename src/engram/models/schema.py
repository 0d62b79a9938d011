"""Validate data against the subset of JSON Schema that we use. Pure.

Supported are type, properties, required, items, enum, additionalProperties (a boolean) and maxLength; title and
description are for the model. A schema with other keys is refused: a rule nobody checks is worse than none.
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
_TOLD = 5  # problems reported


class InvalidJson(ValueError):
    """Raised if a text is not JSON."""


def check_schema(schema: object, path: str = "schema") -> None:
    """Refuse a schema with unsupported keys."""
    if not isinstance(schema, dict):
        raise InvalidInput(field=path, reason="Expected an object.")
    unknown = sorted(map(str, set(schema) - _KNOWN))
    if unknown:
        raise InvalidInput(
            field=path, reason=f"Unsupported: {', '.join(unknown)}. Supported: {', '.join(sorted(_KNOWN))}."
        )
    if not set(_list_types(schema)) <= set(_TYPES):
        raise InvalidInput(
            field=f"{path}.type", reason=f"Unknown type {schema['type']!r}. Choose one of: {', '.join(_TYPES)}."
        )
    _check_parts(schema, path)


def _check_parts(schema: dict[str, Any], path: str) -> None:
    shapes = {"properties": dict, "required": list, "enum": list, "additionalProperties": bool, "maxLength": int}
    for name, kind in shapes.items():
        if name in schema and not isinstance(schema[name], kind):
            raise InvalidInput(field=f"{path}.{name}", reason=f"Expected {kind.__name__}.")
    for name, part in schema.get("properties", {}).items():
        check_schema(part, f"{path}.properties.{name}")
    if "items" in schema:
        check_schema(schema["items"], f"{path}.items")


def parse_json(text: str) -> Any:
    """Parse JSON that a model wrote, also from inside a code fence."""
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        bare = bare[bare.index("\n") : -3]
    try:
        return orjson.loads(bare)
    except ValueError as problem:
        raise InvalidJson(f"it is not JSON ({problem})") from problem


def to_strict_json(data: Any) -> Any:
    """Return leniently parsed data as strict JSON: without NaN and lone surrogates."""
    try:
        return parse_json(json.dumps(data))
    except RecursionError as problem:
        raise InvalidJson("it is nested too deeply") from problem


def find_problems(schema: dict[str, Any], data: Any) -> list[str]:
    """Return the first problems of an answer; empty if it is valid."""
    flaws: list[str] = []
    _collect_problems(schema, data, "the answer", flaws)
    return flaws[:_TOLD]


def _collect_problems(schema: dict[str, Any], data: Any, path: str, flaws: list[str]) -> None:
    if len(flaws) >= _TOLD:
        return
    types = _list_types(schema)
    if types and not any(_is_type(data, item) for item in types):
        flaws.append(f"{path} must be {' or '.join(types)}, not {_name_type(data)}")
        return
    if "enum" in schema and not any(_is_equal(data, item) for item in schema["enum"]):
        flaws.append(f"{path} must be one of {_quote_choices(schema['enum'])}")
    if isinstance(data, str) and len(data) > schema.get("maxLength", math.inf):
        flaws.append(f"{path} has {len(data)} characters, {schema['maxLength']} are allowed")
    if isinstance(data, dict):
        _collect_object_problems(schema, data, path, flaws)
    if isinstance(data, list) and "items" in schema:
        for n, item in enumerate(data):
            _collect_problems(schema["items"], item, f"{path}[{n}]", flaws)


def _collect_object_problems(schema: dict[str, Any], data: dict[str, Any], path: str, flaws: list[str]) -> None:
    properties = schema.get("properties", {})
    flaws += [f"{path} lacks {name!r}" for name in schema.get("required", ()) if name not in data]
    if not schema.get("additionalProperties", True):
        flaws += [f"{path} has {name[:40]!r}, which is not allowed" for name in data if name not in properties]
    for name, part in properties.items():
        if name in data:
            _collect_problems(part, data[name], f"{path}.{name}", flaws)


def _list_types(schema: dict[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _is_type(data: Any, kind: str) -> bool:
    """Check the type of a value; true is not a number, and 3.0 is an integer, as in JSON Schema."""
    if isinstance(data, bool):
        return kind == "boolean"
    if isinstance(data, float):
        return (kind == "number" and math.isfinite(data)) or (kind == "integer" and data.is_integer())
    return isinstance(data, _TYPES[kind])


def _is_equal(first: Any, second: Any) -> bool:
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)


def _name_type(data: Any) -> str:
    return next(name for name in (*_TYPES, "null") if _is_type(data, name) or name == "null")


def _quote_choices(choices: list[Any]) -> str:
    return ", ".join(repr(choice) for choice in choices)[:200]
