"""One sweep: read, redact, store and digest every transcript that changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import orjson

from engram.agents.transcripts.adapter import Adapter, Mark
from engram.agents.transcripts.registry import format_versions, get_version, load_adapters
from engram.capture import discover
from engram.capture.batch import FULL, Batch, redact_nested
from engram.capture.discover import TranscriptFile, UnreadFile
from engram.capture.writer import Writer
from engram.errors import Error
from engram.hub import Hub
from engram.platform.text import to_one_line
from engram.redaction.redactor import Redactor
from engram.store import counters, cursors

_COPY = {"copy": True}  # the state of a file whose session is read from another one
Progress = Callable[[int, int, str], None]  # bytes done, bytes in total, file being read


def needs_reading(source: TranscriptFile, cursor: Any) -> bool:
    """Return whether a file is new, changed, or readable by a newer adapter."""
    return cursor is None or not source.is_unchanged(cursor) or needs_retry(cursor)


def needs_retry(cursor: Any) -> bool:
    """Return whether a file that was not fully read should be tried again because the adapters changed."""
    if cursor is None:
        return False
    adapter = load_adapters().get(cursor["flavor"])
    if adapter is None or cursor["unread"] is not None:
        return bool(cursor["readers"] != format_versions())
    return bool(cursor["damaged"] and cursor["readers"] != get_version(adapter))


class Sweep:
    """One sweep and its counts."""

    def __init__(self, hub: Hub, redactor: Redactor, *, dry_run: bool = False, again: bool = False) -> None:
        self.hub = hub
        self.dry_run = dry_run
        self.again = again  # read everything from the start
        self.host = discover.get_machine(hub.engine.dialect)
        self.writer = Writer(hub, redactor)
        self.counts: dict[str, int] = dict.fromkeys(
            ("discovered", "skipped_unchanged", "unknown", "vanished", "events", "damaged"), 0
        )
        self.read: dict[str, int] = {}  # bytes read, by transcript
        self.sessions: set[str] = set()
        self.failures: dict[str, str] = {}
        self.unread: dict[str, UnreadFile] = {}
        self.unrecognized: list[str] = []  # in a directory that the user named

    def run(
        self, transcripts: Iterable[TranscriptFile], progress: Progress | None = None, *, all_known: bool = False
    ) -> None:
        """Ingest what is new; with `all_known`, a known transcript not in the list counts as deleted."""
        known_cursors = cursors.list_by_host(self.hub.engine, self.host) if all_known else {}
        unread_sources: list[TranscriptFile] = []
        for source in transcripts:
            cursor = known_cursors.pop(source.name, None) if all_known else self._get_cursor(source)
            self.counts["discovered"] += 1
            if self.again or needs_reading(source, cursor):
                unread_sources.append(source)
            else:
                self._skip_source(source, cursor)
        if all_known and not self.dry_run:
            self._note_vanished(known_cursors)
        self._read_all(unread_sources, progress)
        if not self.dry_run:
            self.writer.finish()
            self.counts["events"] = self.writer.events

    def _skip_source(self, source: TranscriptFile, cursor: Any) -> None:
        self.counts["skipped_unchanged"] += 1
        if cursor["unread"] is not None:
            self._record_unread(source, cursor["unread"])

    def _record_unread(self, source: TranscriptFile, reason: str) -> None:
        self.unread[source.path] = UnreadFile(path=source.display_path, size=source.size, reason=reason)

    def _get_cursor(self, source: TranscriptFile) -> Any:
        return cursors.get(self.hub.engine, self.host, source.name)

    def _read_all(self, news: list[TranscriptFile], progress: Progress | None) -> None:
        done, total = 0, sum(source.size for source in news)
        for source in news:
            if progress:
                progress(done, total, source.path)
            try:
                self._read_source(source, partial(_report_progress, progress, done, total, source.path))
            except Exception as problem:
                self._retry_alone(source, problem)
            done += source.size
        try:
            self.writer.flush()
        except Exception as problem:
            self._retry_alone(None, problem)
        if progress:
            progress(total, total, "")

    def _retry_alone(self, source: TranscriptFile | None, problem: Exception) -> None:
        """Isolate a failing transcript: read every transcript of the failed write again, one by one."""
        self._stop_if_unwritable(problem)
        for retried in dict.fromkeys([*self.writer.discard_waiting(), *([source] if source else [])]):
            try:
                self._read_source(retried, lambda _: None)
                self.writer.flush()
            except Exception as trouble:
                self._stop_if_unwritable(trouble)
                self.writer.discard_waiting()
                self.failures[retried.path] = f"{type(trouble).__name__}: {trouble}"
                self._record_skipped(retried, self._describe_problem(trouble), readers="")

    def _describe_problem(self, problem: Exception) -> str:
        """Describe why a file could not be read, redacted: an error may quote the file's content."""
        if isinstance(problem, OSError) and problem.strerror:
            return f"cannot be opened: {problem.strerror}"
        message = f"{type(problem).__name__}: {problem}".encode("utf-8", "backslashreplace").decode()
        return to_one_line(self.writer.redactor.redact(message), 300)

    def _stop_if_unwritable(self, problem: Exception) -> None:
        if isinstance(problem, Error) and problem.code.startswith("store"):
            raise problem

    def _read_source(self, source: TranscriptFile, report: Callable[[int], Any]) -> None:
        cursor = self._get_cursor(source)
        adapter = self._find_adapter(source)
        if adapter is None:
            return
        since = discover.find_resume_mark(source, cursor if cursor and cursor["flavor"] == adapter.flavor else None)
        self.read[source.name] = 0
        usable_cursor = (
            cursor if cursor and (since.offset or not cursor["place"]) else None
        )  # else the file was replaced
        if self.again or needs_retry(cursor):
            since = Mark()
        transcript_cursor = TranscriptCursor(self, source, adapter, usable_cursor, since.offset)
        if self._is_copy(source, adapter, cursor):
            transcript_cursor.store_batch(Batch(), Mark(state=_COPY))
            return
        for batch, mark in _iter_batches(adapter, source, since):
            transcript_cursor.store_batch(batch, mark)
            report(transcript_cursor.offset)

    def _is_copy(self, source: TranscriptFile, adapter: Adapter, cursor: Any) -> bool:
        """Return whether the session of a file is read from another file that its agent writes."""
        rank_copies = getattr(adapter, "rank_copies", None)
        if rank_copies is None or _was_read(cursor, adapter):
            return False
        copies = [os.path.abspath(path) for path in rank_copies(source.path)]
        others = [path for path in copies if path != os.path.abspath(source.path)]
        if any(_was_read(self._get_cursor_of_path(path), adapter) for path in others):
            return True
        return bool(others) and copies[0] in others

    def _get_cursor_of_path(self, path: str) -> Any:
        source = discover.stat_transcript(path)
        return self._get_cursor(source) if source else None

    def _find_adapter(self, source: TranscriptFile) -> Adapter | None:
        """Return the adapter for a file; record an unreadable file, which is retried when the adapters change."""
        try:
            adapter = discover.find_adapter(source)
        except discover.UnreadableFile as problem:
            self.counts["unknown"] += 1
            if isinstance(problem, discover.UnknownFormat) and not source.expected:
                self.unrecognized.append(source.display_path)
                self.counts["discovered"] -= 1
                return None
            self._record_skipped(source, str(problem), readers=format_versions() if problem.is_lasting else "")
            return None
        if adapter is None:
            self._record_skipped(source, None, readers=format_versions())
        return adapter

    def _record_skipped(self, source: TranscriptFile, reason: str | None, readers: str) -> None:
        if reason is not None:
            self._record_unread(source, reason)
        if not self.dry_run:
            stored_reason = reason if source.expected else None
            cursors.save_unread(
                self.hub.engine, **self.describe_position(source), unread=stored_reason, readers=readers
            )

    def describe_position(self, source: TranscriptFile) -> dict[str, Any]:
        """Return the state of a file as saved in its cursor."""
        return {
            "host": self.host, "path": source.name, "size": source.size, "changed_at": source.changed_at,
            "inode": source.inode, "read_at": self.hub.now(),
        }  # fmt: skip

    def next_file_number(self) -> int:
        """Return the number of a new transcript, used to order the files of a session."""
        return 0 if self.dry_run else counters.add(self.hub.engine, "files", 1) % (1 << 18)

    def _note_vanished(self, missing: dict[str, Any]) -> None:
        for path, row in missing.items():
            still_exists = "!" in path or os.path.exists(path) or os.path.exists(f"{path}.zst")
            if row["vanished_at"] is None and not still_exists:
                cursors.mark_vanished(self.hub.engine, self.host, path, self.hub.now())
                self.counts["vanished"] += 1


