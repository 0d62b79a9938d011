"""Render pages: the layout, the security headers, and full pages or parts of them."""

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
from engram.platform.value import value
from engram.surfaces.dashboard import template_filters as words
from engram.surfaces.dashboard.page_auth import PageAuth
from engram.surfaces.errors import ForgedForm, HomeUnwritable, InternalError, NoForm
from engram.surfaces.http.request_body import read_form

_log = logging.getLogger("engram.serve")
_HERE = os.path.dirname(__file__)
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'"
)
_MAX_FIELDS = 200  # per form
_MAX_DIGITS = 15  # of a number; a hundred times as much still fits a database integer
_HEADERS = {
    "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store", "Vary": "HX-Request",
}  # fmt: skip
# Pages in menu order: name, title, and the key that opens the page after `g`.
MENU = (
    ("now", "Now", "n"), ("sessions", "Sessions", "s"), ("search", "Search", "f"), ("wiki", "Wiki", "w"),
    ("timeline", "Timeline", "t"), ("patterns", "Patterns", "p"), ("health", "Health", "h"),
)  # fmt: skip


class HtmlPage(Response):
    """An HTML response with security headers."""

    media_type = "text/html"

    def __init__(self, content: str, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(content.encode("utf-8", "replace"), status, {**_HEADERS, **(headers or {})})


class PageRequest:
    """A request to a page, with the store and methods to render the answer."""

    def __init__(self, engram: Engram, page_auth: PageAuth, request: Request) -> None:
        self.engram, self.http_request = engram, request
        self.form: dict[str, str] = {}
        self._page_auth = page_auth

    @property
    def is_part(self) -> bool:
        """Return whether htmx asks for a part of an open page."""
        headers = self.http_request.headers
        return "hx-request" in headers and "hx-history-restore-request" not in headers

    def get_path_part(self, name: str) -> str:
        """Return a path parameter."""
        return str(self.http_request.path_params[name])

    def get_query(self, name: str) -> str | None:
        """Return a query parameter, or None if it is missing or empty."""
        return self.http_request.query_params.get(name) or None

    def get_field(self, name: str) -> str:
        """Return a form field with normalized line endings."""
        return self.form.get(name, "").replace("\r\n", "\n")

    def get_number(self, name: str, default: int) -> int:
        """Return a query parameter as an integer."""
        query_text = self.get_query(name)
        return default if query_text is None else parse_number(name, query_text, f"{query_text!r} is not a number.")

    def render(
        self, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **facts: Any
    ) -> HtmlPage:
        """Render a template with the values that every page needs."""
        return HtmlPage(_render_template(template, self._build_context() | facts), status, headers)

    def render_page(self, name: str, **facts: Any) -> HtmlPage:
        """Render a page such as `wiki/list`, or only its inner part `wiki/_list` for an open page."""
        folder, slash, page_name = name.rpartition("/")
        return self.render(f"{folder}{slash}{'_' if self.is_part else ''}{page_name}.html", **facts)

    def require_own_form(self) -> None:
        """Refuse a form that was not created by this server."""
        if not self._page_auth.is_own_form(self.form):
            raise ForgedForm

    def redirect(self, path: str) -> Response:
        """Redirect the browser to another page."""
        if self.is_part:
            return HtmlPage("", headers={"HX-Redirect": path})
        return RedirectResponse(path, HTTPStatus.SEE_OTHER, headers=_HEADERS)

    def render_problem(self, error: Error) -> HtmlPage:
        """Render an error, in the open page or as its own page."""
        return self.render_page("problem", status=error.status, problem=error)

    def _build_context(self) -> dict[str, Any]:
        section = self.http_request.url.path.split("/")[1]
        return {
            "menu": MENU, "here": section, "form_token": self._page_auth.form_token, "version": engram.__version__,
            "now": words.current_time(self.engram), "is_part": self.is_part, "address": self.http_request.url.path,
        }  # fmt: skip


@value
class PageAddress:
    """The path and handler of a page; pages that write accept only POST with our form token."""

    path: str
    handler: Callable[[PageRequest], Response]
    writes: bool = False


def build_route(engram: Engram, page_auth: PageAuth, address: PageAddress) -> Route:
    """Return the route for an address."""

    async def answer(request: Request) -> Response:
        body = await read_form(request) if address.writes else b""
        return await run_in_threadpool(_answer_request, address, PageRequest(engram, page_auth, request), body)

    return Route(address.path, answer, methods=["POST" if address.writes else "GET"])


def _answer_request(address: PageAddress, request: PageRequest, body: bytes) -> Response:
    try:
        if address.writes:
            request.form = _parse_form(body)
            request.require_own_form()
        return address.handler(request)
    except Error as refusal:
        return request.render_problem(refusal)
    except OSError as error:
        _log.exception("%s failed", address.path)
        return request.render_problem(HomeUnwritable(reason=error.strerror or repr(error)))
    except Exception:
        _log.exception("%s failed", address.path)
        return request.render_problem(InternalError())


def _parse_form(body: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS))
    except ValueError:
        raise NoForm from None


def render_part(engram: Engram, template: str, **facts: Any) -> Markup:
    """Render a part of a page that is sent to all open pages, without values of one request."""
    return Markup(_render_template(template, {"now": words.current_time(engram), **facts}))  # noqa: S704  templates escape their values


def parse_number(field: str, number_text: str, reason: str) -> int:
    """Parse a number that a browser sent, or raise InvalidInput with the reason."""
    if not number_text.isascii() or not number_text.isdecimal() or len(number_text) > _MAX_DIGITS:
        raise InvalidInput(field=field, reason=reason)
    return int(number_text)


def build_notice(words: str) -> dict[str, str]:
    """Return the header that makes an open page show a short notice."""
    return {"HX-Trigger": json.dumps({"told": {"value": words}})}


def render_sign_in(error: Error, address: str) -> HtmlPage:
    """Render the page for a browser that is not signed in."""
    return HtmlPage(_render_template("stranger.html", {"problem": error, "address": address}), error.status)


def _render_template(template: str, facts: Mapping[str, Any]) -> str:
    return _load_environment().get_template(template).render(**facts)


def _load_environment() -> jinja2.Environment:
    global _jinja
    if _jinja is None:
        _jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(os.path.join(_HERE, "templates")), autoescape=True, trim_blocks=True,
            lstrip_blocks=True, undefined=jinja2.StrictUndefined, auto_reload=False,
        )  # fmt: skip
        _jinja.filters |= words.FILTERS
    return _jinja


_jinja: jinja2.Environment | None = None
