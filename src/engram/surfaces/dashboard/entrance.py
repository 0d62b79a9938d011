"""Who may look at the pages: whoever came by one of our links, as long as the home keeps its key."""

from __future__ import annotations

import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable

from starlette.datastructures import Headers

from engram.errors import Error

LINK = "/enter"
STATIC = "/static/"
_PROGRAMS = ("/api", "/mcp")  # what programs call, with the token itself
_LIFE = 600  # seconds in which a link must be opened; it may be copied to another machine
_MOST = 100  # links that wait to be opened
_DAYS = 30 * 86_400
_KEY = "dashboard.key"
_LENGTH = 43  # characters of one


class NotInvited(Error):
    """This page needs to know you. Run `engram ui` in a terminal: the link it opens lets you in."""

    code, status = "not_invited", 401


class FromOutside(Error):
    """A page of another site sent you here. If that was your wish, open the page from here."""

    code, status = "from_outside", 403


class Forged(Error):
    """The form does not come from a page of this server. Load the page again and repeat."""

    code, status = "forged", 403


class Entrance:
    """Turns a link that works once into a cookie, and knows the cookie again."""

    def __init__(self, key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._secret, self.form = (_derived(key, use) for use in ("cookie", "form"))
        self._clock = clock
        self._tickets: dict[str, float] = {}
        self._alone = threading.Lock()

    def link(self) -> str:
        """Return a new way in, good for one opening within some minutes."""
        ticket = secrets.token_urlsafe(24)
        with self._alone:
            now = self._clock()
            waiting = [(each, end) for each, end in self._tickets.items() if end > now][1 - _MOST :]
            self._tickets = {**dict(waiting), ticket: now + _LIFE}
        return f"{LINK}?ticket={ticket}"

    def redeem(self, ticket: str) -> bool:
        """Use a ticket up; tell whether it was good."""
        with self._alone:
            return self._tickets.pop(ticket, 0.0) > self._clock()

    def cookie(self, host: str) -> str:
        """Return the header that lets a browser in from now on; scripts and other sites never see it."""
        return f"{_name(host)}={self._secret}; Path=/; Max-Age={_DAYS}; HttpOnly; SameSite=Strict"

    @staticmethod
    def is_page(method: str, path: str) -> bool:
        """Tell whether an address is for people; a link is asked for by programs."""
        programs = any(path == each or path.startswith(f"{each}/") for each in _PROGRAMS)
        return not programs and (method, path) != ("POST", LINK)

    def refusal(self, method: str, path: str, headers: Headers) -> Error | None:
        """Say why a request for a page is not answered; None if it is."""
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return FromOutside()
        if method == "GET" and (path == LINK or path.startswith(STATIC)):
            return None
        if not self._knows(headers):
            return NotInvited()
        if method not in ("GET", "HEAD") and len(headers.getlist("origin")) != 1:  # that it is ours was seen to
            return Forged()
        return None

    def is_ours(self, form: dict[str, str]) -> bool:
        """Tell whether a form was made by this server."""
        return hmac.compare_digest(form.get("form", "").encode(), self.form.encode())

    def _knows(self, headers: Headers) -> bool:
        found = _cookie(headers.getlist("cookie"), _name(headers.get("host", "")))
        return hmac.compare_digest(found.encode("utf-8", "replace"), self._secret.encode())


def _name(host: str) -> str:
    """Return the cookie's name: servers on other ports of this machine have the same jar."""
    return f"engram-{host.rpartition(':')[2]}"


def _cookie(lines: list[str], name: str) -> str:
    """Return a cookie of ours; what other servers of this machine leave in the same jar may look as it likes."""
    for line in lines:
        for each in line.split(";"):
            key, _, held = each.strip().partition("=")
            if key == name:
                return held
    return ""


def kept_key(home: str) -> str:
    """Return the key of a home, made once: a page that is open stays let in when the server starts anew."""
    path = os.path.join(home, _KEY)
    fresh = secrets.token_urlsafe(32)
    try:
        with open(path, encoding="ascii") as file:
            found = file.read()
        if len(found) == _LENGTH:
            return found
        os.unlink(path)
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    except OSError:  # a home that cannot be read now: this server's own key
        return fresh
    return _written(path, fresh)


def _written(path: str, key: str) -> str:
    """Leave a key for later servers, where only its owner reads; one that cannot be left is as good for this one."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(key)
    except OSError:
        pass
    return key


def _derived(key: str, use: str) -> str:
    return hmac.digest(key.encode(), f"engram {use}".encode(), "sha256").hex()
