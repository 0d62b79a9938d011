"""Recall: one search over exchanges, what was derived from them, and the events around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram.errors import InvalidInput
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import PAGE, count_tokens, validate_optional_name, validate_text
from engram.sessions import lifecycle
from engram.types import Hit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


_MOST = 1000  # maximum hits
_HITS = 5
_NOTED = 50  # hits recorded as shown
_NOT_NOTED = ("event", "session", "command", "commit")
_GROUPINGS = ("hit", "session")
_YEARS = (1000, 9000)  # valid years for `now`


def _list_choices() -> dict[str, Sequence[str]]:
    """Return the accepted values of the filters."""
    from engram.index.doc_kinds import TIERS
    from engram.search.filter import ROLES
    from engram.types import OUTCOMES

    return {"role": ROLES, "outcome": OUTCOMES, "tiers": TIERS, "by": _GROUPINGS}


@operation(choices=_list_choices)
def recall(
    hub: Hub,
    query: Annotated[str, Help('a question or words; supports "exact phrase" and prefix*')],
    k: Annotated[int | None, Help("default 5, or 20 for a question about a time")] = None,
    session_id: Annotated[str | None, Help("only hits in this session")] = None,
    exclude_session: Annotated[str | None, Help("skip this session, such as the caller's own")] = None,
    project: Annotated[str | None, Help("only sessions in this project")] = None,
    flavor: Annotated[str | None, Help("only sessions of this agent")] = None,
    role: Annotated[str | None, Help("only messages by this role")] = None,
    outcome: Annotated[str | None, Help("only sessions with this outcome")] = None,
    file: Annotated[str | None, Help("only sessions that touched this file")] = None,
    tool: Annotated[str | None, Help("only sessions that called this tool")] = None,
    tiers: Annotated[list[str] | None, Help("only these tiers")] = None,
    since: Annotated[str | None, Help("start time such as 7d, 12h, 2026-11-01 or last week")] = None,
    until: Annotated[str | None, Help("end time such as 7d, 12h, 2026-11-01 or last week")] = None,
    by: Annotated[str, Help("`hit`, or `session` for the best hit of each session")] = "hit",
    budget: Annotated[int | None, Help("maximum number of tokens in all snippets")] = None,
    abstain: Annotated[bool, Help("return nothing if no hit answers the question")] = True,
    now: Annotated[str | None, Help("search as of this time, such as 2026-11-01T12:00:00+00:00")] = None,
    domain: Annotated[str | None, Help("only projects in this domain")] = None,
    messages: Annotated[bool, Help("return single messages instead of what settled the episode they are in")] = False,
) -> list[Hit]:  # fmt: skip
    """Find what was said, done or learned in any session, best first; return nothing if nothing answers."""
    from engram.search import answer, episode_answers
    from engram.search.filter import ROLES, Filter, check_choice
    from engram.search.filter import parse_tiers as known_tiers
    from engram.types import OUTCOMES

    if by not in _GROUPINGS:
        raise InvalidInput(field="by", reason=f"Unknown value {by!r}. Choose one of: hit, session.")
    asked_at = parse_asking_time(hub, now)
    filters = Filter(
        session=resolve_session(hub, session_id),
        exclude=resolve_session(hub, exclude_session),
        project=lifecycle.parse_project_filter(project),
        flavor=validate_optional_name("flavor", flavor),
        role=check_choice("role", role, ROLES),
        outcome=check_choice("outcome", outcome, OUTCOMES),
        file=validate_optional_name("file", file),
        tool=validate_optional_name("tool", tool),
        domain=validate_optional_name("domain", domain),
        tiers=known_tiers(tiers),
        since=parse_time_bound("since", since, asked_at),
        until=parse_time_bound("until", until, asked_at),
    )
    limit = None if k is None else min(lifecycle.require_positive("k", k), _MOST)
    clean_query = validate_text("query", query, PAGE)
    if messages or by == "session" or filters.tiers or filters.role:
        hits = answer.answer_question(
            hub, clean_query, filters, asked_at, limit or _HITS, by_session=by == "session", abstain=abstain
        )
    else:
        hits = episode_answers.answer_with_episodes(hub, clean_query, filters, asked_at, limit, abstain=abstain)
    hits = hits if budget is None else _fit_budget(hits, lifecycle.require_positive("budget", budget))
    record_shown(hub, hits)
    return hits


@operation()
def recall_summaries(
    hub: Hub,
    query: Annotated[str, Help("a question or words to search for")],
    k: Annotated[int, Help("maximum number of hits")] = 3,
    exclude_session: Annotated[str | None, Help("skip this session, such as the caller's own")] = None,
) -> list[Hit]:
    """Find the sessions whose summary answers a question."""
    return recall(hub, query, k, exclude_session=exclude_session, tiers=["gist"], abstain=False)


@operation()
def recall_eras(
    hub: Hub, query: Annotated[str, Help("a question or words")], k: Annotated[int, Help("maximum number of hits")] = 2
) -> list[Hit]:
    """Find the months whose summary answers a question."""
    return recall(hub, query, k, tiers=["era"], abstain=False)


def record_shown(hub: Hub, hits: Sequence[Hit]) -> None:
    """Record that hits were shown, to tell useful memories from unused ones."""
    from engram.store import recall_log

    noted = [hit for hit in hits[:_NOTED] if hit.tier not in _NOT_NOTED]
    keys = (("exchange", str(hit.exchange)) if hit.exchange else (hit.tier, hit.name) for hit in noted)
    recall_log.record_shown(hub.engine, [(tier, key) for tier, key in keys if key], hub.now())


def resolve_session(hub: Hub, name: str | None) -> str | None:
    """Return the id of a session named by a prefix; an unknown name is returned as is and matches nothing."""
    from engram.errors import NotFound

    if not name:
        return None
    try:
        return lifecycle.get_session(hub, name).id
    except NotFound:
        return validate_optional_name("session_id", name)


def parse_asking_time(hub: Hub, asked_at: str | datetime | None) -> datetime:
    """Return the time of the request in the user's time zone."""
    from datetime import datetime

    from engram.clock import load_timezone, to_datetime

    if asked_at is None:
        return to_datetime(hub.now()).astimezone(load_timezone(hub.settings.timezone))
    try:
        parsed = datetime.fromisoformat(asked_at) if isinstance(asked_at, str) else asked_at
    except ValueError as problem:
        reason = f"Cannot read {asked_at!r} as a time. Try 2026-11-01T12:00:00+00:00."
        raise InvalidInput(field="now", reason=reason) from problem
    if not _YEARS[0] <= parsed.year <= _YEARS[1]:
        raise InvalidInput(field="now", reason=f"{asked_at!r} is out of range. Use a year from 1000 to 9000.")
    parsed = parsed if parsed.tzinfo else parsed.replace(tzinfo=load_timezone(hub.settings.timezone))
    return parsed if parsed.tzinfo else parsed.astimezone()  # the machine's own zone


