"""Undo a pass: what it wrote says again what it said before, as a new version, until its sources change anew.

What was taken in stays, and so do the index, the signals and the bodies that were dropped. What somebody changed since
is left alone and named.
"""

from __future__ import annotations

from engram.dream.done import Undone
from engram.dream.lease import Lease
from engram.errors import InvalidInput, NotFound
from engram.hub import Hub
from engram.memory import self_state, versions
from engram.memory.document_history import put_back
from engram.memory.versions import ERA, GIST, NARRATIVE, PROFILE, SELF
from engram.store import documents, passes
from engram.vault import daily_log, gate, images, vault, writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.store.engine import Row
    from engram.vault.vault import Vault

_ORDER = (GIST, ERA, PROFILE, NARRATIVE)  # each is made of those before it
_ENTRY = "entry"
_UNDO = "undo of pass "


def undone(hub: Hub, pass_id: int) -> Undone:
    """Undo a pass, or say why that cannot be."""
    row = passes.get(hub.engine, pass_id) if isinstance(pass_id, int) and 0 < pass_id < 1 << 62 else None
    if row is None:
        raise NotFound(kind="pass", id=str(pass_id), hint="See `engram dream log`.")
    if row["undone_at"] is not None:
        raise InvalidInput(field="pass_id", reason=f"pass {pass_id} is undone already.")
    with Lease(hub):
        return _Undoing(hub, pass_id).run()


class _Undoing:
    """One pass being undone."""

    def __init__(self, hub: Hub, pass_id: int) -> None:
        self.hub, self.id = hub, pass_id
        self.made_by = f"{_UNDO}{pass_id}"
        self.restored: list[str] = []
        self.removed: list[str] = []
        self.kept: list[str] = []

    def run(self) -> Undone:
        found = passes.changes(self.hub.engine, self.id)
        for kind in _ORDER:
            self._documents(kind, [row for row in found if row["kind"] == kind])
        self._reflection([row for row in found if row["kind"] == SELF])
        home = vault.of(self.hub)
        if pages := {row["key"] for row in found if row["kind"] == images.PAGE}:
            self._pages(home, pages)
        self._entries(home, {row["key"] for row in found if row["kind"] == _ENTRY})
        with self.hub.engine.transaction(durable=True):
            passes.mark_undone(self.hub.engine, self.id, self.hub.now())
        return Undone(
            id=self.id, restored=tuple(self.restored), removed=tuple(self.removed), kept=tuple(self.kept)
        )  # fmt: skip

    def _documents(self, kind: str, found: list[Row]) -> None:
        wrote: dict[str, tuple[int, int]] = {}
        for row in found:  # the last first: the last version, and what was before the first
            last, _ = wrote.get(row["key"], (row["version"], 0))
            wrote[row["key"]] = last, row["before"]
        for key, (last, before) in wrote.items():
            now = documents.current(self.hub.engine, kind, key)
            if now is None or not self._says_it(now, last):
                if now is None or now["made_by"] != self.made_by:  # by an undoing that was cut short
                    self.kept.append(f"{kind} {key}")
                continue
            self._put_back(kind, now, documents.get(self.hub.engine, kind, key, before) if before else None)

    def _says_it(self, now: Row, last: int) -> bool:
        """Tell whether a document is as the pass left it, also where a later pass changed it and was undone since."""
        if now["version"] == last:
            return True
        wrote = documents.get(self.hub.engine, now["kind"], now["key"], last)
        again = str(now["made_by"]).startswith(_UNDO) and now["made_by"] != self.made_by
        return again and wrote is not None and wrote["content"] == now["content"]

    def _put_back(self, kind: str, now: Row, before: Row | None) -> None:
        """Add a version that says what the one before the pass said, of the sources as they are now."""
        by = {"by": versions.loaded(before["sources"]).get("by") or before["made_by"]} if before else {}
        put_back(self.hub, now, before, self.made_by, {"undone": self.id, **by})
        (self.restored if before else self.removed).append(f"{kind} {now['key']}")

    def _reflection(self, found: list[Row]) -> None:
        """Let the self state hold the reflection of before the pass; drives and what else it holds stay."""
        if not found:
            return
        wrote, before = (
            self_state.held_at(self.hub, version).get("reflection")
            for version in (found[0]["version"], found[-1]["before"])
        )
        now = self_state.part(self.hub, "reflection")
        if before in (wrote, now):
            return  # it only noted drives, or an undoing that was cut short did this
        if now != wrote:
            self.kept.append("reflection")
            return
        sessions = before.get("sessions", []) if isinstance(before, dict) else []
        self_state.change(self.hub, {"reflection": before}, self.made_by, sessions)
        (self.restored if before else self.removed).append("reflection")

    def _pages(self, home: Vault, changed: set[str]) -> None:
        """Let pages say what they said before, but for those that changed since, or whose old text is gone."""
        from engram.clock import moment, zone

        writes.finish(self.hub, home)  # a pass that died may have left it half done
        back: list[writes.Write] = []
        known = images.of_pass(home, self.id)
        self.kept += [f"page {target}" for target in sorted(changed - set(known))]
        for target, held in known.items():
            now = home.read(target)
            if now == held["before"]:
                continue
            if (None if now is None else gate.digest(now)) != held["after"]:
                self.kept.append(f"page {target}")
                continue
            record = held["record"] or {}
            facts = {name: each for name, each in record.items() if name not in ("sections", "front", "made_by")}
            back.append(writes.Write(
                target=target, text=held["before"], made_by=str(record.get("made_by") or self.made_by), record=facts,
                summary=str(facts.get("summary") or ""), gone=held["before"] is None, anew=True,
            ))  # fmt: skip
            (self.restored if held["before"] is not None else self.removed).append(f"page {target}")
        at = moment(self.hub.now()).astimezone(zone(self.hub.settings.timezone)).isoformat(timespec="seconds")
        if back:
            writes.commit(self.hub, home, back, what="undo", subject=f"pass {self.id}", at=at)

    def _entries(self, home: Vault, wanted: set[str]) -> None:
        """Take the entries a pass wrote out of their logs; their sessions are not flushed again."""
        from engram.store import entries
        from engram.vault import sync

        found = [row for each in sorted(wanted) if (row := entries.by_id(self.hub.engine, each))]
        with self.hub.engine.transaction(durable=True):
            for row in found:  # what no log holds yet, since the pass died, is not to come into one
                entries.mark_written(self.hub.engine, row["id"], self.hub.now())
        for day in sorted({row["day"] for row in found}):
            daily_log.remove(home, day, wanted)
        self.removed += [f"entry {each}" for each in sorted(wanted)]
        if wanted:
            sync.logs(self.hub, home)
