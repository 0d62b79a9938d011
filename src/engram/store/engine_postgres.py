"""PostgreSQL through psycopg 3: the engine of a team."""

from __future__ import annotations

import re
from functools import lru_cache

from engram.errors import InvalidInput, MissingExtra, StoreBusy, StoreFull, StoreUnavailable
from engram.settings import without_password
from engram.store.per_thread import PerThread

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
        self.store = without_password(url)
        self._busy_seconds = busy_seconds
        self._connections = PerThread(self._connect)
        self._connection()

    def run(self, sql: str, **params: Any) -> list[Row]:
        """Run one statement and return its rows."""
        text = translate(sql)
        if not text.strip():
            return []
        try:
            cursor = self._connection().execute(text, params)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as problem:
            raise self._explain(problem) from problem

    def run_many(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one statement for each row of parameters."""
        try:
            self._connection().cursor().executemany(translate(sql), rows)
        except psycopg.Error as problem:
            raise self._explain(problem) from problem

    def script(self, sql: str) -> None:
        """Run several statements that take no parameters."""
        try:
            self._connection().execute(_unwrap(sql))
        except psycopg.Error as problem:
            raise self._explain(problem) from problem

    def transaction(self, *, durable: bool = False, wait: bool = True) -> _Transaction:  # noqa: ARG002
        """Write all of a block or nothing; every commit here is durable."""
        return _Transaction(self, wait)

    def copy_to(self, path: str) -> None:  # noqa: ARG002
        """Refuse: a server is copied with its own tools."""
        raise StoreUnavailable(
            store=self.store, reason="a PostgreSQL store is copied by pg_dump.", hint="Run pg_dump on it."
        )

    def close(self) -> None:
        """Let go of every connection."""
        self._connections.close()

    def in_transaction(self) -> bool:
        """Tell whether this thread's connection is inside a transaction."""
        return self._connection().info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def _connection(self) -> psycopg.Connection[Row]:
        found: psycopg.Connection[Row] = self._connections.get()
        return found

    def _connect(self) -> psycopg.Connection[Row]:
        try:
            connection = psycopg.connect(self._url, autocommit=True, row_factory=dict_row, connect_timeout=10)
            connection.execute(f"set lock_timeout = {int(self._busy_seconds * 1000)}")
        except psycopg.Error as problem:
            raise self._explain(problem) from problem
        return connection

    def _explain(self, problem: psycopg.Error) -> Exception:
        if isinstance(problem, (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)):
            return StoreBusy(store=self.store, seconds=self._busy_seconds)
        if isinstance(problem, psycopg.errors.NumericValueOutOfRange):
            return InvalidInput(field="number", reason="it is larger than any store can hold.")
        if isinstance(problem, psycopg.errors.DiskFull):
            return StoreFull(store=self.store)
        if isinstance(problem, (psycopg.OperationalError, psycopg.errors.InsufficientPrivilege)):
            reason = " ".join(str(problem).split())
            return StoreUnavailable(store=self.store, reason=f"{reason}.", hint="Check ENGRAM_STORE and the server.")
        return problem


class _Transaction:
    """A write transaction; a block inside another joins it."""

    def __init__(self, engine: PostgresEngine, wait: bool) -> None:
        self._engine, self._wait = engine, wait
        self._joined = engine.in_transaction()

    def __enter__(self) -> None:
        if not self._joined:
            self._engine.run("begin")
            if not self._wait:
                self._engine.run("set local lock_timeout = 1")  # ms; 0 would be for ever

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
def translate(sql: str) -> str:
    """Turn our SQL text into psycopg's: named parameters, PostgreSQL clauses let in."""
    text = _unwrap(sql).replace("%", "%%")
    return re.sub(r"(?<![:\w]):([a-z_][a-z0-9_]*)", r"%(\1)s", text)


def _unwrap(sql: str) -> str:
    return re.sub(r"/\*pg:(.*?)\*/", r"\1", sql, flags=re.DOTALL)
