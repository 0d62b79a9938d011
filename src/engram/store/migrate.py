"""Bring a store to the newest schema: numbered SQL, forward only, once, in one transaction."""

from __future__ import annotations

import os

from engram.errors import SchemaTooNew, StoreDamaged

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
        return found
    if found and engine.dialect == "sqlite":
        engine.copy_to(f"{engine.store}.before-{found + 1:04}-{now}")
    with engine.transaction(durable=True):
        engine.run("/*pg: select pg_advisory_xact_lock(7405291) */")
        engine.script(_LEDGER)
        _apply_missing(engine, now)
    return version(engine)


def version(engine: Engine) -> int:
    """Return the schema version of a store, 0 when it is new."""
    if not engine.run(_HAS_LEDGER[engine.dialect]):
        return 0
    rows = engine.run("select max(version) as version from schema_migrations")
    return int(rows[0]["version"] or 0)


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
