"""Recall: ask the past. One search over exchanges, what was made of them, and the events around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram.coordination import sessions
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.model import Hit
from engram.operation import Help, operation
from engram.text import PAGE, clean, name_or_none, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


_MOST = 1000  # hits of one question
_NOTED = 50  # of them that somebody looks at
_YEARS = (1000, 9000)  # in which somebody may ask


@operation()
def recall(
    hub: Hub,
    query: Annotated[str, Help('a question or words; "exact phrase", beginn*; any text is fine')],
    k: Annotated[int, Help("at most so many hits")] = 5,
    session_id: Annotated[str | None, Help("only of this session")] = None,
    exclude_session: Annotated[str | None, Help("not of this session, such as the one that asks")] = None,
    project: Annotated[str | None, Help("only of this project")] = None,
    flavor: Annotated[str | None, Help("only this agent's")] = None,
    role: Annotated[str | None, Help("only what was said by user, assistant, tool")] = None,
    outcome: Annotated[str | None, Help("only of sessions that ended in success, partial, failure, abandoned")] = None,
    file: Annotated[str | None, Help("only of sessions that worked on this file")] = None,
    tool: Annotated[str | None, Help("only of sessions that called this tool")] = None,
    tiers: Annotated[list[str] | None, Help("only exchange, gist, era, digest, profile, guide, event …")] = None,
    since: Annotated[str | None, Help("not before: 7d, 12h, 2026-11-01, last week")] = None,
    until: Annotated[str | None, Help("before: 7d, 12h, 2026-11-01, last week")] = None,
    by: Annotated[str, Help("hit, or session: the best hit of each")] = "hit",
    budget: Annotated[int | None, Help("at most so many tokens of snippets")] = None,
    abstain: Annotated[bool, Help("bring nothing rather than what does not answer")] = True,
    now: Annotated[str | None, Help("as if asked at this time, like 2026-11-01T12:00:00+00:00")] = None,
    domain: Annotated[str | None, Help("only of projects in this domain")] = None,
) -> list[Hit]:  # fmt: skip
    """Find what was said, done or learnt in any session, best first; nothing where nothing answers."""
    from engram.digests.digest import OUTCOMES
    from engram.recall import answer
    from engram.recall.filter import ROLES, Filter, one_of
    from engram.recall.filter import tiers as known_tiers

    if by not in ("hit", "session"):
        raise InvalidInput(field="by", reason=f"{by!r} is none; there are hit and session.")
    asked_at = time_of(hub, now)
    wanted = Filter(
        session=session_named(hub, session_id), exclude=session_named(hub, exclude_session),
        project=sessions.room(project), flavor=name_or_none("flavor", flavor), role=one_of("role", role, ROLES),
        outcome=one_of("outcome", outcome, OUTCOMES), file=name_or_none("file", file), tool=name_or_none("tool", tool),
        domain=name_or_none("domain", domain), tiers=known_tiers(tiers),
        since=edge("since", since, asked_at), until=edge("until", until, asked_at),
    )  # fmt: skip
    limit = min(sessions.positive("k", k), _MOST)
    asked = clean("query", query, PAGE)
    hits = answer.answer(hub, asked, wanted, asked_at, limit, by_session=by == "session", abstain=abstain)
    hits = hits if budget is None else _within(hits, sessions.positive("budget", budget))
    shown(hub, hits)
    return hits


@operation()
def recall_summaries(
    hub: Hub,
    query: Annotated[str, Help("a question or words")],
    k: Annotated[int, Help("at most so many")] = 3,
    exclude_session: Annotated[str | None, Help("not of this session, such as the one that asks")] = None,
) -> list[Hit]:
    """Find the sessions whose gist answers a question."""
    return recall(hub, query, k, exclude_session=exclude_session, tiers=["gist"], abstain=False)


@operation()
def recall_eras(
    hub: Hub, query: Annotated[str, Help("a question or words")], k: Annotated[int, Help("at most so many")] = 2
) -> list[Hit]:
    """Find the months whose era answers a question."""
    return recall(hub, query, k, tiers=["era"], abstain=False)


def shown(hub: Hub, hits: Sequence[Hit]) -> None:
    """Note that hits were shown, so that memory nobody needs is told from memory that works."""
    from engram.store import recalled

    seen = [hit for hit in hits[:_NOTED] if hit.tier != "event"]
    keys = ((hit.tier, str(hit.exchange) if hit.tier == "exchange" else hit.name) for hit in seen)
    recalled.shown(hub.engine, [(tier, key) for tier, key in keys if key], hub.now())


def session_named(hub: Hub, given: str | None) -> str | None:
    """Return the id of a session somebody names by its beginning; an unknown one stays itself and matches nothing."""
    from engram.errors import NotFound

    if not given:
        return None
    try:
        return sessions.get_session(hub, given).id
    except NotFound:
        return name_or_none("session_id", given)


def time_of(hub: Hub, given: str | datetime | None) -> datetime:
    """Return the time of asking in the asker's zone."""
    from datetime import datetime

    from engram.clock import moment, zone

    if given is None:
        return moment(hub.now()).astimezone(zone(hub.settings.timezone))
    try:
        found = datetime.fromisoformat(given) if isinstance(given, str) else given
    except ValueError as problem:
        raise InvalidInput(field="now", reason=f"{given!r} is no time.") from problem
    if not _YEARS[0] <= found.year <= _YEARS[1]:
        raise InvalidInput(field="now", reason=f"{given!r} is no time anybody asks at.")
    found = found if found.tzinfo else found.replace(tzinfo=zone(hub.settings.timezone))
    return found if found.tzinfo else found.astimezone()  # the machine's own zone


def edge(field: str, given: str | None, now: datetime) -> int | None:
    """Return a time somebody names: so long ago, a date, or in words."""
    if not given:
        return None
    from datetime import datetime, timedelta

    from engram.recall.when import window

    text = clean(field, given).strip()
    units = {"h": "hours", "d": "days", "w": "weeks"}
    edge: datetime | None = None
    try:
        if text[:-1].isdecimal() and text[-1] in units and len(text) < 8:
            edge = now - timedelta(**{units[text[-1]]: int(text[:-1])})
        elif len(text) > len("2026-11-01"):
            edge = datetime.fromisoformat(text)
    except (OverflowError, ValueError):
        pass  # a time in words, or none
    if edge is None and (found := window(text, now)):
        edge = found.since
    if edge is None:
        raise InvalidInput(field=field, reason=f"{text!r} is no time; say 7d, 12h, 2026-11-01 or last week.")
    return round((edge if edge.tzinfo else edge.replace(tzinfo=now.tzinfo)).timestamp() * 1_000_000)


def _within(hits: list[Hit], budget: int) -> list[Hit]:
    """Return the best hits whose snippets fit a budget of tokens."""
    kept: list[Any] = []
    for hit in hits:
        budget -= tokens(hit.snippet) + 16  # who, when and where
        if budget < 0:
            break
        kept.append(hit)
    return kept
