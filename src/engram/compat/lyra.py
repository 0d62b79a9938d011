"""Lyra's memory module: use `import engram.compat.lyra as memory` to run code written for it.

The functions are Engram's: texts are redacted before they are stored, deletion is permanent, recall uses words and
meaning. If LYRA_DB_PATH is set, the store is beside that file, in `<file>.engram`, and starts with an import of it; the
file itself is never written. Otherwise it is the default store.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from threading import RLock
from typing import Any

from engram import types
from engram.api import Engram
from engram.compat.lyra_vectors import keep_vectors
from engram.dream.results import Pass
from engram.errors import Error
from engram.sessions import lifecycle
from engram.store import exchanges
from engram.store import sessions as session_store
from engram.summaries import gist, versions

_log = logging.getLogger(__name__)
_ALL_SUMMARIES = 1_000_000  # summaries: all
_NO_LIMIT = -1  # messages: no limit
_STATE_IDS = {"lyra": "self"}  # Lyra's own state is the agent's own state here

_guard = RLock()
_opened: Engram | None = None
_opened_environment: tuple[str | None, ...] = ()


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
    """The summary of a session."""

    session_id: str
    content: str
    last_exchange_id: int
    created_at: str
    score: float | None = None


@dataclass
class Era:
    """The summary of a month."""

    month: str  # YYYY-MM
    content: str
    session_count: int
    created_at: str
    score: float | None = None


def remember(session_id: str, role: str, content: str) -> int:
    """Store one message and return its number."""
    return _get_engram().remember(session_id, role, content)


def add_exchanges_bulk(session_id: str, rows: list[tuple[str, str, list[float], str]]) -> int:
    """Store many messages with their dates, and their vectors if our model made them; return how many were given."""
    engram = _get_engram()
    messages = [{"role": role, "content": content, "at": created_at} for role, content, _, created_at in rows]
    engram.add_exchanges_bulk(session_id, messages)
    keep_vectors(engram, {content: vector for _, content, vector, _ in rows if len(vector)})
    return len(rows)


def recent(session_id: str, n: int = 10) -> list[Exchange]:
    """Return the last messages of a session, oldest first."""
    return _list_exchanges(session_id, max(n, _NO_LIMIT)) if n else []


def history(session_id: str) -> list[Exchange]:
    """Return all messages of a session, oldest first."""
    return _list_exchanges(session_id)


def ensure_session(session_id: str, name: str | None = None) -> None:
    """Create a session if it does not exist, and name it if a name is given."""
    _get_engram().ensure_session(session_id, name)


def list_sessions() -> list[dict[str, Any]]:
    """Return every session that has a row or a message, newest first."""
    rows = session_store.list_memory_sessions(_get_engram().engine)
    return [{"id": row["id"], "name": row["summary"] or None} for row in rows]


def delete_session(session_id: str) -> None:
    """Delete a session and everything derived from it."""
    known_id = _find_session_id(session_id)
    if known_id is not None:
        _get_engram().delete_session(known_id)


def recall(query: str, k: int = 5, session_id: str | None = None) -> list[Exchange]:
    """Return the messages nearest to a question, best first, even if none is near."""
    engram, only_session = _get_engram(), _find_session_id(session_id) if session_id is not None else None
    if k < 1 or (session_id is not None and only_session is None):
        return []
    hits = engram.recall(query, k, only_session, tiers=["exchange"], abstain=False, messages=True)
    rows = exchanges.fetch_by_ids(engram.engine, [hit.exchange for hit in hits if hit.exchange is not None])
    messages = [_build_exchange(rows[hit.exchange], hit.score) for hit in hits if hit.exchange in rows]
    return messages + _list_newest_others(engram, messages, k - len(messages), only_session)


def store_summary(session_id: str, content: str, last_exchange_id: int) -> None:
    """Store the summary of a session, which covers its messages up to one."""
    engram = _get_engram()
    session = lifecycle.require_session(engram, engram.ensure_session(session_id))
    rows = exchanges.list_by_session(engram.engine, session["id"])
    last = max((position for position, row in enumerate(rows, 1) if row["id"] <= last_exchange_id), default=0)
    clean_content = versions.clean_content(engram, "content", content)
    gist.save_gist(
        engram, session, rows[:last], clean_content, versions.GIVEN, extra_sources={"last": last_exchange_id}
    )


def get_summary(session_id: str) -> Summary | None:
    """Return the summary of a session."""
    known_id = _find_session_id(session_id)
    gist_value = _get_engram().get_summary(known_id) if known_id is not None else None
    return _build_summary(gist_value) if gist_value else None


def unsummarized_count(session_id: str) -> int:
    """Count the messages of a session that its summary does not cover."""
    return _get_engram().unsummarized_count(session_id)


def list_summaries() -> list[Summary]:
    """Return all summaries, oldest first."""
    return [_build_summary(gist_value) for gist_value in _get_engram().list_summaries(_ALL_SUMMARIES)]


def set_profile(content: str, sessions_covered: int, profile_id: str = "self") -> None:
    """Replace the lasting facts about the user."""
    _get_engram().set_profile(content, sessions_covered, profile_id)


def get_profile(profile_id: str = "self") -> str | None:
    """Return the lasting facts about the user."""
    return _get_engram().get_profile(profile_id)


def profile_sessions_covered(profile_id: str = "self") -> int:
    """Count the sessions the profile covers."""
    return _get_engram().profile_sessions_covered(profile_id)


def backlog_stats(ripe_threshold: int = 20) -> dict[str, int]:
    """Return how much is not summarized yet."""
    return dict(_get_engram().backlog_stats(max(1, ripe_threshold)))


def summaries_by_month() -> dict[str, list[str]]:
    """Return the summaries by the month their session began in."""
    return {
        month: [gist_value.content for gist_value in gists]
        for month, gists in _get_engram().summaries_by_month().items()
    }


def store_era(month: str, content: str, session_count: int) -> None:
    """Replace the summary of a month."""
    _get_engram().store_era(month, content, session_count)


def list_eras() -> list[Era]:
    """Return every month, earliest first."""
    return [_build_era(era) for era in _get_engram().list_eras()]


def set_narrative(content: str, narrative_id: str = "current") -> None:
    """Replace the current narrative."""
    _get_engram().set_narrative(content, narrative_id)


def get_narrative(narrative_id: str = "current") -> str | None:
    """Return the current narrative."""
    return _get_engram().get_narrative(narrative_id)


def get_self_state(state_id: str = "lyra") -> dict[str, Any] | None:
    """Return the agent's own state."""
    state: dict[str, Any] | None = _get_engram().get_self_state(_STATE_IDS.get(state_id, state_id))
    return state


