"""The MCP wire protocol without I/O: takes a message, returns a reply or nothing.

Up to 2025-11-25 a client starts with `initialize`; since 2026-07-28 every request is self-contained and names its
version in `_meta`. The server keeps no state between messages, so it supports both, in any order.
"""

from __future__ import annotations

from engram import __version__
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
BATCHED = LEGACY[:2]  # versions in which a client may send several messages at once

UNREADABLE, INVALID, UNKNOWN_METHOD, BAD_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNSUPPORTED, NO_RESOURCE = -32020, -32022, -32002

SERVER = {"name": "engram", "title": "Engram", "version": __version__}

_META = "io.modelcontextprotocol/"
_VERSION, _CLIENT, _CAPABILITIES = f"{_META}protocolVersion", f"{_META}clientInfo", f"{_META}clientCapabilities"
_MAX_BATCH = 100  # messages
_HOUR = 3_600_000  # milliseconds
# How long a client may cache an answer: fixed lists change only with a release.
_CACHE_TIMES = {
    "server/discover": 0, "tools/list": _HOUR, "prompts/list": _HOUR, "resources/templates/list": _HOUR,
    "resources/list": 0, "resources/read": 0,
}  # fmt: skip


class Fault(Exception):
    """A JSON-RPC error: code, message and data."""

    def __init__(self, code: int, reason: str, data: Any = None) -> None:
        super().__init__(reason)
        self.code = code
        self.data = data


@value
class McpRequest:
    """A request from a client."""

    id: str | int
    method: str
    params: dict[str, Any]
    modern: bool  # self-contained: names its own protocol version
    client: str = ""  # client name

    @property
    def meta(self) -> dict[str, Any]:
        """Return the `_meta` object of the request."""
        meta_sent = self.params.get("_meta")
        return meta_sent if isinstance(meta_sent, dict) else {}


def respond(
    message: Any, answer: Callable[[McpRequest], dict[str, Any]]
) -> dict[str, Any] | list[dict[str, Any]] | None:
    """Return the reply to a message, the replies to a batch, or None if none is needed."""
    if not isinstance(message, list):
        return _respond_to_message(message, answer)
    if not 1 <= len(message) <= _MAX_BATCH:
        return build_failure(None, Fault(INVALID, f"A batch has 1 to {_MAX_BATCH} messages."))
    replies = (_respond_to_part(part, answer) for part in message)
    return [reply for reply in replies if reply is not None] or None


def _respond_to_part(message: Any, answer: Callable[[McpRequest], dict[str, Any]]) -> dict[str, Any] | None:
    """Return the reply to one message of a batch; what began or replaced the versions with batches stands alone."""
    method = message.get("method") if isinstance(message, dict) else None
    if method in ("initialize", "server/discover") or find_message_version(message) is not None:
        return build_failure(find_message_id(message), Fault(INVALID, "Send this message alone, not in a batch."))
    return _respond_to_message(message, answer)


def _respond_to_message(message: Any, answer: Callable[[McpRequest], dict[str, Any]]) -> dict[str, Any] | None:
    try:
        request = parse_request(message)
        return None if request is None else _build_reply(request, answer(request))
    except Fault as fault:
        return build_failure(find_message_id(message), fault)
    except Exception:
        import logging

        logging.getLogger("engram.mcp").exception("A request failed")
        return build_failure(find_message_id(message), Fault(INTERNAL, "Internal error in Engram; see its log."))


