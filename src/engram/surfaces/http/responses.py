"""JSON responses of the HTTP server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from engram.errors import Error, Unauthorized
from engram.surfaces.encode import error_to_dict, to_json

_DEFAULT_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class ApiResponse(Response):
    """A JSON response that must not be cached or sniffed."""

    media_type = "application/json"

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(to_json(content).encode("utf-8", "replace"), status, {**_DEFAULT_HEADERS, **(headers or {})})


def build_error_response(error: Error, headers: Mapping[str, str] | None = None) -> ApiResponse:
    """Return the response for an error."""
    challenge = {"WWW-Authenticate": "Bearer"} if error.status == Unauthorized.status else {}
    return ApiResponse(error_to_dict(error), error.status, {**challenge, **(headers or {})})
