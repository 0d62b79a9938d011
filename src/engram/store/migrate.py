"""Upgrade a store to the newest schema: numbered SQL files, forward only, in one transaction."""

from __future__ import annotations

import os

from engram.errors import Error, SchemaTooNew, StoreDamaged, UpgradeFailed
from engram.store.missing_database import BEFORE_UPGRADE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Engine

_DIRECTORY = os.path.join(os.path.dirname(__file__), "migrations")

_LEDGER = """
create table if not exists schema_migrations (
  version integer primary key, name text not null, checksum text not null, applied_at bigint not null)
"""


def migrate(engine: Engine, now: int) -> int:
    """Apply missing migrations and return the schema version."""
    head = len(_list_migrations(engine.dialect))
    current = get_schema_version(engine)
    if current > head:
        raise SchemaTooNew(store=engine.store, found=current, known=head)
    if current == head:
        _remove_copy(engine)
        return current
    with engine.transaction(durable=True):
        engine.run("/*pg: select pg_advisory_xact_lock(7405291) */")
        if get_schema_version(engine) not in (0, head):  # another process may have migrated it first
            _save_copy(engine)
        engine.script(_LEDGER)
        try:
            _apply_missing(engine, now)
        except Exception as problem:
            if isinstance(problem, Error):
                raise
            raise UpgradeFailed(store=engine.store, reason=str(problem), copy=_describe_copy(engine)) from problem
    return get_schema_version(engine)


def _save_copy(engine: Engine) -> None:
    """Save one copy of the store before the upgrade; a retry reuses it unless the store has changed since."""
    if engine.dialect != "sqlite":
        return
    copy = f"{engine.store}{BEFORE_UPGRADE}"
    _remove_old_copies(engine.store)
    if _read_mtime(copy) > max(_read_mtime(engine.store), _read_mtime(f"{engine.store}-wal")):
        return
    draft = f"{copy}.tmp"
    _remove_file(draft)
    try:
        engine.copy_to(draft)
        os.replace(draft, copy)
    finally:
        _remove_file(draft)


def _describe_copy(engine: Engine) -> str:
    copy = f"{engine.store}{BEFORE_UPGRADE}"
    return f" (a copy of it is at {copy})" if os.path.exists(copy) else ""


def _remove_copy(engine: Engine) -> None:
    """Delete the copy made before an upgrade: the store opens, so the upgrade succeeded."""
    if engine.dialect == "sqlite":
        _remove_file(f"{engine.store}{BEFORE_UPGRADE}")
        _remove_file(f"{engine.store}{BEFORE_UPGRADE}.tmp")


def _remove_old_copies(store: str) -> None:
    """Delete the copies made by earlier releases, one per attempt."""
    directory, name = os.path.split(store)
    for file_name in os.listdir(directory):
        number = file_name.removeprefix(f"{name}.before-").partition("-")[0]
        if file_name != number and len(number) == 4 and number.isdigit():
            _remove_file(os.path.join(directory, file_name))


def _read_mtime(path: str) -> int:
    """Return when a file was last modified; 0 if it is missing or empty."""
    try:
        stats = os.stat(path)
    except OSError:
        return 0
    return stats.st_mtime_ns if stats.st_size else 0


def _remove_file(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def get_schema_version(engine: Engine) -> int:
    """Return the schema version of a store, 0 if it is new."""
    if not engine.run(_HAS_LEDGER[engine.dialect]):
        return 0
    rows = engine.run("select max(version) as version from schema_migrations")
    return int(rows[0]["version"] or 0)


# Migration 0001 was edited once after stores had applied it; these statements update such a store.
_EARLIER_CHECKSUMS = {
    "25316bb39d8a95487f323fd9074a9b14036398d647552213cefc968aecae46ec": "alter table fences rename to tokens",
}

_HAS_LEDGER = {
    "sqlite": "select 1 as one from sqlite_master where type = 'table' and name = 'schema_migrations'",
    "postgres": "select 1 as one where to_regclass('schema_migrations') is not null",
}


def _apply_missing(engine: Engine, now: int) -> None:
    applied = {row["version"]: row for row in engine.run("select * from schema_migrations")}
    for number, name in enumerate(_list_migrations(engine.dialect), start=1):
        text = _read_migration(name)
        checksum = _compute_checksum(text)
        if number not in applied:
            engine.script(text)
            engine.run(
                "insert into schema_migrations values (:version, :name, :checksum, :now)",
                version=number, name=name, checksum=checksum, now=now,
            )  # fmt: skip
        elif applied[number]["checksum"] in _EARLIER_CHECKSUMS:
            engine.script(_EARLIER_CHECKSUMS[applied[number]["checksum"]])
            engine.run(
                "update schema_migrations set checksum = :checksum where version = :version",
                version=number, checksum=checksum,
            )  # fmt: skip
        elif applied[number]["checksum"] != checksum:
            raise StoreDamaged(store=engine.store, reason=f"migration {name} differs from the one that was applied.")


def _list_migrations(dialect: str) -> list[str]:
    """Return this engine's migration files in order; a pair NNNN_x.sqlite.sql / .postgres.sql counts once."""
    other_suffix = ".postgres.sql" if dialect == "sqlite" else ".sqlite.sql"
    return sorted(name for name in os.listdir(_DIRECTORY) if name.endswith(".sql") and not name.endswith(other_suffix))


def _read_migration(name: str) -> str:
    with open(os.path.join(_DIRECTORY, name), encoding="utf-8") as file:
        return file.read()


def _compute_checksum(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()
