"""Versioned documents; all versions are kept, and the highest is current."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine, Row

_ADD = """
insert into documents (kind, key, version, content, sources, made_by, made_at)
values (:kind, :key, :version, :content, :sources, :made_by, :now)
on conflict (kind, key, version) do nothing returning *
"""

_CURRENT = "select * from documents where kind = :kind and key = :key order by version desc limit 1"

_VERSION = "select * from documents where kind = :kind and key = :key and version = :version"

_HISTORY = "select * from documents where kind = :kind and key = :key order by version desc limit :limit"

_HOLDS = "select 1 as one from documents where kind = :kind and key = :key and content = :content limit 1"

_CURRENTS = """
select d.* from documents d where d.kind = :kind
   and d.version = (select max(version) from documents where kind = d.kind and key = d.key)
 order by d.made_at, d.key
"""

_BY_RULES = """
select d.key, d.sources, d.made_by from documents d
 where d.kind = :kind and d.content <> '' and (d.made_by like 'extract/%' or d.made_by like 'rules/%')
   and d.version = (select max(version) from documents where kind = d.kind and key = d.key)
"""

# A prefilter on JSON as text; callers parse the JSON itself.
_NAMING = """
select kind, key, version, sources, made_at from documents where kind = :kind and sources like :pattern escape '!'
 order by key, version
"""

_TELLING = """
select * from documents where kind = :kind and (content like :pattern escape '!' or sources like :pattern escape '!')
 order by key, version
"""

_VERSION_LIMIT = 1 << 31  # columns of a version

_REWRITE = """
update documents set content = :content, sources = :sources
 where kind = :kind and key = :key and version = :version
"""


def get_current(engine: Engine, kind: str, key: str) -> Row | None:
    """Return the newest version."""
    rows = engine.run(_CURRENT, kind=kind, key=key)
    return rows[0] if rows else None


def get(engine: Engine, kind: str, key: str, version: int) -> Row | None:
    """Return one version."""
    if not isinstance(version, int) or not 0 < version < _VERSION_LIMIT:
        return None
    rows = engine.run(_VERSION, kind=kind, key=key, version=version)
    return rows[0] if rows else None


def list_versions(engine: Engine, kind: str, key: str, limit: int) -> list[Row]:
    """Return the versions, newest first."""
    return engine.run(_HISTORY, kind=kind, key=key, limit=limit)


def add_version(
    engine: Engine, kind: str, key: str, version: int, content: str, made_by: str | None, now: int,
    sources: str | None = None,
) -> Row | None:  # fmt: skip
    """Add a version; return None if another writer added it first."""
    rows = engine.run(
        _ADD, kind=kind, key=key, version=version, content=content, sources=sources, made_by=made_by, now=now
    )
    return rows[0] if rows else None


def has_content(engine: Engine, kind: str, key: str, content: str) -> bool:
    """Return whether any version has exactly this content."""
    return bool(engine.run(_HOLDS, kind=kind, key=key, content=content))


def count_versions(engine: Engine, kind: str) -> int:
    """Count the versions of a kind."""
    return int(engine.run("select count(*) as n from documents where kind = :kind", kind=kind)[0]["n"])


def list_made_by_rules(engine: Engine, kind: str) -> list[Row]:
    """Return the key, sources and maker of every document of a kind whose newest version rules made."""
    return engine.run(_BY_RULES, kind=kind)


def list_current(engine: Engine, kind: str) -> list[Row]:
    """Return the newest version of every document of a kind, oldest first."""
    return engine.run(_CURRENTS, kind=kind)


def list_version_numbers(engine: Engine, kind: str) -> dict[str, int]:
    """Return the number of the newest version by key."""
    rows = engine.run("select key, max(version) as version from documents where kind = :kind group by key", kind=kind)
    return {row["key"]: row["version"] for row in rows}


def find_by_sources(engine: Engine, kind: str, words: str) -> list[Row]:
    """Return the versions whose sources contain these words, ignoring case."""
    escaped = words.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return engine.run(_NAMING, kind=kind, pattern=f"%{escaped}%")


def find_by_text(engine: Engine, kind: str, words: str) -> list[Row]:
    """Return the versions whose content or sources contain these words, ignoring case."""
    escaped = words.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return engine.run(_TELLING, kind=kind, pattern=f"%{escaped}%")


def update_version(engine: Engine, kind: str, key: str, version: int, content: str, sources: str) -> None:
    """Replace the content of a version, after a session it was made from was deleted."""
    engine.run(_REWRITE, kind=kind, key=key, version=version, content=content, sources=sources)


def delete(engine: Engine, kind: str, key: str, version: int | None = None) -> None:
    """Delete a document with all its versions, or one of them."""
    only = "" if version is None else " and version = :version"
    engine.run(f"delete from documents where kind = :kind and key = :key{only}", kind=kind, key=key, version=version)
