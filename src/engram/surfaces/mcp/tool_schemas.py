"""The tools as MCP lists them, built from the operations and from `tool_definitions`.

Importing the operations takes longer than an agent should wait for the list, so the list is stored in `tools.json`.
`python -m engram.surfaces.mcp.tool_schemas` writes it; a test fails if it is out of date.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import engram.api  # noqa: F401  registers the operations
from engram.operation import Operation, find_operation
from engram.surfaces.mcp.tool_definitions import DEFINITIONS, ToolDefinition
from engram.surfaces.signature import Parameter, list_parameters

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array"}


def build_tools() -> list[dict[str, Any]]:
    """Return all tools as `tools/list` shows them."""
    return [build_tool(definition) for definition in DEFINITIONS]


def build_tool(definition: ToolDefinition) -> dict[str, Any]:
    """Return one tool with its schema."""
    reads = not any(operation.writes for operation in find_operations(definition))
    return {
        "name": definition.name,
        "title": definition.title,
        "description": definition.description,
        "inputSchema": build_input_schema(definition),
        "annotations": {
            "readOnlyHint": reads,
            "destructiveHint": False,
            "idempotentHint": reads or definition.is_idempotent,
            "openWorldHint": False,
        },
    }


@cache
def find_input_schema(name: str) -> dict[str, Any] | None:
    """Return the input schema of a tool, or None if there is no such tool."""
    definition = next((definition for definition in DEFINITIONS if definition.name == name), None)
    return build_input_schema(definition) if definition else None


def build_input_schema(definition: ToolDefinition) -> dict[str, Any]:
    """Return the JSON schema of a tool's parameters."""
    groups = [_offered_parameters(definition, operation) for operation in find_operations(definition)]
    parameters = {name: parameter for group in reversed(groups) for name, parameter in group.items()}
    ordered = dict.fromkeys(name for group in groups for name in group)
    properties = {name: _build_property(definition, parameters[name]) for name in ordered}
    required = [name for name in ordered if all(name in group and group[name].required for group in groups)]
    return {"type": "object", "properties": {**properties, **definition.own}, "required": required}


def find_operations(definition: ToolDefinition) -> list[Operation]:
    """Return the operations that a tool calls."""
    operations = [find_operation(name) for name in definition.operations]
    return [operation for operation in operations if operation is not None]


def _offered_parameters(definition: ToolDefinition, operation: Operation) -> dict[str, Parameter]:
    parameters = list_parameters(operation)
    return {parameter.name: parameter for parameter in parameters if parameter.name not in definition.left_out}


def _build_property(definition: ToolDefinition, parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _JSON_TYPES[parameter.type]}
    choices = {"enum": [*parameter.choices]} if parameter.choices else {}
    if parameter.type is list:
        schema["items"] = {"type": "string", **choices}
    else:
        schema |= choices
    schema["description"] = definition.descriptions.get(parameter.name, parameter.help)
    if parameter.default is not None:
        schema["default"] = parameter.default
    if parameter.name in definition.limits:
        schema["minimum"], schema["maximum"] = definition.limits[parameter.name]
    return schema


def write_tools() -> None:
    """Write the list of tools to `tools.json`."""
    path = Path(__file__).with_name("tools.json")
    path.write_text(json.dumps(build_tools(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_tools()
