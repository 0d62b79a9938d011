"""Import a store of Helix Forge's session_memory: sessions, digests, events with bodies, patterns as candidates.

Nothing is imported twice, and nothing known here is overwritten: a session whose transcript was captured keeps its own
digest and events. An imported digest stays whatever is captured later. Patterns become signals of the sessions they
name, so that they are counted, ranked and decided like ours. What is not imported is listed with the reason.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from engram.capture.digests.storage import get_imported_facts, save_imported_facts
from engram.errors import ImportRefused
from engram.hub import Hub
from engram.importers.engram_rows import make_session_id
from engram.importers.repairs import Repairs
from engram.importers.session_memory_digests import read_digest
from engram.importers.session_memory_events import EventImport, ImportTarget
from engram.importers.session_memory_report import SessionMemoryImportReport
from engram.platform.text import to_one_line
from engram.store import activity, captures, digests, patterns, sessions, signals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.capture.sweep import Progress
    from engram.store.engine import Row
    from engram.store.seed_session_memory import SessionMemoryDatabase

_OUTCOMES = {
    "success": "success", "succeeded": "success", "failure": "failure", "failed": "failure", "error": "failure",
    "partial": "partial", "abandoned": "abandoned", "interrupted": "abandoned",
}  # fmt: skip
_REASONS = {
    "cursors": "because Engram records by itself what it has read",
    "cursor": "because Engram records by itself what it has read",
    "schema_migrations": "because Engram has its own schema",
    "schema_version": "because Engram has its own schema",
}
_NAMED = 20  # failed rows listed


def import_store(
    hub: Hub, path: str, *, dry_run: bool = False, progress: Progress | None = None
) -> SessionMemoryImportReport:
    """Import a session_memory store with progress reports."""
    from contextlib import nullcontext

    from engram.capture.sweep_lock import SweepLock
    from engram.redaction.store_redactor import load_hub_redactor
    from engram.store.seed_session_memory import SessionMemoryDatabase

    full_path = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(full_path):
        raise ImportRefused(path=path, reason="no such file or directory.")
    with nullcontext() if dry_run else SweepLock(hub.settings.home):
        store_redactor = load_hub_redactor(hub, make=not dry_run)
        with SessionMemoryDatabase(full_path, hub.settings.busy_seconds) as seed:
            work = _SessionMemoryImport(hub, seed, Repairs(store_redactor, hub.now()))
            _import_rows(hub, work, dry_run)
            report = work.build_result(_import_events(hub, work, dry_run, progress), dry_run)
        if not dry_run:
            _finish_import(hub, work)
    return report


def _import_rows(hub: Hub, work: _SessionMemoryImport, dry_run: bool) -> None:
    try:
        with hub.engine.transaction(durable=True):
            patterns.lock_patterns(hub.engine)
            work.run()
            if dry_run:
                raise _SessionMemoryDryRun
    except _SessionMemoryDryRun:
        pass


def _import_events(hub: Hub, work: _SessionMemoryImport, dry_run: bool, progress: Progress | None) -> EventImport:
    from engram.capture.discover import stat_transcript
    from engram.capture.writer import Writer
    from engram.importers.body_files import BodyFiles

    seed, writer = work.seed, None if dry_run else Writer(hub, work.repairer.redactor)
    origin = stat_transcript(seed.path)
    if origin is None:
        raise ImportRefused(path=seed.path, reason="it was deleted meanwhile.")
    event_import = EventImport(hub, seed, BodyFiles(*seed.body_directory), writer, origin)
    event_import.run(work.targets, progress)
    if writer is not None:
        writer.finish()
    return event_import


def _finish_import(hub: Hub, work: _SessionMemoryImport) -> None:
    """Index what was imported, and count its patterns."""
    from engram.capture.digests.passage import index_digests
    from engram.index.maintenance import update_index
    from engram.patterns.resolve import update_patterns
    from engram.redaction import known_secrets

    known_secrets.save_known_hashes(hub.settings.home, work.repairer.redactor)
    index_digests(hub)
    update_patterns(hub)
    update_index(hub, embed="fast")


class _SessionMemoryDryRun(Exception):
    """Raised at the end of a dry run to roll everything back."""


class _SessionMemoryImport:
    """One import; a bad row does not stop the others."""

    def __init__(self, hub: Hub, seed: SessionMemoryDatabase, repairer: Repairs) -> None:
        self.hub, self.seed, self.repairer = hub, seed, repairer
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []
        self.targets: dict[str, ImportTarget] = {}  # our session for each of theirs
        self.deleted = sessions.list_deleted(hub.engine)

    def run(self) -> None:
        """Import everything."""
        for table, import_row in (
            ("sessions", self._import_session),
            ("digests", self._import_digest),
            ("patterns", self._import_pattern),
        ):
            for row in self.seed.read_rows(table):
                try:
                    import_row(row)
                except (TypeError, ValueError, KeyError) as problem:
                    self.failed.append(f"{table}: {type(problem).__name__}: {problem}"[:200])
        activity.record(
            self.hub.engine, self.repairer.now, "imported", to_one_line(self.seed.path, 500),
            project="", session_id=None,
            **self.counts,
        )  # fmt: skip

    def build_result(self, event_import: EventImport, dry_run: bool) -> SessionMemoryImportReport:
        """Return what was done, or would be."""
        names = ("sessions", "digests", "patterns", "already_here")
        skipped = (*self._list_unused_tables(), *event_import.skipped.format_lines())
        return SessionMemoryImportReport(
            source=to_one_line(self.seed.path, 500),
            **{name: self.counts[name] for name in names},
            mended=dict(self.repairer.counts),
            failed=tuple(self.failed[:_NAMED]),
            events=event_import.counts["events"],
            bodies=event_import.counts["bodies"],
            left=tuple(to_one_line(self.repairer.redact_text(line), 1000) for line in skipped),
            redacted=dict(self.repairer.redactor.rule_counts),
            dry_run=dry_run,
        )

    def _list_unused_tables(self) -> Iterator[str]:
        """Yield the tables that are not imported."""
        for name, count in self.seed.count_unused_rows().items():
            rows = "1 row" if count == 1 else f"{count:,} rows"
            yield f"{name}: {rows}, {_REASONS.get(name, 'in a table that Engram does not use')}"

    def _import_session(self, row: Row) -> None:
        theirs, flavor = self._read_text(row, "id"), self._read_text(row, "flavor").lower() or "unknown"
        native = theirs.partition(":")[2] if theirs.startswith(f"{flavor}:") else theirs
        if not native or (flavor, native) in self.deleted:
            return
        engine, existing = self.hub.engine, sessions.find_by_native_id(self.hub.engine, flavor, native)
        self.counts["already_here" if existing else "sessions"] += 1
        if existing is None:
            own_id, domain = make_session_id(native), self._read_text(row, "domain") or None
            began = self.repairer.repair_time(_read_fact(row, "started"), None)
            ended = self.repairer.repair_time(_read_fact(row, "ended"), began, quiet=True)
            sessions.insert(
                engine,
                id=own_id,
                flavor=flavor,
                native_id=native,
                session_type=flavor,
                status="completed",
                summary=to_one_line(self._read_text(row, "summary"), 200) or "imported",
                project=self._read_text(row, "project"),
                cwd=self._read_text(row, "cwd") or None,
                started_at=began,
                last_heartbeat=max(began, ended),
                domain=domain,
                completed_at=max(began, ended),
            )
            existing = sessions.get(engine, own_id)
        if existing is not None:
            self.targets[theirs] = ImportTarget(theirs=theirs, session=existing, row=row)

    def _import_digest(self, row: Row) -> None:
        target = self.targets.get(self._read_text(row, "id"))
        if target is None:
            self.failed.append(
                f"digests: {self._read_text(row, 'id')[:80] or 'without a session'}: does not name a session known here"
            )
            return
        engine, session = self.hub.engine, target.session
        capture = captures.find_by_session(engine, session["id"]) or captures.get_or_add(
            engine, session["id"], session["started_at"]
        )
        before = digests.find_by_capture(engine, capture["num"])
        if capture["events"] or get_imported_facts(before):
            self.counts["already_here"] += 1
            return
        outcome = _OUTCOMES.get(
            str(_read_fact(row, "outcome") or _read_fact(target.row, "outcome") or "").lower(), "unclear"
        )
        facts = read_digest(row, self.repairer)
        save_imported_facts(
            engine,
            capture["num"],
            {**facts, "outcome": outcome, "confidence": _clamp_confidence(_read_fact(row, "confidence"))},
            self.repairer.now,
        )
        self.counts["digests"] += 1

    def _import_pattern(self, row: Row) -> None:
        """Import a pattern as a signal of each session it names."""
        from engram.evidence.error_signature import abstract_line
        from engram.patterns.queue import IMPORTED

        title = self._read_text(row, "title")
        references = map(_parse_reference, _to_list(_read_fact(row, "sessions")))
        named_sessions = [target.session for item in references if (target := self.targets.get(item))]
        if not title or not named_sessions:
            self.failed.append(
                f"patterns: {to_one_line(title, 80) or 'without a title'}: does not name a session known here"
            )
            return
        kind, times = _map_kind(row), max(1, int(_read_fact(row, "times") or 1) // len(named_sessions))
        for session in {item["id"]: item for item in named_sessions}.values():
            self._add_signal(
                session, kind, f"{IMPORTED}{abstract_line(title)}", title, self._read_text(row, "fix"), times
            )
        self.counts["patterns"] += 1

    def _add_signal(self, session: Row, kind: str, fingerprint: str, title: str, fix: str, times: int) -> None:
        from engram.patterns.fingerprint import pattern_id, sanitize_line

        row = {
            "session_id": session["id"], "kind": kind, "fingerprint": fingerprint, "text": sanitize_line(title, 240),
            "quote": sanitize_line(title, 200), "fix": sanitize_line(fix, 240), "evidence": "[]", "times": times,
            "project": session["project"], "flavor": session["flavor"], "at": session["last_heartbeat"], "tokens": 0,
            "seconds": 0,
        }  # fmt: skip
        signals.replace_signals(self.hub.engine, session["id"], [row], keep=True)
        placement = {"kind": kind, "fingerprint": fingerprint, "pattern": pattern_id(kind, fingerprint), "vector": None}
        patterns.mark_changed(self.hub.engine, [placement])

    def _read_text(self, row: Row, name: str) -> str:
        return self.repairer.redact_text(_read_fact(row, name))


def _read_fact(row: Row, name: str) -> Any:
    from engram.store.seed_session_memory import find_fact

    return find_fact(row, name)


def _map_kind(row: Row) -> str:
    """Return our kind of a pattern: theirs if we have it, else a general problem or success."""
    from engram.patterns.signal import KINDS

    theirs = str(_read_fact(row, "kind") or "").lower().replace("_", "-")
    if theirs in KINDS:
        return theirs
    return "short-path" if "success" in theirs or "positive" in theirs else "error"


def _to_list(fact: Any) -> list[Any]:
    return fact if isinstance(fact, list) else [fact] if fact else []


def _parse_reference(reference: Any) -> str:
    """Return the session a piece of evidence names."""
    from engram.store.seed_session_memory import find_fact

    return str(find_fact(reference, "id") or "") if isinstance(reference, dict) else str(reference)


def _clamp_confidence(confidence: Any) -> float:
    return min(1.0, max(0.0, float(confidence))) if isinstance(confidence, int | float) else 0.3
