"""Take over the database of an older Engram: its Python version, its Elixir version, or both in one file.

Nothing is lost and nothing comes twice: what cannot stand as it is gets mended and counted, a text that
does not fit is kept whole in the log, and every row knows the row it came from.
"""

from __future__ import annotations

import os

from engram import text
from engram.clock import MINUTE, moment
from engram.coordination import locks, resources
from engram.coordination.older_engram import STATE, Entry, OlderSession, Times, fingerprint, id_of, parts, words_of
from engram.coordination.world_state import GLOBAL, KIND, make_findable
from engram.errors import Error, ImportRefused, InvalidInput
from engram.model import Imported
from engram.operation import Help, operation
from engram.store import activity, documents
from engram.store import locks as lock_store
from engram.store import sessions as store
from engram.store.seed_engram import Seed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.store.engine import Row

HELD_ON = "locks that completed sessions still held"
LONG_ENTRY = "log entries over the limit, kept in parts"
LONG_NOTE = "notes on locks over the limit, kept whole in the log"
RECOVERED = "sessions made for log entries that had none"

_LEDGER = "imported"  # documents that tell, per session, what we read and what we made of it
_BATCH = 200


@operation(writes=True, agent=False)
def import_engram(
    hub: Hub,
    path: Annotated[str, Help("the engram.db of an older version, Python or Elixir")],
    timezone: Annotated[str | None, Help("where it was written, e.g. Europe/Berlin, if not in this zone")] = None,
    dry_run: Annotated[bool, Help("only tell what would be taken over")] = False,
) -> Imported:
    """Take over sessions, logs, locks and world state of an older Engram; again for what is new in it."""
    place, zone = _place(hub, path), _zone(timezone)
    hub.steady()  # fixed now: what a dry run rolls back must not be the store's clock
    with Seed(place, hub.settings.busy_seconds) as seed:
        work = _Import(hub, seed, Times(zone, hub.now()))
        work.prepare()  # before the transaction, which keeps other writers waiting
        try:
            with hub.engine.transaction(durable=True):
                work.run()
                if dry_run:
                    raise _OnlyLooking
        except _OnlyLooking:
            pass
    return work.result(dry_run)


class _OnlyLooking(Exception):
    """A dry run is over; everything is rolled back."""


def _place(hub: Hub, path: str) -> str:
    place = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(place):
        raise ImportRefused(path=path, reason="there is no such file.")
    if os.path.isdir(place):
        raise ImportRefused(path=path, reason="it is a directory; name the engram.db in it.")
    if not os.path.isfile(place):
        raise ImportRefused(path=path, reason="it is not a regular file.")
    if hub.engine.dialect == "sqlite" and os.path.samefile(place, hub.engine.store):
        raise ImportRefused(path=path, reason="it is the store that is open.")
    return place


def _zone(name: str | None) -> tzinfo | None:
    if name is None:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as problem:
        raise InvalidInput(field="timezone", reason=f"{name!r} is not one; say e.g. Europe/Berlin.") from problem


