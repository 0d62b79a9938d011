"""The result of importing a session_memory store."""

from __future__ import annotations

from engram.platform.value import value


@value
class SessionMemoryImportReport:
    """The result of importing a session_memory store."""

    source: str
    sessions: int
    digests: int
    patterns: int
    already_here: int
    mended: dict[str, int]
    failed: tuple[str, ...]  # the first rows that could not be imported
    events: int = 0
    bodies: int = 0  # files read for them
    left: tuple[str, ...] = ()  # what was not imported, and why
    redacted: dict[str, int] | None = None  # redacted secrets, by rule
    dry_run: bool = False
