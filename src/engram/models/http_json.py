"""JSON over HTTP: bounded in time and size, without redirects, and without keys in messages."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from typing import Any
from urllib.parse import urlsplit

from engram.errors import ModelInvalid, ModelRefused, ModelUnavailable
from engram.models.endpoint import ModelEndpoint
from engram.platform.text import to_one_line
from engram.platform.value import value

LARGEST = 4_000_000  # bytes of an answer
_CONNECT = 15  # seconds
_HEALS = (408, 425, 429, 500, 502, 503, 504, 529)
_PERHAPS_BILLED = (408, 504)  # the server gave up on work it had begun
_SHOWN = 300  # characters kept of a server's error message


@value
class HttpAnswer:
    """A response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def request_json(
    endpoint: ModelEndpoint, path: str, body: Any, headers: dict[str, str], seconds: float, largest: int = LARGEST
) -> Any:  # fmt: skip
    """Return the JSON response of an API; `body` None sends a GET."""
    data = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "replace_surrogate")
    answer = _HttpExchange(endpoint, seconds, largest).run(f"{endpoint.url}{path}", data, headers)
    if not 200 <= answer.status < 300:
        raise _build_refusal(endpoint, answer)
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError) as problem:
        raise _build_unavailable(
            endpoint, "the answer is not JSON, or was cut off.", billed=body is not None
        ) from problem


class _HttpExchange:
    """One request and its response, aborted by a timer whatever the server does."""

    def __init__(self, endpoint: ModelEndpoint, seconds: float, largest: int) -> None:
        self.endpoint, self.seconds, self.largest = endpoint, max(seconds, 0.001), largest
        self.late = self.sent = False
        self.connection: http.client.HTTPConnection | None = None

    def run(self, url: str, data: bytes | None, headers: dict[str, str]) -> HttpAnswer:
        """Send and receive."""
        alarm = threading.Timer(self.seconds, self._break_connection)
        alarm.daemon = True
        alarm.start()
        try:
            return self._send_and_receive(url, data, headers)
        except ssl.SSLCertVerificationError as problem:
            reason = f"the certificate is not trusted ({problem.verify_message})."
            raise ModelRefused(provider=self.endpoint.provider, reason=reason, hint="") from problem
        except (OSError, http.client.HTTPException) as problem:
            raise _build_unavailable(self.endpoint, self._describe_problem(problem), billed=self.sent) from problem
        finally:
            alarm.cancel()
            if self.connection is not None:
                self.connection.close()

    def _send_and_receive(self, url: str, data: bytes | None, headers: dict[str, str]) -> HttpAnswer:
        self.connection = _open_connection(url, min(self.seconds, _CONNECT))
        self.connection.connect()
        self.connection.sock.settimeout(self.seconds)
        if self.late:
            raise TimeoutError
        method = "GET" if data is None else "POST"
        all_headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Connection": "close",
            **headers,
        }
        parts = urlsplit(url)
        self.sent = data is not None
        self.connection.request(method, parts.path or "/", data, all_headers)
        response = self.connection.getresponse()
        return HttpAnswer(status=response.status, headers=response.headers, body=self._read_body(response))

    def _read_body(self, response: http.client.HTTPResponse) -> bytes:
        body = response.read(self.largest + 1)
        if len(body) > self.largest:
            reason = f"the answer is larger than {self.largest:,} bytes."
            text = body[:20_000].decode("utf-8", "replace")
            raise ModelInvalid(provider=self.endpoint.provider, reason=reason, reply_text=text)
        if response.length or self.late:  # a limited read does not report missing bytes
            raise http.client.IncompleteRead(body, response.length)
        return body

    def _break_connection(self) -> None:
        """Close the connection: a server that sends a byte now and then outlasts every other timeout."""
        self.late = True
        sock = self.connection.sock if self.connection is not None else None
        try:
            if sock is not None:
                sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _describe_problem(self, problem: Exception) -> str:
        if self.late or isinstance(problem, TimeoutError):
            return f"no answer within {self.seconds:.0f} s."
        if isinstance(problem, http.client.IncompleteRead):
            return "the answer was cut off."
        return f"{to_one_line(str(problem) or type(problem).__name__, 200)}."


def _open_connection(url: str, seconds: float) -> http.client.HTTPConnection:
    """Return a connection, through the proxy of the environment if there is one."""
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


def _build_refusal(endpoint: ModelEndpoint, answer: HttpAnswer) -> Exception:
    """Convert an HTTP status to an error."""
    status, provider = answer.status, endpoint.provider
    if status in _HEALS:
        billed = status in _PERHAPS_BILLED
        return _build_unavailable(
            endpoint, f"HTTP {status}{_format_server_message(endpoint, answer)}", billed, _parse_retry_after(answer)
        )
    if 300 <= status < 400:
        reason = f"{endpoint.url} redirects (HTTP {status}); the key must not be sent elsewhere."
        return ModelRefused(provider=provider, reason=reason, hint="Set the correct address.")
    if status in (401, 403):  # its message may quote the key
        hint = (
            f"Check the key in {endpoint.variable}." if endpoint.variable else "Set the variable that contains the key."
        )
        return ModelRefused(provider=provider, reason=f"HTTP {status}: not authorized.", hint=hint)
    return ModelRefused(provider=provider, reason=f"HTTP {status}{_format_server_message(endpoint, answer)}", hint="")


def _format_server_message(endpoint: ModelEndpoint, answer: HttpAnswer) -> str:
    """Return the server's error message in one line, without the key."""
    text = answer.body.decode("utf-8", "replace")
    key = endpoint.read_key()
    try:
        error = json.loads(text)["error"]
        text = error["message"] if isinstance(error, dict) else error
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    message = to_one_line(str(text).replace(key, "…") if key else str(text), _SHOWN)
    return f": {message}" if message else "."


def _parse_retry_after(answer: HttpAnswer) -> float | None:
    """Return the seconds of a Retry-After header, if given in seconds."""
    try:
        seconds = float(answer.headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None


def _build_unavailable(
    endpoint: ModelEndpoint, reason: str, billed: bool, after: float | None = None
) -> ModelUnavailable:
    return ModelUnavailable(provider=endpoint.provider, reason=reason, after=after, billed=billed)
