"""Ingest: discover → normalise → redact → store → digest → evict."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.model import Ingested
from engram.operation import Help, operation


@operation(writes=True, agent=False)
def ingest(
    hub: Hub,
    paths: Annotated[list[str] | None, Help("transcripts to take in; without any, all that are new")] = None,
    flavor: Annotated[str | None, Help("only this agent's")] = None,
    since_hours: Annotated[float | None, Help("only what changed within so many hours")] = None,
    dry_run: Annotated[bool, Help("find and read, but write nothing")] = False,
    again: Annotated[bool, Help("read every transcript again from its beginning; nothing is stored twice")] = False,
) -> Ingested:
    """Take in what the agents' transcripts say since the last time."""
    from engram.capture.intake import sweep  # readers and the redactor: weight no other command should carry

    return sweep(hub, paths=paths, flavor=flavor, since_hours=since_hours, dry_run=dry_run, again=again)