class _Import:
    """One import, all or nothing."""

    def __init__(self, hub: Hub, seed: Seed, times: Times) -> None:
        self.hub, self.engine = hub, hub.engine
        self.seed, self.times = seed, times
        self.source = words_of(seed.path, [], "")
        self.sessions: dict[str, OlderSession] = {}
        self.counts = dict.fromkeys(("sessions", "updated", "logs", "locks", "world_versions", "already_here"), 0)
        self.mended: dict[str, int] = {}
        self.dropped: list[str] = []

    def prepare(self) -> None:
        """Read the sessions and make those that are missing."""
        for row in self.seed.sessions():
            session = OlderSession(self.times, row)
            self.sessions[session.id] = session
        for session_id, span in self._orphans().items():
            self.sessions[session_id] = self._recovered(session_id, *span)

    def run(self) -> None:
        """Take everything over; call inside a transaction."""
        known = [session for session in self.sessions.values() if not self._begin(session)]
        self._take_logs()
        # Locks before sessions, as everywhere: on PostgreSQL the order keeps two writers from deadlock.
        lock_store.serialize(self.engine)
        for session in known:
            self._meet(session)
        self._take_locks()
        for row in self.seed.world_states():
            self._take_world_state(row)
        facts: dict[str, Any] = {**self.counts, "mended": self.mended, "dropped": len(self.dropped)}
        activity.record(self.engine, self.times.now, "imported", self.source, **facts)

    def result(self, dry_run: bool) -> Imported:
        """Return what was done, or would be."""
        facts: dict[str, Any] = {**self.counts, "mended": self.mended, "dropped": tuple(self.dropped)}
        return Imported(source=self.source, dry_run=dry_run, **facts)

    def _orphans(self) -> dict[str, tuple[int, int]]:
        """Return the first and last time of log entries whose session is not there."""
        spans: dict[str, tuple[int, int]] = {}
        for row in self.seed.log_times():
            session_id = id_of(row["session_id"])
            if session_id not in self.sessions:
                at = self.times.mend(row["timestamp"], [], self.times.of_id(session_id))
                first, last = spans.get(session_id, (at, at))
                spans[session_id] = min(first, at), max(last, at)
        return spans

    def _recovered(self, session_id: str, first: int, last: int) -> OlderSession:
        started, ended = moment(first).isoformat(), moment(last).isoformat()
        words = "Recovered from orphan log entries: the older database had no session of this id."
        session = OlderSession(self.times, {
            "id": session_id, "session_type": "unknown", "summary": words, "status": "completed",
            "started_at": started, "last_heartbeat": ended, "completed_at": ended, "completion_summary": words,
            "metadata": None,
        })  # fmt: skip
        session.recovered = True
        session.notes.append(RECOVERED)
        return session

    def _begin(self, session: OlderSession) -> bool:
        """Add a session that is new here."""
        if not store.insert(self.engine, **session.facts):
            return False
        self._written(session, "sessions")
        return True

    def _meet(self, session: OlderSession) -> None:
        """Bring a session that came before up to date, unless it lived on here."""
        row = store.get(self.engine, session.id)
        assert row is not None
        known = documents.current(self.engine, _LEDGER, session.id)
        raw, _, state = known["content"].partition(" ") if known else ("", "", "")
        session.ours = state == _state(row)
        has_news = raw != session.raw and not session.recovered
        if has_news and session.ours and _latest(session.facts) > _latest(row):
            session.ours = self._restate(session, row)
        if session.fresh:
            return
        if has_news and not session.ours:
            self._keep_completion(session, row)
        session.facts |= {name: row[name] for name in session.state}  # what is here is newer, or the same
        self.counts["already_here"] += 1

    def _restate(self, session: OlderSession, row: Row) -> bool:
        if not store.restate(self.engine, session.id, row["last_heartbeat"], **session.state):
            return False  # PostgreSQL: it gave a sign of life this very moment
        if session.facts["status"] == "completed":
            lock_store.delete_all(self.engine, session.id)
        self._written(session, "updated")
        return True

    def _written(self, session: OlderSession, count: str) -> None:
        session.fresh = True
        self.counts[count] += 1
        self._note(session.notes)
        known = documents.current(self.engine, _LEDGER, session.id)
        documents.add(
            self.engine, _LEDGER, session.id, known["version"] + 1 if known else 1,
            f"{session.raw} {_state(session.facts)}", None, self.times.now, self.source,
        )  # fmt: skip

    def _keep_completion(self, session: OlderSession, row: Row) -> None:
        """Keep what the source says of a session's end when the session itself went on here."""
        said, at = session.facts["completion_summary"], session.facts["completed_at"]
        if said is not None and said != row["completion_summary"]:
            when = moment(at).isoformat(timespec="seconds")
            self._add(list(parts(session.keep(at, f"Elsewhere it was completed at {when}: {said}"))))

    def _take_logs(self) -> None:
        batch: list[Entry] = []
        for entry in self._entries():
            batch += parts(entry)
            if len(batch) >= _BATCH:
                self._add(batch)
                batch = []
        self._add(batch)

    def _entries(self) -> Iterator[Entry]:
        """Yield the source's log entries in its order, and what was kept of a session at its time among them."""
        waiting = {session.id: sorted(session.kept, key=lambda kept: kept.at) for session in self.sessions.values()}
        latest: dict[str, int] = {}
        for row in self.seed.logs():
            entry = self._entry(row, latest)
            kept = waiting[entry.session_id]
            while kept and kept[0].at < entry.at:
                yield kept.pop(0)
            yield entry
        for kept in waiting.values():
            yield from kept

    def _entry(self, row: Row, latest: dict[str, int]) -> Entry:
        notes: list[str] = []
        session = self.sessions[id_of(row["session_id"])]
        at = self.times.mend(row["timestamp"], notes, latest.get(session.id), session.started)
        latest[session.id] = at
        words = words_of(row["entry"], notes, "(nothing)")
        if len(words) > text.PAGE // 4 and len(words.encode()) > text.PAGE:
            notes.append(LONG_ENTRY)
        origin = f"engram:log:{fingerprint((session.id, row['id'], row['timestamp'], row['entry']))}"
        return Entry(session_id=session.id, at=at, words=words, origin=origin, notes=tuple(notes))

    def _add(self, batch: list[Entry]) -> None:
        new = store.add_logs(self.engine, [(entry.session_id, entry.at, entry.words, entry.origin) for entry in batch])
        for entry in batch:
            if not entry.origin.startswith("engram:log:") or "+" in entry.origin:
                continue
            if entry.origin in new:
                self.counts["logs"] += 1
                self._note(entry.notes)
            else:
                self.counts["already_here"] += 1

    def _take_locks(self) -> None:
        rows = [(self.times.mend(row["locked_at"], []), row) for row in self.seed.locks()]
        for _, row in sorted(rows, key=lambda pair: pair[0]):  # who came first holds it
            resource = words_of(row["resource"], [], "")
            reason = self._why_not(row) or self._lock(row, resource)
            if reason:
                note = f', "{text.one_line(words_of(row["note"], [], ""))}"' if row["note"] else ""
                held_by = text.one_line(words_of(row["session_id"], [], "nobody"))
                self.dropped.append(f"{text.one_line(resource, 500)} (held by {held_by}{note}): {reason}")

    def _why_not(self, row: Row) -> str | None:
        """Say why a lock of the source means nothing any more; there they never lapsed."""
        session = self.sessions.get(id_of(row["session_id"]))
        if session is None or session.recovered:
            return "its session is missing."
        if session.facts["status"] == "completed":
            self._note([HELD_ON] if session.fresh else [])
            return "its session is completed."
        if not session.ours:
            return "its session went on here since."
        silent = self.times.now - session.facts["last_heartbeat"]
        if silent > self.hub.settings.stale_minutes * MINUTE:
            return f"its session gave no sign of life for {text.duration(silent)}."
        return None

    def _lock(self, row: Row, resource: str) -> str | None:
        session = self.sessions[id_of(row["session_id"])]
        try:
            wanted = resources.canonical(resource, None, "")
            over = locks.check_locks(self.hub, resource, session.id)
            if any((mine.session_id, mine.resource) == (session.id, wanted.name) for mine in over):
                self.counts["already_here"] += 1
                return None
            rival = next((lock for lock in over if lock.session_id != session.id and lock.mode != "announce"), None)
            if rival:  # asked first: a refusal would count as a conflict between agents
                return f"{rival.session_id} holds {rival.resource} here."
            locks.lock_resource(self.hub, session.id, resource, self._lock_note(session, row))
        except Error as refusal:
            return str(refusal)
        self._undo_sign_of_life(session)
        self.counts["locks"] += 1
        return None

    def _undo_sign_of_life(self, session: OlderSession) -> None:
        """Let a session look no more alive than its source says: it was us who locked, not its agent.

        The lock itself lasts its full time from now: older locks never lapsed, so nobody renewed them.
        """
        row = store.get(self.engine, session.id)
        assert row is not None
        store.restate(self.engine, session.id, row["last_heartbeat"], **session.state)

    def _lock_note(self, session: OlderSession, row: Row) -> str | None:
        words = words_of(row["note"], [], "")
        if len(words.encode()) <= text.LINE:
            return words or None
        self._note([LONG_NOTE])
        self._add(list(parts(session.keep(session.heartbeat, f"Its whole note on a lock:\n{words}"))))
        return words.encode()[: text.LINE - 3].decode("utf-8", "ignore") + "…"

    def _take_world_state(self, row: Row) -> None:
        notes: list[str] = []
        content = words_of(row["content"], notes, "")
        if not content:
            return
        author = None if row["updated_by"] is None else words_of(row["updated_by"], notes, "")
        at = self.times.mend(row["updated_at"], notes, self.times.of_id(author or ""))
        if self._slip_in(content, author, at):
            self.counts["world_versions"] += 1
            self._note(notes)
        else:
            self.counts["already_here"] += 1

    def _slip_in(self, content: str, author: str | None, at: int) -> bool:
        """Add a version of the world state, and put back on top of it what people see now."""
        added = None
        while added is None:  # PostgreSQL: another writer may take the number
            if documents.holds(self.engine, KIND, GLOBAL, content):
                return False
            current = documents.current(self.engine, KIND, GLOBAL)
            version = current["version"] + 1 if current else 1
            added = documents.add(self.engine, KIND, GLOBAL, version, content, author, at, self.source)
        if current:
            documents.add(
                self.engine, KIND, GLOBAL, version + 1, current["content"], current["made_by"], current["made_at"],
                current["sources"],
            )  # fmt: skip
        make_findable(self.engine, GLOBAL)
        return True

    def _note(self, notes: Iterable[str]) -> None:
        for note in notes:
            self.mended[note] = self.mended.get(note, 0) + 1


def _latest(facts: Row) -> int:
    heartbeat: int = facts["last_heartbeat"]
    return max(heartbeat, facts["completed_at"] or heartbeat)


def _state(facts: Row) -> str:
    return fingerprint(facts[name] for name in STATE)
