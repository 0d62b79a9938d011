"""Take over a store of Helix Forge's session_memory: sessions, digests, events with bodies, patterns as candidates.

Nothing comes twice, and nothing that is known here is overwritten: a session whose transcript was captured keeps its
own digest and events. An imported digest stands whatever is captured later. Patterns come as signals of the sessions
they name, so that they are counted, ranked and decided like ours. What is left behind is named with the reason.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from engram.coordination.older_engram import id_of
from engram.digests.keep import give, given
from engram.errors import ImportRefused
from engram.hub import Hub
from engram.memory.mending import Mending
from engram.patterns.forge_digest import read_digest
from engram.patterns.forge_events import Events, Target
from engram.patterns.import_session_memory import ForgeTaken
from engram.store import activity, captures, digests, patterns, sessions, signals
from engram.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engram.capture.sweep import Progress
    from engram.store.engine import Row
    from engram.store.seed_session_memory import SessionMemory

_OUTCOMES = {
    "success": "success", "succeeded": "success", "failure": "failure", "failed": "failure", "error": "failure",
    "partial": "partial", "abandoned": "abandoned", "interrupted": "abandoned",
}  # fmt: skip
_REASONS = {
    "cursors": "for Engram keeps its own account of what it has read",
    "cursor": "for Engram keeps its own account of what it has read",
    "schema_migrations": "for Engram has its own schema",
    "schema_version": "for Engram has its own schema",
}
_NAMED = 20  # rows that could not be taken over


def take_over(hub: Hub, path: str, *, dry_run: bool = False, progress: Progress | None = None) -> ForgeTaken:
    """Take over a session_memory store, telling how far it is."""
    from contextlib import nullcontext

    from engram.capture.turn import Turn
    from engram.redaction.removal import redactor
    from engram.store.seed_session_memory import SessionMemory

    place = os.path.abspath(os.path.expanduser(path))
    if not os.path.exists(place):
        raise ImportRefused(path=path, reason="there is no such file or directory.")
    with nullcontext() if dry_run else Turn(hub.settings.home):
        learnt = redactor(hub, make=not dry_run)
        with SessionMemory(place, hub.settings.busy_seconds) as seed:
            work = _Import(hub, seed, Mending(learnt, hub.now()))
            _take_rows(hub, work, dry_run)
            taken = work.result(_take_events(hub, work, dry_run, progress), dry_run)
        if not dry_run:
            _finish(hub, work)
    return taken


def _take_rows(hub: Hub, work: _Import, dry_run: bool) -> None:
    try:
        with hub.engine.transaction(durable=True):
            patterns.hold(hub.engine)
            work.run()
            if dry_run:
                raise _OnlyLooking
    except _OnlyLooking:
        pass


def _take_events(hub: Hub, work: _Import, dry_run: bool, progress: Progress | None) -> Events:
    from engram.capture.body_files import BodyFiles
    from engram.capture.discover import source
    from engram.capture.writer import Writer

    seed, writer = work.seed, None if dry_run else Writer(hub, work.mend.redactor)
    origin = source(seed.path)
    if origin is None:
        raise ImportRefused(path=seed.path, reason="it vanished.")
    found = Events(hub, seed, BodyFiles(*seed.directory), writer, origin)
    found.run(work.targets, progress)
    if writer is not None:
        writer.finish()
    return found


def _finish(hub: Hub, work: _Import) -> None:
    """Let what was taken over be found, and its patterns be counted."""
    from engram.digests.passage import make_findable
    from engram.index.index import bring_up_to_date
    from engram.patterns.settle import settle
    from engram.redaction import known_secrets

    known_secrets.keep(hub.settings.home, work.mend.redactor)
    make_findable(hub)
    settle(hub)
    bring_up_to_date(hub, embed="fast")


class _OnlyLooking(Exception):
    """A dry run has seen what it wanted; all of it is rolled back."""


class _Import:
    """One import; one bad row stops no other."""

    def __init__(self, hub: Hub, seed: SessionMemory, mend: Mending) -> None:
        self.hub, self.seed, self.mend = hub, seed, mend
        self.counts: Counter[str] = Counter()
        self.failed: list[str] = []
        self.targets: dict[str, Target] = {}  # our session for each of theirs
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

    def result(self, found: Events, dry_run: bool) -> ForgeTaken:
        """Return what was done, or would be."""
        names = ("sessions", "digests", "patterns", "already_here")
        left = (*self._left(), *found.left.lines())
        return ForgeTaken(
            source=one_line(self.seed.path, 500), **{name: self.counts[name] for name in names},
            mended=dict(self.mend.counts), failed=tuple(self.failed[:_NAMED]), events=found.counts["events"],
            bodies=found.counts["bodies"], left=tuple(one_line(self.mend.said(each), 1000) for each in left),
            redacted=dict(self.mend.redactor.found), dry_run=dry_run,
        )  # fmt: skip

    def _left(self) -> Iterator[str]:
        """Yield the tables that nothing is made of here."""
        for name, count in self.seed.left().items():
            rows = "1 row" if count == 1 else f"{count:,} rows"
            yield f"{name}: {rows}, {_REASONS.get(name, 'of a table that Engram has no place for')}"

    def _session(self, row: Row) -> None:
        theirs, flavor = self._fact(row, "id"), self._fact(row, "flavor").lower() or "unknown"
        native = theirs.partition(":")[2] if theirs.startswith(f"{flavor}:") else theirs
        if not native or (flavor, native) in self.deleted:
            return
        engine, known = self.hub.engine, sessions.by_native_id(self.hub.engine, flavor, native)
        self.counts["already_here" if known else "sessions"] += 1
        if known is None:
            own, given = id_of(native), self._fact(row, "domain") or None
            began = self.mend.time(_fact(row, "started"), None)
            ended = self.mend.time(_fact(row, "ended"), began, quiet=True)
            sessions.insert(
                engine, id=own, flavor=flavor, native_id=native, session_type=flavor, status="completed",
                summary=one_line(self._fact(row, "summary"), 200) or "imported", project=self._fact(row, "project"),
                cwd=self._fact(row, "cwd") or None, started_at=began, last_heartbeat=max(began, ended), domain=given,
                completed_at=max(began, ended),
            )  # fmt: skip
            known = sessions.get(engine, own)
        if known is not None:
            self.targets[theirs] = Target(theirs=theirs, session=known, row=row)

    def _digest(self, row: Row) -> None:
        target = self.targets.get(self._fact(row, "id"))
        if target is None:
            self.failed.append(
                f"digests: {self._fact(row, 'id')[:80] or 'without a session'}: it names no session here"
            )
            return
        engine, session = self.hub.engine, target.session
        capture = captures.of_session(engine, session["id"]) or captures.add(
            engine, session["id"], session["started_at"]
        )
        before = digests.of_capture(engine, capture["num"])
        if capture["events"] or given(before):
            self.counts["already_here"] += 1
            return
        outcome = _OUTCOMES.get(str(_fact(row, "outcome") or _fact(target.row, "outcome") or "").lower(), "unclear")
        facts = read_digest(row, self.mend)
        give(
            engine,
            capture["num"],
            {**facts, "outcome": outcome, "confidence": _share(_fact(row, "confidence"))},
            self.mend.now,
        )
        self.counts["digests"] += 1

    def _pattern(self, row: Row) -> None:
        """Bring a pattern in as a signal of each session it names."""
        from engram.patterns.fingerprint import abstract

        title = self._fact(row, "title")
        references = map(_reference, _listed(_fact(row, "sessions")))
        named = [target.session for each in references if (target := self.targets.get(each))]
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
