"""Import the events of a session_memory store: rows and the bodies they name, written like a transcript."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from engram.capture.batch import FULL, Batch, hash_id
from engram.importers.body_files import UnreadableBody, fold_name
from engram.importers.foreign_events import PLACES, extract_rows, get_order, make_event, make_key, make_usage
from engram.platform.value import value
from engram.sessions.checkouts import list_project_directories
from engram.store import captures, counters, events
from engram.store.seed_session_memory import find_fact
from engram.types import About, Event, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.capture.discover import TranscriptFile
    from engram.capture.sweep import Progress
    from engram.capture.writer import Writer
    from engram.hub import Hub
    from engram.importers.body_files import BodyFiles
    from engram.store.engine import Row
    from engram.store.seed_session_memory import SessionMemoryDatabase

_REFERENCE = re.compile(r"(?:body|blob|content|text|raw)_?(?:ref|path|file|hash|sha\d*|key|id|uri|name)|blob")
_PERHAPS = ("body", "content", "text", "raw", "path", "file", "ref")  # columns that hold a text, or the name of one
_LONGEST_REFERENCE = 300
_UUID = 36  # characters
_NAMED = 10  # names listed per reason

HERE = "sessions already captured here, with their own events"
ON_DISK = "sessions whose transcripts are on this machine; run `engram ingest` to read them"
GONE = "bodies missing from the store; their events have no text"
BROKEN = "unreadable bodies"
NO_SESSION = "events of sessions without a row"
NO_EVENTS = "files named after a session that are not a list of events"
LINKS = "links, which may point outside the store"
STRAY = "files that no row refers to"


class SkippedItems:
    """What an import skipped, by reason."""

    def __init__(self) -> None:
        self._names: dict[str, list[str]] = {}

    def add(self, reason: str, name: str) -> None:
        """Add one item."""
        self._names.setdefault(reason, []).append(name)

    def format_lines(self) -> tuple[str, ...]:
        """Return a line for each reason, with its first items."""
        return tuple(f"{reason} ({len(names):,}): {_shorten_names(names)}" for reason, names in self._names.items())


def _shorten_names(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


@value
class ImportTarget:
    """One of their sessions and its counterpart here."""

    theirs: str
    session: Row  # ours
    row: Row  # theirs


class _ImportOrigin:
    """The origin of the events of one agent's sessions, as the writer needs it."""

    forks_unnamed = False

    def __init__(self, flavor: str, source: TranscriptFile, num: int) -> None:
        self.flavor, self.source, self.num = flavor, source, num
        self.excluded: set[str] = set()


