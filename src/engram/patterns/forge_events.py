"""What sessions of a session_memory store said and did: rows and the bodies they name, written like a transcript."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from engram.capture.batch import FULL, Batch, number
from engram.capture.body_files import Unreadable, fold
from engram.capture.foreign_events import PLACES, key_of, listed, make_event, make_usage, order_of
from engram.model import About, Event, Usage
from engram.store import captures, counters, events, sessions
from engram.store.seed_session_memory import fact
from engram.value import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.capture.body_files import BodyFiles
    from engram.capture.discover import Source
    from engram.capture.sweep import Progress
    from engram.capture.writer import Writer
    from engram.hub import Hub
    from engram.store.engine import Row
    from engram.store.seed_session_memory import SessionMemory

_REFERENCE = re.compile(r"(?:body|blob|content|text|raw)_?(?:ref|path|file|hash|sha\d*|key|id|uri|name)|blob")
_PERHAPS = ("body", "content", "text", "raw", "path", "file", "ref")  # columns that hold a text, or what names one
_LONGEST_REFERENCE = 300
_UUID = 36  # characters
_NAMED = 10  # things of a kind that are left

HERE = "sessions that were captured here already, with their own events"
ON_DISK = "sessions whose transcripts are on this machine; `engram ingest` reads them whole"
GONE = "bodies that are not in the store, so their events come without a text"
BROKEN = "bodies that cannot be read"
NO_SESSION = "events of sessions that have no row"
NO_EVENTS = "files that are named after a session but are no list of events"
LINKS = "links, which may lead out of the store"
STRAY = "files that no row names"


class Left:
    """What an import leaves behind, by reason."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def note(self, reason: str, name: str) -> None:
        """Add one thing."""
        self._names.setdefault(reason, []).append(name)

    def lines(self) -> tuple[str, ...]:
        """Return a line for each reason, with the first of what it concerns."""
        return tuple(f"{reason} ({len(names):,}): {_shortened(names)}" for reason, names in self._names.items())


