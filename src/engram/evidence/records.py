"""The public values of the evidence: episodes, decisions, errors, open items."""

from __future__ import annotations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime


@value
class Decision:
    """A rule or a choice that a person made or confirmed."""

    id: str
    text: str
    kind: str  # answer, correction, rule, accepted, recap; rejected for a proposal that was turned down
    session_id: str
    at: datetime | None
    about: str = ""  # the question or proposal it settles
    project: str = ""
    superseded_by: str | None = None  # id of the newer decision
    events: tuple[int, ...] = ()  # ids of the events behind it


@value
class EpisodeError:
    """An error of an episode, and what ended it."""

    error: str
    cause: str
    fix: str  # "" if nothing in its session fixed it
    times: int
    events: tuple[int, ...] = ()
    signature: str = ""  # the message without what varies between runs
    command: str = ""  # the command that failed
    shape: str = ""  # its programs, subcommands and options
    names: tuple[str, ...] = ()  # files and symbols it names
    fix_kind: str = ""  # command replaced, files changed, retried, setup
    passing: str = ""  # the command that passed afterwards
    verified: bool = False  # whether the same thing passed after a change to what the error names
    fixed_in: str | None = None  # id of the later session that fixed it, or in which the same check passed


@value
class OpenItem:
    """Something a session left undone."""

    id: str
    text: str
    session_id: str
    project: str
    at: datetime
    episode: str  # title of the episode


@value
class Episode:
    """A part of a session: a request, what was decided about it, what was done and what came of it."""

    session_id: str
    number: int  # its place in the session, from 0
    title: str
    request: str
    result: str  # fixed, done, partly, not done, abandoned
    started_at: datetime | None
    ended_at: datetime | None
    decisions: tuple[Decision, ...] = ()
    rejected: tuple[Decision, ...] = ()  # proposals that were turned down
    causes: tuple[str, ...] = ()  # root causes that what followed bore out
    errors: tuple[EpisodeError, ...] = ()
    changed: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()  # calls the person refused
    tests: str | None = None  # passed, failed
    open: tuple[str, ...] = ()
    report: str = ""  # the end of the agent's last message
    events: tuple[int, ...] = ()  # id of the event of the request
