"""Told: what sessions were told unasked, so that it is known again when it comes back as if somebody had said it."""

from __future__ import annotations

from engram.store.engine import among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

_MOST = 12_000  # characters of one text

_PUT = """
insert into told (session_id, hash, content, at) values (:session_id, :hash, :content, :now)
on conflict (session_id, hash) do update set at = excluded.at
"""


def note(engine: Engine, session_id: str, content: str, now: int) -> None:
    """Keep what a session is told, if that is possible: no hook fails by it."""
    from _blake2 import blake2b  # hashlib would load OpenSSL, which costs a hook more than all the rest

    said = " ".join(content[:_MOST].split())
    if not said:
        return
    try:
        with engine.transaction(wait=False):
            name = blake2b(said.encode("utf-8", "replace"), digest_size=8).hexdigest()
            engine.run(_PUT, session_id=session_id, hash=name, content=said, now=now)
    except Exception:  # noqa: S110  busy, full, read-only: the agent goes on
        pass


def of_session(engine: Engine, session_id: str) -> list[Row]:
    """Return what a session was told."""
    return engine.run("select * from told where session_id = :session_id order by at, hash", session_id=session_id)


def those_told(engine: Engine, sessions: Sequence[str]) -> list[str]:
    """Return those of some sessions that were told anything."""
    rows = among(engine, "select distinct session_id from told where session_id in ({slots})", sessions)
    return [str(row["session_id"]) for row in rows]


def move(engine: Engine, session_id: str, through: int) -> None:
    """Note up to which exchange a session was compared with what it was told."""
    sql = "update told set through = :through where session_id = :session_id"
    engine.run(sql, session_id=session_id, through=through)


def forget(engine: Engine, before: int) -> None:
    """Drop what was told too long ago to come back."""
    engine.run("delete from told where at < :before", before=before)
