"""The public value types, all frozen. No I/O."""

from __future__ import annotations

from engram.platform.host import Process
from engram.platform.value import Row, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any


@value
class Session(Row):
    """One run of one agent."""

    id: str
    flavor: str
    session_type: str
    summary: str
    status: str  # active, completed
    presence: str  # here, stale, gone, done
    started_at: datetime
    last_heartbeat: datetime
    completed_at: datetime | None = None
    completion_summary: str | None = None
    native_id: str | None = None
    project: str = ""
    cwd: str | None = None
    branch: str | None = None
    process: Process | None = None
    host: str | None = None
    model: str | None = None
    metadata: Any = None
    domain: str = ""  # the domain of its project, if one is mapped


@value
class Log(Row):
    """A progress entry of a session."""

    id: int
    session_id: str
    timestamp: datetime
    entry: str


@value
class Resource:
    """The resource a lock is on, under its canonical name."""

    kind: str  # file, directory, glob, name
    name: str  # for display
    base: str  # longest part without wildcards, used for the index lookup
    pattern: str  # what overlap is computed from


@value
class Lock(Row):
    """A lock on a resource: expiring, fenced, exclusive by default."""

    resource: str
    kind: str
    mode: str  # exclusive, shared, announce
    session_id: str
    token: int
    note: str | None
    locked_at: datetime
    until: datetime
    live: bool  # false once it expired or its holder's process is gone
    project: str = ""
    flavor: str = ""
    session_type: str = ""
    summary: str = ""
    waiters: tuple[str, ...] = ()
    overlaps: tuple[Lock, ...] = ()  # locks by others that overlap this one (announced or shared)
    clones: tuple[Lock, ...] = ()  # locks by others on the same file in other clones; they block nobody


@value
class Message:
    """A note to a session, delivered once."""

    id: int
    sender: str | None
    kind: str  # note, loss
    body: str
    project: str
    sent_at: datetime
    recipient: str | None = None
    delivered_at: datetime | None = None
    flavor: str = ""


@value
class Sent:
    """Who will receive a message."""

    recipients: tuple[str, ...]
    waiting: bool  # queued for the next session in the project


@value
class WorldState:
    """One version of the maintained overview of a project, or of all projects."""

    project: str
    version: int
    content: str
    updated_by: str | None
    updated_at: datetime


@value
class Activity:
    """One entry of the activity log: something Engram did or prevented."""

    id: int
    at: datetime
    kind: str  # refused, takeover, reopened, imported
    session_id: str | None
    project: str
    subject: str
    detail: Any


@value
class Sitrep:
    """The current situation: sessions, locks, messages and recent work."""

    project: str
    world: tuple[WorldState, ...]
    sessions: tuple[Session, ...]
    elsewhere: tuple[Session, ...]
    locks: tuple[Lock, ...]
    unread: tuple[Message, ...]
    recent: tuple[Session, ...]
    more: dict[str, int]  # number of items left out of each list


@value
class Rot:
    """How much of the memory is duplicated, our own output, unused or outdated."""

    documents: int  # summaries, articles and daily entries checked
    waiting: int  # documents and sessions still to check
    duplicates: int  # documents with the same text as another one
    near_duplicates: int  # documents with nearly the same text as another one
    loops: int  # exchanges that repeat Engram's own output
    never_recalled: int  # summaries and articles older than 30 days that no recall returned
    stale: int  # documents whose sources changed after they were written
    contradicted: int  # pages and statements that another one contradicts
    shares: dict[str, float]  # share of the documents: repeated (both kinds of duplicates), never_recalled, stale


@value
class Stats(Row):
    """Counts over the whole store."""

    total_sessions: int
    active_sessions: int
    completed_sessions: int
    total_logs: int
    active_locks: int
    unread_messages: int
    world_versions: int
    conflicts_prevented: int
    takeovers: int
    rot: Rot


@value
class Imported:
    """What an import added and what it repaired."""

    source: str
    sessions: int
    logs: int
    locks: int
    world_versions: int
    already_here: int
    mended: dict[str, int]
    dropped: tuple[str, ...]
    updated: int = 0  # sessions imported before that have new data in the source
    dry_run: bool = False  # if true, nothing was written


@value
class Event:
    """One captured fact of a session: a message, a call, a result or a lifecycle event."""

    session: str  # the session id given by the agent
    key: str  # stable: reading the same fact again gives the same key
    kind: str  # message, thinking, call, result, compaction, interrupt, lifecycle, opaque, damage
    role: str = "system"  # user (typed by a person), assistant, tool, system
    order: int = 0  # position in the transcript
    text: str = ""
    at: int | None = None  # microseconds, by the agent's clock
    parent: str | None = None  # key of the event it follows
    name: str | None = None  # name of the tool called, or of what happened
    call_id: str | None = None  # links a call to its result
    arguments: Any = None
    verdict: str | None = None  # ok, error, denied, interrupted
    exit_code: int | None = None
    data: dict[str, Any] | None = None  # other small facts
    id: int | None = None  # id in the store; pass it to `get` as e77


@value
class Usage:
    """The tokens of one model reply, as the agent counts them."""

    session: str
    key: str  # the same for every copy of this reply, in any transcript
    model: str
    at: int | None = None
    input: int = 0  # excluding tokens read from the cache
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0  # to a cache kept for an hour, which costs more
    reasoning: int = 0  # only if the agent counts it separately from output
    cost: float | None = None  # US dollars, if the agent reports it
    basis: str = "exact"  # exact, floor (the real number is higher), uncertain
    counted: bool = True  # false: already included in another reply's tokens
    speed: str = ""  # fast: a mode that costs more


