"""The reference of the HTTP server: how to call it, and every route."""

from __future__ import annotations

import ast
from typing import Any

from engram.operation import Operation
from engram.surfaces.http.application import LONGEST_WAIT, list_offered
from engram.surfaces.http.request_body import MAX_BODY_BYTES
from engram.surfaces.mcp.tool_definitions import DEFINITIONS
from engram.surfaces.signature import list_parameters
from tools.reference_pages.markdown import NOTICE, format_docstring, format_list, format_table, join_blocks
from tools.reference_pages.operations import format_parameter, get_return_type, list_types

_INTRODUCTION = f"""
`engram serve` offers the [operations](operations.md) as JSON over HTTP/1.1. It needs the extra `serve`.

## Connecting

- `engram serve` listens on a Unix socket, `engram.sock` in the Engram home. Only you can open it, so it needs no token.
- `engram serve --port 7463` listens on `http://127.0.0.1:7463` and needs the token in `serve.json` in the Engram home,
  which only you can read.

```sh
engram serve &
curl --unix-socket ~/.local/share/engram/engram.sock http://engram/api/stats
```

On a port, send the token with every request as `Authorization: Bearer TOKEN`. The token is new at every start.
`serve.json` holds `url`, `token` and `pid`. The `Host` header must name the server's own address, and requests from web
pages of other origins are refused. `--host` listens on another address of the machine; the traffic is not encrypted.

There is no separate health check: `GET /api` answers as soon as the server is ready.

## Requests

`GET` takes parameters from the query string; repeat a name to give a list. `POST` takes a JSON object of at most
{MAX_BODY_BYTES // 1024 // 1024} MB, sent as `Content-Type: application/json`. Operations that write accept only `POST`.
Unknown parameters are refused. A call waits at most {LONGEST_WAIT} seconds (`wait`); closing the connection ends it.

## Responses

The body is the result as JSON, with status 200. Objects have the fields of the [types](operations.md#types); times are
ISO 8601 in UTC, and tuples are arrays. If the call names a session, the header `Engram-Unread` holds the number of its
unread messages.

An error is an object with its `error` code, its `message` and its fields; the status is the one in the
[list of errors](operations.md#errors):

```json
{{"error": "not_found", "message": "No session 'x'. …", "kind": "session", "id": "x", "hint": "…"}}
```
"""
_MCP = """
### POST /mcp

MCP over streamable HTTP: one JSON-RPC message per request, one JSON reply, no session state on the server. The header
`Engram-Session` names the calling session. The tools are the same as those of `engram mcp`:
"""
_DASHBOARD = """
## Dashboard

On a port, `/` and all other paths are the pages of the [dashboard](../dashboard.md), for browsers that signed in.

- `POST /enter` (with the token) returns `{"path": "/enter?ticket=…"}`, a link that works once within ten minutes.
- `GET /enter?ticket=…` signs the browser in with a cookie. `engram ui` does both.
"""
_JSON_TYPES: dict[Any, str] = {
    str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object",
}  # fmt: skip
_PLURALS = {"str": "strings", "int": "integers", "float": "numbers"}
_SINGLE = {"str": "a string", "int": "an integer", "float": "a number", "bool": "true or false", "None": "null"}


def build_page() -> str:
    """Return the page."""
    tools = [(f"`{tool.name}`", format_docstring(tool.description)) for tool in DEFINITIONS]
    return join_blocks(
        "# HTTP",
        NOTICE,
        _INTRODUCTION,
        "## Routes",
        "### GET /api\n\nReturns the version and a description of every operation below.",
        _MCP,
        format_table(("tool", "description"), tools),
        *(_build_route(operation) for operation in list_offered()),
        _DASHBOARD,
    )


def _build_route(operation: Operation) -> str:
    method = "POST" if operation.writes else "GET, POST"
    parameters = [format_parameter(p, _JSON_TYPES.get(p.type, "any")) for p in list_parameters(operation)]
    return join_blocks(
        f"### {method} /api/{operation.name}",
        format_docstring(operation.call.__doc__),
        format_list(parameters),
        f"Returns {_describe_json(get_return_type(operation))}.",
    )


def _describe_json(annotation: str) -> str:
    """Describe a Python type as the JSON it becomes."""
    return _describe_node(ast.parse(annotation, mode="eval").body)


def _describe_node(node: ast.expr) -> str:
    if isinstance(node, ast.BinOp):
        return f"{_describe_node(node.left)} or {_describe_node(node.right)}"
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "dict":
        assert isinstance(node.slice, ast.Tuple)
        return f"an object whose values are {_describe_node(node.slice.elts[1])}"
    if isinstance(node, ast.Subscript):
        inner = ast.unparse(node.slice)
        return f"an array of {_PLURALS.get(inner) or _link_type(inner)}"
    name = ast.unparse(node)
    return _SINGLE.get(name) or (f"a {_link_type(name)}" if name in list_types() else "any JSON value")


def _link_type(name: str) -> str:
    return f"[{name}](operations.md#class-{name.lower()})"
