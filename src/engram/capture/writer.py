"""Store batches: bodies first, then rows, cursor, usage and digest in one short transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from engram.capture.batch import (
    FULL,
    Batch,
    PackedEvent,
    build_exchange_row,
    extract_index_words,
    hash_id,
    is_exchange,
    pack_events,
    redact_nested,
)
from engram.capture.digests.fold import Fold
from engram.capture.digests.storage import load_fold, save_fold
from engram.capture.session_match import CapturedSession, SessionRegister
from engram.hub import Hub
from engram.platform.text import to_one_line
from engram.platform.value import value
from engram.redaction.redactor import Redactor
from engram.store import blobs, captures, counters, cursors, event_words, events, exchanges, sessions
from engram.store import token_usage as usage
from engram.types import Usage

if TYPE_CHECKING:
    from engram.capture.discover import TranscriptFile


_EACH = 20_000  # added weight per batch, so that many small batches are written soon as well


class Origin(Protocol):
    """The source of batches: a transcript, or another program's store."""

    flavor: str
    source: TranscriptFile
    num: int  # orders events of one session from several files
    excluded: set[str]  # sessions to skip
    forks_unnamed: bool


@value
class SessionBatch:
    """The part of a batch that belongs to one session."""

    captured: CapturedSession
    packed_events: list[PackedEvent]
    new: list[PackedEvent]
    altered: list[tuple[int, PackedEvent]]  # changed events, with their existing ids
    about: dict[str, Any]
    body: tuple[str, int, int] | None  # name, stored bytes, raw bytes

    @property
    def all_events(self) -> list[PackedEvent]:
        """The events in the body, in its order."""
        return [*self.new, *(item for _, item in self.altered)]


@value
class PendingBatch:
    """A batch waiting to be written, with the cursor to save after it."""

    origin: Origin
    session_batches: list[SessionBatch]
    usage: list[Usage]
    read: int  # bytes
    cursor: dict[str, Any] | None


