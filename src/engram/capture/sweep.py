"""One sweep: every transcript that has something new, read, redacted, stored and digested."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import orjson

from engram.adapters.adapter import Adapter, Mark
from engram.adapters.registry import adapters, all_versions, version_of
from engram.capture import discover
from engram.capture.batch import FULL, Batch, cleaned
from engram.capture.discover import Source, Unread
from engram.capture.writer import Writer
from engram.errors import Error
from engram.hub import Hub
from engram.redaction.redactor import Redactor
from engram.store import counters, cursors
from engram.text import one_line

Progress = Callable[[int, int, str], None]  # bytes done, bytes to do, what is being read


def is_waiting(source: Source, cursor: Any) -> bool:
    """Tell whether a file is new, changed, or one that an adapter may read better now."""
    return cursor is None or not source.unchanged(cursor) or is_due(cursor)


def is_due(cursor: Any) -> bool:
    """Tell whether what could not be read of a file, all or some, was last tried by other adapters than there are."""
    if cursor is None:
        return False
    adapter = adapters().get(cursor["flavor"])
    if adapter is None or cursor["unread"] is not None:
        return bool(cursor["readers"] != all_versions())
    return bool(cursor["damaged"] and cursor["readers"] != version_of(adapter))


class Sweep:
    """The work of one sweep and its counts."""

    def __init__(self, hub: Hub, redactor: Redactor, *, dry_run: bool = False, again: bool = False) -> None:
        self.hub = hub
        self.dry_run = dry_run
        self.again = again  # read everything from its beginning
        self.host = discover.machine(hub.engine.dialect)
        self.writer = Writer(hub, redactor)
        self.counts: dict[str, int] = dict.fromkeys(
            ("discovered", "skipped_unchanged", "unknown", "vanished", "events", "damaged"), 0
        )
        self.read: dict[str, int] = {}  # bytes of each transcript
        self.sessions: set[str] = set()
        self.failures: dict[str, str] = {}
        self.unread: dict[str, Unread] = {}

    def run(self, found: Iterable[Source], progress: Progress | None = None, *, all_known: bool = False) -> None:
        """Take in what is new; `all_known` tells that a known transcript not among them is gone."""
        known = cursors.known(self.hub.engine, self.host) if all_known else {}
        news: list[Source] = []
        for source in found:
            cursor = known.pop(source.name, None) if all_known else self._cursor(source)
            self.counts["discovered"] += 1
            if self.again or is_waiting(source, cursor):
                news.append(source)
            else:
                self._skip(source, cursor)
        if all_known and not self.dry_run:
            self._note_vanished(known)
        self._read_all(news, progress)
        if not self.dry_run:
            self.writer.finish()
            self.counts["events"] = self.writer.events

    def _skip(self, source: Source, cursor: Any) -> None:
        self.counts["skipped_unchanged"] += 1
        if cursor["unread"] is not None:
            self._name(source, cursor["unread"])

    def _name(self, source: Source, reason: str) -> None:
        self.unread[source.path] = Unread(path=source.shown, size=source.size, reason=reason)

    def _cursor(self, source: Source) -> Any:
        return cursors.get(self.hub.engine, self.host, source.name)

    def _read_all(self, news: list[Source], progress: Progress | None) -> None:
        done, total = 0, sum(source.size for source in news)
        for source in news:
            if progress:
                progress(done, total, source.path)
            try:
                self._read(source, partial(_tell, progress, done, total, source.path))
            except Exception as problem:
                self._failed(source, problem)
            done += source.size
        try:
            self.writer.flush()
        except Exception as problem:
            self._failed(None, problem)
        if progress:
            progress(total, total, "")

    def _failed(self, source: Source | None, problem: Exception) -> None:
        """Keep one transcript's trouble from the others: those that waited with it are read again, each alone."""
        self._stop_if_unwritable(problem)
        for each in dict.fromkeys([*self.writer.abandon(), *([source] if source else [])]):
            try:
                self._read(each, lambda _: None)
                self.writer.flush()
            except Exception as trouble:
                self._stop_if_unwritable(trouble)
                self.writer.abandon()
                self.failures[each.path] = f"{type(trouble).__name__}: {trouble}"
                self._pass_over(each, self._reason(trouble), readers="")

    def _reason(self, problem: Exception) -> str:
        """Return in a line that may be stored why a file could not be read: an error may quote what the file says."""
        if isinstance(problem, OSError) and problem.strerror:
            return f"it cannot be opened: {problem.strerror}"
        told = f"{type(problem).__name__}: {problem}".encode("utf-8", "backslashreplace").decode()
        return one_line(self.writer.redactor.clean(told), 300)

    def _stop_if_unwritable(self, problem: Exception) -> None:
        if isinstance(problem, Error) and problem.code.startswith("store"):
            raise problem

    def _read(self, source: Source, tell: Callable[[int], Any]) -> None:
        cursor = self._cursor(source)
        adapter = self._adapter(source)
        if adapter is None:
            return
        since = discover.resumed(source, cursor if cursor and cursor["flavor"] == adapter.flavor else None)
        self.read[source.name] = 0
        known = cursor if cursor and (since.offset or not cursor["place"]) else None  # else it is another file now
        if self.again or is_due(cursor):
            since = Mark()
        stand = Stand(self, source, adapter, known, since.offset)
        for batch, mark in _batches(adapter, source, since):
            stand.store(batch, mark)
            tell(stand.offset)

    def _adapter(self, source: Source) -> Adapter | None:
        """Return who reads a file; name one that nobody can read, which is tried again when adapters change."""
        try:
            adapter = discover.adapter_of(source)
        except discover.Unreadable as problem:
            self.counts["unknown"] += 1
            self._pass_over(source, str(problem), readers=all_versions() if problem.is_lasting else "")
            return None
        if adapter is None:
            self._pass_over(source, None, readers=all_versions())
        return adapter

    def _pass_over(self, source: Source, reason: str | None, readers: str) -> None:
        if reason is not None:
            self._name(source, reason)
        if not self.dry_run:
            kept = reason if source.expected else None
            cursors.pass_over(self.hub.engine, **self.position(source), unread=kept, readers=readers)

    def position(self, source: Source) -> dict[str, Any]:
        """Return how a file lies there, as a cursor remembers it."""
        return {
            "host": self.host, "path": source.name, "size": source.size, "changed_at": source.changed_at,
            "inode": source.inode, "read_at": self.hub.now(),
        }  # fmt: skip

    def file_number(self) -> int:
        """Return a number for a transcript that comes for the first time: it orders the files of a session."""
        return 0 if self.dry_run else counters.add(self.hub.engine, "files", 1) % (1 << 18)

    def _note_vanished(self, gone: dict[str, Any]) -> None:
        for path, row in gone.items():
            there = "!" in path or os.path.exists(path) or os.path.exists(f"{path}.zst")
            if row["vanished_at"] is None and not there:
                cursors.vanish(self.hub.engine, self.host, path, self.hub.now())
                self.counts["vanished"] += 1


