"""Take over a store of Helix Forge's session_memory: the operation, and what came of it; how is in `forge`."""

from __future__ import annotations

from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.value import value


@value
class ForgeTaken:
    """What the import of a session_memory store took over."""

    source: str
    sessions: int
    digests: int
    patterns: int
    already_here: int
    mended: dict[str, int]
    failed: tuple[str, ...]  # rows that could not be taken over, the first of them
    events: int = 0
    bodies: int = 0  # files that were read for them
    left: tuple[str, ...] = ()  # what stays behind, with the reason
    redacted: dict[str, int] | None = None  # secrets removed, by rule
    dry_run: bool = False


@operation(writes=True, agent=False)
def import_session_memory(
    hub: Hub,
    path: Annotated[str, Help("the store of session_memory: its database, or the directory that holds it")],
    dry_run: Annotated[bool, Help("only tell what would be taken over")] = False,
) -> ForgeTaken:
    """Take over a Helix Forge store: sessions, digests, events, patterns as candidates; again for what is new."""
    from engram.patterns.forge import take_over

    return take_over(hub, path, dry_run=dry_run)