class Writer:
    """Writes what an ingest reads into the store."""

    def __init__(self, hub: Hub, redactor: Redactor) -> None:
        self.hub, self.engine = hub, hub.engine
        self.redactor = redactor
        self.blobs = blobs.BlobStore(hub.engine, hub.settings)
        self.register = SessionRegister(hub)
        self.changed: set[int] = set()
        self.events = 0  # number of new events
        self._waiting: list[PendingBatch] = []
        self._weight = 0
        self._altered: list[int] = []
        self._words: list[dict[str, Any]] = []
        self._models: dict[str, str] = {}

    def write(self, batch: Batch, origin: Origin, read: int, cursor: dict[str, Any] | None) -> None:
        """Add a batch; slow work is done now, rows are written once enough batches are waiting."""
        if not self._waiting:
            self.register.trim()  # not while batches wait: a session must not be loaded twice
        captured_sessions = self.register.find_sessions(origin.flavor, batch, origin.source, origin.excluded)
        if any(
            session_batch.captured in captured_sessions
            for pending in self._waiting
            for session_batch in pending.session_batches
        ):
            self.flush()  # new events can only be told from old ones after the earlier batch is stored
        session_batches = [self._build_session_batch(captured, batch) for captured in captured_sessions]
        self._waiting.append(
            PendingBatch(origin=origin, session_batches=session_batches, usage=batch.usage, read=read, cursor=cursor)
        )
        self._weight += batch.size + _EACH
        if self._weight >= FULL:
            self.flush()

    def flush(self) -> None:
        """Write the waiting batches with their cursors in one transaction."""
        waiting, self._waiting, self._weight = self._waiting, [], 0
        try:
            self.blobs.sync()
            with self.engine.transaction():
                for pending in waiting:
                    self._store_pending(pending)
                self._index_words()
        except BaseException:
            self._waiting = waiting
            raise
        self.events += sum(len(session_batch.new) for pending in waiting for session_batch in pending.session_batches)

    def discard_waiting(self) -> list[TranscriptFile]:
        """Drop the waiting batches and cached sessions; return the transcripts they came from."""
        sources = [pending.origin.source for pending in self._waiting]
        self.blobs.discard_unsynced()
        self._waiting, self._weight, self._altered, self._words = [], 0, [], []
        self.register.clear()
        return sources

    def _index_words(self) -> None:
        """Index the written events in one batch and last: any later statement would make FTS5 write early."""
        altered, words, self._altered, self._words = self._altered, self._words, [], []
        event_words.unindex_events(self.engine, altered)
        event_words.index_events(self.engine, words)

    def _store_pending(self, pending: PendingBatch) -> None:
        read = pending.read
        for session_batch in pending.session_batches:
            self.register.ensure_rows(session_batch.captured)
            self._store_session(session_batch, pending.origin, read)
            read = 0
        self._store_usage(pending)
        if pending.cursor is not None:
            cursors.save(self.engine, **pending.cursor)

    def finish(self) -> None:
        """Write the rest and make everything durable."""
        self.flush()
        with self.engine.transaction(durable=True):
            counters.add(self.engine, "sweeps", 1)

    def _build_session_batch(self, captured: CapturedSession, batch: Batch) -> SessionBatch:
        packed_events = pack_events(batch.events.get(captured.name, []), self.redactor)
        new, altered = self._split_new(captured, packed_events)
        content = b"".join(item.body for item in (*new, *(item for _, item in altered)))
        body = (*self.blobs.save(content), len(content)) if content else None
        raw_about = batch.about.get(captured.name)
        about = redact_nested(raw_about, self.redactor) if raw_about else {}
        captured.fold = captured.fold or (load_fold(self.engine, captured.num) if captured.num else Fold())
        captured.fold.set_cwd(about.get("cwd"))
        captured.fold.set_relation(about.get("relation"))
        for item in new:
            captured.fold.add_event(item.event)
        return SessionBatch(
            captured=captured, packed_events=packed_events, new=new, altered=altered, about=about, body=body
        )

    def _split_new(
        self, captured: CapturedSession, packed_events: list[PackedEvent]
    ) -> tuple[list[PackedEvent], list[tuple[int, PackedEvent]]]:
        """Return the events that are new, and those whose content changed."""
        known_events = captured.seen
        if known_events is None:
            known_events = events.find_existing(self.engine, captured.num, [item.key for item in packed_events])
        new = [item for item in packed_events if item.key not in known_events]
        altered = [
            (known_events[item.key][0], item)
            for item in packed_events
            if item.key in known_events and known_events[item.key][1] != item.hash
        ]
        return new, altered

    def _store_session(self, session_batch: SessionBatch, origin: Origin, read: int) -> None:
        captured = session_batch.captured
        captured.batches += 1
        if session_batch.body:
            self._store_events(session_batch, origin.num)
        row = self._update_session(session_batch, read)
        if origin.forks_unnamed:
            self.register.link_forks(captured, row)
        if captured.fold:
            save_fold(self.engine, captured.num, captured.fold, captured.batches, self.hub.now())
        if session_batch.altered:
            captures.mark_digest_due(self.engine, captured.num, True)
        self.changed.add(captured.num)

    def _update_session(self, session_batch: SessionBatch, read: int) -> dict[str, Any]:
        """Update the session's rows and return its capture row."""
        captured, about = session_batch.captured, session_batch.about
        first = next((item.key for item in session_batch.packed_events if item.event.kind == "message"), None)
        row = captures.add_batch(
            self.engine, captured.num, parent=about.get("parent"), relation=about.get("relation"),
            title=about.get("title"), version=about.get("version"), entrypoint=about.get("entrypoint"),
            started_at=captured.started_at,
            last_at=max((item.event.at for item in session_batch.packed_events if item.event.at), default=None),
            events=len(session_batch.new), read_bytes=read, batch=captured.batches, root=first,
        )  # fmt: skip
        goal = captured.fold.goal if captured.fold else ""
        sessions.update_from_transcript(
            self.engine, captured.session_id, cwd=about.get("cwd"), branch=about.get("branch"),
            model=about.get("model"), project=self.register.get_project(about), last_at=row["last_at"],
            summary=to_one_line(row["title"] or goal, 200), main=int(row["relation"] != "subagent"),
        )  # fmt: skip
        return row

    def _store_events(self, session_batch: SessionBatch, file: int) -> None:
        captured, all_events = session_batch.captured, session_batch.all_events
        name, stored, size = session_batch.body or ("", 0, 0)
        blob = blobs.insert(
            self.engine, sha256=name, capture=captured.num, batch=captured.batches, raw_bytes=size,
            stored_bytes=stored, now=self.hub.now(),
        )  # fmt: skip
        count = len(session_batch.new)
        first = counters.add(self.engine, "events", count) - count + 1
        ids = [*range(first, first + count), *(item for item, _ in session_batch.altered)]
        rows, start = [], 0
        for event_id, item in zip(ids, all_events, strict=True):
            rows.append(_build_row(event_id, captured.num, item, blob, start, file << 44))
            start += len(item.body)
        events.add(self.engine, rows[:count])
        events.update(self.engine, rows[count:])
        self._store_exchanges(captured, ids, all_events, count)
        self._altered += ids[count:]
        self._words += [
            {"id": i, "words": extract_index_words(item.event)} for i, item in zip(ids, all_events, strict=True)
        ]
        if captured.seen is not None:
            captured.seen.update({item.key: (i, item.hash) for i, item in zip(ids, all_events, strict=True)})

    def _store_exchanges(
        self, captured: CapturedSession, ids: list[int], all_events: list[PackedEvent], new: int
    ) -> None:
        """Write the exchanges among events; update those whose event changed."""
        now = self.hub.now()
        exchange_rows = [
            build_exchange_row(event_id, item.event, captured.session_id, now, captured.started_at)
            for event_id, item in zip(ids, all_events, strict=True)
            if is_exchange(item.event)
        ]
        altered = set(ids[new:])
        exchanges.add_events(self.engine, [row for row in exchange_rows if row["event"] not in altered])
        for row in exchange_rows:
            if row["event"] in altered:
                exchanges.update_by_event(self.engine, row["event"], row["role"], row["content"], row["at"])

    def _clean_model(self, name: str) -> str:
        """Return a model's name, redacted and shortened; cached, as few different names occur."""
        if name not in self._models:
            self._models[name] = to_one_line(self.redactor.redact(name), 200)
        return self._models[name]

    def _store_usage(self, pending: PendingBatch) -> None:
        rows, flavor = [], pending.origin.flavor
        by_name = {parcel.captured.name: parcel.captured for parcel in pending.session_batches}
        for item in pending.usage:
            captured = by_name.get(item.session)
            if captured is not None:  # else the session is excluded
                facts = {name: fact for name, fact in vars(item).items() if name not in ("session", "key")}
                facts |= {"counted": int(item.counted), "began": captured.started_at, "capture": captured.num}
                facts["model"] = self._clean_model(item.model)
                rows.append({"key": hash_id(f"{flavor}:{item.key}"), **facts})
        usage.add_answers(self.engine, rows)


def _build_row(event_id: int, capture: int, item: PackedEvent, blob: int, start: int, file: int) -> dict[str, Any]:
    event = item.event
    return {
        "id": event_id, "capture": capture, "key": item.key, "hash": item.hash, "seq": file + event.order,
        "at": event.at, "kind": event.kind, "role": event.role, "name": event.name and to_one_line(event.name, 120),
        "verdict": event.verdict, "exit_code": event.exit_code, "call": event.call_id and hash_id(event.call_id),
        "parent": event.parent and hash_id(event.parent), "blob": blob, "start": start, "length": len(item.body),
    }  # fmt: skip
