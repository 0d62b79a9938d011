"""What an MCP client may ask, whichever way it reaches us."""

from __future__ import annotations

from engram.errors import Error, InvalidInput
from engram.llm import guard
from engram.surfaces.mcp.protocol import BAD_PARAMS, INTERNAL, UNKNOWN_METHOD, Fault, greeting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from engram.hub import Hub
    from engram.surfaces.mcp.caller import Caller
    from engram.surfaces.mcp.protocol import Request

# Answered from tables: these need no store and wait for nothing.
AT_ONCE = ("initialize", "ping", "server/discover", "tools/list", "prompts/list", "resources/templates/list")
_NOT_MODERN = ("ping",)


class Server:
    """The methods of MCP over one store, opened when a method first needs it."""

    def __init__(self, hub: Callable[[], Hub]) -> None:
        self._hub = hub
        self._offering = not guard.inside()  # an agent that thinks for us must not act

    def answer(self, request: Request, caller: Caller) -> dict[str, Any]:
        """Return the result of a request."""
        method = _METHODS.get(request.method)
        if method is None or (request.modern and request.method in _NOT_MODERN):
            raise Fault(UNKNOWN_METHOD, f"There is no method {request.method[:100]!r}.")
        try:
            return method(self, request, caller)
        except Error as error:
            wrong = BAD_PARAMS if isinstance(error, InvalidInput) else INTERNAL
            raise Fault(wrong, str(error), {"error": error.code}) from error

    def _greet(self, request: Request, caller: Caller) -> dict[str, Any]:
        if not self._offering:
            return greeting(request, {}, "")
        from engram.surfaces.mcp.instructions import instructions

        return greeting(request, {"tools": {}, "resources": {}, "prompts": {}}, instructions(self._hub, caller))

    def _ping(self, _: Request, __: Caller) -> dict[str, Any]:
        return {}

    def _list_tools(self, _: Request, __: Caller) -> dict[str, Any]:
        from engram.surfaces.mcp.tools import TOOLS

        return {"tools": TOOLS if self._offering else []}

    def _call_tool(self, request: Request, caller: Caller) -> dict[str, Any]:
        self._refuse_inside()
        from engram.surfaces.mcp.calls import call

        return call(self._hub, caller, request.params.get("name"), request.params.get("arguments"))

    def _list_resources(self, request: Request, caller: Caller) -> dict[str, Any]:
        if not self._offering:
            return {"resources": []}
        from engram.surfaces.mcp import resources

        return resources.listed(self._hub(), caller, request.params.get("cursor"))

    def _list_templates(self, _: Request, __: Caller) -> dict[str, Any]:
        from engram.surfaces.mcp.templates import TEMPLATES

        return {"resourceTemplates": TEMPLATES if self._offering else []}

    def _read_resource(self, request: Request, caller: Caller) -> dict[str, Any]:
        self._refuse_inside()
        from engram.surfaces.mcp import resources

        return resources.read(self._hub(), caller, request.params.get("uri"), modern=request.modern)

    def _list_prompts(self, _: Request, __: Caller) -> dict[str, Any]:
        from engram.surfaces.mcp.prompts import PROMPTS

        return {"prompts": PROMPTS if self._offering else []}

    def _get_prompt(self, request: Request, caller: Caller) -> dict[str, Any]:
        self._refuse_inside()
        from engram.surfaces.mcp.prompts import PROMPTS, text_of

        found = next((each for each in PROMPTS if each["name"] == request.params.get("name")), None)
        if found is None:
            raise Fault(BAD_PARAMS, f"There are the prompts {', '.join(each['name'] for each in PROMPTS)}.")
        content = {"type": "text", "text": text_of(self._hub(), caller, found["name"])}
        return {"description": found["description"], "messages": [{"role": "user", "content": content}]}

    def _refuse_inside(self) -> None:
        if not self._offering:
            raise Fault(BAD_PARAMS, "Nothing is offered to an agent that thinks for Engram.")


_METHODS: dict[str, Callable[[Server, Request, Caller], dict[str, Any]]] = {
    "initialize": Server._greet, "server/discover": Server._greet, "ping": Server._ping,
    "tools/list": Server._list_tools, "tools/call": Server._call_tool,
    "resources/list": Server._list_resources, "resources/templates/list": Server._list_templates,
    "resources/read": Server._read_resource,
    "prompts/list": Server._list_prompts, "prompts/get": Server._get_prompt,
}  # fmt: skip
