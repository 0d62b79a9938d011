"""Run the HTTP server from start to clean shutdown."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from engram.api import Engram
from engram.errors import MissingExtra
from engram.settings import Settings
from engram.surfaces.http.listener import ServerEndpoint, open_listener

if TYPE_CHECKING:
    import uvicorn

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_GRACE_SECONDS = 2  # after the longest wait for a busy store, so that waiting calls can still succeed
_UVICORN_OPTIONS: dict[str, Any] = {  # no server headers, no console output, no trust in proxy headers
    "http": "h11", "ws": "none", "loop": "asyncio", "lifespan": "off", "log_config": None, "access_log": False,
    "server_header": False, "date_header": False, "proxy_headers": False,
}  # fmt: skip


def serve(
    settings: Settings,
    *,
    socket_path: str | None = None,
    port: int | None = None,
    host: str | None = None,
    announce: Callable[[ServerEndpoint], object] = lambda _: None,
) -> None:
    """Serve a store over HTTP until SIGTERM or SIGINT; call `announce` with the address once clients can connect."""
    try:
        import uvicorn

        from engram.surfaces.http.application import build_application
        from engram.surfaces.http.lock_waits import CallerClock
    except ImportError as error:
        raise MissingExtra(feature="The server", extra="serve") from error
    clock = CallerClock()
    with (
        _exit_on_signal(),
        Engram(settings=settings, clock=clock, serving=True) as hub,
        open_listener(settings.home, socket_path, port, host) as server_socket,
    ):
        app = build_application(
            hub,
            token=server_socket.token,
            hosts=server_socket.hosts,
            stopping=lambda: clock.stopping(),  # noqa: PLW0108  set below
        )
        grace = settings.busy_seconds + _GRACE_SECONDS
        server = uvicorn.Server(uvicorn.Config(app, **_UVICORN_OPTIONS, timeout_graceful_shutdown=grace))
        clock.stopping = lambda: server.should_exit
        _stop_on_signal(server)
        announce(server_socket.endpoint)
        server.run(sockets=[server_socket.listener])


class _ServerStopped(BaseException):
    """A signal asked the server to stop."""


@contextmanager
def _exit_on_signal() -> Iterator[None]:
    """Exit the block cleanly on SIGTERM or SIGINT."""

    def end(*_: object) -> NoReturn:
        for stop_signal in _STOP_SIGNALS:
            signal.signal(stop_signal, signal.SIG_IGN)  # do not interrupt the cleanup
        raise _ServerStopped

    before = {stop_signal: signal.signal(stop_signal, end) for stop_signal in _STOP_SIGNALS}
    try:
        with suppress(_ServerStopped):
            yield
    finally:
        for stop_signal, handler in before.items():
            signal.signal(stop_signal, handler)


def _stop_on_signal(server: uvicorn.Server) -> None:
    """Make signals stop the server; uvicorn raises them again afterwards, which must not interrupt the shutdown."""

    def stop(*_: object) -> None:
        server.should_exit = True

    for stop_signal in _STOP_SIGNALS:
        signal.signal(stop_signal, stop)
