"""Import Lyra's documents: gists, eras, profile, narrative and self state, each as a version."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from engram.clock import to_datetime
from engram.hub import Hub
from engram.importers import repairs
from engram.importers.repairs import Repairs, is_count
from engram.platform import text
from engram.store import documents, exchanges, sessions
from engram.summaries import gist, self_state, versions
from engram.summaries.eras import parse_month
from engram.summaries.months import Months
from engram.summaries.versions import ERA, GIST, NARRATIVE, PROFILE, SELF

if TYPE_CHECKING:
    from engram.store.engine import Row

FLAVOR = "lyra"
_MADE_BY = f"{versions.IMPORTED} {FLAVOR}"


class LyraDocuments:
    """Imports Lyra's documents once its sessions are imported."""

    def __init__(self, hub: Hub, repairer: Repairs, counts: Counter[str], dry_run: bool) -> None:
        self.hub, self.repairer, self.counts, self.dry_run = hub, repairer, counts, dry_run
        self.ids: dict[str, str] = {}  # Lyra's session to ours
        self.began: dict[str, int] = {}
        self.deleted_sessions: dict[str, int] = {}  # sessions deleted here, with their start
        self.uncovered: dict[str, int] = {}  # time of the first exchange that a summary does not cover

    def import_gist(self, row: Row) -> None:
        """Import a summary with the exchanges it covers."""
        session, content = self.ids.get(str(row["session_id"])), self.repairer.redact_text(row["content"])
        if not session or not content or not self._is_new(GIST, session, content):
            return
        self.counts["gists"] += 1
        if not self.dry_run:
            until = self.uncovered.get(session)
            rows = exchanges.list_by_session(self.hub.engine, session)
            covered = [exchange for exchange in rows if until is None or exchange["at"] < until]
            gist.save_gist(self.hub, sessions.get(self.hub.engine, session) or {}, covered, content, _MADE_BY)

    def import_era(self, row: Row) -> None:
        """Import a month."""
        month, content = parse_month(row["month"]), self.repairer.redact_text(row["content"])
        if self._list_begun_in(month, self.deleted_sessions):
            self.repairer.count_repair(repairs.FORGOTTEN)
        elif content and self._is_new(ERA, month, content):
            self.counts["eras"] += 1
            if not self.dry_run:
                versions.save_version(self.hub, ERA, month, content, self._build_sources(month, row), _MADE_BY)

    def import_profile(self, row: Row) -> None:
        """Import a profile."""
        covered = row["sessions_covered"] if is_count(row.get("sessions_covered")) else len(self.ids)
        self._import_document(PROFILE, str(row["id"] or "self"), row, {"sessions_covered": covered})

    def import_narrative(self, row: Row) -> None:
        """Import a narrative."""
        self._import_document(NARRATIVE, str(row["id"] or "current"), row, {})

    def import_self_state(self, row: Row) -> None:
        """Import a self state; Lyra's own becomes ours."""
        key = "self" if row["id"] in (None, FLAVOR) else text.validate_name("id", str(row["id"]))
        raw = self.repairer.clean_text(row["data"])
        content = self_state.redact_state(self.repairer.redactor, raw)
        if content is None:
            self.repairer.count_repair(repairs.UNREADABLE)
            content = self.repairer.redactor.redact(raw)
        if content and self._is_new(SELF, key, content):
            self.counts["documents"] += 1
            if not self.dry_run:
                self_state.save_state(self.hub, key, content, _MADE_BY)

    def _import_document(self, kind: str, key: str, row: Row, extra_sources: dict[str, Any]) -> None:
        content = self.repairer.redact_text(row["content"])
        text.validate_name("id", key)
        if self.deleted_sessions:
            self.repairer.count_repair(repairs.FORGOTTEN)
        elif content and self._is_new(kind, key, content):
            self.counts["documents"] += 1
            if not self.dry_run:
                at = self.repairer.repair_time(row["updated_at"], None, quiet=True)
                facts = {"sessions": sorted(self.ids.values()), "trust": "import", "at": at, **extra_sources}
                versions.save_version(self.hub, kind, key, content, facts, _MADE_BY)

    def _build_sources(self, month: str, row: Row) -> dict[str, Any]:
        """Return the possible sources of a month: the sessions our calendar or Lyra's assigns to it."""
        facts = Months(self.hub).build_era_sources(month)
        lyra_sessions = {self.ids[native] for native in self._list_begun_in(month, self.began) if native in self.ids}
        facts["sessions"] = sorted({*facts["sessions"], *lyra_sessions}) or sorted(self.ids.values())
        facts["trust"] = "import"
        if is_count(row.get("session_count")):
            facts["session_count"] = row["session_count"]
        return facts

    def _list_begun_in(self, month: str, began: dict[str, int]) -> list[str]:
        """Return the sessions that began in a month as Lyra counts: in UTC."""
        return [native for native, at in began.items() if f"{to_datetime(at):%Y-%m}" == month]

    def _is_new(self, kind: str, key: str, content: str) -> bool:
        """Check whether a document should become a version: not imported yet, and nothing newer exists here."""
        if documents.has_content(self.hub.engine, kind, key, content):
            self.counts["already_here"] += 1
            return False
        current = documents.get_current(self.hub.engine, kind, key)
        is_lasting = current and (versions.is_authored(current) or (kind == SELF and current["content"]))
        if current and is_lasting and current["made_by"] != _MADE_BY:
            self.repairer.count_repair(repairs.NEWER)
            return False
        return True
