"""The worker after capturing: flush ended sessions, compile due logs, then dream."""

from __future__ import annotations

from engram.capture import worker
from engram.capture.spool import CaptureRequest
from engram.dream.cycle import run_pass
from engram.dream.results import WORKER
from engram.errors import CompileRunning, DreamRunning
from engram.hub import Hub
from engram.wiki.compiler.compile import compile_logs
from engram.wiki.flush import flush_requested


def run_worker(hub: Hub) -> None:
    """Process the spool, update daily logs and pages, and dream if the user enabled it."""
    ingested = worker.run_worker(hub, lambda requests: _flush_and_compile(hub, requests))
    if ingested and hub.settings.auto_dream:
        try:
            run_pass(hub, why=WORKER)
        except DreamRunning:
            pass  # another dream, or the next worker, continues


def _flush_and_compile(hub: Hub, requests: list[CaptureRequest]) -> None:
    flush_requested(hub, requests)
    try:
        compile_logs(hub)
    except CompileRunning:
        pass  # another compiler, or the next worker, continues
