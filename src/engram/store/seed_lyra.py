"""The database of Lyra, read and never written. Rows are returned as they are, even with invalid text or gaps."""

from __future__ import annotations

from engram.errors import ImportRefused
from engram.store.foreign_database import BUSY_SECONDS, ForeignDatabase

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Self

    from engram.store.engine import Row

_PAGE = 500
# Texts are read as bytes, so that an undecodable one does not stop the import.
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


class LyraDatabase:
    """A snapshot of a Lyra database."""

    def __init__(self, path: str, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._database = ForeignDatabase(path, busy_seconds)
        encoding = str(self._database.fetch_rows("pragma encoding")[0]["encoding"]).lower()
        self._encoding = encoding if encoding.startswith("utf-16") else "utf-8"
        self._known_columns = {
            table: self._list_columns(table) for table in self._database.list_tables() & set(_COLUMNS)
        }
        if not {"id", *_COLUMNS["exchanges"]} <= self._known_columns.get("exchanges", set()):
            self.close()
            raise ImportRefused(path=path, reason="it is not a Lyra database: it has no table of exchanges.")

    def count_exchanges(self) -> int:
        """Count the exchanges."""
        return int(self._database.fetch_rows("select count(*) as n from exchanges")[0]["n"])

    def read_exchanges(self) -> Iterator[list[Row]]:
        """Yield the exchanges in pages, in the order they were written, with the size of their vectors."""
        last = -(2**63)
        has_embedding = "embedding" in self._known_columns["exchanges"]
        size = "case when typeof(embedding) = 'blob' then length(embedding) end" if has_embedding else "null"
        columns = f"id, {self._build_text_columns('exchanges')}, {size} as size"
        sql = f"select {columns} from exchanges where id > ? order by id limit {_PAGE}"
        while rows := self._database.fetch_rows(sql, last):
            yield [self._decode_row(row) for row in rows]
            last = rows[-1]["id"]

    def read_rows(self, table: str) -> list[Row]:
        """Return the rows of one of the smaller tables, or none if it is missing."""
        if not {_COLUMNS[table][0], _COLUMNS[table][1]} <= self._known_columns.get(table, set()):
            return []
        numbers = "".join(f", {name}" for name in _NUMBERS.get(table, ()) if name in self._known_columns[table])
        return [
            self._decode_row(row)
            for row in self._database.fetch_rows(f"select {self._build_text_columns(table)}{numbers} from {table}")
        ]

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _list_columns(self, table: str) -> set[str]:
        return {row["name"] for row in self._database.fetch_rows(f"select name from pragma_table_info('{table}')")}

    def _build_text_columns(self, table: str) -> str:
        columns = self._known_columns[table]
        return ", ".join(f"cast({name if name in columns else 'null'} as blob) as {name}" for name in _COLUMNS[table])

    def _decode_row(self, row: Row) -> Row:
        return {
            name: value.decode(self._encoding, "replace") if isinstance(value, bytes) else value
            for name, value in row.items()
        }
