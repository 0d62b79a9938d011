"""Bring a store to the newest schema: numbered SQL, forward only, once, in one transaction."""

from __future__ import annotations

import os

from engram.errors import Error, SchemaTooNew, StoreDamaged, UpgradeFailed
from engram.store.remains import BEFORE_UPGRADE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

_DIRECTORY = os.path.join(os.path.dirname(__file__), "migrations")

_LEDGER = """
create table if not exists schema_migrations (
  version integer primary key, name text not null, checksum text not null, applied_at bigint not null)
"""


def migrate(engine: Engine, now: int) -> int:
    """Apply what is missing and return the schema version."""
    head = len(_files(engine.dialect))
    found = version(engine)
    if found > head:
        raise SchemaTooNew(store=engine.store, found=found, known=head)
    if found == head:
        _remove_copy(engine)
        return found
    with engine.transaction(durable=True):
        engine.run("/*pg: select pg_advisory_xact_lock(7405291) */")
        if version(engine) not in (0, head):  # another process may have been here first
            _keep_copy(engine)
        engine.script(_LEDGER)
        try:
            _apply_missing(engine, now)
        except Exception as problem:
            if isinstance(problem, Error):
                raise
            raise UpgradeFailed(store=engine.store, reason=str(problem), copy=_named_copy(engine)) from problem
    return version(engine)


def _keep_copy(engine: Engine) -> None:
    """Keep one copy of the store as it was; a retry reuses it unless the store has changed since."""
    if engine.dialect != "sqlite":
        return
    copy = f"{engine.store}{BEFORE_UPGRADE}"
    _remove_old_copies(engine.store)
    if _changed_at(copy) > max(_changed_at(engine.store), _changed_at(f"{engine.store}-wal")):
        return
    draft = f"{copy}.tmp"
    _remove(draft)
    try:
        engine.copy_to(draft)
        os.replace(draft, copy)
    finally:
        _remove(draft)


def _named_copy(engine: Engine) -> str:
    copy = f"{engine.store}{BEFORE_UPGRADE}"
    return f" (a copy of it is {copy})" if os.path.exists(copy) else ""


def _remove_copy(engine: Engine) -> None:
    """Drop the copy that an upgrade kept: the store has been opened since, so the upgrade went well."""
    if engine.dialect == "sqlite":
        _remove(f"{engine.store}{BEFORE_UPGRADE}")
        _remove(f"{engine.store}{BEFORE_UPGRADE}.tmp")


def _remove_old_copies(store: str) -> None:
    """Drop the copies of earlier releases, which kept one for every attempt."""
    directory, name = os.path.split(store)
    for each in os.listdir(directory):
        number = each.removeprefix(f"{name}.before-").partition("-")[0]
        if each != number and len(number) == 4 and number.isdigit():
            _remove(os.path.join(directory, each))


def _changed_at(path: str) -> int:
    """Return when a file was last written to; opening a store makes an empty one beside it."""
    try:
        found = os.stat(path)
    except OSError:
        return 0
    return found.st_mtime_ns if found.st_size else 0


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def version(engine: Engine) -> int:
    """Return the schema version of a store, 0 when it is new."""
    if not engine.run(_HAS_LEDGER[engine.dialect]):
        return 0
    rows = engine.run("select max(version) as version from schema_migrations")
    return int(rows[0]["version"] or 0)


# Migration 0001 was edited once after stores had applied it: what brings such a store to today's text.
_EARLIER = {
    "25316bb39d8a95487f323fd9074a9b14036398d647552213cefc968aecae46ec": "alter table fences rename to tokens",
}

_HAS_LEDGER = {
    "sqlite": "select 1 as one from sqlite_master where type = 'table' and name = 'schema_migrations'",
    "postgres": "select 1 as one where to_regclass('schema_migrations') is not null",
}


def _apply_missing(engine: Engine, now: int) -> None:
    applied = {row["version"]: row for row in engine.run("select * from schema_migrations")}
    for number, name in enumerate(_files(engine.dialect), start=1):
        text = _read(name)
        checksum = _checksum(text)
        if number not in applied:
            engine.script(text)
            engine.run(
                "insert into schema_migrations values (:version, :name, :checksum, :now)",
                version=number, name=name, checksum=checksum, now=now,
            )  # fmt: skip
        elif applied[number]["checksum"] in _EARLIER:
            engine.script(_EARLIER[applied[number]["checksum"]])
            engine.run(
                "update schema_migrations set checksum = :checksum where version = :version",
                version=number, checksum=checksum,
            )  # fmt: skip
        elif applied[number]["checksum"] != checksum:
            raise StoreDamaged(store=engine.store, reason=f"migration {name} is not the one that was applied.")


def _files(dialect: str) -> list[str]:
    """Return this engine's migration files in order; a pair NNNN_x.sqlite.sql / .postgres.sql counts once."""
    other = ".postgres.sql" if dialect == "sqlite" else ".sqlite.sql"
    return sorted(name for name in os.listdir(_DIRECTORY) if name.endswith(".sql") and not name.endswith(other))


def _read(name: str) -> str:
    with open(os.path.join(_DIRECTORY, name), encoding="utf-8") as file:
        return file.read()


def _checksum(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
