"""The body of a request: JSON, and not too much of it."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request

from engram.errors import Error, TooLarge
from engram.surfaces.http.waiting import Interrupted

BODY_BYTES = 4 * 1024 * 1024


class NotJson(Error):
    """The body must be JSON in UTF-8, sent as Content-Type: application/json."""

    code, status = "not_json", 415


async def read_body(request: Request) -> bytes:
    """Return the whole body, or refuse it."""
    kind, _, extras = request.headers.get("content-type", "").lower().partition(";")
    if kind.strip() != "application/json" or extras.strip() not in ("", "charset=utf-8", 'charset="utf-8"'):
        raise NotJson
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                raise TooLarge(field="The body", size=len(body), limit=BODY_BYTES, unit="bytes", hint="Send less.")
    except ClientDisconnect:
        raise Interrupted from None
    return bytes(body)