class TranscriptCursor:
    """The position of a sweep in one transcript."""

    def __init__(self, sweep: Sweep, source: TranscriptFile, adapter: Adapter, cursor: Any, offset: int) -> None:
        self.sweep, self.source, self.adapter = sweep, source, adapter
        self.flavor = adapter.flavor
        self.forks_unnamed: bool = getattr(adapter, "forks_unnamed", False)
        self.num = cursor["num"] if cursor else sweep.next_file_number()
        self.damaged = cursor["damaged"] if cursor and offset else 0
        self.offset = offset
        self._counted = _count_read_before(source, cursor)
        self.excluded: set[str] = set(orjson.loads(cursor["ours"])) if cursor and cursor["ours"] else set()

    def store_batch(self, batch: Batch, mark: Mark | None) -> None:
        """Store a batch; with a mark, also save how far it goes."""
        counts, sweep = self.sweep.counts, self.sweep
        read = self._advance_to(mark) if mark else 0
        self.damaged += batch.damaged
        sweep.read[self.source.name] += read
        counts["damaged"] += batch.damaged
        counts["events"] += sum(map(len, batch.events.values()))
        sweep.sessions.update(f"{self.adapter.flavor}:{session}" for session in batch.sessions)
        self.excluded |= sweep.writer.register.find_own_sessions(batch)
        if not sweep.dry_run:
            sweep.writer.write(batch, self, self._count_new_bytes(read), self._build_cursor(mark) if mark else None)

    def _advance_to(self, mark: Mark) -> int:
        """Return the number of bytes read up to a mark; a document without offsets is read as a whole."""
        read = mark.offset - self.offset if mark.offset else self.source.size
        self.offset = mark.offset
        return read

    def _count_new_bytes(self, read: int) -> int:
        """Return how many of the bytes just read were not counted in an earlier read."""
        end = self.offset or read
        return max(end - max(end - read, self._counted), 0)

    def _build_cursor(self, mark: Mark) -> dict[str, Any]:
        head, tail = discover.hash_ends(self.source.path, mark.offset)
        state = redact_nested(mark.state, self.sweep.writer.redactor) if mark.state else None
        return {
            **self.sweep.describe_position(self.source), "flavor": self.adapter.flavor, "num": self.num,
            "place": mark.offset, "state": orjson.dumps(state).decode() if state else None, "head": head, "tail": tail,
            "damaged": self.damaged, "unread": None, "readers": get_version(self.adapter),
            "ours": orjson.dumps(sorted(self.excluded)).decode() if self.excluded else None,
        }  # fmt: skip


