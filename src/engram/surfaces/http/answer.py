"""Answers of the HTTP server: values and refusals as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from engram.errors import Error, Unauthorized
from engram.surfaces.encode import problem, to_json

_ALWAYS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class Unexpected(Error):
    """Something went wrong inside Engram; the server's log says what."""

    code, status = "internal", 500


class Answer(Response):
    """A value as JSON that nobody caches or guesses about."""

    media_type = "application/json"

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(to_json(content).encode("utf-8", "replace"), status, {**_ALWAYS, **(headers or {})})


def refused(error: Error, headers: Mapping[str, str] | None = None) -> Answer:
    """Turn a refusal into its answer."""
    challenge = {"WWW-Authenticate": "Bearer"} if error.status == Unauthorized.status else {}
    return Answer(problem(error), error.status, {**challenge, **(headers or {})})
