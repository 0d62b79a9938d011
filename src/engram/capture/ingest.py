"""Ingest: discover → normalise → redact → store → digest → evict."""

from __future__ import annotations

from typing import Annotated

from engram.capture.ingest_report import Ingested
from engram.hub import Hub
from engram.operation import Help, operation


@operation(writes=True, agent=False)
def ingest(
    hub: Hub,
    paths: Annotated[
        list[str] | None, Help("transcripts, or directories to search for them; default: everything new")
    ] = None,
    flavor: Annotated[str | None, Help("only transcripts of this agent")] = None,
    since_hours: Annotated[float | None, Help("only transcripts changed within this many hours")] = None,
    dry_run: Annotated[bool, Help("read transcripts but write nothing")] = False,
    again: Annotated[bool, Help("read every transcript again from the start; nothing is stored twice")] = False,
) -> Ingested:
    """Read what is new in the agents' transcripts into the store."""
    from engram.capture.ingest_run import run_sweep  # late: other commands need neither the readers nor the redactor

    return run_sweep(hub, paths=paths, flavor=flavor, since_hours=since_hours, dry_run=dry_run, again=again)
