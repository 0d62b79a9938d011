"""The list of tools and the operations it is built from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.errors import InvalidInput
from engram.index.doc_kinds import TIERS
from engram.operation import Operation
from engram.patterns.rules import catalog
from engram.surfaces.mcp.arguments import check_arguments
from engram.surfaces.mcp.instructions import TEXT
from engram.surfaces.mcp.tool_definitions import DEFINITIONS, ToolDefinition
from engram.surfaces.mcp.tool_schemas import build_input_schema, build_tool, build_tools, find_operations
from engram.surfaces.mcp.tools import load_tools
from engram.surfaces.signature import Parameter, list_parameters
from tests.surfaces.mcp.test_protocol import ANY_JSON

TOOLS = load_tools()
BY_NAME = {tool["name"]: tool for tool in TOOLS}
TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list}
PORTABLE = {"type", "description", "properties", "required", "items", "enum", "default", "minimum", "maximum"}
EVERY_TOOL = pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.name)


def offered(definition: ToolDefinition) -> Iterator[tuple[Operation, Parameter]]:
    for operation in find_operations(definition):
        for parameter in list_parameters(operation):
            if parameter.name not in definition.left_out:
                yield operation, parameter


def schemas(whole: Any) -> Iterator[dict[str, Any]]:
    yield whole
    for part in (*whole.get("properties", {}).values(), *([whole["items"]] if "items" in whole else [])):
        yield from schemas(part)


def test_the_stored_list_is_what_the_operations_say_now() -> None:
    assert build_tools() == TOOLS, "Run: python -m engram.surfaces.mcp.tool_schemas"


@EVERY_TOOL
def test_a_tool_has_operations_that_agents_may_call(definition: ToolDefinition) -> None:
    operations = find_operations(definition)
    assert [operation.name for operation in operations if operation.agent] == [*definition.operations]


@EVERY_TOOL
def test_a_tool_offers_every_parameter_of_its_operations_unchanged(definition: ToolDefinition) -> None:
    schema = BY_NAME[definition.name]["inputSchema"]
    for operation, parameter in offered(definition):
        property_ = schema["properties"][parameter.name]
        assert TYPES[property_["type"]] is parameter.type, parameter.name
        assert property_.get("default") == parameter.default, parameter.name
        assert property_.get("items", property_).get("enum", []) == [*parameter.choices], parameter.name
        own_text = parameter.name in definition.descriptions
        assert own_text or property_["description"] == parameter.help, (operation.name, parameter.name)


@EVERY_TOOL
def test_a_tool_requires_what_all_its_operations_require(definition: ToolDefinition) -> None:
    required = [
        {parameter.name for owner, parameter in offered(definition) if owner == operation and parameter.required}
        for operation in find_operations(definition)
    ]
    assert set(BY_NAME[definition.name]["inputSchema"]["required"]) == set.intersection(*required)


@EVERY_TOOL
def test_what_a_tool_leaves_out_or_changes_belongs_to_its_operations_and_has_a_reason(
    definition: ToolDefinition,
) -> None:
    known = {parameter.name for operation in find_operations(definition) for parameter in list_parameters(operation)}
    assert {*definition.left_out, *definition.limits, *definition.descriptions} <= known
    assert known.isdisjoint(definition.own)
    assert all(definition.left_out.values())


def test_a_new_accepted_value_appears_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "STATES", (*catalog.STATES, "paused"))
    list_parameters.cache_clear()
    try:
        (patterns,) = (definition for definition in DEFINITIONS if definition.name == "patterns")
        assert "paused" in build_input_schema(patterns)["properties"]["state"]["enum"]
    finally:
        monkeypatch.undo()
        list_parameters.cache_clear()


def test_recall_takes_every_tier() -> None:
    tiers = BY_NAME["recall"]["inputSchema"]["properties"]["tiers"]["items"]["enum"]
    assert tiers == [*TIERS]
    assert {"article", "daily"} <= set(tiers)


@EVERY_TOOL
def test_only_tools_whose_operations_write_nothing_are_marked_read_only(definition: ToolDefinition) -> None:
    hints = build_tool(definition)["annotations"]
    assert set(hints) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
    assert hints["readOnlyHint"] is not any(operation.writes for operation in find_operations(definition))


@EVERY_TOOL
def test_schemas_say_only_what_every_client_understands(definition: ToolDefinition) -> None:
    tool = BY_NAME[definition.name]
    assert "outputSchema" not in tool  # with one, some clients show the model JSON instead of the text
    for schema in schemas(tool["inputSchema"]):
        assert set(schema) <= PORTABLE
        assert isinstance(schema["type"], str)


def test_the_list_stays_small_enough_for_a_context_window() -> None:
    assert len(json.dumps(TOOLS, ensure_ascii=False, separators=(",", ":"))) / 4 <= 2200


def test_the_instructions_are_short_and_name_every_tool() -> None:
    assert len(TEXT) <= 1500
    assert [name for name in BY_NAME if name not in TEXT] == []


@given(
    st.sampled_from(TOOLS), ANY_JSON | st.dictionaries(st.sampled_from(["query", "k", "id", "wait", "all"]), ANY_JSON)
)
def test_any_arguments_are_accepted_as_the_schema_says_or_refused(tool: dict[str, Any], given_: Any) -> None:
    schema = tool["inputSchema"]
    try:
        taken = check_arguments(schema, given_)
    except InvalidInput:
        return
    for name, each in taken.items():
        kind = schema["properties"][name]["type"]
        assert isinstance(each, (int, float) if kind == "number" else TYPES[kind])


def test_obvious_equivalents_are_accepted() -> None:
    assert check_arguments(BY_NAME["lock"]["inputSchema"], {"resources": "a.py", "note": None}) == {
        "resources": ["a.py"]
    }
    assert check_arguments(BY_NAME["recall"]["inputSchema"], {"query": "x", "k": 3.0}) == {"query": "x", "k": 3}


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
        check_arguments(BY_NAME[tool]["inputSchema"], given_)
    assert refusal.value.facts["field"] == field
