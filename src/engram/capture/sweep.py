"""One sweep: every transcript that has something new, read, redacted, stored and digested."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import orjson

from engram.adapters.adapter import Adapter, Mark
from engram.capture import discover
from engram.capture.batch import FULL, Batch, cleaned
from engram.capture.discover import Source
from engram.capture.redact import Redactor
from engram.capture.writer import Writer
from engram.errors import Error
from engram.hub import Hub
from engram.store import counters, cursors

Progress = Callable[[int, int, str], None]  # bytes done, bytes to do, what is being read


class Sweep:
    """The work of one sweep and its counts."""

    def __init__(self, hub: Hub, redactor: Redactor, *, dry_run: bool = False) -> None:
        self.hub = hub
        self.dry_run = dry_run
        self.host = discover.machine(hub.engine.dialect)
        self.writer = Writer(hub, redactor)
        self.counts: dict[str, int] = dict.fromkeys(
            ("discovered", "ingested", "skipped_unchanged", "unknown", "vanished", "bytes", "events", "damaged"), 0
        )
        self.sessions: set[str] = set()
        self.failures: dict[str, str] = {}

    def run(self, found: Iterable[Source], progress: Progress | None = None, *, all_known: bool = False) -> None:
        """Take in what is new; `all_known` tells that a known transcript not among them is gone."""
        known = cursors.known(self.hub.engine, self.host) if all_known else {}
        news: list[Source] = []
        for source in found:
            cursor = known.pop(source.name, None) if all_known else self._cursor(source)
            self.counts["discovered"] += 1
            if cursor is not None and source.unchanged(cursor):
                self.counts["skipped_unchanged"] += 1
            else:
                news.append(source)
        if all_known and not self.dry_run:
            self._note_vanished(known)
        self._read_all(news, progress)
        self.writer.finish()

    def _cursor(self, source: Source) -> Any:
        return cursors.get(self.hub.engine, self.host, source.name)

    def _read_all(self, news: list[Source], progress: Progress | None) -> None:
        done, total = 0, sum(source.size for source in news)
        for source in news:
            if progress:
                progress(done, total, source.path)
            tell = partial(_tell, progress, done, total, source.path)
            try:
                self._read(source, tell)
            except Exception as problem:
                self._failed(source, problem)
            done += source.size
        if progress:
            progress(total, total, "")

    def _failed(self, source: Source, problem: Exception) -> None:
        """Keep one transcript's trouble from the others; a store that cannot be written to stops all."""
        if isinstance(problem, Error) and problem.code.startswith("store"):
            raise problem
        self.failures[source.path] = f"{type(problem).__name__}: {problem}"

    def _read(self, source: Source, tell: Callable[[int], Any]) -> None:
        cursor = self._cursor(source)
        adapter = discover.adapter_of(source)
        if adapter is None:
            self.counts["unknown"] += 1
            return
        since = discover.resumed(source, cursor if cursor and cursor["flavor"] == adapter.flavor else None)
        self.counts["ingested"] += 1
        known = cursor if cursor and (since.offset or not cursor["place"]) else None  # else it is another file now
        stand = Stand(self, source, adapter, known)
        for batch, mark in _batches(adapter, source, since):
            stand.store(batch, mark)
            tell(stand.offset)

    def file_number(self) -> int:
        """Return a number for a transcript that comes for the first time: it orders the files of a session."""
        return 0 if self.dry_run else counters.add(self.hub.engine, "files", 1) % (1 << 18)

    def _note_vanished(self, gone: dict[str, Any]) -> None:
        for path, row in gone.items():
            if row["vanished_at"] is None and not os.path.exists(path) and not os.path.exists(f"{path}.zst"):
                cursors.vanish(self.hub.engine, self.host, path, self.hub.now())
                self.counts["vanished"] += 1


class Stand:
    """Where a sweep stands in one transcript."""

    def __init__(self, sweep: Sweep, source: Source, adapter: Adapter, cursor: Any) -> None:
        self.sweep, self.source, self.adapter = sweep, source, adapter
        self.num = cursor["num"] if cursor else sweep.file_number()
        self.damaged = 0
        self.offset = 0

    def store(self, batch: Batch, mark: Mark | None) -> None:
        """Store a batch; with a mark, remember how far it goes."""
        counts, sweep = self.sweep.counts, self.sweep
        read = mark.offset - self.offset if mark and mark.offset else 0
        self.offset = mark.offset if mark else self.offset
        self.damaged += batch.damaged
        counts["bytes"] += max(read, 0)
        counts["damaged"] += batch.damaged
        counts["events"] += sum(map(len, batch.events.values()))
        sweep.sessions.update(f"{self.adapter.flavor}:{each}" for each in batch.sessions)
        if not sweep.dry_run:
            sweep.writer.write(batch, self, read, self._cursor(mark) if mark else None)

    def _cursor(self, mark: Mark) -> dict[str, Any]:
        head, tail = discover.probe(self.source.path, mark.offset)
        state = cleaned(mark.state, self.sweep.writer.redactor) if mark.state else None
        return {
            "host": self.sweep.host, "path": self.source.name, "flavor": self.adapter.flavor, "num": self.num,
            "place": mark.offset, "state": orjson.dumps(state).decode() if state else None,
            "size": self.source.size, "changed_at": self.source.changed_at, "inode": self.source.inode,
            "head": head, "tail": tail, "damaged": self.damaged, "read_at": self.sweep.hub.now(),
        }  # fmt: skip


def _tell(progress: Progress | None, done: int, total: int, path: str, read: int) -> None:
    if progress:
        progress(done + read, total, path)


def _batches(adapter: Adapter, source: Source, since: Mark) -> Iterator[tuple[Batch, Mark | None]]:
    """Yield what a transcript says in stretches worth storing, the last with its mark."""
    batch, mark = Batch(), None
    for item in adapter.read(source.path, since):
        if isinstance(item, Mark):
            mark = item
            if batch.size >= FULL:
                yield batch, mark
                batch, mark = Batch(), None
            continue
        batch.add(item)
        if batch.size >= 2 * FULL:  # a whole-file transcript has no mark inside; what is stored twice is known by key
            yield batch, None
            batch = Batch()
    if mark is not None:
        yield batch, mark
