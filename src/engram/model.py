"""The words of the product as frozen values. No I/O."""

from __future__ import annotations

from engram.value import Row, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any


@value
class Process:
    """A process on a host, told apart from a later one that was given the same pid."""

    host: str
    pid: int
    start: str


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
    domain: str = ""  # what its project belongs to, where a map says so


@value
class Log(Row):
    """A progress entry of a session."""

    id: int
    session_id: str
    timestamp: datetime
    entry: str


@value
class Resource:
    """What a lock is on, under its one canonical name."""

    kind: str  # file, directory, glob, name
    name: str  # as people read it
    base: str  # longest part without wildcards: what the index looks up
    pattern: str  # what overlap is decided on


@value
class Lock(Row):
    """A hold on a resource: expiring, fenced, exclusive unless asked otherwise."""

    resource: str
    kind: str
    mode: str  # exclusive, shared, announce
    session_id: str
    token: int
    note: str | None
    locked_at: datetime
    until: datetime
    live: bool  # false once it lapsed or its holder's process is gone
    project: str = ""
    flavor: str = ""
    session_type: str = ""
    summary: str = ""
    waiters: tuple[str, ...] = ()
    overlaps: tuple[Lock, ...] = ()  # what others announced or share over the same ground


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
    """Who a message will reach."""

    recipients: tuple[str, ...]
    waiting: bool  # kept for the next session of the project


@value
class WorldState:
    """One version of the maintained overview of a project, or of everything."""

    project: str
    version: int
    content: str
    updated_by: str | None
    updated_at: datetime


@value
class Activity:
    """Something Engram did or prevented."""

    id: int
    at: datetime
    kind: str  # refused, takeover, reopened, imported
    session_id: str | None
    project: str
    subject: str
    detail: Any


@value
class Sitrep:
    """The computed picture of now."""

    project: str
    world: tuple[WorldState, ...]
    sessions: tuple[Session, ...]
    elsewhere: tuple[Session, ...]
    locks: tuple[Lock, ...]
    unread: tuple[Message, ...]
    recent: tuple[Session, ...]
    more: dict[str, int]  # how many of each were left out


@value
class Rot:
    """How much of memory repeats itself, comes back to it, helps nobody, or no longer holds."""

    documents: int  # gists, articles and daily entries that were looked at
    waiting: int  # documents and sessions that are to be looked at
    duplicates: int  # documents that say what another one says
    near_duplicates: int  # documents that nearly say what another one says
    loops: int  # exchanges that are our own words coming back
    never_recalled: int  # gists and articles no recall showed in the thirty days and more that they are known
    stale: int  # documents whose sources changed since they were made
    contradicted: int  # pages and statements that another one speaks against
    shares: dict[str, float]  # of the documents: repeated (duplicates of both kinds), never_recalled, stale


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
    """What an import took over and what it had to mend."""

    source: str
    sessions: int
    logs: int
    locks: int
    world_versions: int
    already_here: int
    mended: dict[str, int]
    dropped: tuple[str, ...]
    updated: int = 0  # sessions that had come before and have gone on in the source since
    dry_run: bool = False  # nothing of it was written


@value
class Event:
    """One captured fact of a session: a message, a call, its result, a turn of its life."""

    session: str  # the id the agent gave the session
    key: str  # the same whenever this fact is read again
    kind: str  # message, thinking, call, result, compaction, interrupt, lifecycle, opaque, damage
    role: str = "system"  # user (a person's own words), assistant, tool, system
    order: int = 0  # where it stands in its transcript
    text: str = ""
    at: int | None = None  # microseconds, as the agent's clock said
    parent: str | None = None  # the key of the fact it follows
    name: str | None = None  # the tool that is called, or what happened
    call_id: str | None = None  # joins a call and its result
    arguments: Any = None
    verdict: str | None = None  # ok, error, denied, interrupted
    exit_code: int | None = None
    data: dict[str, Any] | None = None  # further small facts
    id: int | None = None  # its number in the store: `get` takes it as e77


@value
class Usage:
    """The tokens of one answer of a model, as its flavor counts them."""

    session: str
    key: str  # the same wherever this answer is written down again, in any transcript
    model: str
    at: int | None = None
    input: int = 0  # without what came from the cache
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_long: int = 0  # of a cache that lives an hour, which costs more
    reasoning: int = 0  # only where the flavor counts it apart from output
    cost: float | None = None  # US dollars, where the flavor says so itself
    basis: str = "exact"  # exact, floor (there was more), uncertain
    counted: bool = True  # false: another answer's tokens already contain these


@value
class About:
    """What a transcript says of a session as a whole; said again, the last word wins."""

    session: str
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    version: str | None = None  # of the agent program
    title: str | None = None
    parent: str | None = None  # the session it came from
    relation: str | None = None  # subagent, fork
    entrypoint: str | None = None  # how the agent was started


@value
class Retention:
    """What keeping within the storage budget took."""

    freed: int  # bytes of bodies dropped
    final_usage: int  # bytes of bodies kept
    passes: dict[str, int]  # bodies dropped by age, by the soft cap, by the hard cap
    data_loss: tuple[str, ...] = ()  # sessions dropped although they could not be digested
    distilled: int = 0  # bytes of digests; weighed when everything is swept
    distilled_over: bool = False  # more digests than their cap: nothing is dropped, but you should know


