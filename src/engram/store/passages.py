"""Passages: the pieces of what is made of sessions, as they are searched."""

from __future__ import annotations

from engram.store.engine import among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

_PUT = """
insert into passages (kind, key, part, session_id, project, at, content)
values (:kind, :key, :part, :session_id, :project, :at, :content)
on conflict (kind, key, part) do update set session_id = excluded.session_id, project = excluded.project,
  at = excluded.at, content = excluded.content
 where passages.content <> excluded.content
returning id
"""

_DROP = "delete from passages where kind = :kind and key = :key and part >= :part returning id"

_OF_SESSION = "select id, kind, key from passages where session_id = :session_id"


def put(
    engine: Engine, kind: str, key: str, parts: Sequence[str], *, at: int, session_id: str | None = None,
    project: str = "",
) -> None:  # fmt: skip
    """Make a document findable part by part, in the place of what it said before; what says the same stays."""
    facts = {"kind": kind, "key": key, "session_id": session_id, "project": project, "at": at}
    ids = [
        row["id"] for part, content in enumerate(parts) for row in engine.run(_PUT, **facts, part=part, content=content)
    ]
    ids += [row["id"] for row in engine.run(_DROP, kind=kind, key=key, part=len(parts))]
    queue(engine, ids)
    if ids:
        from engram.store import likenesses

        (likenesses.note if parts else likenesses.drop)(engine, kind, key, at)


def drop(engine: Engine, kind: str, key: str) -> None:
    """Make a document unfindable."""
    put(engine, kind, key, [], at=0)


def leave(engine: Engine, session_id: str) -> None:
    """Make what is left of a session unfindable, before it goes with it."""
    from engram.store import likenesses

    rows = engine.run(_OF_SESSION, session_id=session_id)
    queue(engine, [row["id"] for row in rows])
    for kind, key in {("gist", session_id), *((row["kind"], row["key"]) for row in rows)}:
        likenesses.drop(engine, kind, key, 0)


def content(engine: Engine, kind: str, key: str) -> str:
    """Return what a document says; nothing if it is not there."""
    rows = engine.run(
        "select content from passages where kind = :kind and key = :key order by part", kind=kind, key=key
    )
    return "\n".join(row["content"] for row in rows)


def keys(engine: Engine, kind: str, target: str) -> list[str]:
    """Return the documents of a kind that are a target or a place in it."""
    escaped = target.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    sql = "select distinct key from passages where kind = :kind and (key = :key or key like :below escape '!')"
    return [row["key"] for row in engine.run(sql, kind=kind, key=target, below=f"{escaped}#%")]


def known(engine: Engine, kind: str, project: str | None = None) -> dict[str, int]:
    """Return the documents of a kind, and of when each is."""
    sql = "select key, max(at) as at from passages where kind = :kind and (:any = 1 or project = :project) group by key"
    rows = engine.run(sql, kind=kind, any=int(project is None), project=project or "")
    return {row["key"]: row["at"] for row in rows}


def times(engine: Engine, kind: str, keys: Sequence[str]) -> dict[str, int]:
    """Return of when some documents are."""
    sql = "select key, max(at) as at from passages where kind = :kind and key in ({slots}) group by key"
    return {row["key"]: row["at"] for row in among(engine, sql, keys, kind=kind)}


def count(engine: Engine) -> int:
    """Count all passages."""
    return int(engine.run("select count(*) as n from passages")[0]["n"])


def touch(engine: Engine, kind: str, key: str, at: int) -> None:
    """Note of when a document is, although it says the same."""
    engine.run("update passages set at = :at where kind = :kind and key = :key", kind=kind, key=key, at=at)


def queue(engine: Engine, ids: Sequence[int]) -> None:
    """Let the index know of passages that are new, changed or gone."""
    sql = "insert into unindexed (kind, source) values ('passage', :source)"
    engine.run_many(sql, [{"source": each} for each in ids])


def by_id(engine: Engine, ids: Sequence[int]) -> dict[int, Row]:
    """Return passages by id, with what is known of their sessions."""
    sql = (
        "select p.*, s.flavor, s.summary, s.native_id, coalesce(nullif(p.project, ''), s.project, '') as project"
        " from passages p"
        " left join sessions s on s.id = p.session_id where p.id in ({slots})"
    )
    return {row["id"]: row for row in among(engine, sql, ids)}
