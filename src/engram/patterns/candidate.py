"""What detect brings: patterns nobody decided about yet, with the evidence a person needs to do so."""

from __future__ import annotations

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


@value
class Evidence:
    """One session that tells of a pattern."""

    session_id: str
    at: datetime
    flavor: str
    project: str
    quote: str
    event: str | None  # what `get` takes
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
    tokens: int  # what it cost
    seconds: int
    confidence: float
    first_at: datetime
    last_at: datetime
    rule: str  # proposed; only a person makes it one
    fix: str
    worded_by: str
    evidence: tuple[Evidence, ...]
    also: tuple[str, ...] = ()  # patterns that the same events tell of


@value
class Detected:
    """What looking through new sessions came to."""

    sessions: int  # that were looked through
    signals: int  # found in them
    candidates: tuple[Candidate, ...]  # the best first
    more: int  # candidates beyond these
    open: int = 0  # sessions still going on, to be looked at again
    failed: dict[str, str] | None = None  # sessions that could not be looked through, and why
    worded: int = 0  # rules a model put into words
