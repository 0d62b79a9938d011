"""Operations that may take long, run with a progress line."""

from __future__ import annotations

from typing import Any

import click

from engram.hub import Hub
from engram.operation import Operation
from engram.surfaces.cli.progress import Progress


def run_compile(hub: Hub, _: Operation, arguments: dict[str, Any]) -> Any:
    """Compile the daily logs."""
    from engram.wiki.compiler.compile import compile_logs

    with _start_progress() as progress:
        return compile_logs(hub, report_progress=progress.report, is_requested=True, **arguments)


def run_lyra_import(hub: Hub, _: Operation, arguments: dict[str, Any]) -> Any:
    """Import a database of Lyra."""
    from engram.importers.lyra import import_database

    with _start_progress() as progress:
        return import_database(hub, progress=progress.report_file, **arguments)


def run_session_memory_import(hub: Hub, _: Operation, arguments: dict[str, Any]) -> Any:
    """Import a store of session_memory."""
    from engram.importers.session_memory_store import import_store

    with _start_progress() as progress:
        return import_store(hub, progress=progress.report_file, **arguments)


def _start_progress() -> Progress:
    return Progress(quiet=bool(click.get_current_context().params.get("as_json")))
