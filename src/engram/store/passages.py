"""Passages: the searchable parts of documents."""

from __future__ import annotations

from engram.store.engine import run_for_ids

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


def save_parts(
    engine: Engine, kind: str, key: str, parts: Sequence[str], *, at: int, session_id: str | None = None,
    project: str = "",
) -> None:  # fmt: skip
    """Index a document part by part, replacing its old parts; unchanged parts stay."""
    facts = {"kind": kind, "key": key, "session_id": session_id, "project": project, "at": at}
    ids = [
        row["id"] for part, content in enumerate(parts) for row in engine.run(_PUT, **facts, part=part, content=content)
    ]
    ids += [row["id"] for row in engine.run(_DROP, kind=kind, key=key, part=len(parts))]
    queue_for_index(engine, ids)
    if ids:
        from engram.store import similarity_hashes

        (similarity_hashes.queue_comparison if parts else similarity_hashes.delete)(engine, kind, key, at)


def delete(engine: Engine, kind: str, key: str) -> None:
    """Remove a document from the index."""
    save_parts(engine, kind, key, [], at=0)


def unindex_session(engine: Engine, session_id: str) -> None:
    """Remove the passages of a session from the index, before they are deleted with it."""
    from engram.store import similarity_hashes

    rows = engine.run(_OF_SESSION, session_id=session_id)
    queue_for_index(engine, [row["id"] for row in rows])
    for kind, key in {("gist", session_id), *((row["kind"], row["key"]) for row in rows)}:
        similarity_hashes.delete(engine, kind, key, 0)


def read_content(engine: Engine, kind: str, key: str) -> str:
    """Return the text of a document, or "" if it does not exist."""
    rows = engine.run(
        "select content from passages where kind = :kind and key = :key order by part", kind=kind, key=key
    )
    return "\n".join(row["content"] for row in rows)


def find_keys(engine: Engine, kind: str, target: str) -> list[str]:
    """Return the documents of a kind with this key, or with an anchor in it."""
    escaped = target.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    sql = "select distinct key from passages where kind = :kind and (key = :key or key like :below escape '!')"
    return [row["key"] for row in engine.run(sql, kind=kind, key=target, below=f"{escaped}#%")]


def list_documents(engine: Engine, kind: str, project: str | None = None) -> dict[str, int]:
    """Return the documents of a kind with their times."""
    sql = "select key, max(at) as at from passages where kind = :kind and (:any = 1 or project = :project) group by key"
    rows = engine.run(sql, kind=kind, any=int(project is None), project=project or "")
    return {row["key"]: row["at"] for row in rows}


def fetch_times(engine: Engine, kind: str, keys: Sequence[str]) -> dict[str, int]:
    """Return the times of documents."""
    sql = "select key, max(at) as at from passages where kind = :kind and key in ({slots}) group by key"
    return {row["key"]: row["at"] for row in run_for_ids(engine, sql, keys, kind=kind)}


def count(engine: Engine) -> int:
    """Count all passages."""
    return int(engine.run("select count(*) as n from passages")[0]["n"])


def set_time(engine: Engine, kind: str, key: str, at: int) -> None:
    """Set the time of a document whose text did not change."""
    engine.run("update passages set at = :at where kind = :kind and key = :key", kind=kind, key=key, at=at)


def queue_for_index(engine: Engine, ids: Sequence[int]) -> None:
    """Queue passages that are new, changed or deleted for the index."""
    sql = "insert into unindexed (kind, source) values ('passage', :source)"
    engine.run_many(sql, [{"source": passage_id} for passage_id in ids])


def fetch_by_ids(engine: Engine, ids: Sequence[int]) -> dict[int, Row]:
    """Return passages by id, with facts about their sessions."""
    sql = (
        "select p.*, s.flavor, s.summary, s.native_id, coalesce(nullif(p.project, ''), s.project, '') as project"
        " from passages p"
        " left join sessions s on s.id = p.session_id where p.id in ({slots})"
    )
    return {row["id"]: row for row in run_for_ids(engine, sql, ids)}
