"""Import the memory of Lyra: messages with their dates, and documents made from them.

Nothing is imported twice, a bad row does not stop the others, and invalid values are repaired and counted. Lyra's
vectors are not imported: their model is not recorded, and vectors of different models cannot be compared.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from engram.errors import Error, ImportRefused
from engram.hub import Hub
from engram.importers import repairs
from engram.importers.engram_rows import make_session_id
from engram.importers.lyra_documents import FLAVOR, LyraDocuments
from engram.importers.repairs import Repairs, is_count
from engram.operation import Help, operation
from engram.platform import text
from engram.platform.value import value
from engram.store import activity, exchanges
from engram.store import sessions as session_store
from engram.summaries.exchanges import compute_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.redaction.redactor import Redactor
    from engram.store.engine import Row
    from engram.store.seed_lyra import LyraDatabase

    Progress = Callable[[int, int, str], None]

_FLOAT = 4  # bytes
_NAMED = 20  # failed rows listed


@value
class LyraImportReport:
    """The result of importing another memory, with its repairs."""

    source: str
    sessions: int
    exchanges: int
    gists: int
    eras: int
    documents: int  # profiles, narratives, self states
    already_here: int
    mended: dict[str, int]
    failed: tuple[str, ...]  # the first rows that could not be imported
    redacted: dict[str, int]
    vectors: dict[str, int]  # vectors found, by dimension; not imported: texts are embedded again
    dry_run: bool = False


@operation(writes=True, agent=False)
def import_lyra(
    hub: Hub,
    path: Annotated[str, Help("path of Lyra's database")],
    dry_run: Annotated[bool, Help("show what would be imported without importing it")] = False,
) -> LyraImportReport:
    """Import Lyra's memory: messages, summaries, profile, narrative and self state; repeat to import what is new."""
    return import_database(hub, path, dry_run=dry_run)


def import_database(
    hub: Hub, path: str, *, dry_run: bool = False, progress: Progress | None = None
) -> LyraImportReport:
    """Import a Lyra database with progress reports."""
    from engram.redaction import known_secrets
    from engram.redaction.store_redactor import load_hub_redactor
    from engram.store.seed_lyra import LyraDatabase

    full_path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isfile(full_path):
        raise ImportRefused(path=path, reason="no such file.")
    if hub.engine.dialect == "sqlite" and os.path.samefile(full_path, hub.engine.store):
        raise ImportRefused(path=path, reason="it is the store in use.")
    with LyraDatabase(full_path, hub.settings.busy_seconds) as seed:
        work = _LyraImport(hub, seed, load_hub_redactor(hub, make=not dry_run), dry_run)
        work.run(progress)
    if not dry_run:
        known_secrets.save_known_hashes(hub.settings.home, work.redactor)
    return work.build_result()


class _LyraDryRun(Exception):
    """Raised in a dry run to roll a part back."""


