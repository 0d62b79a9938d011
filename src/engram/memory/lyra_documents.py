"""What Lyra made of its sessions: gists, eras, profile, narrative and self state, each as a version of ours."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from engram import text
from engram.clock import moment
from engram.hub import Hub
from engram.memory import gist, mending, self_state, versions
from engram.memory.eras import month_named
from engram.memory.mending import Mending, is_count
from engram.memory.months import Months
from engram.memory.versions import ERA, GIST, NARRATIVE, PROFILE, SELF
from engram.store import documents, exchanges
from engram.store import sessions as session_store

if TYPE_CHECKING:
    from engram.store.engine import Row

FLAVOR = "lyra"
_MADE_BY = f"{versions.IMPORTED} {FLAVOR}"


class Documents:
    """Takes Lyra's documents over, once its sessions are here."""

    def __init__(self, hub: Hub, mend: Mending, counts: Counter[str], dry_run: bool) -> None:
        self.hub, self.mend, self.counts, self.dry_run = hub, mend, counts, dry_run
        self.ids: dict[str, str] = {}  # Lyra's session to ours
        self.began: dict[str, int] = {}
        self.forgotten: dict[str, int] = {}  # sessions that were deleted here, and when they began
        self.uncovered: dict[str, int] = {}  # when the first exchange was said that a summary does not cover

    def gist(self, row: Row) -> None:
        """Take over a summary, with the exchanges it covers."""
        session, content = self.ids.get(str(row["session_id"])), self.mend.said(row["content"])
        if not session or not content or not self._is_new(GIST, session, content):
            return
        self.counts["gists"] += 1
        if not self.dry_run:
            until = self.uncovered.get(session)
            rows = exchanges.of_session(self.hub.engine, session)
            covered = [each for each in rows if until is None or each["at"] < until]
            gist.keep(self.hub, session_store.get(self.hub.engine, session) or {}, covered, content, _MADE_BY)

    def era(self, row: Row) -> None:
        """Take over a month."""
        month, content = month_named(row["month"]), self.mend.said(row["content"])
        if self._in(month, self.forgotten):
            self.mend.note(mending.FORGOTTEN)
        elif content and self._is_new(ERA, month, content):
            self.counts["eras"] += 1
            if not self.dry_run:
                versions.put(self.hub, ERA, month, content, self._sources(month, row), _MADE_BY)

    def profile(self, row: Row) -> None:
        """Take over a profile."""
        covered = row["sessions_covered"] if is_count(row.get("sessions_covered")) else len(self.ids)
        self._document(PROFILE, str(row["id"] or "self"), row, {"sessions_covered": covered})

    def narrative(self, row: Row) -> None:
        """Take over a narrative."""
        self._document(NARRATIVE, str(row["id"] or "current"), row, {})

    def self_state(self, row: Row) -> None:
        """Take over a self state; Lyra's own becomes ours."""
        key = "self" if row["id"] in (None, FLAVOR) else text.name("id", str(row["id"]))
        said = self.mend.text(row["data"])
        content = self_state.redacted(self.mend.redactor, said)
        if content is None:
            self.mend.note(mending.UNREADABLE)
            content = self.mend.redactor.clean(said)
        if content and self._is_new(SELF, key, content):
            self.counts["documents"] += 1
            if not self.dry_run:
                self_state.keep(self.hub, key, content, _MADE_BY)

    def _document(self, kind: str, key: str, row: Row, more: dict[str, Any]) -> None:
        content = self.mend.said(row["content"])
        text.name("id", key)
        if self.forgotten:
            self.mend.note(mending.FORGOTTEN)
        elif content and self._is_new(kind, key, content):
            self.counts["documents"] += 1
            if not self.dry_run:
                at = self.mend.time(row["updated_at"], None, quiet=True)
                facts = {"sessions": sorted(self.ids.values()), "trust": "import", "at": at, **more}
                versions.put(self.hub, kind, key, content, facts, _MADE_BY)

    def _sources(self, month: str, row: Row) -> dict[str, Any]:
        """Return what may be behind a month: the sessions our calendar or Lyra's puts there."""
        facts = Months(self.hub).sources(month)
        also = {self.ids[each] for each in self._in(month, self.began) if each in self.ids}
        facts["sessions"] = sorted({*facts["sessions"], *also}) or sorted(self.ids.values())
        facts["trust"] = "import"
        if is_count(row.get("session_count")):
            facts["session_count"] = row["session_count"]
        return facts

    def _in(self, month: str, began: dict[str, int]) -> list[str]:
        """Return the sessions that began in a month as Lyra cut them: in UTC."""
        return [each for each, at in began.items() if f"{moment(at):%Y-%m}" == month]

    def _is_new(self, kind: str, key: str, content: str) -> bool:
        """Tell whether a document is worth a version: not here yet, and nothing newer was made here."""
        if documents.holds(self.hub.engine, kind, key, content):
            self.counts["already_here"] += 1
            return False
        known = documents.current(self.hub.engine, kind, key)
        lasts = known and (versions.is_written(known) or (kind == SELF and known["content"]))
        if known and lasts and known["made_by"] != _MADE_BY:
            self.mend.note(mending.NEWER)
            return False
        return True
