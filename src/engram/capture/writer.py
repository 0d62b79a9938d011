"""Store batches: bodies first, then rows, cursor, usage and digest in one short transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from engram.capture.batch import FULL, Batch, Packed, cleaned, exchange, found_by, is_exchange, number, packed
from engram.capture.captured import Captured, Register
from engram.digests.fold import Fold
from engram.digests.keep import load, save
from engram.hub import Hub
from engram.model import Usage
from engram.redaction.redactor import Redactor
from engram.store import blobs, captures, counters, cursors, event_words, events, exchanges, sessions, usage
from engram.text import one_line
from engram.value import value

if TYPE_CHECKING:
    from engram.capture.discover import Source


_EACH = 20_000  # what a batch weighs beside its text, so that many small ones are not held back for long


class Origin(Protocol):
    """Where batches come from: a transcript, or the store of another program."""

    flavor: str
    source: Source
    num: int  # orders what several of them say of one session
    excluded: set[str]  # sessions that are not taken
    forks_unnamed: bool


@value
class Parcel:
    """What a batch brings of one session."""

    captured: Captured
    found: list[Packed]
    new: list[Packed]
    altered: list[tuple[int, Packed]]  # with the ids they have
    about: dict[str, Any]
    body: tuple[str, int, int] | None  # name, bytes, bytes as stored

    @property
    def everything(self) -> list[Packed]:
        """Return what lies in the body, in its order."""
        return [*self.new, *(each for _, each in self.altered)]


@value
class Consignment:
    """A batch that waits to be written, with the cursor that follows it."""

    stand: Origin
    parcels: list[Parcel]
    usage: list[Usage]
    read: int  # bytes
    cursor: dict[str, Any] | None


class Writer:
    """Writes what a sweep reads into the store."""

    def __init__(self, hub: Hub, redactor: Redactor) -> None:
        self.hub, self.engine = hub, hub.engine
        self.redactor = redactor
        self.blobs = blobs.Blobs(hub.engine, hub.settings)
        self.register = Register(hub)
        self.changed: set[int] = set()
        self.events = 0  # new ones
        self._waiting: list[Consignment] = []
        self._weight = 0
        self._altered: list[int] = []
        self._words: list[dict[str, Any]] = []
        self._models: dict[str, str] = {}

    def write(self, batch: Batch, stand: Origin, read: int, cursor: dict[str, Any] | None) -> None:
        """Take a batch; what takes long is done now, and rows are written when enough have come together."""
        if not self._waiting:
            self.register.trim()  # never while a session waits: it must not be met a second time as another
        found = self.register.sessions(stand.flavor, batch, stand.source, stand.excluded)
        if any(parcel.captured in found for each in self._waiting for parcel in each.parcels):
            self.flush()  # what is new is only known once what came before is stored
        parcels = [self._parcel(captured, batch) for captured in found]
        self._waiting.append(Consignment(stand=stand, parcels=parcels, usage=batch.usage, read=read, cursor=cursor))
        self._weight += batch.size + _EACH
        if self._weight >= FULL:
            self.flush()

    def flush(self) -> None:
        """Write what waits in one transaction, each batch with its cursor: all or nothing."""
        waiting, self._waiting, self._weight = self._waiting, [], 0
        try:
            self.blobs.settle()
            with self.engine.transaction():
                for each in waiting:
                    self._receive(each)
                self._index()
        except BaseException:
            self._waiting = waiting
            raise
        self.events += sum(len(parcel.new) for each in waiting for parcel in each.parcels)

    def abandon(self) -> list[Source]:
        """Forget what waits and what was believed of its sessions; return the transcripts it came from."""
        sources = [each.stand.source for each in self._waiting]
        self._waiting, self._weight, self._altered, self._words = [], 0, [], []
        self.register.clear()
        return sources

    def _index(self) -> None:
        """Make findable what was written, all at once and last: any statement after it would make FTS5 write early."""
        altered, words, self._altered, self._words = self._altered, self._words, [], []
        event_words.drop(self.engine, altered)
        event_words.add(self.engine, words)

    def _receive(self, consignment: Consignment) -> None:
        read = consignment.read
        for parcel in consignment.parcels:
            self.register.begin(parcel.captured)
            self._store(parcel, consignment.stand, read)
            read = 0
        self._count(consignment)
        if consignment.cursor is not None:
            cursors.move(self.engine, **consignment.cursor)

    def finish(self) -> None:
        """Write the rest, and make everything written so far survive a power cut."""
        self.flush()
        with self.engine.transaction(durable=True):
            counters.add(self.engine, "sweeps", 1)

    def _parcel(self, captured: Captured, batch: Batch) -> Parcel:
        found = packed(batch.events.get(captured.name, []), self.redactor)
        new, altered = self._news(captured, found)
        content = b"".join(each.body for each in (*new, *(each for _, each in altered)))
        body = (*self.blobs.put(content), len(content)) if content else None
        told = batch.about.get(captured.name)
        about = cleaned(told, self.redactor) if told else {}
        captured.fold = captured.fold or (load(self.engine, captured.num) if captured.num else Fold())
        captured.fold.locate(about.get("cwd"))
        for each in new:
            captured.fold.feed(each.event)
        return Parcel(captured=captured, found=found, new=new, altered=altered, about=about, body=body)

    def _news(self, captured: Captured, found: list[Packed]) -> tuple[list[Packed], list[tuple[int, Packed]]]:
        """Return the events that are new, and those that say something else than before."""
        seen = captured.seen
        if seen is None:
            seen = events.known(self.engine, captured.num, [each.key for each in found])
        new = [each for each in found if each.key not in seen]
        altered = [(seen[each.key][0], each) for each in found if each.key in seen and seen[each.key][1] != each.hash]
        return new, altered

    def _store(self, parcel: Parcel, stand: Origin, read: int) -> None:
        captured = parcel.captured
        captured.batches += 1
        if parcel.body:
            self._put(parcel, stand.num)
        row = self._grow(parcel, read)
        if stand.forks_unnamed:
            self.register.link(captured, row)
        if captured.fold:
            save(self.engine, captured.num, captured.fold, captured.batches, self.hub.now())
        if parcel.altered:
            captures.mark_due(self.engine, captured.num, True)
        self.changed.add(captured.num)

    def _grow(self, parcel: Parcel, read: int) -> dict[str, Any]:
        """Write down what the session has become, and return its row."""
        captured, about = parcel.captured, parcel.about
        first = next((each.key for each in parcel.found if each.event.kind == "message"), None)
        row = captures.grow(
            self.engine, captured.num, parent=about.get("parent"), relation=about.get("relation"),
            title=about.get("title"), version=about.get("version"), entrypoint=about.get("entrypoint"),
            started_at=captured.started_at,
            last_at=max((each.event.at for each in parcel.found if each.event.at), default=None),
            events=len(parcel.new), read_bytes=read, batch=captured.batches, root=first,
        )  # fmt: skip
        goal = captured.fold.goal if captured.fold else ""
        sessions.describe(
            self.engine, captured.session_id, cwd=about.get("cwd"), branch=about.get("branch"),
            model=about.get("model"), project=self.register.project(about.get("cwd")), last_at=row["last_at"],
            summary=one_line(row["title"] or goal, 200), main=int(row["relation"] != "subagent"),
        )  # fmt: skip
        return row

    def _put(self, parcel: Parcel, file: int) -> None:
        captured, everything = parcel.captured, parcel.everything
        name, stored, size = parcel.body or ("", 0, 0)
        blob = blobs.add(
            self.engine, sha256=name, capture=captured.num, batch=captured.batches, raw_bytes=size,
            stored_bytes=stored, now=self.hub.now(),
        )  # fmt: skip
        count = len(parcel.new)
        first = counters.add(self.engine, "events", count) - count + 1
        ids = [*range(first, first + count), *(each for each, _ in parcel.altered)]
        rows, start = [], 0
        for identity, each in zip(ids, everything, strict=True):
            rows.append(_row(identity, captured.num, each, blob, start, file << 44))
            start += len(each.body)
        events.add(self.engine, rows[:count])
        events.change(self.engine, rows[count:])
        self._say(captured, ids, everything, count)
        self._altered += ids[count:]
        self._words += [{"id": i, "words": found_by(each.event)} for i, each in zip(ids, everything, strict=True)]
        if captured.seen is not None:
            captured.seen.update({each.key: (i, each.hash) for i, each in zip(ids, everything, strict=True)})

    def _say(self, captured: Captured, ids: list[int], everything: list[Packed], new: int) -> None:
        """Write the exchanges among events; of those that say something else now, what they say."""
        now = self.hub.now()
        said = [
            exchange(identity, each.event, captured.session_id, now, captured.started_at)
            for identity, each in zip(ids, everything, strict=True)
            if is_exchange(each.event)
        ]
        altered = set(ids[new:])
        exchanges.add_events(self.engine, [row for row in said if row["event"] not in altered])
        for row in said:
            if row["event"] in altered:
                exchanges.resay(self.engine, row["event"], row["role"], row["content"], row["at"])

    def _model(self, name: str) -> str:
        """Return a model's name as it may be stored; few different ones come, and often."""
        if name not in self._models:
            self._models[name] = one_line(self.redactor.clean(name), 200)
        return self._models[name]

    def _count(self, consignment: Consignment) -> None:
        rows, flavor = [], consignment.stand.flavor
        spoken_of = {parcel.captured.name: parcel.captured for parcel in consignment.parcels}
        for each in consignment.usage:
            captured = spoken_of.get(each.session)
            if captured is not None:  # else it is excluded
                facts = {name: fact for name, fact in vars(each).items() if name not in ("session", "key")}
                facts |= {"counted": int(each.counted), "began": captured.started_at, "capture": captured.num}
                facts["model"] = self._model(each.model)
                rows.append({"key": number(f"{flavor}:{each.key}"), **facts})
        usage.add(self.engine, rows)


def _row(identity: int, capture: int, each: Packed, blob: int, start: int, file: int) -> dict[str, Any]:
    event = each.event
    return {
        "id": identity, "capture": capture, "key": each.key, "hash": each.hash, "seq": file + event.order,
        "at": event.at, "kind": event.kind, "role": event.role, "name": event.name and one_line(event.name, 120),
        "verdict": event.verdict, "exit_code": event.exit_code, "call": event.call_id and number(event.call_id),
        "parent": event.parent and number(event.parent), "blob": blob, "start": start, "length": len(each.body),
    }  # fmt: skip
