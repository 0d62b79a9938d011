"""The body of a request: JSON or a form, and not too much of it."""

from __future__ import annotations

from starlette.requests import ClientDisconnect, Request

from engram.errors import Error, TooLarge
from engram.surfaces.http.waiting import Interrupted

BODY_BYTES = 4 * 1024 * 1024


class NotJson(Error):
    """The body must be JSON in UTF-8, sent as Content-Type: application/json."""

    code, status = "not_json", 415


class NoForm(Error):
    """The body must be a form in UTF-8, sent as Content-Type: application/x-www-form-urlencoded."""

    code, status = "no_form", 415


async def read_body(request: Request) -> bytes:
    """Return the whole body if it is JSON, or refuse it."""
    if not _is(request, "application/json"):
        raise NotJson
    return await _whole(request)


async def read_form(request: Request) -> bytes:
    """Return the whole body if it is a form, or refuse it."""
    if not _is(request, "application/x-www-form-urlencoded"):
        raise NoForm
    return await _whole(request)


def _is(request: Request, wanted: str) -> bool:
    kind, _, extras = request.headers.get("content-type", "").lower().partition(";")
    return kind.strip() == wanted and extras.strip() in ("", "charset=utf-8", 'charset="utf-8"')


async def _whole(request: Request) -> bytes:
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > BODY_BYTES:
                raise TooLarge(field="The body", size=len(body), limit=BODY_BYTES, unit="bytes", hint="Send less.")
    except ClientDisconnect:
        raise Interrupted from None
    return bytes(body)
