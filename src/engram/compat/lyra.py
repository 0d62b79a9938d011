"""Lyra's memory module: `import engram.compat.lyra as memory`, and what was written for it runs as it is.

What the functions do is Engram's: texts are redacted before they are stored, deleting is real, recall goes by words and
meaning. Where LYRA_DB_PATH is set the store lies beside that file, in `<file>.engram`, and begins with what the file
holds; the file itself is never written. Else it is the usual store.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from threading import RLock
from typing import Any

from engram import model
from engram.api import Engram
from engram.compat.lyra_vectors import keep_vectors
from engram.coordination import sessions
from engram.dream.done import Pass
from engram.errors import Error
from engram.memory import gist, versions
from engram.store import exchanges
from engram.store import sessions as session_store

_log = logging.getLogger(__name__)
_ALL = 1_000_000  # summaries: every one there is
_EVERY = -1  # messages: no limit
_OWN = {"lyra": "self"}  # Lyra's own state is the agent's own state here

_guard = RLock()
_opened: Engram | None = None
_opened_at: tuple[str | None, ...] = ()


@dataclass
class Exchange:
    """One message of a session."""

    id: int
    session_id: str
    role: str
    content: str
    created_at: str
    score: float | None = None


@dataclass
class Summary:
    """The gist of a session."""

    session_id: str
    content: str
    last_exchange_id: int
    created_at: str
    score: float | None = None


@dataclass
class Era:
    """What a month came to."""

    month: str  # YYYY-MM
    content: str
    session_count: int
    created_at: str
    score: float | None = None


def remember(session_id: str, role: str, content: str) -> int:
    """Keep one message and return its number."""
    return _open().remember(session_id, role, content)


def add_exchanges_bulk(session_id: str, rows: list[tuple[str, str, list[float], str]]) -> int:
    """Keep many messages with their dates, and their vectors if our model made them; return how many were given."""
    engram = _open()
    said = [{"role": role, "content": content, "at": created_at} for role, content, _, created_at in rows]
    engram.add_exchanges_bulk(session_id, said)
    keep_vectors(engram, {content: vector for _, content, vector, _ in rows if len(vector)})
    return len(rows)


def recent(session_id: str, n: int = 10) -> list[Exchange]:
    """Return the last messages of a session, oldest first."""
    return _said(session_id, max(n, _EVERY)) if n else []


def history(session_id: str) -> list[Exchange]:
    """Return all messages of a session, oldest first."""
    return _said(session_id)


def ensure_session(session_id: str, name: str | None = None) -> None:
    """Make a session if it is not there, and name it if a name is given."""
    _open().ensure_session(session_id, name)


def list_sessions() -> list[dict[str, Any]]:
    """Return every session that has a row or a message, the newest first."""
    rows = session_store.remembering(_open().engine)
    return [{"id": row["id"], "name": row["summary"] or None} for row in rows]


def delete_session(session_id: str) -> None:
    """Delete a session with all that was made of it."""
    known = _known(session_id)
    if known is not None:
        _open().delete_session(known)


def recall(query: str, k: int = 5, session_id: str | None = None) -> list[Exchange]:
    """Return the messages nearest to a question, best first, also where none is near."""
    engram, only = _open(), _known(session_id) if session_id is not None else None
    if k < 1 or (session_id is not None and only is None):
        return []
    hits = engram.recall(query, k, only, tiers=["exchange"], abstain=False)
    rows = exchanges.by_id(engram.engine, [hit.exchange for hit in hits if hit.exchange is not None])
    found = [_message(rows[hit.exchange], hit.score) for hit in hits if hit.exchange in rows]
    return found + _others(engram, found, k - len(found), only)


def store_summary(session_id: str, content: str, last_exchange_id: int) -> None:
    """Keep the gist of a session, which covers its messages up to one."""
    engram = _open()
    session = sessions.require(engram, engram.ensure_session(session_id))
    rows = exchanges.of_session(engram.engine, session["id"])
    last = max((place for place, row in enumerate(rows, 1) if row["id"] <= last_exchange_id), default=0)
    said = versions.fit(engram, "content", content)
    gist.keep(engram, session, rows[:last], said, versions.GIVEN, more={"last": last_exchange_id})


def get_summary(session_id: str) -> Summary | None:
    """Return the gist of a session."""
    known = _known(session_id)
    found = _open().get_summary(known) if known is not None else None
    return _summary(found) if found else None


def unsummarized_count(session_id: str) -> int:
    """Count the messages of a session that its gist does not cover."""
    return _open().unsummarized_count(session_id)


def list_summaries() -> list[Summary]:
    """Return every gist, the one made first at the top."""
    return [_summary(each) for each in _open().list_summaries(_ALL)]


def set_profile(content: str, sessions_covered: int, profile_id: str = "self") -> None:
    """Replace the standing facts about the user."""
    _open().set_profile(content, sessions_covered, profile_id)


def get_profile(profile_id: str = "self") -> str | None:
    """Return the standing facts about the user."""
    return _open().get_profile(profile_id)


def profile_sessions_covered(profile_id: str = "self") -> int:
    """Count the sessions the profile is made of."""
    return _open().profile_sessions_covered(profile_id)


def backlog_stats(ripe_threshold: int = 20) -> dict[str, int]:
    """Return how much no gist covers yet."""
    return dict(_open().backlog_stats(max(1, ripe_threshold)))


def summaries_by_month() -> dict[str, list[str]]:
    """Return the gists by the month their session began in."""
    return {month: [each.content for each in found] for month, found in _open().summaries_by_month().items()}


def store_era(month: str, content: str, session_count: int) -> None:
    """Replace the digest of a month."""
    _open().store_era(month, content, session_count)


def list_eras() -> list[Era]:
    """Return every month, the earliest first."""
    return [_era(each) for each in _open().list_eras()]


def set_narrative(content: str, narrative_id: str = "current") -> None:
    """Replace the current narrative."""
    _open().set_narrative(content, narrative_id)


def get_narrative(narrative_id: str = "current") -> str | None:
    """Return the current narrative."""
    return _open().get_narrative(narrative_id)


def get_self_state(state_id: str = "lyra") -> dict[str, Any] | None:
    """Return the agent's own state."""
    found: dict[str, Any] | None = _open().get_self_state(_OWN.get(state_id, state_id))
    return found


