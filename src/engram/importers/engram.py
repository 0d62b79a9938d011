"""Import the database of an older Engram: its Python version, its Elixir version, or both in one file.

Nothing is lost or imported twice: invalid values are repaired and counted, texts that do not fit are kept in full in
the log, and every row records its source row.
"""

from __future__ import annotations

import os

from engram.clock import MINUTE, to_datetime
from engram.errors import Error, ImportRefused, InvalidInput
from engram.importers.engram_rows import (
    STATE,
    ImportedEntry,
    OlderSession,
    TimeParser,
    fingerprint,
    make_session_id,
    split_entry,
    to_text,
)
from engram.operation import Help, operation
from engram.platform import text
from engram.sessions import locks, resources
from engram.sessions.world_state import GLOBAL, KIND, make_findable
from engram.store import activity, documents, sessions
from engram.store import locks as lock_store
from engram.store.seed_engram import OlderEngramDatabase
from engram.types import Imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import tzinfo
    from typing import Annotated, Any

    from engram.hub import Hub
    from engram.store.engine import Row

HELD_ON = "locks still held by completed sessions"
LONG_ENTRY = "log entries over the size limit, split into parts"
LONG_NOTE = "lock notes over the size limit, kept in full in the log"
RECOVERED = "sessions created for log entries without one"

_LEDGER = "imported"  # documents that record, per session, what was imported
_BATCH = 200


@operation(writes=True, agent=False)
def import_engram(
    hub: Hub,
    path: Annotated[str, Help("database of an older version (engram.db), Python or Elixir")],
    timezone: Annotated[str | None, Help("its time zone if different from yours, such as Europe/Berlin")] = None,
    dry_run: Annotated[bool, Help("show what would be imported without importing it")] = False,
) -> Imported:
    """Import sessions, logs, locks and world state of an older Engram; repeat to import what is new."""
    full_path, zone = _resolve_path(hub, path), _parse_zone(timezone)
    hub.steady()  # fixed now: a dry run is rolled back, so it must not set the store's clock
    with OlderEngramDatabase(full_path, hub.settings.busy_seconds) as seed:
        work = _EngramImport(hub, seed, TimeParser(zone, hub.now()))
        work.prepare()  # before the transaction, which blocks other writers
        try:
            with hub.engine.transaction(durable=True):
                work.run()
                if dry_run:
                    raise _EngramDryRun
        except _EngramDryRun:
            pass
    return work.build_result(dry_run)


class _EngramDryRun(Exception):
    """Raised at the end of a dry run to roll everything back."""


def _resolve_path(hub: Hub, path: str) -> str:
    full_path = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(full_path):
        raise ImportRefused(path=path, reason="no such file.")
    if os.path.isdir(full_path):
        raise ImportRefused(path=path, reason="it is a directory. Give the path of the engram.db in it.")
    if not os.path.isfile(full_path):
        raise ImportRefused(path=path, reason="it is not a regular file.")
    if hub.engine.dialect == "sqlite" and os.path.samefile(full_path, hub.engine.store):
        raise ImportRefused(path=path, reason="it is the store in use.")
    return full_path


def _parse_zone(name: str | None) -> tzinfo | None:
    if name is None:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as problem:
        raise InvalidInput(field="timezone", reason=f"Unknown time zone {name!r}. Try Europe/Berlin.") from problem