def _shortened(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


@value
class Target:
    """A session of theirs and what stands for it here."""

    theirs: str
    session: Row  # ours
    row: Row  # theirs


class _Origin:
    """Where the events of one agent's sessions come from, as the writer asks for it."""

    forks_unnamed = False

    def __init__(self, flavor: str, source: Source, num: int) -> None:
        self.flavor, self.source, self.num = flavor, source, num
        self.excluded: set[str] = set()


class Events:
    """Takes the events of sessions over, one session at a time."""

    def __init__(
        self, hub: Hub, seed: SessionMemory, files: BodyFiles, writer: Writer | None, source: Source
    ) -> None:  # fmt: skip
        self.hub, self.seed, self.files, self.source = hub, seed, files, source
        self.writer = writer  # none: only look
        self.left = Left()
        self.counts: Counter[str] = Counter()
        self._on_disk = _names_on_disk(hub)
        self._origins: dict[str, _Origin] = {}

    def run(self, targets: dict[str, Target], progress: Progress | None = None) -> None:
        """Take over the events of sessions, then the costs and what lies in one file for a whole session."""
        total, done, met = self.seed.count("events"), 0, set()
        costs = self._costs()
        for theirs, rows in self.seed.events():
            done += len(rows)
            if progress is not None:
                progress(done, total, self.seed.path)
            if theirs in targets:
                met.add(theirs)
                self._session(targets[theirs], rows, costs.get(theirs, []))
            elif rows:
                self.left.note(NO_SESSION, f"{theirs or 'none'} ({len(rows):,})")
        for theirs, target in targets.items():
            if theirs not in met:
                self._session(target, [], costs.get(theirs, []))
        self._note_files()

    def _costs(self) -> dict[str, list[Row]]:
        found: dict[str, list[Row]] = {}
        for row in self.seed.rows("costs"):
            found.setdefault(str(fact(row, "of") or fact(row, "id") or ""), []).append(row)
        return found

    def _session(self, target: Target, rows: list[Row], costs: list[Row]) -> None:
        """Take over one session, unless its own transcript says more."""
        beside = self._lines(target)
        entries = list(_keyed(rows or beside, _native(target)))
        capture = captures.of_session(self.hub.engine, target.session["id"])
        keys = [number(key) for key, _ in entries]
        known = events.known(self.hub.engine, capture["num"], keys) if capture else {}
        if capture and capture["events"] and not known:
            self._leave(HERE, target, rows)
        elif fold(_native(target)) in self._on_disk:
            self._leave(ON_DISK, target, rows)
        else:
            bodies = _join(rows, beside)
            fresh = [(n, key, row) for n, (key, row) in enumerate(entries) if number(key) not in known]
            self._leave_bodies(target, [row for key, row in entries if number(key) in known])
            self.counts["bodies"] += bool(beside and fresh)
            self._write(target, (self._event(target, n, key, row, bodies.get(n)) for n, key, row in fresh), costs)

    def _leave(self, reason: str, target: Target, rows: list[Row]) -> None:
        self.left.note(reason, target.theirs)
        self._leave_bodies(target, rows)

    def _leave_bodies(self, target: Target, rows: list[Row]) -> None:
        """Look up bodies that are not read, so that they do not count as files nobody names."""
        for row in rows:
            self._file(target, row)

    def _write(self, target: Target, found: Iterator[Event], costs: list[Row]) -> None:
        batch = Batch()
        batch.add(self._about(target))
        for usage in self._usage(target, costs):
            batch.add(usage)
        for event in found:
            batch.add(event)
            self.counts["events"] += 1
            if batch.size >= FULL:
                self._send(target, batch)
                batch = Batch()
        if batch.events or batch.usage:
            self._send(target, batch)

    def _send(self, target: Target, batch: Batch) -> None:
        if self.writer is not None:
            self.writer.write(batch, self._origin(target.session["flavor"]), 0, None)

    def _origin(self, flavor: str) -> _Origin:
        if flavor not in self._origins:
            num = counters.add(self.hub.engine, "files", 1) % (1 << 18)
            self._origins[flavor] = _Origin(flavor, self.source, num)
        return self._origins[flavor]

    def _about(self, target: Target) -> About:
        facts = {name: fact(target.row, name) for name in ("cwd", "branch", "model")}
        title = fact(target.row, "summary")
        return About(session=_native(target), title=str(title) if title else None, **_texts(facts))

    def _usage(self, target: Target, costs: list[Row]) -> Iterator[Usage]:
        """Yield what a session cost: by its table, else by its own row."""
        native, at = _native(target), target.session["started_at"]
        for place, row in enumerate(costs or [target.row]):
            usage = make_usage(row, native, f"session_memory:{target.theirs}:{place}", at)
            if usage is not None:
                yield usage

    def _event(self, target: Target, place: int, key: str, row: Row, beside: Any) -> Event:
        """Return an event with its body; without one that cannot be had."""
        body, names = beside, self._file(target, row)
        for name, path in names.items():
            body = self._body(path) if path else body
            self.counts["bodies"] += path is not None and body is not None
            if path is None and name in row and _is_reference(name):
                self.left.note(GONE, str(row[name])[:80])
        bare = {name: each for name, each in row.items() if name not in names}
        return make_event(bare, body, _native(target), key, place)

    def _file(self, target: Target, row: Row) -> dict[str, str | None]:
        """Return the file of a row's body by the column that names it; None where there is no such file."""
        for name, each in row.items():
            if not isinstance(each, str) or not 0 < len(each) <= _LONGEST_REFERENCE or "\n" in each:
                continue
            if _is_reference(name) or name in _PERHAPS:
                path = self.files.find(each)
                if path or _is_reference(name):
                    return {name: path}
        order = next((str(row[name]) for name in PLACES if row.get(name) is not None), None)
        path = self.files.find_one(f"{each}/{order}" for each in _names(target)) if order else None
        return {"": path} if path else {}

    def _body(self, path: str) -> Any:
        try:
            content = self.files.read(path)
        except Unreadable as problem:
            self.left.note(BROKEN, f"{self.files.shown(path)} ({problem})")
            return None
        return parse_body(content)

    def _lines(self, target: Target) -> list[Row]:
        """Return what lies in one file for a whole session, row by row."""
        path = self.files.find_one(_names(target))
        if path is None:
            return []
        found = listed(self._body(path))
        if not found:
            self.left.note(NO_EVENTS, self.files.shown(path))
        return found

    def _note_files(self) -> None:
        for reason, names in ((LINKS, self.files.links), (STRAY, self.files.unused())):
            for name in names:
                self.left.note(reason, name)


def parse_body(content: bytes) -> Any:
    """Return what a body says: JSON, the lines of JSON it holds, or its text."""
    text = content.decode("utf-8", "replace")
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        lines = [orjson.loads(line) for line in content.splitlines() if line.strip()]
    except orjson.JSONDecodeError:
        return text
    return lines if lines and all(isinstance(each, dict) for each in lines) else text


def _is_reference(name: str) -> bool:
    return bool(_REFERENCE.fullmatch(name))


def _native(target: Target) -> str:
    return str(target.session["native_id"])


def _names(target: Target) -> tuple[str, str]:
    return target.theirs, _native(target)


def _texts(facts: dict[str, Any]) -> dict[str, str | None]:
    return {name: str(each) if each else None for name, each in facts.items()}


def _keyed(rows: list[Row], native: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a session in order, each with a key that is the same at the next import."""
    met: Counter[str] = Counter()
    for place, row in enumerate(sorted(rows, key=order_of)):
        key = key_of(row, native, place)
        met[key] += 1
        yield (key if met[key] == 1 else f"{key}#{met[key]}"), row


def _join(rows: list[Row], lines: list[Row]) -> dict[int, Row]:
    """Return the line that belongs to each row, where a session has as many of them."""
    return dict(enumerate(sorted(lines, key=order_of))) if len(rows) == len(lines) else {}


def _names_on_disk(hub: Hub) -> set[str]:
    """Return what the transcripts on this machine are called: by session, or with their session at the end."""
    import os

    from engram.capture import discover

    found: set[str] = set()
    for each in discover.sources(sessions.projects(hub.engine)):
        folder, name = os.path.split(each.name)
        stem = name.partition(".")[0]
        found |= {fold(stem), fold(stem[-_UUID:]), fold(os.path.basename(folder))}
    return found
