"""Import a store of Helix Forge's session_memory: the operation and its result (see `session_memory_store`)."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.importers.session_memory_report import SessionMemoryImportReport
from engram.operation import Help, operation


@operation(writes=True, agent=False)
def import_session_memory(
    hub: Hub,
    path: Annotated[str, Help("database of session_memory, or its directory")],
    dry_run: Annotated[bool, Help("show what would be imported without importing it")] = False,
) -> SessionMemoryImportReport:
    """Import a Helix Forge store: sessions, digests, events, patterns as candidates; repeat to import what is new."""
    from engram.importers.session_memory_store import import_store

    return import_store(hub, path, dry_run=dry_run)
