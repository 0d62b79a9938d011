"""Take over a store of Helix Forge's session_memory: its sessions, their digests, and its patterns as candidates.

Nothing comes twice, and nothing that is known here is overwritten: a session whose transcript was captured keeps its
own digest. Patterns come as signals of the sessions they name, so that they are counted, ranked and decided like ours.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from engram.coordination.older_engram import id_of
from engram.errors import ImportRefused
from engram.hub import Hub
from engram.memory.mending import Mending
from engram.operation import Help, operation
from engram.store import activity, captures, digests, patterns, sessions, signals
from engram.text import one_line
from engram.value import value

if TYPE_CHECKING:
    from engram.store.engine import Row
    from engram.store.seed_session_memory import SessionMemory

_OUTCOMES = {
    "success": "success", "succeeded": "success", "failure": "failure", "failed": "failure", "error": "failure",
    "partial": "partial", "abandoned": "abandoned", "interrupted": "abandoned",
}  # fmt: skip
_FACTS = 1800  # bytes of a digest's facts
_NAMED = 20  # rows that could not be taken over


@value
class ForgeTaken:
    """What the import of a session_memory store took over."""

    source: str
    sessions: int
    digests: int
    patterns: int
    already_here: int
    mended: dict[str, int]
    failed: tuple[str, ...]  # rows that could not be taken over, the first of them
    dry_run: bool = False


@operation(writes=True, agent=False)
def import_session_memory(
    hub: Hub,
    path: Annotated[str, Help("the store of session_memory: its database, or the directory that holds it")],
    dry_run: Annotated[bool, Help("only tell what would be taken over")] = False,
) -> ForgeTaken:
    """Take over a Helix Forge store: sessions, digests, and patterns as candidates; again for what is new."""
    from engram.patterns.settle import settle
    from engram.redaction.removal import redactor
    from engram.store.seed_session_memory import SessionMemory

    place = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(place):
        raise ImportRefused(path=path, reason="there is no such file or directory.")
    with SessionMemory(place, hub.settings.busy_seconds) as seed:
        work = _Import(hub, seed, Mending(redactor(hub, make=not dry_run), hub.now()))
        try:
            with hub.engine.transaction(durable=True):
                patterns.hold(hub.engine)
                work.run()
                if dry_run:
                    raise _OnlyLooking
        except _OnlyLooking:
            pass
    if not dry_run:
        settle(hub)
    return work.result(dry_run)


class _OnlyLooking(Exception):
    """A dry run has seen what it wanted; all of it is rolled back."""


class _Import:
    """One import; one bad row stops no other."""

    def __init__(self, hub: Hub, seed: SessionMemory, mend: Mending) -> None:
        self.hub, self.seed, self.mend = hub, seed, mend
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []
        self.ids: dict[str, Row] = {}  # our session for each of theirs
        self.deleted = sessions.deleted(hub.engine)

    def run(self) -> None:
        """Take everything over."""
        for what, take in (("sessions", self._session), ("digests", self._digest), ("patterns", self._pattern)):
            for row in self.seed.rows(what):
                try:
                    take(row)
                except (TypeError, ValueError, KeyError) as problem:
                    self.failed.append(f"{what}: {type(problem).__name__}: {problem}"[:200])
        activity.record(
            self.hub.engine, self.mend.now, "imported", one_line(self.seed.path, 500), project="", session_id=None,
            **self.counts,
        )  # fmt: skip

    def result(self, dry_run: bool) -> ForgeTaken:
        """Return what was done, or would be."""
        names = ("sessions", "digests", "patterns", "already_here")
        return ForgeTaken(
            source=one_line(self.seed.path, 500), **{name: self.counts[name] for name in names},
            mended=dict(self.mend.counts), failed=tuple(self.failed[:_NAMED]), dry_run=dry_run,
        )  # fmt: skip

    def _session(self, row: Row) -> None:
        theirs, flavor = self._fact(row, "id"), self._fact(row, "flavor").lower() or "unknown"
        native = theirs.partition(":")[2] if theirs.startswith(f"{flavor}:") else theirs
        if not native or (flavor, native) in self.deleted:
            return
        engine, known = self.hub.engine, sessions.by_native_id(self.hub.engine, flavor, native)
        self.counts["already_here" if known else "sessions"] += 1
        if known is None:
            began = self.mend.time(_fact(row, "started"), None)
            ended = self.mend.time(_fact(row, "ended"), began, quiet=True)
            sessions.insert(
                engine, id=id_of(native), flavor=flavor, native_id=native, session_type=flavor, status="completed",
                summary=one_line(self._fact(row, "summary"), 200) or "imported", project=self._fact(row, "project"),
                cwd=self._fact(row, "cwd") or None, started_at=began, last_heartbeat=max(began, ended),
            )  # fmt: skip
            known = sessions.get(engine, id_of(native))
        if known is not None:
            self.ids[theirs] = known
            if _fact(row, "outcome"):
                self.ids[theirs] = {**known, "outcome": _fact(row, "outcome")}

    def _digest(self, row: Row) -> None:
        session = self.ids.get(self._fact(row, "id"))
        if session is None or captures.of_session(self.hub.engine, session["id"]) is not None:
            self.counts["already_here"] += session is not None
            return
        outcome = _OUTCOMES.get(str(_fact(row, "outcome") or session.get("outcome") or "").lower(), "unclear")
        num = captures.add(self.hub.engine, session["id"], session["started_at"])["num"]
        digests.put(
            self.hub.engine, capture=num, version=0, now=self.mend.now, through=0, state=None, outcome=outcome,
            facts=self._facts(row), confidence=_share(_fact(row, "confidence")),
        )  # fmt: skip
        self.counts["digests"] += 1

    def _facts(self, row: Row) -> str:
        """Return what a digest says, in our names where we have them, and no longer than ours."""
        import json

        facts: dict[str, Any] = {"goal": one_line(self._fact(row, "goal"), 240), "imported": "session_memory"}
        for name in ("errors", "corrections", "commits", "changed"):
            given = row.get(name)
            listed = given if isinstance(given, list) else []
            facts[name] = [one_line(self.mend.said(each), 160) for each in listed[:8]]
        found = {name: each for name, each in facts.items() if each}
        while len(json.dumps(found).encode()) > _FACTS and len(found) > 2:
            found.popitem()
        return json.dumps(found, ensure_ascii=False)

    def _pattern(self, row: Row) -> None:
        """Bring a pattern in as a signal of each session it names."""
        from engram.patterns.fingerprint import abstract

        title = self._fact(row, "title")
        named = [session for each in _listed(_fact(row, "sessions")) if (session := self.ids.get(_reference(each)))]
        if not title or not named:
            self.failed.append(f"patterns: {one_line(title, 80) or 'without a title'}: it names no session here")
            return
        kind, times = _kind(row), max(1, int(_fact(row, "times") or 1) // len(named))
        for session in {each["id"]: each for each in named}.values():
            self._signal(session, kind, abstract(title), title, self._fact(row, "fix"), times)
        self.counts["patterns"] += 1

    def _signal(self, session: Row, kind: str, fingerprint: str, title: str, fix: str, times: int) -> None:
        from engram.patterns.fingerprint import pattern_id, safe

        row = {
            "session_id": session["id"], "kind": kind, "fingerprint": fingerprint, "text": safe(title, 240),
            "quote": safe(title, 200), "fix": safe(fix, 240), "evidence": "[]", "times": times,
            "project": session["project"], "flavor": session["flavor"], "at": session["last_heartbeat"], "tokens": 0,
            "seconds": 0,
        }  # fmt: skip
        signals.replace(self.hub.engine, session["id"], [row], keep=True)
        place = {"kind": kind, "fingerprint": fingerprint, "pattern": pattern_id(kind, fingerprint), "vector": None}
        patterns.touch(self.hub.engine, [place])

    def _fact(self, row: Row, name: str) -> str:
        return self.mend.said(_fact(row, name))


def _fact(row: Row, name: str) -> Any:
    from engram.store.seed_session_memory import fact

    return fact(row, name)


def _kind(row: Row) -> str:
    """Return the kind a pattern has here: theirs if we have it, else a problem or a success without more."""
    from engram.patterns.signal import KINDS

    theirs = str(_fact(row, "kind") or "").lower().replace("_", "-")
    if theirs in KINDS:
        return theirs
    return "short-path" if "success" in theirs or "positive" in theirs else "error"


def _listed(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given] if given else []


def _reference(each: Any) -> str:
    """Return which session a piece of evidence names."""
    from engram.store.seed_session_memory import fact

    return str(fact(each, "id") or "") if isinstance(each, dict) else str(each)


def _share(given: Any) -> float:
    return min(1.0, max(0.0, float(given))) if isinstance(given, int | float) else 0.3
