"""Undo a pass: restore what it wrote, as a new version that stays until its sources change.

Ingested transcripts, the index, signals and evicted bodies are not undone. What somebody changed since is left alone
and reported.
"""

from __future__ import annotations

from engram.dream.lease import Lease
from engram.dream.results import UndoReport
from engram.errors import InvalidInput, NotFound
from engram.hub import Hub
from engram.store import documents, dream_passes
from engram.summaries import self_state, versions
from engram.summaries.document_history import add_restored_version
from engram.summaries.versions import ERA, GIST, NARRATIVE, PROFILE, SELF
from engram.wiki.vault import daily_log, due_logs, page_snapshots, vault, write_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row
    from engram.wiki.vault.vault import Vault

_ORDER = (GIST, ERA, PROFILE, NARRATIVE)  # each is built from those before it
_ENTRY = "entry"
_UNDO = "undo of pass "


def undo_pass(hub: Hub, pass_id: int) -> UndoReport:
    """Undo a pass; raise an error if that is not possible."""
    row = dream_passes.get(hub.engine, pass_id) if isinstance(pass_id, int) and 0 < pass_id < 1 << 62 else None
    if row is None:
        raise NotFound(kind="pass", id=str(pass_id), hint="List them with `engram dream log`.")
    if row["undone_at"] is not None:
        raise InvalidInput(field="pass_id", reason=f"Pass {pass_id} is already undone.")
    with Lease(hub):
        return _PassUndo(hub, pass_id).run()


class _PassUndo:
    """The undo of one pass."""

    def __init__(self, hub: Hub, pass_id: int) -> None:
        self.hub, self.id = hub, pass_id
        self.made_by = f"{_UNDO}{pass_id}"
        self.restored: list[str] = []
        self.removed: list[str] = []
        self.kept: list[str] = []

    def run(self) -> UndoReport:
        changes = dream_passes.list_changes(self.hub.engine, self.id)
        for kind in _ORDER:
            self._undo_documents(kind, [row for row in changes if row["kind"] == kind])
        self._undo_reflection([row for row in changes if row["kind"] == SELF])
        home = vault.open_vault(self.hub)
        if pages := {row["key"] for row in changes if row["kind"] == page_snapshots.PAGE}:
            self._undo_pages(home, pages)
        self._undo_entries(home, {row["key"] for row in changes if row["kind"] == _ENTRY})
        with self.hub.engine.transaction(durable=True):
            dream_passes.mark_undone(self.hub.engine, self.id, self.hub.now())
        return UndoReport(
            id=self.id, restored=tuple(self.restored), removed=tuple(self.removed), kept=tuple(self.kept)
        )  # fmt: skip

    def _undo_documents(self, kind: str, changes: list[Row]) -> None:
        written_versions: dict[str, tuple[int, int]] = {}
        for row in changes:  # the latest first: its last version, and the one before its first
            last, _ = written_versions.get(row["key"], (row["version"], 0))
            written_versions[row["key"]] = last, row["before"]
        for key, (last, before) in written_versions.items():
            current = documents.get_current(self.hub.engine, kind, key)
            if current is None or not self._is_as_left(current, last):
                if current is None or current["made_by"] != self.made_by:  # by an undo that was interrupted
                    self.kept.append(f"{kind} {key}")
                continue
            self._restore_document(kind, current, documents.get(self.hub.engine, kind, key, before) if before else None)

    def _is_as_left(self, current: Row, last: int) -> bool:
        """Check whether a document is as the pass left it, also if a later pass changed it and was undone."""
        if current["version"] == last:
            return True
        written = documents.get(self.hub.engine, current["kind"], current["key"], last)
        is_undo = str(current["made_by"]).startswith(_UNDO) and current["made_by"] != self.made_by
        return is_undo and written is not None and written["content"] == current["content"]

    def _restore_document(self, kind: str, current: Row, before: Row | None) -> None:
        """Add a version with the text from before the pass and the current sources."""
        author = {"by": versions.load_sources(before["sources"]).get("by") or before["made_by"]} if before else {}
        add_restored_version(self.hub, current, before, self.made_by, {"undone": self.id, **author})
        (self.restored if before else self.removed).append(f"{kind} {current['key']}")

    def _undo_reflection(self, changes: list[Row]) -> None:
        """Restore the reflection from before the pass; drives and everything else stay."""
        if not changes:
            return
        written, before = (
            self_state.get_state_at(self.hub, version).get("reflection")
            for version in (changes[0]["version"], changes[-1]["before"])
        )
        current = self_state.get_part(self.hub, "reflection")
        if before in (written, current):
            return  # it only saved drives, or an interrupted undo already did this
        if current != written:
            self.kept.append("reflection")
            return
        sessions = before.get("sessions", []) if isinstance(before, dict) else []
        self_state.update_state(self.hub, {"reflection": before}, self.made_by, sessions)
        (self.restored if before else self.removed).append("reflection")

    def _undo_pages(self, home: Vault, changed: set[str]) -> None:
        """Restore pages, except those that changed since, or whose old text is gone."""
        from engram.clock import load_timezone, to_datetime

        write_batch.finish_journal(self.hub, home)  # a pass that died may have left unfinished writes
        restores: list[write_batch.PageWrite] = []
        snapshots = page_snapshots.read_snapshots(home, self.id)
        self.kept += [f"page {target}" for target in sorted(changed - set(snapshots))]
        for target, snapshot in snapshots.items():
            current = home.read(target)
            if current == snapshot["before"]:
                continue
            if (None if current is None else due_logs.hash_text(current)) != snapshot["after"]:
                self.kept.append(f"page {target}")
                continue
            record = snapshot["record"] or {}
            facts = {name: fact for name, fact in record.items() if name not in ("sections", "front", "made_by")}
            restores.append(
                write_batch.PageWrite(
                    target=target,
                    text=snapshot["before"],
                    made_by=str(record.get("made_by") or self.made_by),
                    record=facts,
                    summary=str(facts.get("summary") or ""),
                    gone=snapshot["before"] is None,
                    anew=True,
                )
            )
            (self.restored if snapshot["before"] is not None else self.removed).append(f"page {target}")
        at = (
            to_datetime(self.hub.now())
            .astimezone(load_timezone(self.hub.settings.timezone))
            .isoformat(timespec="seconds")
        )
        if restores:
            write_batch.commit_writes(self.hub, home, restores, what="undo", subject=f"pass {self.id}", at=at)

    def _undo_entries(self, home: Vault, entry_ids: set[str]) -> None:
        """Remove the entries a pass wrote from their logs; their sessions are not flushed again."""
        from engram.store import log_entries
        from engram.wiki.vault import sync

        rows = [row for entry_id in sorted(entry_ids) if (row := log_entries.get(self.hub.engine, entry_id))]
        with self.hub.engine.transaction(durable=True):
            for row in rows:  # entries that no log has yet, because the pass died, must not be written later
                log_entries.mark_written(self.hub.engine, row["id"], self.hub.now())
        for day in sorted({row["day"] for row in rows}):
            daily_log.delete_entries(home, day, entry_ids)
        self.removed += [f"entry {entry_id}" for entry_id in sorted(entry_ids)]
        if entry_ids:
            sync.sync_logs(self.hub, home)