def _was_read(cursor: Any, adapter: Adapter) -> bool:
    """Return whether a cursor is of a file that was read, not passed over as a copy."""
    if cursor is None or cursor["flavor"] != adapter.flavor or cursor["unread"] is not None:
        return False
    return not cursor["state"] or orjson.loads(cursor["state"]) != _COPY


def _count_read_before(source: TranscriptFile, cursor: Any) -> int:
    """Return how many bytes were counted in an earlier read; a changed document counts again."""
    if cursor is None:
        return 0
    return int(cursor["place"]) or (source.size if source.is_unchanged(cursor) else 0)


def _report_progress(progress: Progress | None, done: int, total: int, path: str, read: int) -> None:
    if progress:
        progress(done + read, total, path)


def _iter_batches(adapter: Adapter, source: TranscriptFile, since: Mark) -> Iterator[tuple[Batch, Mark | None]]:
    """Yield the items of a transcript in batches; the last one has the final mark."""
    batch, mark = Batch(), None
    for item in adapter.read(source.path, since):
        if isinstance(item, Mark):
            mark = item
            if batch.size >= FULL:
                yield batch, mark
                batch, mark = Batch(), None
            continue
        batch.add(item)
        if batch.size >= 2 * FULL:  # a whole-file transcript has no marks inside; duplicates are found by key
            yield batch, None
            batch = Batch()
    if mark is not None:
        yield batch, mark