class Stand:
    """Where a sweep stands in one transcript."""

    def __init__(self, sweep: Sweep, source: Source, adapter: Adapter, cursor: Any, offset: int) -> None:
        self.sweep, self.source, self.adapter = sweep, source, adapter
        self.flavor = adapter.flavor
        self.forks_unnamed: bool = getattr(adapter, "forks_unnamed", False)
        self.num = cursor["num"] if cursor else sweep.file_number()
        self.damaged = cursor["damaged"] if cursor and offset else 0
        self.offset = offset
        self._counted = _read_before(source, cursor)
        self.excluded: set[str] = set(orjson.loads(cursor["ours"])) if cursor and cursor["ours"] else set()

    def store(self, batch: Batch, mark: Mark | None) -> None:
        """Store a batch; with a mark, remember how far it goes."""
        counts, sweep = self.sweep.counts, self.sweep
        read = self._bytes(mark) if mark else 0
        self.damaged += batch.damaged
        sweep.read[self.source.name] += read
        counts["damaged"] += batch.damaged
        counts["events"] += sum(map(len, batch.events.values()))
        sweep.sessions.update(f"{self.adapter.flavor}:{each}" for each in batch.sessions)
        self.excluded |= sweep.writer.register.ours(batch)
        if not sweep.dry_run:
            sweep.writer.write(batch, self, self._fresh(read), self._cursor(mark) if mark else None)

    def _bytes(self, mark: Mark) -> int:
        """Return how much was read up to a mark; a document without places is read whole."""
        read = mark.offset - self.offset if mark.offset else self.source.size
        self.offset = mark.offset
        return read

    def _fresh(self, read: int) -> int:
        """Return how many of the bytes read last were not counted when the file was read before."""
        end = self.offset or read
        return max(end - max(end - read, self._counted), 0)

    def _cursor(self, mark: Mark) -> dict[str, Any]:
        head, tail = discover.probe(self.source.path, mark.offset)
        state = cleaned(mark.state, self.sweep.writer.redactor) if mark.state else None
        return {
            **self.sweep.position(self.source), "flavor": self.adapter.flavor, "num": self.num,
            "place": mark.offset, "state": orjson.dumps(state).decode() if state else None, "head": head, "tail": tail,
            "damaged": self.damaged, "unread": None, "readers": version_of(self.adapter),
            "ours": orjson.dumps(sorted(self.excluded)).decode() if self.excluded else None,
        }  # fmt: skip


def _read_before(source: Source, cursor: Any) -> int:
    """Return how much of a file was counted as read before; a document that changed counts anew."""
    if cursor is None:
        return 0
    return int(cursor["place"]) or (source.size if source.unchanged(cursor) else 0)


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
