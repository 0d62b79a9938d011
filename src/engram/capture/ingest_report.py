"""What an ingest reports."""

from __future__ import annotations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@value
class Retention:
    """What was deleted to stay within the storage budget."""

    freed: int  # bytes of bodies dropped
    final_usage: int  # bytes of bodies left
    passes: dict[str, int]  # bodies dropped by age, by the soft cap and by the hard cap
    data_loss: tuple[str, ...] = ()  # sessions whose bodies were dropped although no digest could be made
    distilled: int = 0  # bytes of digests; measured only in a full ingest
    distilled_over: bool = False  # digests exceed their cap: nothing is dropped, only reported


@value
class Ingested:
    """What an ingest found and stored."""

    discovered: int
    ingested: int
    skipped_unchanged: int
    analyzed: int  # sessions with a new digest
    unknown: int  # files no adapter recognizes as a transcript
    vanished: int  # transcripts deleted by their agent; the stored events stay
    sessions: int
    events: int
    bytes: int
    damaged: int  # bytes that could not be read
    redacted: dict[str, int]  # secrets removed, by rule
    failures: dict[str, str]  # transcripts that could not be read, and why
    retention: Retention | None = None
    dry_run: bool = False
    unread: tuple[Any, ...] = ()  # files that could not be read, now or last time: path, size and reason
    agents: dict[str, int] | None = None  # sessions by agent
    outdated: int = 0  # sessions whose digest was made by older rules and is rebuilt later
    unrecognized: tuple[str, ...] = ()  # files in a directory you named that no agent writes as transcripts
