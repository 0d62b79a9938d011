"""Results of `detect`: patterns without a decision, with the evidence a person needs to decide."""

from __future__ import annotations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


@value
class CandidateEvidence:
    """One session that shows a pattern."""

    session_id: str
    at: datetime
    flavor: str
    project: str
    quote: str
    event: str | None  # an id that `get` accepts
    times: int = 1


@value
class Candidate:
    """A pattern that waits for a person's decision."""

    id: str
    kind: str
    title: str
    cross_flavor: bool
    score: float
    sessions: int
    times: int
    flavors: tuple[str, ...]
    projects: tuple[str, ...]
    tokens: int  # its cost
    seconds: int
    confidence: float
    first_at: datetime
    last_at: datetime
    rule: str  # proposed; a person has to approve it
    fix: str
    worded_by: str
    evidence: tuple[CandidateEvidence, ...]
    also: tuple[str, ...] = ()  # patterns found in the same events


@value
class DetectResult:
    """The result of scanning new sessions."""

    sessions: int  # sessions scanned
    signals: int  # signals found in them
    candidates: tuple[Candidate, ...]  # best first
    more: int  # further candidates not listed
    open: int = 0  # sessions still running, scanned again later
    failed: dict[str, str] | None = None  # sessions that could not be scanned, and why
    worded: int = 0  # rules worded by a model
