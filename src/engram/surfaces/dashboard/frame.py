"""The frame around all pages: one layout, one set of headers, drawn whole or in part."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

import jinja2
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

import engram
from engram.api import Engram
from engram.errors import Error, InvalidInput
from engram.surfaces.dashboard import words
from engram.surfaces.dashboard.entrance import Entrance, Forged
from engram.surfaces.http.answer import Unexpected
from engram.surfaces.http.body import NoForm, read_form
from engram.value import value

_log = logging.getLogger("engram.serve")
_HERE = os.path.dirname(__file__)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_FIELDS = 200  # of one form
_DIGITS = 15  # of a number; a hundred times as much still fits into a store
_HEADERS = {
    "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Vary": "HX-Request",
}  # fmt: skip
# The pages in the order of the menu, each with the key that goes there after `g`.
MENU = (
    ("now", "Now", "n"), ("sessions", "Sessions", "s"), ("search", "Search", "f"), ("wiki", "Wiki", "w"),
    ("timeline", "Timeline", "t"), ("patterns", "Patterns", "p"), ("health", "Health", "h"),
)  # fmt: skip


class Unwritten(Error):
    """The files of this home could not be read or written: {reason}."""

    code, status = "unwritten", 507


class Page(Response):
    """A page or a part of one, with headers that keep it to itself."""

    media_type = "text/html"

    def __init__(self, content: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content.encode("utf-8", "replace"), status, {**_HEADERS, **(headers or {})})


class Ask:
    """A request as a page's function sees it: the store, what was asked for, and how to answer."""

    def __init__(self, engram: Engram, entrance: Entrance, request: Request) -> None:
        self.engram, self.request = engram, request
        self.form: dict[str, str] = {}
        self._entrance = entrance

    @property
    def is_part(self) -> bool:
        """Tell whether a page that is already open asks for a part of itself."""
        headers = self.request.headers
        return "hx-request" in headers and "hx-history-restore-request" not in headers

    def path(self, name: str) -> str:
        """Return a part of the address."""
        return str(self.request.path_params[name])

    def given(self, name: str) -> str | None:
        """Return a parameter of the address; None if it is not there or empty."""
        return self.request.query_params.get(name) or None

    def said(self, name: str) -> str:
        """Return a field of the form, line ends as we write them."""
        return self.form.get(name, "").replace("\r\n", "\n")

    def number(self, name: str, usual: int) -> int:
        """Return a whole number of the address."""
        said = self.given(name)
        return usual if said is None else whole(name, said, f"{said!r} is not a whole number.")

    def draw(self, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **facts: Any) -> Page:
        """Draw a template, with what every page shows around it."""
        return Page(_drawn(template, self._around() | facts), status, headers)

    def show(self, name: str, **facts: Any) -> Page:
        """Draw a page, or only what is in its frame if that is already open: `wiki/list` or `wiki/_list`."""
        folder, slash, word = name.rpartition("/")
        return self.draw(f"{folder}{slash}{'_' if self.is_part else ''}{word}.html", **facts)

    def need_own_form(self) -> None:
        """Refuse a form that a page of another server made."""
        if not self._entrance.is_ours(self.form):
            raise Forged

    def go(self, path: str) -> Response:
        """Send the browser to another page."""
        if self.is_part:
            return Page("", headers={"HX-Redirect": path})
        return RedirectResponse(path, HTTPStatus.SEE_OTHER, headers=_HEADERS)

    def refuse(self, error: Error) -> Page:
        """Say what went wrong, in the page that asked or in one of its own."""
        return self.show("problem", status=error.status, problem=error)

    def _around(self) -> dict[str, Any]:
        here = self.request.url.path.split("/")[1]
        return {
            "menu": MENU, "here": here, "form_token": self._entrance.form, "version": engram.__version__,
            "now": words.now(self.engram), "is_part": self.is_part, "address": self.request.url.path,
        }  # fmt: skip


@value
class Address:
    """Where a page is, and what draws it; one that writes is asked by POST, with a form that we made."""

    path: str
    draw: Callable[[Ask], Response]
    writes: bool = False


def route(engram: Engram, entrance: Entrance, address: Address) -> Route:
    """Return the route of an address."""

    async def answer(request: Request) -> Response:
        body = await read_form(request) if address.writes else b""
        return await run_in_threadpool(_answered, address, Ask(engram, entrance, request), body)

    return Route(address.path, answer, methods=["POST" if address.writes else "GET"])


def _answered(address: Address, ask: Ask, body: bytes) -> Response:
    try:
        if address.writes:
            ask.form = _fields(body)
            ask.need_own_form()
        return address.draw(ask)
    except Error as refusal:
        return ask.refuse(refusal)
    except OSError as problem:
        _log.exception("%s failed", address.path)
        return ask.refuse(Unwritten(reason=problem.strerror or repr(problem)))
    except Exception:
        _log.exception("%s failed", address.path)
        return ask.refuse(Unexpected())


def _fields(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS))
    except ValueError:
        raise NoForm from None


def part(engram: Engram, template: str, **facts: Any) -> Markup:
    """Draw a part of a page for all who have it open: nothing of one request is in it."""
    return Markup(_drawn(template, {"now": words.now(engram), **facts}))  # noqa: S704  a template escapes what it is given


def whole(field: str, said: str, reason: str) -> int:
    """Return a whole number that a browser sent, or refuse it for a reason."""
    if not said.isascii() or not said.isdecimal() or len(said) > _DIGITS:
        raise InvalidInput(field=field, reason=reason)
    return int(said)


def told(words: str) -> dict[str, str]:
    """Return the header by which an open page says something for a moment."""
    return {"HX-Trigger": json.dumps({"told": {"value": words}})}


def stranger(error: Error, address: str) -> Page:
    """Draw the page of somebody who was not let in: it tells nothing but the way in."""
    return Page(_drawn("stranger.html", {"problem": error, "address": address}), error.status)


def _drawn(template: str, facts: Mapping[str, Any]) -> str:
    return _environment().get_template(template).render(**facts)


def _environment() -> jinja2.Environment:
    global _made
    if _made is None:
        _made = jinja2.Environment(
            loader=jinja2.FileSystemLoader(os.path.join(_HERE, "templates")), autoescape=True, trim_blocks=True,
            lstrip_blocks=True, undefined=jinja2.StrictUndefined, auto_reload=False,
        )  # fmt: skip
        _made.filters |= words.FILTERS
    return _made


_made: jinja2.Environment | None = None
