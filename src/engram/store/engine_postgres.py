"""PostgreSQL through psycopg 3: the engine for a team."""

from __future__ import annotations

import re
from functools import lru_cache

from engram.errors import InvalidInput, MissingExtra, StoreBusy, StoreFull, StoreUnavailable
from engram.settings import hide_password
from engram.store.connections import ThreadConnections

try:
    import psycopg
    from psycopg.rows import dict_row
except ImportError as problem:
    raise MissingExtra(feature="A PostgreSQL store", extra="postgres") from problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Any

    from engram.store.engine import Row


class PostgresEngine:
    """One PostgreSQL database, one connection per thread and process."""

    dialect = "postgres"
    read_only = False

    def __init__(self, url: str, *, busy_seconds: float = 10) -> None:
        self._url = url
        self.store = hide_password(url)
        self._busy_seconds = busy_seconds
        self._connections = ThreadConnections(self._open_connection)
        self._get_connection()

    def run(self, sql: str, **params: Any) -> list[Row]:
        """Run one statement and return its rows."""
        text = translate_sql(sql)
        if not text.strip():
            return []
        try:
            cursor = self._get_connection().execute(text, params)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as problem:
            raise self._translate_error(problem) from problem

    def run_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one statement for each row of parameters."""
        try:
            self._get_connection().cursor().executemany(translate_sql(sql), rows)
        except psycopg.Error as problem:
            raise self._translate_error(problem) from problem

    def script(self, sql: str) -> None:
        """Run several statements without parameters."""
        try:
            self._get_connection().execute(_unwrap_clauses(sql))
        except psycopg.Error as problem:
            raise self._translate_error(problem) from problem

    def transaction(self, *, durable: bool = False, wait: bool = True) -> _PostgresTransaction:  # noqa: ARG002
        """Run a block in one transaction; every commit here is durable."""
        return _PostgresTransaction(self, wait)

    def copy_to(self, path: str) -> None:  # noqa: ARG002
        """Refuse: use PostgreSQL's own tools to copy a database."""
        raise StoreUnavailable(store=self.store, reason="Engram does not copy PostgreSQL stores.", hint="Use pg_dump.")

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def in_transaction(self) -> bool:
        """Return whether this thread's connection is inside a transaction."""
        return self._get_connection().info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def _get_connection(self) -> psycopg.Connection[Row]:
        connection: psycopg.Connection[Row] = self._connections.get()
        return connection

    def _open_connection(self) -> psycopg.Connection[Row]:
        try:
            connection = psycopg.connect(self._url, autocommit=True, row_factory=dict_row, connect_timeout=10)
            connection.execute(f"set lock_timeout = {int(self._busy_seconds * 1000)}")
        except psycopg.Error as problem:
            raise self._translate_error(problem) from problem
        return connection

    def _translate_error(self, problem: psycopg.Error) -> Exception:
        if isinstance(problem, (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)):
            return StoreBusy(store=self.store, seconds=self._busy_seconds)
        if isinstance(problem, psycopg.errors.NumericValueOutOfRange):
            return InvalidInput(field="number", reason="Too large to store.")
        if isinstance(problem, psycopg.errors.DiskFull):
            return StoreFull(store=self.store)
        if isinstance(problem, (psycopg.OperationalError, psycopg.errors.InsufficientPrivilege)):
            reason = " ".join(str(problem).split())
            return StoreUnavailable(store=self.store, reason=f"{reason}.", hint="Check ENGRAM_STORE and the server.")
        return problem


class _PostgresTransaction:
    """A write transaction; a nested block joins the outer one."""

    def __init__(self, engine: PostgresEngine, wait: bool) -> None:
        self._engine, self._wait = engine, wait
        self._joined = engine.in_transaction()

    def __enter__(self) -> None:
        if not self._joined:
            self._engine.run("begin")
            if not self._wait:
                self._engine.run("set local lock_timeout = 1")  # ms; 0 would wait forever

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._joined:
            return
        if kind is None:
            self._engine.run("commit")
        elif self._engine.in_transaction():
            self._engine.run("rollback")


@lru_cache(maxsize=1000)
def translate_sql(sql: str) -> str:
    """Translate our SQL to psycopg's: named parameters, and PostgreSQL clauses uncommented."""
    text = _unwrap_clauses(sql).replace("%", "%%")
    return re.sub(r"(?<![:\w]):([a-z_][a-z0-9_]*)", r"%(\1)s", text)


def _unwrap_clauses(sql: str) -> str:
    return re.sub(r"/\*pg:(.*?)\*/", r"\1", sql, flags=re.DOTALL)
