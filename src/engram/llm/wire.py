"""JSON over HTTP: bounded in time and size, never redirected, and silent about keys."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from typing import Any
from urllib.parse import urlsplit

from engram.errors import ModelInvalid, ModelRefused, ModelUnavailable
from engram.llm.endpoint import Endpoint
from engram.text import one_line
from engram.value import value

LARGEST = 4_000_000  # bytes of an answer
_CONNECT = 15  # seconds
_HEALS = (408, 425, 429, 500, 502, 503, 504, 529)
_PERHAPS_BILLED = (408, 504)  # the other side gave up on work it had begun
_SHOWN = 300  # characters of what a server says of its refusal


@value
class Answer:
    """What came back."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def ask(
    endpoint: Endpoint, path: str, body: Any, headers: dict[str, str], seconds: float, largest: int = LARGEST
) -> Any:  # fmt: skip
    """Return the JSON an API answers; `body` None asks with GET."""
    data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace_surrogate")
    answer = _Exchange(endpoint, seconds, largest).run(f"{endpoint.url}{path}", data, headers)
    if not 200 <= answer.status < 300:
        raise _refusal(endpoint, answer)
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as problem:
        raise _unavailable(endpoint, "its answer is not JSON, or was cut off.", billed=body is not None) from problem


class _Exchange:
    """One request and its answer, ended by an alarm whatever the other side does."""

    def __init__(self, endpoint: Endpoint, seconds: float, largest: int) -> None:
        self.endpoint, self.seconds, self.largest = endpoint, max(seconds, 0.001), largest
        self.late = self.sent = False
        self.connection: http.client.HTTPConnection | None = None

    def run(self, url: str, data: bytes | None, headers: dict[str, str]) -> Answer:
        """Send and receive."""
        alarm = threading.Timer(self.seconds, self._ring)
        alarm.daemon = True
        alarm.start()
        try:
            return self._exchanged(url, data, headers)
        except ssl.SSLCertVerificationError as problem:
            reason = f"its certificate is not trusted ({problem.verify_message})."
            raise ModelRefused(provider=self.endpoint.provider, reason=reason, hint="") from problem
        except (OSError, http.client.HTTPException) as problem:
            raise _unavailable(self.endpoint, self._reason(problem), billed=self.sent) from problem
        finally:
            alarm.cancel()
            if self.connection is not None:
                self.connection.close()

    def _exchanged(self, url: str, data: bytes | None, headers: dict[str, str]) -> Answer:
        self.connection = _connection(url, min(self.seconds, _CONNECT))
        self.connection.connect()
        self.connection.sock.settimeout(self.seconds)
        if self.late:
            raise TimeoutError
        method = "GET" if data is None else "POST"
        sent = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close", **headers}
        parts = urlsplit(url)
        self.sent = data is not None
        self.connection.request(method, parts.path or "/", data, sent)
        response = self.connection.getresponse()
        return Answer(status=response.status, headers=response.headers, body=self._body(response))

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        body = response.read(self.largest + 1)
        if len(body) > self.largest:
            reason = f"it is larger than {self.largest:,} bytes."
            text = body[:20_000].decode("utf-8", "replace")
            raise ModelInvalid(provider=self.endpoint.provider, reason=reason, reply_text=text)
        if response.length or self.late:  # a limited read does not complain of what is missing
            raise http.client.IncompleteRead(body, response.length)
        return body

    def _ring(self) -> None:
        """Break the connection: a server that drips a byte now and then outlasts every other timeout."""
        self.late = True
        sock = self.connection.sock if self.connection is not None else None
        try:
            if sock is not None:
                sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _reason(self, problem: Exception) -> str:
        if self.late or isinstance(problem, TimeoutError):
            return f"no answer within {self.seconds:.0f} s."
        if isinstance(problem, http.client.IncompleteRead):
            return "its answer was cut off."
        return f"{one_line(str(problem) or type(problem).__name__, 200)}."


def _connection(url: str, seconds: float) -> http.client.HTTPConnection:
    """Return a connection, through the proxy the environment names for it."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=seconds)
    proxy = "" if proxy_bypass(host) else getproxies().get("https", "")
    if not proxy:
        return http.client.HTTPSConnection(host, port, timeout=seconds)
    through = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    tunnel = http.client.HTTPSConnection(through.hostname or "", through.port, timeout=seconds)
    tunnel.set_tunnel(host, port)
    return tunnel


def _refusal(endpoint: Endpoint, answer: Answer) -> Exception:
    """Turn a status into the error it means."""
    status, provider = answer.status, endpoint.provider
    if status in _HEALS:
        billed = status in _PERHAPS_BILLED
        return _unavailable(endpoint, f"HTTP {status}{_said(endpoint, answer)}", billed, _after(answer))
    if 300 <= status < 400:
        reason = f"{endpoint.url} sends us elsewhere (HTTP {status}), where the key must not follow."
        return ModelRefused(provider=provider, reason=reason, hint="Name the right address in the settings.")
    if status in (401, 403):  # what it says may quote the key
        hint = f"Check the key in {endpoint.variable}." if endpoint.variable else "Name the variable that holds a key."
        return ModelRefused(provider=provider, reason=f"HTTP {status}: not authorized.", hint=hint)
    return ModelRefused(provider=provider, reason=f"HTTP {status}{_said(endpoint, answer)}", hint="")


def _said(endpoint: Endpoint, answer: Answer) -> str:
    """Return what the server says of its refusal, in one line and without the key."""
    text = answer.body.decode("utf-8", "replace")
    key = endpoint.key()
    try:
        told = json.loads(text)["error"]
        text = told["message"] if isinstance(told, dict) else told
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    words = one_line(str(text).replace(key, "…") if key else str(text), _SHOWN)
    return f": {words}" if words else "."


def _after(answer: Answer) -> float | None:
    """Return how many seconds a server asks us to wait, where it says so in seconds."""
    try:
        seconds = float(answer.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None


def _unavailable(endpoint: Endpoint, reason: str, billed: bool, after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable(provider=endpoint.provider, reason=reason, after=after, billed=billed)
