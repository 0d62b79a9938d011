"""What a worker does once it has captured: flush what has ended, compile what is due."""

from __future__ import annotations

from engram.capture import worker
from engram.capture.spool import Request
from engram.errors import CompileRunning
from engram.hub import Hub
from engram.wiki.compile import compile_logs
from engram.wiki.flush import flush_asked


def work(hub: Hub) -> None:
    """Empty the spool, and turn what came in into daily logs and pages."""
    worker.work(hub, lambda requests: _afterwards(hub, requests))


def _afterwards(hub: Hub, requests: list[Request]) -> None:
    flush_asked(hub, requests)
    try:
        compile_logs(hub)
    except CompileRunning:
        pass  # whoever compiles, or the next worker, finds what is new
