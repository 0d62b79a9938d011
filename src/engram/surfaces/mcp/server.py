"""The MCP methods, shared by stdio and HTTP."""

from __future__ import annotations

from engram.errors import Error, InvalidInput
from engram.models import reentry_guard
from engram.surfaces.mcp.protocol import BAD_PARAMS, INTERNAL, UNKNOWN_METHOD, Fault, build_greeting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engram.hub import Hub
    from engram.surfaces.mcp.caller import Caller
    from engram.surfaces.mcp.protocol import McpRequest

# These need no store, so they are answered immediately.
IMMEDIATE_METHODS = ("initialize", "ping", "server/discover", "tools/list", "prompts/list", "resources/templates/list")
_NOT_MODERN = ("ping",)


class McpServer:
    """The MCP methods of one store, which is opened when a method first needs it."""

    def __init__(self, hub: Callable[[], Hub]) -> None:
        self._hub = hub
        self._is_offering = not reentry_guard.is_inside_call()  # an agent that Engram runs as its model gets no tools

    def answer(self, request: McpRequest, caller: Caller) -> dict[str, Any]:
        """Return the result of a request."""
        method = _METHODS.get(request.method)
        if method is None or (request.modern and request.method in _NOT_MODERN):
            raise Fault(UNKNOWN_METHOD, f"Unknown method {request.method[:100]!r}.")
        try:
            return method(self, request, caller)
        except Error as error:
            code = BAD_PARAMS if isinstance(error, InvalidInput) else INTERNAL
            raise Fault(code, str(error), {"error": error.code}) from error

    def _greet(self, request: McpRequest, caller: Caller) -> dict[str, Any]:
        if not self._is_offering:
            return build_greeting(request, {}, "")
        from engram.surfaces.mcp.instructions import build_instructions

        return build_greeting(
            request, {"tools": {}, "resources": {}, "prompts": {}}, build_instructions(self._hub, caller)
        )

    def _ping(self, _: McpRequest, __: Caller) -> dict[str, Any]:
        return {}

    def _list_tools(self, _: McpRequest, __: Caller) -> dict[str, Any]:
        from engram.surfaces.mcp.tools import load_tools

        return {"tools": load_tools() if self._is_offering else []}

    def _call_tool(self, request: McpRequest, caller: Caller) -> dict[str, Any]:
        self._require_offering()
        from engram.surfaces.mcp.handlers import call_tool

        return call_tool(self._hub, caller, request.params.get("name"), request.params.get("arguments"))

    def _list_resources(self, request: McpRequest, caller: Caller) -> dict[str, Any]:
        if not self._is_offering:
            return {"resources": []}
        from engram.surfaces.mcp import resources

        return resources.list_resources(self._hub(), caller, request.params.get("cursor"))

    def _list_templates(self, _: McpRequest, __: Caller) -> dict[str, Any]:
        from engram.surfaces.mcp.resource_templates import TEMPLATES

        return {"resourceTemplates": TEMPLATES if self._is_offering else []}

    def _read_resource(self, request: McpRequest, caller: Caller) -> dict[str, Any]:
        self._require_offering()
        from engram.surfaces.mcp import resources

        return resources.read_resource(self._hub(), caller, request.params.get("uri"), modern=request.modern)

    def _list_prompts(self, _: McpRequest, __: Caller) -> dict[str, Any]:
        from engram.surfaces.mcp.prompts import PROMPTS

        return {"prompts": PROMPTS if self._is_offering else []}

    def _get_prompt(self, request: McpRequest, caller: Caller) -> dict[str, Any]:
        self._require_offering()
        from engram.surfaces.mcp.prompts import PROMPTS, build_prompt

        prompt = next(
            (known_prompt for known_prompt in PROMPTS if known_prompt["name"] == request.params.get("name")), None
        )
        if prompt is None:
            raise Fault(
                BAD_PARAMS, f"Unknown prompt. Prompts: {', '.join(known_prompt['name'] for known_prompt in PROMPTS)}."
            )
        content = {"type": "text", "text": build_prompt(self._hub(), caller, prompt["name"])}
        return {"description": prompt["description"], "messages": [{"role": "user", "content": content}]}

    def _require_offering(self) -> None:
        if not self._is_offering:
            raise Fault(BAD_PARAMS, "Engram offers no tools to an agent that it runs as its own model.")


_METHODS: dict[str, Callable[[McpServer, McpRequest, Caller], dict[str, Any]]] = {
    "initialize": McpServer._greet, "server/discover": McpServer._greet, "ping": McpServer._ping,
    "tools/list": McpServer._list_tools, "tools/call": McpServer._call_tool,
    "resources/list": McpServer._list_resources, "resources/templates/list": McpServer._list_templates,
    "resources/read": McpServer._read_resource,
    "prompts/list": McpServer._list_prompts, "prompts/get": McpServer._get_prompt,
}  # fmt: skip
