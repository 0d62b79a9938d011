"""The table of tools, held to the operations behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engram.api  # noqa: F401  the operations enter the registry
from engram.errors import InvalidInput
from engram.operation import find
from engram.recall.filter import tiers as known_tiers
from engram.surfaces.mcp.arguments import checked
from engram.surfaces.mcp.instructions import TEXT
from engram.surfaces.mcp.tools import TIERS, TOOLS
from engram.surfaces.signature import Parameter, parameters
from tests.surfaces.mcp.test_protocol import ANY_JSON

BY_NAME = {tool["name"]: tool for tool in TOOLS}
# Which operation a tool's arguments go to, and those that are the tool's own.
BEHIND: dict[str, tuple[str, set[str]]] = {
    "recall": ("recall", {"cursor"}), "get": ("get", {"cursor"}), "remember": ("remember", set()),
    "sitrep": ("get_situation_report", set()), "lock": ("lock_resources", set()), "log": ("log", set()),
    "message": ("send", set()), "patterns": ("recommend_pattern", {"state", "cursor"}),
    "unlock": ("release_resource", {"resources", "all"}),
}  # fmt: skip
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
PORTABLE = {"type", "description", "properties", "required", "items", "enum", "default", "minimum", "maximum"}


def asked(operation: str) -> dict[str, Parameter]:
    found = find(operation)
    assert found is not None
    return {parameter.name: parameter for parameter in parameters(found)}


def schemas(found: Any) -> Iterator[dict[str, Any]]:
    yield found
    for part in (*found.get("properties", {}).values(), *([found["items"]] if "items" in found else [])):
        yield from schemas(part)


def test_there_are_nine_tools_each_with_an_operation_behind_it() -> None:
    assert set(BY_NAME) == set(BEHIND)


@pytest.mark.parametrize("tool", [*BEHIND])
def test_a_tool_asks_for_what_its_operation_takes(tool: str) -> None:
    operation, own = BEHIND[tool]
    known, schema = asked(operation), BY_NAME[tool]["inputSchema"]
    for name, property_ in schema["properties"].items():
        if name in own:
            continue
        assert known[name].type is TYPES[property_["type"]], name
        assert property_.get("default") == (known[name].default if "default" in property_ else None), name
    optional = {name for name, parameter in known.items() if not parameter.required}
    assert {name for name in schema["required"] if name not in own}.isdisjoint(optional)


@pytest.mark.parametrize("tool", [*BEHIND])
def test_only_tools_whose_operation_writes_nothing_say_they_read(tool: str) -> None:
    operation = find(BEHIND[tool][0])
    hints = BY_NAME[tool]["annotations"]
    assert operation is not None
    assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert hints["readOnlyHint"] is not operation.writes


@pytest.mark.parametrize("tool", [*BEHIND])
def test_schemas_say_only_what_every_client_understands(tool: str) -> None:
    for whole in (BY_NAME[tool]["inputSchema"], BY_NAME[tool]["outputSchema"]):
        for schema in schemas(whole):
            assert set(schema) <= PORTABLE
            assert isinstance(schema["type"], str)


def test_the_kinds_of_memory_are_those_that_can_be_asked_for() -> None:
    assert known_tiers(TIERS) is not None


def test_the_instructions_are_short_and_name_every_tool() -> None:
    assert len(TEXT) <= 1500
    assert [name for name in BY_NAME if name not in TEXT] == []


@given(
    st.sampled_from(TOOLS), ANY_JSON | st.dictionaries(st.sampled_from(["query", "k", "id", "wait", "all"]), ANY_JSON)
)
def test_any_arguments_are_taken_as_the_schema_says_or_refused(tool: dict[str, Any], given_: Any) -> None:
    schema = tool["inputSchema"]
    try:
        taken = checked(schema, given_)
    except InvalidInput:
        return
    for name, each in taken.items():
        kind = schema["properties"][name]["type"]
        assert isinstance(each, (int, float) if kind == "number" else TYPES[kind])


def test_what_is_plainly_meant_is_taken() -> None:
    assert checked(BY_NAME["lock"]["inputSchema"], {"resources": "a.py", "note": None}) == {"resources": ["a.py"]}
    assert checked(BY_NAME["recall"]["inputSchema"], {"query": "x", "k": 3.0}) == {"query": "x", "k": 3}


@pytest.mark.parametrize(
    ("tool", "given_", "field"),
    [
        ("recall", {}, "query"),
        ("recall", {"query": "x", "k": "5"}, "k"),
        ("recall", {"query": "x", "k": 0}, "k"),
        ("recall", {"query": "x", "tiers": ["gist", "rumour"]}, "tiers"),
        ("recall", {"query": "x", "depth": 1}, "depth"),
        ("lock", {"resources": ["a", 1]}, "resources"),
        ("lock", {"resources": ["a"], "wait": 51}, "wait"),
        ("lock", {"resources": ["a"], "mode": "loud"}, "mode"),
        ("unlock", {"all": 1}, "all"),
        ("log", [], "arguments"),
    ],
)
def test_a_wrong_argument_is_named(tool: str, given_: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        checked(BY_NAME[tool]["inputSchema"], given_)
    assert refusal.value.facts["field"] == field