class _EngramImport:
    """One import, all or nothing."""

    def __init__(self, hub: Hub, seed: OlderEngramDatabase, times: TimeParser) -> None:
        self.hub, self.engine = hub, hub.engine
        self.seed, self.times = seed, times
        self.source = to_text(seed.path, [], "")
        self.sessions: dict[str, OlderSession] = {}
        self.counts = dict.fromkeys(("sessions", "updated", "logs", "locks", "world_versions", "already_here"), 0)
        self.mended: dict[str, int] = {}
        self.dropped: list[str] = []

    def prepare(self) -> None:
        """Read the sessions and create missing ones."""
        for row in self.seed.read_sessions():
            session = OlderSession(self.times, row)
            self.sessions[session.id] = session
        for session_id, span in self._find_orphans().items():
            self.sessions[session_id] = self._recover_session(session_id, *span)

    def run(self) -> None:
        """Import everything; call it inside a transaction."""
        existing = [session for session in self.sessions.values() if not self._insert_session(session)]
        self._import_logs()
        # Locks before sessions, as everywhere: on PostgreSQL this order prevents deadlocks.
        lock_store.lock_table(self.engine)
        for session in existing:
            self._merge_session(session)
        self._import_locks()
        for row in self.seed.read_world_states():
            self._import_world_state(row)
        facts: dict[str, Any] = {**self.counts, "mended": self.mended, "dropped": len(self.dropped)}
        activity.record(self.engine, self.times.now, "imported", self.source, **facts)

    def build_result(self, dry_run: bool) -> Imported:
        """Return what was done, or would be."""
        facts: dict[str, Any] = {**self.counts, "mended": self.mended, "dropped": tuple(self.dropped)}
        return Imported(source=self.source, dry_run=dry_run, **facts)

    def _find_orphans(self) -> dict[str, tuple[int, int]]:
        """Return the first and last time of log entries without a session."""
        spans: dict[str, tuple[int, int]] = {}
        for row in self.seed.read_log_times():
            session_id = make_session_id(row["session_id"])
            if session_id not in self.sessions:
                at = self.times.repair_time(row["timestamp"], [], self.times.time_from_id(session_id))
                first, last = spans.get(session_id, (at, at))
                spans[session_id] = min(first, at), max(last, at)
        return spans

    def _recover_session(self, session_id: str, first: int, last: int) -> OlderSession:
        started, ended = to_datetime(first).isoformat(), to_datetime(last).isoformat()
        words = "Recovered from orphan log entries: the older database had no session of this id."
        session = OlderSession(self.times, {
            "id": session_id, "session_type": "unknown", "summary": words, "status": "completed",
            "started_at": started, "last_heartbeat": ended, "completed_at": ended, "completion_summary": words,
            "metadata": None,
        })  # fmt: skip
        session.recovered = True
        session.notes.append(RECOVERED)
        return session

    def _insert_session(self, session: OlderSession) -> bool:
        """Insert a session that is new here."""
        if not sessions.insert(self.engine, **session.facts):
            return False
        self._record_written(session, "sessions")
        return True

    def _merge_session(self, session: OlderSession) -> None:
        """Update a session imported before, unless it went on here."""
        row = sessions.get(self.engine, session.id)
        assert row is not None
        ledger_row = documents.get_current(self.engine, _LEDGER, session.id)
        raw, _, state = ledger_row["content"].partition(" ") if ledger_row else ("", "", "")
        session.ours = state == _hash_state(row)
        has_news = raw != session.raw and not session.recovered
        if has_news and session.ours and _get_latest_time(session.facts) > _get_latest_time(row):
            session.ours = self._restate_session(session, row)
        if session.fresh:
            return
        if has_news and not session.ours:
            self._keep_completion(session, row)
        session.facts |= {name: row[name] for name in session.state}  # ours is newer, or the same
        self.counts["already_here"] += 1

    def _restate_session(self, session: OlderSession, row: Row) -> bool:
        if not sessions.update_imported(self.engine, session.id, row["last_heartbeat"], **session.state):
            return False  # PostgreSQL: a heartbeat arrived at this moment
        if session.facts["status"] == "completed":
            lock_store.delete_all(self.engine, session.id)
        self._record_written(session, "updated")
        return True

    def _record_written(self, session: OlderSession, count: str) -> None:
        session.fresh = True
        self.counts[count] += 1
        self._count_mended(session.notes)
        ledger_row = documents.get_current(self.engine, _LEDGER, session.id)
        documents.add_version(
            self.engine, _LEDGER, session.id, ledger_row["version"] + 1 if ledger_row else 1,
            f"{session.raw} {_hash_state(session.facts)}", None, self.times.now, self.source,
        )  # fmt: skip

    def _keep_completion(self, session: OlderSession, row: Row) -> None:
        """Keep the source's completion of a session that went on here."""
        completion, at = session.facts["completion_summary"], session.facts["completed_at"]
        if completion is not None and completion != row["completion_summary"]:
            when = to_datetime(at).isoformat(timespec="seconds")
            self._add_entries(
                list(split_entry(session.keep_as_entry(at, f"Elsewhere it was completed at {when}: {completion}")))
            )

    def _import_logs(self) -> None:
        batch: list[ImportedEntry] = []
        for entry in self._iter_entries():
            batch += split_entry(entry)
            if len(batch) >= _BATCH:
                self._add_entries(batch)
                batch = []
        self._add_entries(batch)

    def _iter_entries(self) -> Iterator[ImportedEntry]:
        """Yield the source's log entries in order, merged by time with texts kept of a session."""
        waiting = {session.id: sorted(session.kept, key=lambda kept: kept.at) for session in self.sessions.values()}
        latest: dict[str, int] = {}
        for row in self.seed.read_logs():
            entry = self._build_entry(row, latest)
            saved = waiting[entry.session_id]
            while saved and saved[0].at < entry.at:
                yield saved.pop(0)
            yield entry
        for saved in waiting.values():
            yield from saved

    def _build_entry(self, row: Row, latest: dict[str, int]) -> ImportedEntry:
        notes: list[str] = []
        session = self.sessions[make_session_id(row["session_id"])]
        at = self.times.repair_time(row["timestamp"], notes, latest.get(session.id), session.started)
        latest[session.id] = at
        words = to_text(row["entry"], notes, "(nothing)")
        if len(words) > text.PAGE // 4 and len(words.encode()) > text.PAGE:
            notes.append(LONG_ENTRY)
        origin = f"engram:log:{fingerprint((session.id, row['id'], row['timestamp'], row['entry']))}"
        return ImportedEntry(session_id=session.id, at=at, words=words, origin=origin, notes=tuple(notes))

    def _add_entries(self, batch: list[ImportedEntry]) -> None:
        new = sessions.add_logs(
            self.engine, [(entry.session_id, entry.at, entry.words, entry.origin) for entry in batch]
        )
        for entry in batch:
            if not entry.origin.startswith("engram:log:") or "+" in entry.origin:
                continue
            if entry.origin in new:
                self.counts["logs"] += 1
                self._count_mended(entry.notes)
            else:
                self.counts["already_here"] += 1

    def _import_locks(self) -> None:
        rows = [(self.times.repair_time(row["locked_at"], []), row) for row in self.seed.read_locks()]
        for _, row in sorted(rows, key=lambda pair: pair[0]):  # the first lock wins
            resource = to_text(row["resource"], [], "")
            reason = self._find_lock_obstacle(row) or self._import_lock(row, resource)
            if reason:
                note = f', "{text.to_one_line(to_text(row["note"], [], ""))}"' if row["note"] else ""
                held_by = text.to_one_line(to_text(row["session_id"], [], "nobody"))
                self.dropped.append(f"{text.to_one_line(resource, 500)} (held by {held_by}{note}): {reason}")

    def _find_lock_obstacle(self, row: Row) -> str | None:
        """Return why a lock of the source is no longer valid; locks never expired there."""
        session = self.sessions.get(make_session_id(row["session_id"]))
        if session is None or session.recovered:
            return "its session does not exist."
        if session.facts["status"] == "completed":
            self._count_mended([HELD_ON] if session.fresh else [])
            return "its session is completed."
        if not session.ours:
            return "its session has continued here."
        silent = self.times.now - session.facts["last_heartbeat"]
        if silent > self.hub.settings.stale_minutes * MINUTE:
            return f"its session has been silent for {text.format_duration(silent)}."
        return None

    def _import_lock(self, row: Row, resource: str) -> str | None:
        session = self.sessions[make_session_id(row["session_id"])]
        try:
            canonical = resources.parse_resource(resource, None, "")
            overlapping = locks.check_locks(self.hub, resource, session.id)
            if any(
                (held_lock.session_id, held_lock.resource) == (session.id, canonical.name) for held_lock in overlapping
            ):
                self.counts["already_here"] += 1
                return None
            rival = next(
                (lock for lock in overlapping if lock.session_id != session.id and lock.mode != "announce"), None
            )
            if rival:  # checked first: a refused lock would count as a conflict between agents
                return f"{rival.session_id} holds {rival.resource} here."
            locks.lock_resource(self.hub, session.id, resource, self._fit_lock_note(session, row))
        except Error as refusal:
            return str(refusal)
        self._reset_heartbeat(session)
        self.counts["locks"] += 1
        return None

    def _reset_heartbeat(self, session: OlderSession) -> None:
        """Reset a session's heartbeat to that of the source: we took the lock, not its agent.

        The lock itself lasts its full time from now: older locks never expired, so no agent renewed them.
        """
        row = sessions.get(self.engine, session.id)
        assert row is not None
        sessions.update_imported(self.engine, session.id, row["last_heartbeat"], **session.state)

    def _fit_lock_note(self, session: OlderSession, row: Row) -> str | None:
        words = to_text(row["note"], [], "")
        if len(words.encode()) <= text.LINE:
            return words or None
        self._count_mended([LONG_NOTE])
        self._add_entries(
            list(split_entry(session.keep_as_entry(session.heartbeat, f"Its whole note on a lock:\n{words}")))
        )
        return words.encode()[: text.LINE - 3].decode("utf-8", "ignore") + "…"

    def _import_world_state(self, row: Row) -> None:
        notes: list[str] = []
        content = to_text(row["content"], notes, "")
        if not content:
            return
        author = None if row["updated_by"] is None else to_text(row["updated_by"], notes, "")
        at = self.times.repair_time(row["updated_at"], notes, self.times.time_from_id(author or ""))
        if self._insert_world_version(content, author, at):
            self.counts["world_versions"] += 1
            self._count_mended(notes)
        else:
            self.counts["already_here"] += 1

    def _insert_world_version(self, content: str, author: str | None, at: int) -> bool:
        """Insert a version of the world state below the current one."""
        added = None
        while added is None:  # PostgreSQL: another writer may take the number
            if documents.has_content(self.engine, KIND, GLOBAL, content):
                return False
            current = documents.get_current(self.engine, KIND, GLOBAL)
            version = current["version"] + 1 if current else 1
            added = documents.add_version(self.engine, KIND, GLOBAL, version, content, author, at, self.source)
        if current:
            documents.add_version(
                self.engine, KIND, GLOBAL, version + 1, current["content"], current["made_by"], current["made_at"],
                current["sources"],
            )  # fmt: skip
        make_findable(self.engine, GLOBAL)
        return True

    def _count_mended(self, notes: Iterable[str]) -> None:
        for note in notes:
            self.mended[note] = self.mended.get(note, 0) + 1


def _get_latest_time(facts: Row) -> int:
    heartbeat: int = facts["last_heartbeat"]
    return max(heartbeat, facts["completed_at"] or heartbeat)


def _hash_state(facts: Row) -> str:
    return fingerprint(facts[name] for name in STATE)
