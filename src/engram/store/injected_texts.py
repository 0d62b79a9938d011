"""Texts that hooks injected into sessions, to recognize them when they come back in a transcript."""

from __future__ import annotations

from engram.store.engine import run_for_ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

_MOST = 12_000  # characters kept of one text

_PUT = """
insert into told (session_id, hash, content, at) values (:session_id, :hash, :content, :now)
on conflict (session_id, hash) do update set at = excluded.at
"""


def record_text(engine: Engine, session_id: str, content: str, now: int) -> None:
    """Save an injected text if possible; never fail a hook."""
    from _blake2 import blake2b  # hashlib would load OpenSSL, which slows down a hook

    text = " ".join(content[:_MOST].split())
    if not text:
        return
    try:
        with engine.transaction(wait=False):
            digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
            engine.run(_PUT, session_id=session_id, hash=digest, content=text, now=now)
    except Exception:  # noqa: S110  busy, full, read-only: the agent goes on
        pass


def list_by_session(engine: Engine, session_id: str) -> list[Row]:
    """Return the texts injected into a session."""
    return engine.run("select * from told where session_id = :session_id order by at, hash", session_id=session_id)


def filter_sessions(engine: Engine, sessions: Sequence[str]) -> list[str]:
    """Return those of the given sessions that received injected texts."""
    rows = run_for_ids(engine, "select distinct session_id from told where session_id in ({slots})", sessions)
    return [str(row["session_id"]) for row in rows]


def mark_compared(engine: Engine, session_id: str, through: int) -> None:
    """Record up to which exchange a session was compared with its injected texts."""
    sql = "update told set through = :through where session_id = :session_id"
    engine.run(sql, session_id=session_id, through=through)


def delete_before(engine: Engine, before: int) -> None:
    """Delete texts too old to come back."""
    engine.run("delete from told where at < :before", before=before)
