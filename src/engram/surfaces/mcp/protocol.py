"""The wire of MCP without I/O: a message in, a reply or nothing out.

Up to 2025-11-25 a client greets with `initialize`; since 2026-07-28 every request stands alone and names its version in
`_meta`. Nothing is kept between messages, so one server speaks both, in any order.
"""

from __future__ import annotations

from engram import __version__
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"

UNREADABLE, INVALID, UNKNOWN_METHOD, BAD_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNSUPPORTED, NO_RESOURCE = -32020, -32022, -32002

SERVER = {"name": "engram", "title": "Engram", "version": __version__}

_META = "io.modelcontextprotocol/"
_VERSION, _CLIENT, _ABLE = f"{_META}protocolVersion", f"{_META}clientInfo", f"{_META}clientCapabilities"
_HOUR = 3_600_000  # milliseconds
# How long a client may keep an answer: what is written in our code changes with a release only.
_KEPT = {
    "server/discover": 0, "tools/list": _HOUR, "prompts/list": _HOUR, "resources/templates/list": _HOUR,
    "resources/list": 0, "resources/read": 0,
}  # fmt: skip


class Fault(Exception):
    """A request that cannot be answered: its code, why, and the facts for programs."""

    def __init__(self, code: int, reason: str, data: Any = None) -> None:
        super().__init__(reason)
        self.code = code
        self.data = data


@value
class Request:
    """One question of a client."""

    id: str | int
    method: str
    params: dict[str, Any]
    modern: bool  # it stands alone, and says its version itself
    client: str = ""  # the name the client gives itself

    @property
    def meta(self) -> dict[str, Any]:
        """Return what the client sent along with the request."""
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}


def respond(message: Any, answer: Callable[[Request], dict[str, Any]]) -> dict[str, Any] | None:
    """Return the reply to a message, or None where none is due."""
    try:
        request = read(message)
        return None if request is None else _reply(request, answer(request))
    except Fault as fault:
        return failure(id_of(message), fault)
    except Exception:
        import logging

        logging.getLogger("engram.mcp").exception("A request failed")
        return failure(id_of(message), Fault(INTERNAL, "Something went wrong inside Engram; its log says what."))


def read(message: Any) -> Request | None:
    """Return the question a message asks, or None if it asks nothing; raise a fault if it cannot be understood."""
    if isinstance(message, list):
        raise Fault(INVALID, "Batches are not taken; send one message at a time.")
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Fault(INVALID, 'A message is a JSON object with "jsonrpc": "2.0".')
    method = message.get("method")
    if not isinstance(method, str):
        if method is None and ("result" in message or "error" in message):
            return None  # an answer, though we ask nothing
        raise Fault(INVALID, "The method is missing, or no text.")
    if "id" not in message:
        return None
    if id_of(message) is None:
        raise Fault(INVALID, "The id of a request is a text or a whole number.")
    return _request(message["id"], method, message.get("params"))


def cancelled(message: Any) -> str | int | None:
    """Return the id of the request that a message calls off."""
    if not isinstance(message, dict) or message.get("method") != "notifications/cancelled":
        return None
    params = message.get("params")
    return _whole(params.get("requestId")) if isinstance(params, dict) else None


def failure(request_id: str | int | None, fault: Fault) -> dict[str, Any]:
    """Return a fault as the reply to a request."""
    error = {"code": fault.code, "message": str(fault), **({} if fault.data is None else {"data": fault.data})}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def greeting(request: Request, capabilities: dict[str, Any], instructions: str) -> dict[str, Any]:
    """Return what `initialize` and `server/discover` answer: versions, abilities, and when to use us."""
    offered = {"capabilities": capabilities, **({"instructions": instructions} if instructions else {})}
    if request.method == "server/discover":
        return {"supportedVersions": [MODERN], **offered}
    wanted = request.params.get("protocolVersion")
    return {"protocolVersion": wanted if wanted in LEGACY else LEGACY[-1], "serverInfo": SERVER, **offered}


def id_of(message: Any) -> str | int | None:
    """Return the id of a message, if it has one that can be answered to."""
    return _whole(message.get("id")) if isinstance(message, dict) else None


def version_of(message: Any) -> Any:
    """Return the version a message names for itself; None if it names none, as up to 2025-11-25."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(_VERSION) if isinstance(meta, dict) else None


def unsupported(version: str) -> Fault:
    """Return the fault that tells a client which version to use instead."""
    return Fault(UNSUPPORTED, "Unsupported protocol version", {"supported": [MODERN], "requested": version})


def _request(request_id: str | int, method: str, params: Any) -> Request:
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise Fault(BAD_PARAMS, "params must be an object.")
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    modern = method == "server/discover" or (_VERSION in meta and method != "initialize")
    if modern:
        _check_meta(meta)
    about = params.get("clientInfo") if method == "initialize" else meta.get(_CLIENT)
    client = about.get("name") if isinstance(about, dict) else None
    known = client if isinstance(client, str) else ""
    return Request(id=request_id, method=method, params=params, modern=modern, client=known)


def _check_meta(meta: dict[str, Any]) -> None:
    missing = [name for name in (_VERSION, _ABLE) if name not in meta]
    if missing:
        raise Fault(BAD_PARAMS, f"params._meta lacks {' and '.join(missing)}.")
    if not isinstance(meta[_VERSION], str):
        raise Fault(BAD_PARAMS, f"{_VERSION} must be text.")
    if meta[_VERSION] != MODERN:
        raise unsupported(meta[_VERSION])


def _reply(request: Request, result: dict[str, Any]) -> dict[str, Any]:
    if request.modern:
        result = {**result, "resultType": "complete", "_meta": {f"{_META}serverInfo": SERVER}}
        if request.method in _KEPT:
            result |= {"ttlMs": _KEPT[request.method], "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def _whole(given: Any) -> str | int | None:
    return given if isinstance(given, str) or (isinstance(given, int) and not isinstance(given, bool)) else None