@value
class Ingested:
    """What a sweep found and took in."""

    discovered: int
    ingested: int
    skipped_unchanged: int
    analyzed: int  # sessions whose digest is new
    unknown: int  # files no adapter takes for a transcript
    vanished: int  # transcripts whose agent deleted them; what they said stays
    sessions: int
    events: int
    bytes: int
    damaged: int  # bytes that could not be read
    redacted: dict[str, int]  # secrets removed, by rule
    failures: dict[str, str]  # transcripts that could not be read, and why
    retention: Retention | None = None
    dry_run: bool = False
    unread: tuple[Any, ...] = ()  # files that could not be read, now or when last tried: path, size and reason


@value
class Cost:
    """What a session, project, day, flavor or model cost."""

    place: str
    input: int  # tokens that did not come from a cache
    output: int
    cache_read: int
    cache_write: int
    cache_write_long: int
    reasoning: int  # only where it is counted apart from output
    answers: int
    money: float  # US dollars
    basis: str  # exact, floor (there was more), uncertain
    unpriced: tuple[str, ...] = ()  # models without a price: their tokens cost nothing here
    prices_dated: str = ""
    part: str = ""  # of the place, where it was asked in parts


@value
class Digest:
    """The facts of one session, computed from its events."""

    session_id: str
    outcome: str  # success, partial, failure, abandoned, unclear: a person's word if there is one
    confidence: float
    facts: dict[str, Any]
    version: int  # of the rules that made it
    made_at: datetime
    corrected_by: str | None = None
    inferred: str | None = None  # what the rules say, where a person says otherwise


@value
class Capture:
    """A session as its transcript tells it."""

    session: Session
    outcome: str | None
    confidence: float | None
    events: int
    read_bytes: int
    began: datetime | None
    last_at: datetime | None
    title: str | None = None
    version: str | None = None
    parent: str | None = None  # as its agent calls it
    parent_session: str | None = None  # its id here, if it is here
    relation: str | None = None
    tokens: int = 0  # of all classes, with the subagents it sent
    money: float = 0.0  # US dollars, with theirs


@value
class Hit:
    """One result of a search, with where it comes from and why it was found."""

    id: str  # x12 an exchange, p3 a passage, e77 an event: what `get` takes
    tier: str  # exchange, gist, era, digest, profile, narrative, article, daily, event
    session_id: str | None
    role: str
    at: datetime | None
    snippet: str
    score: float
    why: dict[str, float]  # the parts of its score
    turn: int | None = None  # its place in its session, from 0
    exchange: int | None = None
    event: int | None = None
    name: str | None = None  # of the tool that was called; of the month, of what a passage tells
    asked: str | None = None  # what it answers to
    flavor: str = ""
    project: str = ""
    summary: str = ""  # of its session
    origin: str = ""  # user, assistant, tool, import: how far it can be trusted
    state: str = "current"  # current, superseded
    superseded_by: str | None = None
    copies: int = 0  # others that say the same


@value
class Around:
    """Something that was found, with what stood before and after it."""

    id: str
    tier: str
    session_id: str | None
    title: str
    exchanges: tuple[Exchange, ...]  # of its session, in order
    content: str  # the whole of it
    at: datetime | None = None
    source: str = ""  # where it comes from


@value
class Check:
    """Whether the store is sound."""

    problems: tuple[str, ...]
    mended: tuple[str, ...]
    sessions: int
    captures: int
    events: int
    digests: int
    bodies: int  # that are here and are what they say
    leftovers: int  # bodies nothing points to: of a crash, harmless
    quarantined: int = 0  # bodies a repair moved aside because nothing points to them


@value
class Exchange:
    """One remembered message of a session."""

    id: int
    session_id: str
    role: str
    content: str
    created_at: datetime  # when it was said
    origin: str = "user"  # user, assistant, tool, import
    score: float | None = None


@value
class Deleted:
    """What deleting a session took away."""

    sessions: tuple[str, ...]  # it and its subagents
    exchanges: int
    events: int
    remade: tuple[str, ...] = ()  # what was made of it: made again without it, or gone with it
    changed: tuple[str, ...] = ()  # what stays without what came from it, and how much that was
    mentions: tuple[str, ...] = ()  # what stays as it is and holds words that only this session used
    copies: tuple[str, ...] = ()  # of the store, made before an upgrade: they still hold it
    dry_run: bool = False


@value
class Gist:
    """The summary of one session, as its newest version says it."""

    session_id: str
    content: str
    last_exchange_id: int  # the last exchange it covers, in the order they were said
    created_at: datetime
    version: int = 1
    made_by: str = ""  # extract/1, model:<provider>/<model> with its prompt, or who gave it
    trust: str = "user"  # the least trusted origin of what it is made of
    exchanges: int = 0  # how many it covers
    first_at: datetime | None = None
    last_at: datetime | None = None
    unsummarized: int = 0  # exchanges it does not cover
    score: float | None = None


@value
class Era:
    """What a calendar month came to."""

    month: str  # YYYY-MM, where the user lives
    content: str
    session_count: int
    created_at: datetime
    version: int = 1
    made_by: str = ""
    trust: str = "user"
    score: float | None = None
