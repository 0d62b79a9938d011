"""Checkouts: which repository a directory is, and the project it belongs to."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from engram.store.engine import Engine, Row

_ADD = """
insert into checkouts (host, path, remote, roots, project, added_at)
values (:host, :path, :remote, :roots, :project, :now) on conflict (host, path, remote) do nothing
"""

_UPDATE = """
update checkouts set roots = coalesce(cast(:roots as text), roots), project = :project, looked_at = :now
 where host = :host and path = :path and remote = :remote
"""

# All that may be the same repository, or may use the same path as the name of another project.
_RELATED = """
select * from checkouts where path = :path or project = :path or (remote = :remote and :remote <> '')
 order by added_at, host, path
"""


def add(
    engine: Engine, host: str, path: str, remote: str, roots: str | None, project: str, now: int
) -> None:  # fmt: skip
    """Add a checkout; one that is known stays as it is."""
    engine.run(_ADD, host=host, path=path, remote=remote, roots=roots, project=project, now=now)


def update(engine: Engine, row: Row, roots: str | None, project: str, now: int) -> None:
    """Set the first commits and the project of a checkout."""
    engine.run(_UPDATE, host=row["host"], path=row["path"], remote=row["remote"], roots=roots, project=project, now=now)


def get(engine: Engine, host: str, path: str, remote: str) -> Row | None:
    """Return one checkout."""
    rows = engine.run(
        "select * from checkouts where host = :host and path = :path and remote = :remote",
        host=host, path=path, remote=remote,
    )  # fmt: skip
    return rows[0] if rows else None


def find_newest(engine: Engine, host: str, paths: Iterable[str]) -> Row | None:
    """Return the checkout at the longest of these paths, the one seen last if there were several."""
    keys = {f"p{n}": path for n, path in enumerate(paths)}
    rows = engine.run(
        f"select * from checkouts where host = :host and path in ({', '.join(':' + name for name in keys)})"
        " order by length(path) desc, added_at desc, remote desc limit 1", host=host, **keys
    )  # fmt: skip
    return rows[0] if rows else None


def list_related(engine: Engine, path: str, remote: str) -> list[Row]:
    """Return the checkouts with this path, remote or project key, oldest first."""
    return engine.run(_RELATED, path=path, remote=remote)


def list_by_project(engine: Engine, project: str) -> list[Row]:
    """Return the checkouts of a project, oldest first."""
    return engine.run("select * from checkouts where project = :project order by added_at, path", project=project)


def list_by_host(engine: Engine, host: str) -> list[Row]:
    """Return the checkouts of a machine, oldest first."""
    return engine.run("select * from checkouts where host = :host order by added_at, path", host=host)


def list_all(engine: Engine) -> list[Row]:
    """Return every checkout, oldest first."""
    return engine.run("select * from checkouts order by added_at, host, path")


def rename_project(engine: Engine, old: str, new: str) -> None:
    """Give the checkouts of a project to another one."""
    engine.run("update checkouts set project = :new where project = :old", old=old, new=new)