@value
class About:
    """What a transcript says about a session as a whole; later values replace earlier ones."""

    session: str
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    version: str | None = None  # version of the agent program
    title: str | None = None
    parent: str | None = None  # the session it was started from
    relation: str | None = None  # subagent, fork
    entrypoint: str | None = None  # how the agent was started
    remote: str | None = None  # address of the repository's remote


@value
class Cost:
    """What a session, project, day, agent or model cost."""

    place: str
    input: int  # tokens not read from a cache
    output: int
    cache_read: int
    cache_write: int
    cache_write_long: int
    reasoning: int  # only if counted separately from output
    answers: int
    money: float  # US dollars
    basis: str  # exact, floor (the real number is higher), uncertain
    unpriced: tuple[str, ...] = ()  # models without a known price, counted as 0
    prices_dated: str = ""
    part: str = ""  # the part of the place, if the cost was asked for in parts


OUTCOMES = ("success", "partial", "failure", "abandoned", "unclear")


@value
class Digest:
    """The facts of one session, computed from its events."""

    session_id: str
    outcome: str  # success, partial, failure, abandoned or unclear; a person's correction wins
    confidence: float
    facts: dict[str, Any]
    version: int  # version of the rules that computed it
    made_at: datetime
    corrected_by: str | None = None
    inferred: str | None = None  # the computed outcome, if a person corrected it


@value
class Capture:
    """A session as captured from its transcript."""

    session: Session
    outcome: str | None
    confidence: float | None
    events: int
    read_bytes: int
    began: datetime | None
    last_at: datetime | None
    title: str | None = None
    version: str | None = None
    parent: str | None = None  # the agent's id of the parent session
    parent_session: str | None = None  # our id of the parent session, if it was captured
    relation: str | None = None
    tokens: int = 0  # all token classes, including its subagents
    money: float = 0.0  # US dollars, including its subagents
    unpriced: tuple[str, ...] = ()  # models without a known price, counted as 0


@value
class SessionEntry:
    """A session in the list of all sessions: what its agent reported and what its transcript shows."""

    session: Session
    running: bool
    title: str
    last_at: datetime
    outcome: str | None = None
    events: int = 0
    tokens: int = 0
    money: float = 0.0  # US dollars, with its subagents
    unpriced: tuple[str, ...] = ()  # models without a known price, counted as 0


@value
class Hit:
    """One search result, with its source and the reasons it was found."""

    id: str  # x12 an exchange, p3 a passage, e77 an event, c5 an episode or a commit; pass it to `get`
    tier: str  # episode, commit, session, command, exchange, gist, era, digest, profile, narrative, article …
    session_id: str | None
    role: str
    at: datetime | None
    snippet: str
    score: float
    why: dict[str, float]  # the components of its score
    turn: int | None = None  # its position in the session, from 0
    exchange: int | None = None
    event: int | None = None
    name: str | None = None  # name of the tool called, of the month, or of the subject of a passage
    asked: str | None = None  # the question it answers
    flavor: str = ""
    project: str = ""
    summary: str = ""  # summary of its session
    origin: str = ""  # user, assistant, tool, import: how far to trust it
    state: str = "current"  # current, superseded
    superseded_by: str | None = None
    copies: int = 0  # number of other results with the same text
    outcome: str = ""  # how an episode ended: done, fixed, partly, not done, abandoned; of a session its outcome
    read_on: str = ""  # the command that shows more


@value
class Around:
    """A stored item with the exchanges before and after it."""

    id: str
    tier: str
    session_id: str | None
    title: str
    exchanges: tuple[Exchange, ...]  # exchanges of its session, in order
    content: str  # the full text
    at: datetime | None = None
    source: str = ""  # where it comes from


@value
class Check:
    """The result of a consistency check of the store."""

    problems: tuple[str, ...]
    mended: tuple[str, ...]
    sessions: int
    captures: int
    events: int
    digests: int
    bodies: int  # bodies that are present and match their hash
    leftovers: int  # bodies nothing refers to, left by a crash; harmless
    quarantined: int = 0  # bodies a repair moved aside because nothing refers to them


@value
class Exchange:
    """One remembered message of a session."""

    id: int
    session_id: str
    role: str
    content: str
    created_at: datetime  # when it was written
    origin: str = "user"  # user, assistant, tool, import
    score: float | None = None


@value
class Gist:
    """The newest version of the summary of one session."""

    session_id: str
    content: str
    last_exchange_id: int  # the last exchange it covers, in the order they were written
    created_at: datetime
    version: int = 1
    made_by: str = ""  # extract/1, model:<provider>/<model> with its prompt, or the author
    trust: str = "user"  # the least trusted origin among its sources
    exchanges: int = 0  # number of exchanges it covers
    first_at: datetime | None = None
    last_at: datetime | None = None
    unsummarized: int = 0  # exchanges it does not cover
    score: float | None = None


@value
class Era:
    """The summary of a calendar month."""

    month: str  # YYYY-MM, in the user's time zone
    content: str
    session_count: int
    created_at: datetime
    version: int = 1
    made_by: str = ""
    trust: str = "user"
    score: float | None = None