def set_self_state(state: dict[str, Any], state_id: str = "lyra") -> None:
    """Replace the agent's own state."""
    _get_engram().set_self_state(state, _STATE_IDS.get(state_id, state_id))


def recall_eras(query: str, k: int = 2) -> list[Era]:
    """Return the months nearest to a question, best first."""
    engram = _get_engram()
    eras = {era.month: era for era in engram.list_eras()}
    hits = engram.recall_eras(query, max(1, k) * 2) if eras and k > 0 else []
    scores: dict[str, float] = {}
    for hit in hits:  # a long month is indexed in parts
        scores.setdefault(hit.name or "", hit.score)
    scores |= {month: 0.0 for month in reversed(eras) if month not in scores}
    return [_build_era(eras[month], score) for month, score in scores.items() if month in eras][: max(0, k)]


def recall_summaries(query: str, k: int = 3, exclude_session: str | None = None) -> list[Summary]:
    """Return the summaries nearest to a question, best first."""
    engram, excluded_id = _get_engram(), _find_session_id(exclude_session) if exclude_session is not None else None
    hits = engram.recall_summaries(query, k, excluded_id) if k > 0 else []
    scores = {hit.session_id: hit.score for hit in reversed(hits) if hit.session_id}
    gists = [
        gist_value for gist_value in engram.list_summaries(_ALL_SUMMARIES)[::-1] if gist_value.session_id != excluded_id
    ]
    ranked = sorted(gists, key=lambda gist: -scores.get(gist.session_id, 0.0))
    return [_build_summary(gist_value, scores.get(gist_value.session_id, 0.0)) for gist_value in ranked[: max(0, k)]]