def parse_time_bound(field: str, expression: str | None, now: datetime) -> int | None:
    """Parse a time given as an age, a date or words."""
    if not expression:
        return None
    from datetime import datetime, timedelta

    from engram.search.time_expressions import find_window

    text = validate_text(field, expression).strip()
    units = {"h": "hours", "d": "days", "w": "weeks"}
    bound: datetime | None = None
    try:
        if text[:-1].isdecimal() and text[-1] in units and len(text) < 8:
            bound = now - timedelta(**{units[text[-1]]: int(text[:-1])})
        elif len(text) > len("2026-11-01"):
            bound = datetime.fromisoformat(text)
    except (OverflowError, ValueError):
        pass  # maybe a time in words
    if bound is None and (span := find_window(text, now)):
        bound = span.since
    if bound is None:
        raise InvalidInput(field=field, reason=f"Cannot read {text!r} as a time. Try 7d, 12h, 2026-11-01 or yesterday.")
    return round((bound if bound.tzinfo else bound.replace(tzinfo=now.tzinfo)).timestamp() * 1_000_000)


def _fit_budget(hits: list[Hit], budget: int) -> list[Hit]:
    """Return the best hits whose snippets fit a token budget."""
    fitting: list[Any] = []
    for hit in hits:
        budget -= count_tokens(hit.snippet) + 16  # the line that names agent, time and session
        if budget < 0:
            break
        fitting.append(hit)
    return fitting