class EventImport:
    """Imports the events of sessions, one session at a time."""

    def __init__(
        self, hub: Hub, seed: SessionMemoryDatabase, files: BodyFiles, writer: Writer | None, source: TranscriptFile
    ) -> None:  # fmt: skip
        self.hub, self.seed, self.files, self.source = hub, seed, files, source
        self.writer = writer  # None for a dry run
        self.skipped = SkippedItems()
        self.counts: Counter[str] = Counter()
        self._on_disk = _list_names_on_disk(hub)
        self._origins: dict[str, _ImportOrigin] = {}

    def run(self, targets: dict[str, ImportTarget], progress: Progress | None = None) -> None:
        """Import the events of sessions, then costs and files that hold a whole session."""
        total, done, seen = self.seed.count_rows("events"), 0, set()
        costs = self._load_costs()
        for theirs, rows in self.seed.read_events():
            done += len(rows)
            if progress is not None:
                progress(done, total, self.seed.path)
            if theirs in targets:
                seen.add(theirs)
                self._import_session(targets[theirs], rows, costs.get(theirs, []))
            elif rows:
                self.skipped.add(NO_SESSION, f"{theirs or 'none'} ({len(rows):,})")
        for theirs, target in targets.items():
            if theirs not in seen:
                self._import_session(target, [], costs.get(theirs, []))
        self._report_files()

    def _load_costs(self) -> dict[str, list[Row]]:
        by_session: dict[str, list[Row]] = {}
        for row in self.seed.read_rows("costs"):
            by_session.setdefault(str(find_fact(row, "of") or find_fact(row, "id") or ""), []).append(row)
        return by_session

    def _import_session(self, target: ImportTarget, rows: list[Row], costs: list[Row]) -> None:
        """Import one session, unless its own transcript says more."""
        file_rows = self._read_session_file(target)
        entries = list(_assign_keys(rows or file_rows, _get_native_id(target)))
        capture = captures.find_by_session(self.hub.engine, target.session["id"])
        keys = [hash_id(key) for key, _ in entries]
        known_keys = events.find_existing(self.hub.engine, capture["num"], keys) if capture else {}
        if capture and capture["events"] and not known_keys:
            self._skip_session(HERE, target, rows)
        elif fold_name(_get_native_id(target)) in self._on_disk:
            self._skip_session(ON_DISK, target, rows)
        else:
            bodies = _match_lines(rows, file_rows)
            fresh = [(n, key, row) for n, (key, row) in enumerate(entries) if hash_id(key) not in known_keys]
            self._mark_bodies_used(target, [row for key, row in entries if hash_id(key) in known_keys])
            self.counts["bodies"] += bool(file_rows and fresh)
            self._write_events(
                target, (self._build_event(target, n, key, row, bodies.get(n)) for n, key, row in fresh), costs
            )

    def _skip_session(self, reason: str, target: ImportTarget, rows: list[Row]) -> None:
        self.skipped.add(reason, target.theirs)
        self._mark_bodies_used(target, rows)

    def _mark_bodies_used(self, target: ImportTarget, rows: list[Row]) -> None:
        """Mark bodies that are not read as used, so that they do not count as unreferenced files."""
        for row in rows:
            self._find_body_file(target, row)

    def _write_events(self, target: ImportTarget, new_events: Iterator[Event], costs: list[Row]) -> None:
        batch = Batch()
        batch.add(self._build_about(target))
        for usage in self._iter_usage(target, costs):
            batch.add(usage)
        for event in new_events:
            batch.add(event)
            self.counts["events"] += 1
            if batch.size >= FULL:
                self._send_batch(target, batch)
                batch = Batch()
        if batch.events or batch.usage:
            self._send_batch(target, batch)

    def _send_batch(self, target: ImportTarget, batch: Batch) -> None:
        if self.writer is not None:
            self.writer.write(batch, self._get_origin(target.session["flavor"]), 0, None)

    def _get_origin(self, flavor: str) -> _ImportOrigin:
        if flavor not in self._origins:
            num = counters.add(self.hub.engine, "files", 1) % (1 << 18)
            self._origins[flavor] = _ImportOrigin(flavor, self.source, num)
        return self._origins[flavor]

    def _build_about(self, target: ImportTarget) -> About:
        facts = {name: find_fact(target.row, name) for name in ("cwd", "branch", "model")}
        title = find_fact(target.row, "summary")
        return About(session=_get_native_id(target), title=str(title) if title else None, **_to_texts(facts))

    def _iter_usage(self, target: ImportTarget, costs: list[Row]) -> Iterator[Usage]:
        """Yield the cost of a session from its table, else from its own row."""
        native, at = _get_native_id(target), target.session["started_at"]
        for index, row in enumerate(costs or [target.row]):
            usage = make_usage(row, native, f"session_memory:{target.theirs}:{index}", at)
            if usage is not None:
                yield usage

    def _build_event(self, target: ImportTarget, position: int, key: str, row: Row, line_body: Any) -> Event:
        """Build an event with its body, if it can be read."""
        body, names = line_body, self._find_body_file(target, row)
        for name, path in names.items():
            body = self._read_body(path) if path else body
            self.counts["bodies"] += path is not None and body is not None
            if path is None and name in row and _is_reference(name):
                self.skipped.add(GONE, str(row[name])[:80])
        bare = {name: cell for name, cell in row.items() if name not in names}
        return make_event(bare, body, _get_native_id(target), key, position)

    def _find_body_file(self, target: ImportTarget, row: Row) -> dict[str, str | None]:
        """Return the body file of a row by the column that names it; None if there is none."""
        for name, text in row.items():
            if not isinstance(text, str) or not 0 < len(text) <= _LONGEST_REFERENCE or "\n" in text:
                continue
            if _is_reference(name) or name in _PERHAPS:
                path = self.files.find_file(text)
                if path or _is_reference(name):
                    return {name: path}
        order = next((str(row[name]) for name in PLACES if row.get(name) is not None), None)
        path = self.files.find_named(f"{text}/{order}" for text in _list_names(target)) if order else None
        return {"": path} if path else {}

    def _read_body(self, path: str) -> Any:
        try:
            content = self.files.read(path)
        except UnreadableBody as problem:
            self.skipped.add(BROKEN, f"{self.files.to_relative_path(path)} ({problem})")
            return None
        return parse_body(content)

    def _read_session_file(self, target: ImportTarget) -> list[Row]:
        """Return the rows of a file that holds a whole session."""
        path = self.files.find_named(_list_names(target))
        if path is None:
            return []
        rows = extract_rows(self._read_body(path))
        if not rows:
            self.skipped.add(NO_EVENTS, self.files.to_relative_path(path))
        return rows

    def _report_files(self) -> None:
        for reason, names in ((LINKS, self.files.links), (STRAY, self.files.list_unused())):
            for name in names:
                self.skipped.add(reason, name)


def parse_body(content: bytes) -> Any:
    """Parse a body: JSON, JSON lines, or text."""
    text = content.decode("utf-8", "replace")
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        lines = [orjson.loads(line) for line in content.splitlines() if line.strip()]
    except orjson.JSONDecodeError:
        return text
    return lines if lines and all(isinstance(item, dict) for item in lines) else text


def _is_reference(name: str) -> bool:
    return bool(_REFERENCE.fullmatch(name))


def _get_native_id(target: ImportTarget) -> str:
    return str(target.session["native_id"])


def _list_names(target: ImportTarget) -> tuple[str, str]:
    return target.theirs, _get_native_id(target)


def _to_texts(facts: dict[str, Any]) -> dict[str, str | None]:
    return {name: str(item) if item else None for name, item in facts.items()}


def _assign_keys(rows: list[Row], native: str) -> Iterator[tuple[str, Row]]:
    """Yield the rows of a session in order, each with a key that is the same on the next import."""
    seen: Counter[str] = Counter()
    for position, row in enumerate(sorted(rows, key=get_order)):
        key = make_key(row, native, position)
        seen[key] += 1
        yield (key if seen[key] == 1 else f"{key}#{seen[key]}"), row


def _match_lines(rows: list[Row], lines: list[Row]) -> dict[int, Row]:
    """Match lines to rows, if a session has as many of both."""
    return dict(enumerate(sorted(lines, key=get_order))) if len(rows) == len(lines) else {}


def _list_names_on_disk(hub: Hub) -> set[str]:
    """Return the names of the transcripts on this machine: the session, or a name that ends with it."""
    import os

    from engram.capture import discover

    names: set[str] = set()
    for transcript in discover.iter_transcripts(list_project_directories(hub)):
        folder, name = os.path.split(transcript.name)
        stem = name.partition(".")[0]
        names |= {fold_name(stem), fold_name(stem[-_UUID:]), fold_name(os.path.basename(folder))}
    return names