def dream_cycle(force: bool = False) -> Pass:
    """Run the upkeep of the memory once: what is due, or with `force` everything that waits."""
    return _get_engram().dream(force)


def close() -> None:
    """Close the store; the next call opens it again."""
    global _opened
    with _guard:
        if _opened is not None:
            _opened.close()
        _opened = None


def _get_engram() -> Engram:
    """Return the store; open another one if the environment names another place."""
    global _opened, _opened_environment
    environment = tuple(os.environ.get(name) for name in ("LYRA_DB_PATH", "ENGRAM_HOME", "ENGRAM_STORE"))
    with _guard:
        if _opened is None or environment != _opened_environment:
            close()
            _opened, _opened_environment = (
                _open_beside_database(environment[0]) if environment[0] else Engram(),
                environment,
            )
        return _opened


def _open_beside_database(path: str) -> Engram:
    """Open the store beside a Lyra database; a new one starts with an import of it."""
    file = os.path.abspath(os.path.expanduser(path))
    home = f"{file}.engram"
    store = os.path.join(home, "engram.db")
    is_new = not os.path.exists(store)
    engram = Engram(home=home, store=store)
    if is_new and os.path.isfile(file):
        try:
            report = engram.import_lyra(file)
            _log.info("imported %s exchanges from %s", report.exchanges, file)
        except Error as problem:
            _log.warning("nothing was imported: %s", problem)
    return engram


def _find_session_id(session_id: str) -> str | None:
    """Return our id of a session, by its full id only."""
    row = lifecycle.find_session(_get_engram(), session_id)
    return str(row["id"]) if row else None


def _list_exchanges(session_id: str, limit: int = _NO_LIMIT) -> list[Exchange]:
    known_id = _find_session_id(session_id)
    rows = (
        exchanges.list_by_session(_get_engram().engine, known_id, limit, newest=limit > 0)
        if known_id is not None
        else []
    )
    return [_build_exchange(row) for row in rows]


def _list_newest_others(
    engram: Engram, matches: list[Exchange], count: int, only_session: str | None
) -> list[Exchange]:
    """Return messages that share nothing with a question, newest first, with a score of 0."""
    if count < 1:
        return []
    known_ids = {exchange.id for exchange in matches}
    most = count + len(known_ids)
    rows = (
        exchanges.list_newest(engram.engine, most)
        if only_session is None
        else exchanges.list_by_session(engram.engine, only_session, most, newest=True)[::-1]
    )
    return [_build_exchange(row, 0.0) for row in rows if row["id"] not in known_ids][:count]


def _build_exchange(row: dict[str, Any], score: float | None = None) -> Exchange:
    from engram.summaries.exchanges import exchange_from_row

    exchange = exchange_from_row(row, score)
    return Exchange(
        exchange.id, exchange.session_id, exchange.role, exchange.content, exchange.created_at.isoformat(), score
    )


def _build_summary(gist_value: types.Gist, score: float | None = None) -> Summary:
    return Summary(
        gist_value.session_id, gist_value.content, gist_value.last_exchange_id, gist_value.created_at.isoformat(), score
    )


def _build_era(era: types.Era, score: float | None = None) -> Era:
    return Era(era.month, era.content, era.session_count, era.created_at.isoformat(), score)
