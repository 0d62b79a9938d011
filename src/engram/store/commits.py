"""Commits of the projects at work, by their messages, and how far each history was read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.store.engine import Engine, Row

_PUT = """
insert into commits (project, hash, at, author, subject, body, files)
values (:project, :hash, :at, :author, :subject, :body, :files)
on conflict (project, hash) do nothing
"""

_PUT_CURSOR = """
insert into commit_cursors (host, path, head, read_at) values (:host, :path, :head, :now)
on conflict (host, path) do update set head = excluded.head, read_at = excluded.read_at
"""

_REVERTED = """
update commits set reverted_by = :by where project = :project and hash like :prefix and reverted_by is null
"""

_OF_PROJECT = "select * from commits where project = :project order by at desc, hash limit :limit"


def save(engine: Engine, rows: Sequence[Row]) -> None:
    """Save commits; known ones stay as they are."""
    engine.run_many(_PUT, rows)


def mark_reverted(engine: Engine, project: str, prefix: str, by: str) -> None:
    """Mark a commit, given by the start of its hash, as reverted by another one."""
    engine.run(_REVERTED, project=project, prefix=f"{prefix}%", by=by)


def get(engine: Engine, project: str, hash_: str) -> Row | None:
    """Return a commit."""
    rows = engine.run("select * from commits where project = :project and hash = :hash", project=project, hash=hash_)
    return rows[0] if rows else None


def list_recent(engine: Engine, project: str, limit: int) -> list[Row]:
    """Return the commits of a project, newest first."""
    return engine.run(_OF_PROJECT, project=project, limit=limit)


def list_hashes(engine: Engine, project: str) -> set[str]:
    """Return the hashes of all known commits of a project."""
    rows = engine.run("select hash from commits where project = :project", project=project)
    return {row["hash"] for row in rows}


def find_head(engine: Engine, host: str, path: str) -> str | None:
    """Return the newest commit that was read in a checkout, or None if its history was never read."""
    rows = engine.run("select head from commit_cursors where host = :host and path = :path", host=host, path=path)
    return rows[0]["head"] if rows else None


def save_head(engine: Engine, host: str, path: str, head: str, now: int) -> None:
    """Save the newest commit that was read."""
    engine.run(_PUT_CURSOR, host=host, path=path, head=head, now=now)


def delete_by_project(engine: Engine, project: str) -> None:
    """Delete the commits of a project; they are read again, for the project that its checkouts have then."""
    engine.run("delete from commits where project = :project", project=project)
    engine.run(
        "delete from commit_cursors where path = :project or path in"
        " (select path from checkouts where project = :project)", project=project,
    )  # fmt: skip
