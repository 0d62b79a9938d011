"""Sign browsers in to the dashboard: a link that works once sets a cookie."""

from __future__ import annotations

import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable

from starlette.datastructures import Headers

from engram.errors import Error
from engram.surfaces.errors import ForgedForm, FromOutside, NotInvited

LINK = "/enter"
STATIC = "/static/"
_PROGRAM_PATHS = ("/api", "/mcp")  # for programs, which send the token
_LINK_SECONDS = 600  # lifetime of a link; it may be copied to another machine
_MAX_TICKETS = 100  # unused links
_COOKIE_SECONDS = 30 * 86_400
_KEY_FILE = "dashboard.key"
_KEY_CHARS = 43  # length of a key


class PageAuth:
    """Creates sign-in links and checks the cookies they set."""

    def __init__(self, key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._secret, self.form_token = (_derive_secret(key, use) for use in ("cookie", "form"))
        self._clock = clock
        self._tickets: dict[str, float] = {}
        self._lock = threading.Lock()

    def create_link(self) -> str:
        """Return a new sign-in link that works once, within ten minutes."""
        ticket = secrets.token_urlsafe(24)
        with self._lock:
            now = self._clock()
            unused = [(old_ticket, end) for old_ticket, end in self._tickets.items() if end > now][1 - _MAX_TICKETS :]
            self._tickets = {**dict(unused), ticket: now + _LINK_SECONDS}
        return f"{LINK}?ticket={ticket}"

    def redeem_ticket(self, ticket: str) -> bool:
        """Consume a ticket and return whether it was valid."""
        with self._lock:
            return self._tickets.pop(ticket, 0.0) > self._clock()

    def build_cookie(self, host: str) -> str:
        """Return the Set-Cookie header that keeps a browser signed in, hidden from scripts and other sites."""
        return f"{_cookie_name(host)}={self._secret}; Path=/; Max-Age={_COOKIE_SECONDS}; HttpOnly; SameSite=Strict"

    @staticmethod
    def is_page(method: str, path: str) -> bool:
        """Return whether a request is for a dashboard page; programs request links with POST."""
        is_for_programs = any(path == prefix or path.startswith(f"{prefix}/") for prefix in _PROGRAM_PATHS)
        return not is_for_programs and (method, path) != ("POST", LINK)

    def find_refusal(self, method: str, path: str, headers: Headers) -> Error | None:
        """Return why a request for a page is refused, or None."""
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return FromOutside()
        if method == "GET" and (path == LINK or path.startswith(STATIC)):
            return None
        if not self._has_cookie(headers):
            return NotInvited()
        if (
            method not in ("GET", "HEAD") and len(headers.getlist("origin")) != 1
        ):  # AccessGuard has already checked that it is ours
            return ForgedForm()
        return None

    def is_own_form(self, form: dict[str, str]) -> bool:
        """Return whether a form has this server's token."""
        return hmac.compare_digest(form.get("form", "").encode(), self.form_token.encode())

    def _has_cookie(self, headers: Headers) -> bool:
        cookie = _find_cookie(headers.getlist("cookie"), _cookie_name(headers.get("host", "")))
        return hmac.compare_digest(cookie.encode("utf-8", "replace"), self._secret.encode())


def _cookie_name(host: str) -> str:
    """Return the cookie's name, which includes the port, because servers on other ports share cookies."""
    return f"engram-{host.rpartition(':')[2]}"


def _find_cookie(lines: list[str], name: str) -> str:
    """Return the value of our cookie; tolerate malformed cookies of other servers on this machine."""
    for line in lines:
        for pair in line.split(";"):
            key, _, cookie_value = pair.strip().partition("=")
            if key == name:
                return cookie_value
    return ""


def load_key(home: str) -> str:
    """Return the home's key, created once, so that browsers stay signed in when the server restarts."""
    path = os.path.join(home, _KEY_FILE)
    new_key = secrets.token_urlsafe(32)
    try:
        with open(path, encoding="ascii") as file:
            saved_key = file.read()
        if len(saved_key) == _KEY_CHARS:
            return saved_key
        os.unlink(path)
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    except OSError:  # unreadable home: use a key for this server only
        return new_key
    return _write_key(path, new_key)


def _write_key(path: str, key: str) -> str:
    """Save a key for later servers, readable only by its owner; ignore failures."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
            file.write(key)
    except OSError:
        pass
    return key


def _derive_secret(key: str, use: str) -> str:
    return hmac.digest(key.encode(), f"engram {use}".encode(), "sha256").hex()
