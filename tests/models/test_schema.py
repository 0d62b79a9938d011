"""Schemas: valid values are accepted, errors are named, and no text can break the parser."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.errors import InvalidInput
from engram.models.schema import InvalidJson, check_schema, find_problems, parse_json, to_strict_json

NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=4), each, max_size=3)
)


def schema_of(data: Any) -> dict[str, Any]:
    """Return the strictest schema for a value."""
    if isinstance(data, dict):
        parts = {name: schema_of(each) for name, each in data.items()}
        return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
    if isinstance(data, list):
        return {"type": "array"}
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}
    return {"type": kinds[type(data)], "enum": [data]}


@given(VALUES)
def test_a_value_fits_its_own_schema_and_comes_back_from_its_text(data: Any) -> None:
    schema = schema_of(data)
    check_schema(schema)
    assert find_problems(schema, data) == []
    assert parse_json(json.dumps(data)) == data
    assert parse_json(f"```json\n{json.dumps(data)}\n```") == data


@given(st.dictionaries(st.text(max_size=4), LEAVES, min_size=1, max_size=3), st.data())
def test_what_is_missing_or_too_much_is_named(data: dict[str, Any], draw: st.DataObject) -> None:
    schema = schema_of(data)
    name = draw.draw(st.sampled_from(sorted(data)))
    rest = {each: data[each] for each in data if each != name}
    assert find_problems(schema, rest) == [f"the answer lacks {name!r}"]
    assert find_problems(schema_of(rest), data) == [f"the answer has {name!r}, which is not allowed"]


@given(VALUES, VALUES)
def test_judging_anything_by_any_schema_never_breaks(one: Any, other: Any) -> None:
    problems = find_problems(schema_of(one), other)
    assert len(problems) <= 5
    if one == other and type(one) is type(other) and isinstance(one, str | None):
        assert problems == []


@given(st.text())
def test_reading_any_text_gives_json_or_says_that_it_is_none(text: str) -> None:
    try:
        json.dumps(parse_json(text))
    except InvalidJson:
        return


@given(VALUES)
def test_strict_data_is_left_as_it_is(data: Any) -> None:
    assert to_strict_json(data) == data


@pytest.mark.parametrize("data", [float("nan"), [float("inf")], {"a": "\ud800"}])
def test_what_json_cannot_hold_is_refused(data: Any) -> None:
    with pytest.raises(InvalidJson):
        to_strict_json(data)


@pytest.mark.parametrize(
    ("schema", "data", "found"),
    [
        ({"type": "integer"}, True, "must be integer, not boolean"),
        ({"type": "integer"}, 1.5, "must be integer, not number"),
        ({"type": "integer"}, 2.0, None),
        ({"type": "number"}, 3, None),
        ({"type": ["string", "null"]}, None, None),
        ({"type": ["string", "null"]}, 3, "must be string or null, not integer"),
        ({"enum": [1, "a"]}, True, "must be one of 1, 'a'"),
        ({"type": "string", "maxLength": 2}, "abc", "has 3 characters, 2 are allowed"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 1], r"the answer\[1\] must be string"),
        ({"properties": {"a": {"properties": {"b": {"type": "null"}}}}}, {"a": {"b": 1}}, r"answer\.a\.b must be null"),
        ({}, {"any": ["thing"]}, None),
    ],
)
def test_each_rule_is_checked(schema: dict[str, Any], data: Any, found: str | None) -> None:
    check_schema(schema)
    if found is None:
        assert find_problems(schema, data) == []
    else:
        (problem,) = find_problems(schema, data)
        assert re.search(found, problem), problem


@pytest.mark.parametrize(
    "schema",
    [
        [], {"pattern": "a"}, {"type": "text"}, {"type": ["string", "text"]}, {"properties": []}, {"required": "a"},
        {"items": 3}, {"properties": {"a": {"$ref": "#"}}}, {"items": {"minItems": 1}}, {"maxLength": "3"},
        {"additionalProperties": {"type": "string"}},
    ],
)  # fmt: skip
def test_a_schema_that_says_more_than_we_check_is_refused(schema: Any) -> None:
    with pytest.raises(InvalidInput):
        check_schema(schema)
