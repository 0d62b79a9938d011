"""Read request bodies, JSON or form, up to a size limit."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request

from engram.errors import TooLarge
from engram.surfaces.errors import Interrupted, NoForm, NotJson

MAX_BODY_BYTES = 4 * 1024 * 1024


async def read_body(request: Request) -> bytes:
    """Return a JSON body, or raise NotJson."""
    if not _has_content_type(request, "application/json"):
        raise NotJson
    return await _read_all(request)


async def read_form(request: Request) -> bytes:
    """Return a form body, or raise NoForm."""
    if not _has_content_type(request, "application/x-www-form-urlencoded"):
        raise NoForm
    return await _read_all(request)


def _has_content_type(request: Request, content_type: str) -> bool:
    kind, _, extras = request.headers.get("content-type", "").lower().partition(";")
    return kind.strip() == content_type and extras.strip() in ("", "charset=utf-8", 'charset="utf-8"')


async def _read_all(request: Request) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise TooLarge(
                    field="The body", size=len(body), limit=MAX_BODY_BYTES, unit="bytes", hint="Send a smaller body."
                )
    except ClientDisconnect:
        raise Interrupted from None
    return bytes(body)