def parse_request(message: Any) -> McpRequest | None:
    """Parse a request; return None for notifications and replies, and raise Fault if it is invalid."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Fault(INVALID, 'A message must be a JSON object with "jsonrpc": "2.0".')
    method = message.get("method")
    if not isinstance(method, str):
        if method is None and ("result" in message or "error" in message):
            return None  # a reply, although we send no requests
        raise Fault(INVALID, "The method is missing or not a string.")
    if "id" not in message:
        return None
    if find_message_id(message) is None:
        raise Fault(INVALID, "The id of a request must be a string or an integer.")
    return _build_request(message["id"], method, message.get("params"))


def split_batch(message: Any) -> list[Any]:
    """Return the messages of a batch, or a single message as the only one."""
    return message if isinstance(message, list) else [message]


def list_request_ids(message: Any) -> list[str | int]:
    """Return the ids of the valid requests in a message or a batch."""
    request_ids: list[str | int] = []
    for part in split_batch(message):
        try:
            request = parse_request(part)
        except Fault:
            continue
        request_ids += [request.id] if request else []
    return request_ids


def find_cancelled_id(message: Any) -> str | int | None:
    """Return the id of the request that a message cancels."""
    if not isinstance(message, dict) or message.get("method") != "notifications/cancelled":
        return None
    params = message.get("params")
    return _valid_id_or_none(params.get("requestId")) if isinstance(params, dict) else None


def build_failure(request_id: str | int | None, fault: Fault) -> dict[str, Any]:
    """Return the error reply for a fault."""
    error = {"code": fault.code, "message": str(fault), **({} if fault.data is None else {"data": fault.data})}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def build_greeting(request: McpRequest, capabilities: dict[str, Any], instructions: str) -> dict[str, Any]:
    """Return the result of `initialize` and `server/discover`: versions, capabilities and instructions."""
    offered = {"capabilities": capabilities, **({"instructions": instructions} if instructions else {})}
    if request.method == "server/discover":
        return {"supportedVersions": [MODERN], **offered}
    wanted_version = request.params.get("protocolVersion")
    return {
        "protocolVersion": wanted_version if wanted_version in LEGACY else LEGACY[-1],
        "serverInfo": SERVER,
        **offered,
    }


def find_message_id(message: Any) -> str | int | None:
    """Return the id of a message if it is a valid one."""
    return _valid_id_or_none(message.get("id")) if isinstance(message, dict) else None


def find_message_version(message: Any) -> Any:
    """Return the protocol version in a message's `_meta`; None before 2026-07-28."""
    params = message.get("params") if isinstance(message, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(_VERSION) if isinstance(meta, dict) else None


def build_version_fault(version: str) -> Fault:
    """Return the fault for an unsupported version, with the supported ones."""
    return Fault(UNSUPPORTED, "Unsupported protocol version", {"supported": [MODERN], "requested": version})


def _build_request(request_id: str | int, method: str, params: Any) -> McpRequest:
    params = {} if params is None else params
    if not isinstance(params, dict):
        raise Fault(BAD_PARAMS, "params must be an object.")
    meta = params.get("_meta")
    meta = meta if isinstance(meta, dict) else {}
    modern = method == "server/discover" or (_VERSION in meta and method != "initialize")
    if modern:
        _check_meta(meta)
    client_info = params.get("clientInfo") if method == "initialize" else meta.get(_CLIENT)
    client = client_info.get("name") if isinstance(client_info, dict) else None
    client_name = client if isinstance(client, str) else ""
    return McpRequest(id=request_id, method=method, params=params, modern=modern, client=client_name)


def _check_meta(meta: dict[str, Any]) -> None:
    missing = [name for name in (_VERSION, _CAPABILITIES) if name not in meta]
    if missing:
        raise Fault(BAD_PARAMS, f"Missing in params._meta: {', '.join(missing)}.")
    if not isinstance(meta[_VERSION], str):
        raise Fault(BAD_PARAMS, f"{_VERSION} must be a string.")
    if meta[_VERSION] != MODERN:
        raise build_version_fault(meta[_VERSION])


def _build_reply(request: McpRequest, result: dict[str, Any]) -> dict[str, Any]:
    if request.modern:
        result = {**result, "resultType": "complete", "_meta": {f"{_META}serverInfo": SERVER}}
        if request.method in _CACHE_TIMES:
            result |= {"ttlMs": _CACHE_TIMES[request.method], "cacheScope": "private"}
    return {"jsonrpc": "2.0", "id": request.id, "result": result}


def _valid_id_or_none(request_id: Any) -> str | int | None:
    return (
        request_id
        if isinstance(request_id, str) or (isinstance(request_id, int) and not isinstance(request_id, bool))
        else None
    )