class _LyraImport:
    """One import in small transactions, so that others can write meanwhile."""

    def __init__(self, hub: Hub, seed: LyraDatabase, redactor: Redactor, dry_run: bool) -> None:
        self.hub, self.seed, self.redactor, self.dry_run = hub, seed, redactor, dry_run
        self.repairer = Repairs(redactor, hub.now())
        self.counts: Counter[str] = Counter()
        self.vectors: Counter[str] = Counter()
        self.failed: list[str] = []
        self.fresh: set[str] = set()
        self.documents = LyraDocuments(hub, self.repairer, self.counts, dry_run)
        self.ids = self.documents.ids
        self._at: dict[str, int] = {}
        self._deleted = session_store.list_deleted(hub.engine)

    def run(self, progress: Progress | None) -> None:
        """Import everything: messages first, then documents."""
        self.names = self._load_session_rows()
        marks = self._load_summary_marks()
        total, done = self.seed.count_exchanges(), 0
        try:
            for page in self.seed.read_exchanges():
                self._import_page(page, marks)
                done += len(page)
                if progress is not None:
                    progress(done, total, self.seed.path)
        except Error as problem:
            self._record_failure(f"exchanges after {done:,} of {total:,}", problem)
        self._import_table("sessions", self._import_empty_session)
        self._date_sessions()
        self._import_table("summaries", self._import_lone_session)
        documents = self.documents
        for table, import_row in (
            ("summaries", documents.import_gist),
            ("eras", documents.import_era),
            ("profile", documents.import_profile),
            ("narrative", documents.import_narrative),
            ("self_state", documents.import_self_state),
        ):
            self._import_table(table, import_row)
        if not self.dry_run:
            facts: dict[str, Any] = {**self.counts, "mended": dict(self.repairer.counts)}
            activity.record(
                self.hub.engine, self.repairer.now, "imported", text.to_one_line(self.seed.path, 500), **facts
            )

    def build_result(self) -> LyraImportReport:
        """Return what was done, or would be."""
        names = ("exchanges", "gists", "eras", "documents", "already_here")
        return LyraImportReport(
            source=text.to_one_line(self.seed.path, 500), sessions=len(self.fresh),
            **{name: self.counts[name] for name in names}, mended=dict(self.repairer.counts),
            failed=tuple(self.failed[:_NAMED]), redacted=dict(self.redactor.rule_counts),
            vectors=dict(sorted(self.vectors.items())), dry_run=self.dry_run,
        )  # fmt: skip

    def _load_session_rows(self) -> dict[str, Row]:
        try:
            return {str(row["id"]): row for row in self.seed.read_rows("sessions") if row["id"] is not None}
        except Error as problem:
            self._record_failure("sessions", problem)
            return {}

    def _load_summary_marks(self) -> dict[str, int]:
        """Return the last summarized exchange of each session."""
        try:
            rows = self.seed.read_rows("summaries")
        except Error:
            return {}
        return {
            str(row["session_id"]): row["last_exchange_id"] for row in rows if is_count(row.get("last_exchange_id"))
        }

    def _import_table(self, table: str, import_row: Callable[[Row], None]) -> None:
        try:
            rows = self.seed.read_rows(table)
        except Error as problem:
            self._record_failure(table, problem)
            return
        for row in rows:
            try:
                import_row(row)
            except Exception as problem:  # a bad row does not stop the others
                self._record_failure(f"{table} {text.to_one_line(str(next(iter(row.values()))), 60)}", problem)

    def _record_failure(self, subject: str, problem: Exception) -> None:
        self.failed.append(f"{subject}: {text.to_one_line(str(problem) or type(problem).__name__, 200)}")

    def _write_transaction(self, write: Callable[[], object]) -> None:
        """Write in one transaction; roll it back in a dry run."""
        try:
            with self.hub.engine.transaction(durable=True):
                write()
                if self.dry_run:
                    raise _LyraDryRun
        except _LyraDryRun:
            pass

    def _import_page(self, page: list[Row], marks: dict[str, int]) -> None:
        """Import a page of rows; if that fails, row by row."""
        saved_counts = [Counter(source) for source in (self.counts, self.repairer.counts, self.vectors)]
        try:
            self._write_transaction(partial(self._import_exchanges, page, marks))
        except Error as problem:
            if len(page) == 1:
                self._record_failure(f"exchange {page[0]['id']}", problem)
                return
            for counter, before in zip((self.counts, self.repairer.counts, self.vectors), saved_counts, strict=True):
                counter.clear()
                counter.update(before)
            for native in [native for native, own in self.ids.items() if own in self.fresh]:
                del self.ids[native]  # it may have been rolled back
            for row in page:
                self._import_page([row], marks)

    def _import_exchanges(self, page: list[Row], marks: dict[str, int]) -> None:
        contents = self.redactor.redact_many([self.repairer.clean_text(row["content"]) for row in page])
        for row, content in zip(page, contents, strict=True):
            self._count_vector(row)
            session = self._resolve_session(row) if content.strip() else ""
            if session:
                self._import_exchange(row, content, session, marks)
            else:
                self.repairer.count_repair(repairs.DELETED if content.strip() else repairs.EMPTY)

    def _import_lone_session(self, row: Row) -> None:
        """Import a session of which only a summary is left."""
        self._write_transaction(partial(self._resolve_session, row))

    def _import_empty_session(self, row: Row) -> None:
        """Import a session without messages: it has a name."""
        if row["id"] is not None and str(row["id"]) not in self.ids:
            self._write_transaction(
                partial(self._resolve_session, {"session_id": row["id"], "created_at": row["created_at"]})
            )

    def _date_sessions(self) -> None:
        """Set the end of new sessions to their last message."""
        for session_id in () if self.dry_run else self.fresh:
            row, span = (
                session_store.get(self.hub.engine, session_id),
                exchanges.get_session_span(self.hub.engine, session_id),
            )
            if row and span["total"]:
                self._write_transaction(partial(self._date_session, row, span))

    def _date_session(self, row: Row, span: Row) -> None:
        session_store.update_imported(
            self.hub.engine, row["id"], row["last_heartbeat"], summary=row["summary"], status="completed",
            started_at=min(row["started_at"], span["first_at"]), last_heartbeat=span["last_at"],
            completed_at=span["last_at"], completion_summary=None,
        )  # fmt: skip

    def _import_exchange(self, row: Row, content: str, session: str, marks: dict[str, int]) -> None:
        native = str(row["session_id"])
        at = self.repairer.repair_time(row["created_at"], self._at.get(native))
        self._at[native] = at
        if native in marks and row["id"] > marks[native]:
            self.documents.uncovered[session] = min(at, self.documents.uncovered.get(session, at))
        added = exchanges.add(
            self.hub.engine, session_id=session, role=text.to_one_line(str(row["role"] or "user"), 40) or "user",
            content=content, at=at, stored_at=self.repairer.now, origin="import", event=None,
            key=compute_key(FLAVOR, native, row["id"], row["created_at"], row["content"]),
        )  # fmt: skip
        self.counts["exchanges" if added is not None else "already_here"] += 1

    def _count_vector(self, row: Row) -> None:
        """Count a vector by its dimension."""
        if row["size"]:
            self.vectors[f"{row['size'] // _FLOAT} dimensions"] += 1
            if row["size"] % _FLOAT:
                self.repairer.count_repair(repairs.ODD_VECTOR)

    def _resolve_session(self, row: Row) -> str:
        """Return our session for one of Lyra's, created if new; None if a user deleted it."""
        native = str(row["session_id"])
        if (FLAVOR, make_session_id(native)) in self._deleted:
            self.documents.deleted_sessions.setdefault(
                native, self.repairer.repair_time(row["created_at"], None, quiet=True)
            )
            return ""
        own_id = self.ids.get(native)
        if own_id is None or (self.dry_run and own_id in self.fresh):
            own_id = self.ids[native] = self._create_session(native, row)
        return own_id

    def _create_session(self, native: str, row: Row) -> str:
        session_row = self.names.get(native)
        existing = session_store.find_by_native_id(self.hub.engine, FLAVOR, make_session_id(native))
        at = self.repairer.repair_time((session_row or row)["created_at"] or row["created_at"], None, quiet=True)
        self.documents.began.setdefault(native, at)
        if existing:
            return str(existing["id"])
        title = text.to_one_line(
            self.redactor.redact(self.repairer.clean_text((session_row or {}).get("name") or "")), 200
        )
        own_id = make_session_id(native)
        if native not in self.ids:
            self.repairer.counts.update(
                [
                    repair
                    for repair in (session_row is None and repairs.NO_ROW, own_id != native and repairs.BROKEN_ID)
                    if repair
                ]
            )
        facts = {"flavor": FLAVOR, "session_type": FLAVOR, "native_id": own_id, "status": "completed", "project": "",
                 "summary": title, "started_at": at, "last_heartbeat": at, "completed_at": at}  # fmt: skip
        new_id = own_id if session_store.insert(self.hub.engine, id=own_id, **facts) else f"{FLAVOR}-{own_id}"
        if new_id != own_id:
            session_store.insert(self.hub.engine, id=new_id, **facts)
        self.fresh.add(new_id)
        return new_id
