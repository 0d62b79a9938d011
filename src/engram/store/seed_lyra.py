"""The database of Lyra, read and never written. Rows come as they are: bytes where text should be, holes and all."""

from __future__ import annotations

from engram.errors import ImportRefused
from engram.store.foreign import BUSY_SECONDS, Foreign

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from engram.store.engine import Row

_PAGE = 500
# Texts are read as bytes, so that one nobody can decode does not stop the rest.
_COLUMNS = {
    "exchanges": ("session_id", "role", "content", "created_at"),
    "sessions": ("id", "name", "created_at"),
    "summaries": ("session_id", "content", "created_at"),
    "eras": ("month", "content", "created_at"),
    "profile": ("id", "content", "updated_at"),
    "narrative": ("id", "content", "updated_at"),
    "self_state": ("id", "data", "updated_at"),
}
_NUMBERS = {"summaries": ("last_exchange_id",), "eras": ("session_count",), "profile": ("sessions_covered",)}


class Lyra:
    """A Lyra database as it is at one moment."""

    def __init__(self, path: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._file = Foreign(path, busy_seconds)
        encoding = str(self._file.rows("pragma encoding")[0]["encoding"]).lower()
        self._encoding = encoding if encoding.startswith("utf-16") else "utf-8"
        self._known = {table: self._columns(table) for table in self._file.tables() & set(_COLUMNS)}
        if not {"id", *_COLUMNS["exchanges"]} <= self._known.get("exchanges", set()):
            self.close()
            raise ImportRefused(path=path, reason="it is no Lyra database: it has no exchanges as Lyra keeps them.")

    def count(self) -> int:
        """Count the exchanges."""
        return int(self._file.rows("select count(*) as n from exchanges")[0]["n"])

    def exchanges(self) -> Iterator[list[Row]]:
        """Yield the exchanges in pages, in the order they were written, with the size of their vectors."""
        last = -(2**63)
        blob = "embedding" in self._known["exchanges"]
        size = "case when typeof(embedding) = 'blob' then length(embedding) end" if blob else "null"
        columns = f"id, {self._texts('exchanges')}, {size} as size"
        sql = f"select {columns} from exchanges where id > ? order by id limit {_PAGE}"
        while rows := self._file.rows(sql, last):
            yield [self._decoded(row) for row in rows]
            last = rows[-1]["id"]

    def rows(self, table: str) -> list[Row]:
        """Return the rows of one of the smaller tables; none if it is missing."""
        if not {_COLUMNS[table][0], _COLUMNS[table][1]} <= self._known.get(table, set()):
            return []
        numbers = "".join(f", {name}" for name in _NUMBERS.get(table, ()) if name in self._known[table])
        return [self._decoded(row) for row in self._file.rows(f"select {self._texts(table)}{numbers} from {table}")]

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _columns(self, table: str) -> set[str]:
        return {row["name"] for row in self._file.rows(f"select name from pragma_table_info('{table}')")}

    def _texts(self, table: str) -> str:
        known = self._known[table]
        return ", ".join(f"cast({name if name in known else 'null'} as blob) as {name}" for name in _COLUMNS[table])

    def _decoded(self, row: Row) -> Row:
        return {
            name: each.decode(self._encoding, "replace") if isinstance(each, bytes) else each
            for name, each in row.items()
        }
