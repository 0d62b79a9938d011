"""One pass that brings eras, then the profile, then the narrative up to date: what is stale is made again, no more."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from engram import text
from engram.errors import DreamRunning, StoreBusy, StoreFull, StoreUnavailable
from engram.hub import Hub
from engram.memory import extract, gist, narrative, profile, versions
from engram.memory.eras import Integrated
from engram.memory.extract import Line
from engram.memory.months import Months
from engram.memory.sentences import sentences
from engram.memory.thinker import Thinker
from engram.memory.versions import ERA, GIST, NARRATIVE, PROFILE
from engram.store import documents, news

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from engram.store.engine import Row

_ERA = 900  # tokens
_TOLD = 12_000  # tokens of gists that a model is given
MADE, FRESH, KEPT, NONE, LEFT = "made", "fresh", "kept", "none", "left"


def _remade(work: Callable[..., Row | None], hub: Hub, session: str, thinker: Thinker) -> str:
    return MADE if work(hub, session, thinker, force=True) else FRESH


class Integration:
    """One pass, which no single failure stops."""

    def __init__(
        self, hub: Hub, *, rebuild: bool, think: bool, dry: bool = False, stop: Callable[[], bool] = lambda: False,
        only: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.hub, self.rebuild, self.dry, self.only = hub, rebuild, dry, only
        self.stop = stop  # somebody has no more time: the rest is made next time
        self.foreseen: dict[str, tuple[str, str]] = {}  # what a dry pass would write: before and after
        self.thinker = Thinker(hub, allowed=think)
        self.failed: dict[str, str] = {}
        self.states: dict[str, list[str]] = {}

    def run(self) -> Integrated:
        """Make again what is stale."""
        seen = news.waiting(self.hub.engine, news.INTEGRATE)
        if self.rebuild:
            self._remake_gists()
        self.months = Months(self.hub)
        eras = {row["key"]: row for row in documents.currents(self.hub.engine, ERA)}
        for month in sorted({*self.months.touched, *eras}):
            if self._is_wanted(f"{ERA} {month}"):
                self._note(month, partial(self._era, month, eras.get(month)))
        about, arc = (
            self._note(kind, partial(make, self, self.months)) if self._is_wanted(f"{kind} {key}") else LEFT
            for kind, key, make in ((PROFILE, "self", profile.make), (NARRATIVE, "current", narrative.make))
        )
        if not self.failed and not self.dry and not self.only and LEFT not in self.states:
            with self.hub.engine.transaction():
                for row in seen:
                    news.settle(self.hub.engine, news.INTEGRATE, row)
        return Integrated(
            eras=self._those(MADE), removed=self._those("removed"), fresh=len(self._those(FRESH)),
            kept=self._those(KEPT), profile=about, narrative=arc, by=dict(self.thinker.by),
            fallbacks=dict(self.thinker.fallbacks), failed=self.failed,
        )  # fmt: skip

    def _is_wanted(self, name: str) -> bool:
        return not self.only or name in self.only

    def put(self, kind: str, key: str, facts: dict[str, Any], write: Callable[[], tuple[str, str]]) -> str:
        """Write a document anew unless it is up to date, or somebody wrote it and no model is here to do it."""
        newest = documents.current(self.hub.engine, kind, key)
        if newest and not self.rebuild and self._is_fresh(newest, facts["hash"]):
            return FRESH  # also where it says nothing, since somebody undid it
        known = versions.current(self.hub, kind, key)
        written = versions.is_written(known)
        if written and self.thinker.off:
            return KEPT
        content, made_by = write()
        if written and made_by == extract.RULES:  # the model could not
            return KEPT
        if self.dry:
            self.foreseen[f"{kind}/{key}"] = (known["content"] if known else "", content)
            return MADE
        if not content:
            return self.empty(kind, key, known)
        # Quotes in place of an answer nobody could use stay until the sources change; others, until a model is here.
        versions.put(self.hub, kind, key, content, facts | {"asked": not self.thinker.off}, made_by)
        self.thinker.made(made_by)
        return MADE

    def _is_fresh(self, known: Row, wanted: str) -> bool:
        facts = versions.loaded(known["sources"])
        quoted = versions.author(known) == versions.QUOTES
        return facts.get("hash") == wanted and (self.thinker.off or not quoted or bool(facts.get("asked")))

    def empty(self, kind: str, key: str, known: Row | None) -> str:
        """Let quotes say nothing any more, with what they said as older versions; what somebody wrote stays."""
        if not known:
            return NONE
        if versions.is_written(known):
            return KEPT
        if self.dry:
            self.foreseen[f"{kind}/{key}"] = known["content"], ""
            return "removed"
        versions.put(self.hub, kind, key, "", {"sessions": []}, extract.RULES)
        return "removed"

    def _those(self, state: str) -> tuple[str, ...]:
        return tuple(month for month in self.states.get(state, ()) if month not in ("profile", "narrative"))

    def _note(self, name: str, make: Callable[[], str]) -> str:
        try:
            state = LEFT if self.stop() else make()
        except (StoreBusy, StoreFull, StoreUnavailable, DreamRunning):
            raise  # no other document would fare better
        except Exception as problem:  # whatever is wrong with one document, the others are made
            self.failed[name] = text.reason(problem)
            return "failed"
        self.states.setdefault(state, []).append(name)
        return state

    def _remake_gists(self) -> None:
        """Make gists of quotes anew, and the lines of all the others."""
        plain = Thinker(self.hub, allowed=False)
        for row in documents.currents(self.hub.engine, GIST):
            make = gist.refresh if versions.is_written(row) else gist.make
            self._note(row["key"], partial(_remade, make, self.hub, row["key"], plain))
        self.states.clear()

    def _era(self, month: str, known: Row | None) -> str:
        facts = self.months.sources(month)
        if not facts["sessions"]:
            return self.empty(ERA, month, known if known and known["content"] else None)
        return self.put(ERA, month, facts, lambda: self._written(month, facts["sessions"]))

    def lines(self, session: str, month: str | None = None) -> list[Line]:
        """Return what is kept of a session: quotes, or the sentences of a gist that somebody wrote; of a month only."""
        row = self.months.gist(session)
        quotes = gist.lines_of(self.hub, session)["lines"]
        if versions.is_written(row) and self._began(session, month):
            at = int(self.months.sessions[session]["first_at"] or row["made_at"])
            told = [Line("said", each, 0, "gist", at, session) for each in sentences(row["content"])]
            return told + [line for line in quotes if line.kind in ("decided", "open")]
        return [line for line in quotes if month is None or self.months.of(line.at) == month]

    def _began(self, session: str, month: str | None) -> bool:
        return month is None or session in self.months.began.get(month, ())

    def _written(self, month: str, sessions: list[str]) -> tuple[str, str]:
        lines = [line for session in sessions for line in self.lines(session, month)]
        if not lines:  # a session went on before and after it, not in it
            return "", extract.RULES
        thought = None if self.thinker.off else self.thinker.ask("era", self._told(month, sessions), "era")
        if thought is not None:
            return thought.data["era"], thought.made_by
        return self._quoted(month, lines), extract.RULES

    def _told(self, month: str, sessions: list[str]) -> str:
        """Return the gists of a month as a model is given them, each with its share of the room."""
        share = max(60, _TOLD // max(1, len(sessions)))
        told = [
            f"{self.title(each)}:\n{text.cut(self.months.gist(each)['content'], share)}"
            for each in sessions
            if self._began(each, month)
        ]
        return text.cut("\n\n".join(told or [extract.rendered(self.lines(each, month)) for each in sessions]), _TOLD)

    def _quoted(self, month: str, lines: list[Line]) -> str:
        """Return a month in quotes, session by session."""
        began = len(self.months.began.get(month, ()))
        head = f"{month}: {began} {'session' if began == 1 else 'sessions'}{self._projects(lines)}."
        best = extract.best(sorted(lines, key=lambda line: (line.at, line.session)), int(_ERA * 0.75))
        blocks: dict[str, list[str]] = {}
        for line in best:
            blocks.setdefault(line.session, []).append(extract.shown(line))
        found = [f"{self.title(session)}:\n" + "\n".join(block) for session, block in blocks.items()]
        return text.cut("\n".join([head, *found]), _ERA)

    def _projects(self, lines: list[Line]) -> str:
        counts = Counter(self.project(session) for session in {line.session for line in lines})
        named = [f"{name} ({count})" for name, count in counts.most_common(4) if name]
        return f" in {', '.join(named)}" if named else ""

    def project(self, session: str) -> str:
        """Return the short name of a session's project."""
        return os.path.basename(str(self.months.sessions[session]["project"]))

    def title(self, session: str) -> str:
        """Return when a session began and in which project."""
        began = int(self.months.sessions[session]["first_at"] or self.months.gist(session)["made_at"])
        return " ".join(filter(None, (self.day(began), self.project(session))))

    def day(self, at: int) -> str:
        """Return a day on the user's calendar."""
        return f"{self.months.local(at):%Y-%m-%d}"
