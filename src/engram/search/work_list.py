"""Answer "what did I do last week": the sessions of a time with their episodes, a hit per session, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.clock import to_datetime
from engram.platform import plain_json, text
from engram.store import digests, episodes, exchanges, sessions
from engram.types import Hit

if TYPE_CHECKING:
    from datetime import tzinfo

    from engram.hub import Hub
    from engram.search.filter import Filter
    from engram.store.engine import Row

_SHOWN = 6  # episodes of one session
_TITLE = 110  # characters
_FIRST, _LAST = 0, 1 << 62
_SUBAGENT = "subagent"


def list_work(hub: Hub, filters: Filter, zone: tzinfo | None, limit: int) -> list[Hit]:
    """Return the sessions that worked in the time of a filter, newest first, with what they did in it."""
    since = _FIRST if filters.since is None else filters.since
    until = _LAST if filters.until is None else filters.until
    active = {row["session_id"]: row for row in exchanges.list_active_sessions(hub.engine, since, until)}
    allowed = _list_allowed(hub, filters, active)
    by_session: dict[str, list[Row]] = {}
    for row in episodes.list_by_sessions(hub.engine, allowed):
        if (row["started_at"] or 0) < until and (row["ended_at"] or row["started_at"] or 0) >= since:
            by_session.setdefault(row["session_id"], []).append(row)
    own = _drop_repeated(by_session)
    known = {row["session_id"]: row for row in digests.list_by_sessions(hub.engine, allowed)}
    wanted = [
        session_id
        for session_id in allowed
        if own.get(session_id) or (session_id not in by_session and known.get(session_id, {}).get("relation") is None)
    ]
    wanted.sort(key=lambda session_id: -active[session_id]["last_at"])
    return [
        _build_hit(hub, active[session_id], own.get(session_id, []), known.get(session_id), zone)
        for session_id in wanted[:limit]
    ]


def _list_allowed(hub: Hub, filters: Filter, active: dict[str, Row]) -> list[str]:
    """Return the active sessions that pass the filter, without those that an agent started."""
    found = [session_id for session_id in active if session_id != filters.exclude]
    if filters.session_criteria:
        matching = set(sessions.find_matching_ids(hub.engine, **filters.session_criteria))
        found = [session_id for session_id in found if session_id in matching]
    started = {row["session_id"] for row in digests.list_by_sessions(hub.engine, found) if row["relation"] == _SUBAGENT}
    return [session_id for session_id in found if session_id not in started]


def _drop_repeated(by_session: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """Return the episodes of each session without those that a fork repeats."""
    kept: dict[str, list[Row]] = {}
    seen: set[tuple[int, str]] = set()
    order = sorted(by_session, key=lambda session_id: (bool(by_session[session_id][0]["relation"]), session_id))
    for session_id in order:
        for row in by_session[session_id]:
            mark = (row["started_at"] or 0, row["title"])
            if mark not in seen:
                seen.add(mark)
                kept.setdefault(session_id, []).append(row)
    return kept


def _build_hit(hub: Hub, active: Row, own: list[Row], digest: Row | None, zone: tzinfo | None) -> Hit:
    session = sessions.get(hub.engine, active["session_id"]) or {}
    facts = {row["case_id"]: row for row in episodes.list_by_cases(hub.engine, [row["case_id"] for row in own])}
    rows = [facts[row["case_id"]] for row in own if row["case_id"] in facts]
    lines = [_describe(row, zone) for row in _choose(rows)]
    if len(rows) > len(lines):
        lines.append(f"and {text.format_count(len(rows) - len(lines), 'more episode')}")
    if not rows:
        lines = [f"{text.format_count(active['messages'], 'message')}: {session.get('summary') or ''}".rstrip(": ")]
    return Hit(
        id=f"x{active['first_id']}", tier="session", session_id=active["session_id"], role="",
        at=to_datetime(active["first_at"]), snippet="\n".join(lines), score=1.0, why={},
        exchange=active["first_id"], flavor=session.get("flavor") or "", project=session.get("project") or "",
        summary=session.get("summary") or "", origin="derived", outcome=(digest or {}).get("outcome") or "",
        read_on=f"engram show {active['session_id']}",
    )  # fmt: skip


def _choose(rows: list[Row]) -> list[Row]:
    """Return the episodes that did most, in order."""
    weighed = sorted(rows, key=lambda row: -_weigh(plain_json.loads(row["facts"])))[:_SHOWN]
    return [row for row in rows if row in weighed]


def _weigh(facts: Row) -> float:
    return (
        2.0 * len(facts["commits"]) + 0.5 * min(len(facts["changed"]), 6) + 2.0 * bool(facts["decisions"])
        + bool(facts["causes"]) + bool(facts["open"])
    )  # fmt: skip


def _describe(row: Row, zone: tzinfo | None) -> str:
    """Return one line about an episode: when, how it ended, its request and what was committed."""
    facts = plain_json.loads(row["facts"])
    when = to_datetime(row["started_at"]).astimezone(zone).strftime("%a %d %b %H:%M") if row["started_at"] else ""
    line = f"{when} {row['result']}: {text.to_one_line(row['title'], _TITLE)}".strip()
    return f"{line} → {text.to_one_line(facts['commits'][-1], _TITLE)}" if facts["commits"] else line
