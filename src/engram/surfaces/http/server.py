"""A server's life: it opens a store and a door, answers until a signal asks it to end, and leaves nothing."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from engram.api import Engram
from engram.errors import MissingExtra
from engram.settings import Settings
from engram.surfaces.http.door import Endpoint, open_door

if TYPE_CHECKING:
    import uvicorn

_ENDINGS = (signal.SIGTERM, signal.SIGINT)
_GRACE = 2  # seconds beyond the longest wait for a busy store: a call that waits for one may still succeed
_QUIET: dict[str, Any] = {  # no word to strangers or on the screen, no headers believed that others can write
    "http": "h11", "ws": "none", "loop": "asyncio", "lifespan": "off", "log_config": None, "access_log": False,
    "server_header": False, "date_header": False, "proxy_headers": False,
}  # fmt: skip


def serve(
    settings: Settings,
    *,
    socket_path: str | None = None,
    port: int | None = None,
    host: str | None = None,
    announce: Callable[[Endpoint], object] = lambda _: None,
) -> None:
    """Offer a store over HTTP until SIGTERM or SIGINT; `announce` hears where once callers can connect."""
    try:
        import uvicorn

        from engram.surfaces.http.application import application
        from engram.surfaces.http.waiting import CallerClock
    except ImportError as problem:
        raise MissingExtra(feature="The server", extra="serve") from problem
    clock = CallerClock()
    with (
        _ending_in_order(),
        Engram(settings=settings, clock=clock, serving=True) as hub,
        open_door(settings.home, socket_path, port, host) as door,
    ):
        app = application(hub, token=door.token, hosts=door.hosts, stopping=lambda: clock.stopping())  # noqa: PLW0108  it is set below
        grace = settings.busy_seconds + _GRACE
        server = uvicorn.Server(uvicorn.Config(app, **_QUIET, timeout_graceful_shutdown=grace))
        clock.stopping = lambda: server.should_exit
        _obey_signals(server)
        announce(door.endpoint)
        server.run(sockets=[door.listener])


class _Ended(BaseException):
    """A signal asked us to end."""


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Leave the block on SIGTERM or SIGINT as if it were done, so that it clears up after itself."""

    def end(*_: object) -> NoReturn:
        for each in _ENDINGS:
            signal.signal(each, signal.SIG_IGN)  # clearing up is not interrupted
        raise _Ended

    before = {each: signal.signal(each, end) for each in _ENDINGS}
    try:
        with suppress(_Ended):
            yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _obey_signals(server: uvicorn.Server) -> None:
    """Let signals ask the server to stop: it raises each again when it has, and must not be broken off then."""

    def stop(*_: object) -> None:
        server.should_exit = True

    for each in _ENDINGS:
        signal.signal(each, stop)
