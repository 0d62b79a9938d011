"""Fill every memory with every case, ask it, and keep what it answered and how long it took."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from benchmarks.recall.data import Case, Question
from benchmarks.recall.metrics import Scores, distinct, percentile, scores
from benchmarks.recall.systems import Hit, NotRun, System

K = 50
SHOWN = 5  # snippets whose tokens are counted


@dataclass(frozen=True)
class Answer:
    """What a memory said to one question."""

    question: Question
    hits: tuple[Hit, ...]
    silent: bool  # asked whether it knows anything, it showed nothing
    ms: float

    def ranked(self, unit: str) -> list[str]:
        """Return the sessions, or the turns, in order of first appearance."""
        return distinct(hit.session if unit == "session" else hit.turn or "" for hit in self.hits)

    def gold(self, unit: str) -> frozenset[str]:
        """Return what should have been found."""
        return self.question.sessions if unit == "session" else self.question.turns


@dataclass
class Sheet:
    """Everything one memory answered."""

    name: str
    unit: str = "session"
    about: str = ""
    answers: list[Answer] = field(default_factory=list)
    prepared: list[tuple[frozenset[str], float]] = field(default_factory=list)  # the questions of a case, its seconds
    why: str = ""  # it was not run

    def of(self, ids: Iterable[str]) -> Sheet:
        """Return only the answers to some questions."""
        wanted = set(ids)
        kept = [answer for answer in self.answers if answer.question.id in wanted]
        prepared = [(asked, seconds) for asked, seconds in self.prepared if asked & wanted]
        return Sheet(self.name, self.unit, self.about, kept, prepared, self.why)

    def scored(self, kind: str | None = None, unit: str | None = None, unanswerable: bool = False) -> Scores:
        """Return the mean scores of the questions that have an answer, or of those that have none."""
        unit = unit or self.unit
        return scores(
            (answer.ranked(unit), answer.gold(unit))
            for answer in self.answers
            if answer.question.unanswerable is unanswerable and kind in (None, answer.question.kind)
        )

    def kinds(self) -> list[str]:
        """Return the kinds of questions that have an answer."""
        return distinct(sorted(each.question.kind for each in self.answers if not each.question.unanswerable))

    def silence(self) -> tuple[float | None, float | None]:
        """Return the share of silence where there is no answer, and where there is one."""
        sides = ([each.silent for each in self.answers if each.question.unanswerable is side] for side in (True, False))
        rightly, wrongly = (sum(side) / len(side) if side else None for side in sides)
        return rightly, wrongly

    def tokens(self) -> float:
        """Return the mean tokens shown, four characters each."""
        shown = [sum(len(hit.snippet) for hit in answer.hits[:SHOWN]) / 4 for answer in self.answers]
        return sum(shown) / len(shown) if shown else 0.0

    def index_seconds(self) -> float:
        """Return how long it took to take in what the questions are about."""
        return sum(seconds for _, seconds in self.prepared)

    def milliseconds(self) -> tuple[float, float]:
        """Return the median and the 95th percentile of a query."""
        took = [answer.ms for answer in self.answers]
        return percentile(took, 0.5), percentile(took, 0.95)


def ask(system: System, cases: list[Case], unit: str) -> Sheet:
    """Return everything a memory answers, or why it could not."""
    sheet = Sheet(system.name, unit, system.about)
    try:
        for case in cases:
            began = time.perf_counter()
            system.prepare(case.sessions, unit)
            sheet.prepared.append((frozenset(each.id for each in case.questions), time.perf_counter() - began))
            sheet.answers += [_answer(system, question) for question in case.questions]
    except NotRun as problem:
        return Sheet(system.name, unit, why=str(problem))
    return sheet


def _answer(system: System, question: Question) -> Answer:
    began = time.perf_counter()
    hits = system.search(question.text, question.asked_at, K)
    took = (time.perf_counter() - began) * 1000
    known = system.search(question.text, question.asked_at, K, abstain=True) if system.abstains else hits
    return Answer(question, tuple(hits), not known, took)