def set_self_state(state: dict[str, Any], state_id: str = "lyra") -> None:
    """Replace the agent's own state."""
    _open().set_self_state(state, _OWN.get(state_id, state_id))


def recall_eras(query: str, k: int = 2) -> list[Era]:
    """Return the months nearest to a question, best first."""
    engram = _open()
    eras = {each.month: each for each in engram.list_eras()}
    hits = engram.recall_eras(query, max(1, k) * 2) if eras and k > 0 else []
    scores: dict[str, float] = {}
    for hit in hits:  # a long month is found in parts
        scores.setdefault(hit.name or "", hit.score)
    scores |= {month: 0.0 for month in reversed(eras) if month not in scores}
    return [_era(eras[month], score) for month, score in scores.items() if month in eras][: max(0, k)]


def recall_summaries(query: str, k: int = 3, exclude_session: str | None = None) -> list[Summary]:
    """Return the gists nearest to a question, best first."""
    engram, without = _open(), _known(exclude_session) if exclude_session is not None else None
    hits = engram.recall_summaries(query, k, without) if k > 0 else []
    scores = {hit.session_id: hit.score for hit in reversed(hits) if hit.session_id}
    gists = [each for each in engram.list_summaries(_ALL)[::-1] if each.session_id != without]
    ranked = sorted(gists, key=lambda each: -scores.get(each.session_id, 0.0))
    return [_summary(each, scores.get(each.session_id, 0.0)) for each in ranked[: max(0, k)]]


def dream_cycle(force: bool = False) -> Pass:
    """Tend the memory once: act on what presses, or with `force` on all that waits."""
    return _open().dream(force)


def close() -> None:
    """Let go of the store; the next call opens it again."""
    global _opened
    with _guard:
        if _opened is not None:
            _opened.close()
        _opened = None


def _open() -> Engram:
    """Return the store; another one once the environment names another place."""
    global _opened, _opened_at
    place = tuple(os.environ.get(name) for name in ("LYRA_DB_PATH", "ENGRAM_HOME", "ENGRAM_STORE"))
    with _guard:
        if _opened is None or place != _opened_at:
            close()
            _opened, _opened_at = _beside(place[0]) if place[0] else Engram(), place
        return _opened


def _beside(path: str) -> Engram:
    """Open the store beside a Lyra database; a new one begins with what that holds."""
    file = os.path.abspath(os.path.expanduser(path))
    home = f"{file}.engram"
    store = os.path.join(home, "engram.db")
    is_new = not os.path.exists(store)
    engram = Engram(home=home, store=store)
    if is_new and os.path.isfile(file):
        try:
            taken = engram.import_lyra(file)
            _log.info("took over %s exchanges of %s", taken.exchanges, file)
        except Error as problem:
            _log.warning("nothing was taken over: %s", problem)
    return engram


def _known(session_id: str) -> str | None:
    """Return our id of a session, by its whole id only."""
    found = sessions.known(_open(), session_id)
    return str(found["id"]) if found else None


def _said(session_id: str, limit: int = _EVERY) -> list[Exchange]:
    known = _known(session_id)
    rows = exchanges.of_session(_open().engine, known, limit, newest=limit > 0) if known is not None else []
    return [_message(row) for row in rows]


def _others(engram: Engram, found: list[Exchange], count: int, only: str | None) -> list[Exchange]:
    """Return messages that share nothing with a question, the newest first, with a score of 0."""
    if count < 1:
        return []
    known = {each.id for each in found}
    most = count + len(known)
    rows = (
        exchanges.newest(engram.engine, most)
        if only is None
        else exchanges.of_session(engram.engine, only, most, newest=True)[::-1]
    )
    return [_message(row, 0.0) for row in rows if row["id"] not in known][:count]


def _message(row: dict[str, Any], score: float | None = None) -> Exchange:
    from engram.memory.exchanges import view

    seen = view(row, score)
    return Exchange(seen.id, seen.session_id, seen.role, seen.content, seen.created_at.isoformat(), score)


def _summary(found: model.Gist, score: float | None = None) -> Summary:
    return Summary(found.session_id, found.content, found.last_exchange_id, found.created_at.isoformat(), score)


def _era(found: model.Era, score: float | None = None) -> Era:
    return Era(found.month, found.content, found.session_count, found.created_at.isoformat(), score)
