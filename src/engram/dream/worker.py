"""What a worker does once it has captured: flush what has ended, compile what is due, then tend the rest."""

from __future__ import annotations

from engram.capture import worker
from engram.capture.spool import Request
from engram.compiler.compile import compile_logs
from engram.dream.cycle import dreamt
from engram.dream.done import WORKER
from engram.errors import CompileRunning, DreamRunning
from engram.hub import Hub
from engram.wiki.flush import flush_asked


def work(hub: Hub) -> None:
    """Empty the spool, turn what came in into daily logs and pages, and dream on it if the user lets us."""
    took = worker.work(hub, lambda requests: _afterwards(hub, requests))
    if took and hub.settings.auto_dream:
        try:
            dreamt(hub, why=WORKER)
        except DreamRunning:
            pass  # whoever dreams, or the next worker, finds what is new


def _afterwards(hub: Hub, requests: list[Request]) -> None:
    flush_asked(hub, requests)
    try:
        compile_logs(hub)
    except CompileRunning:
        pass  # whoever compiles, or the next worker, finds what is new
