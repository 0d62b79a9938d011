"""Fill a memory system with each case, ask the questions, and record its answers and times."""

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
    """The answer of a system to one question."""

    question: Question
    hits: tuple[Hit, ...]
    silent: bool  # returned nothing
    ms: float

    def ranked(self, unit: str) -> list[str]:
        """Return the distinct sessions or turns, best first."""
        return distinct(hit.session if unit == "session" else hit.turn or "" for hit in self.hits)

    def gold(self, unit: str) -> frozenset[str]:
        """Return the right sessions or turns."""
        return self.question.sessions if unit == "session" else self.question.turns


@dataclass
class Sheet:
    """All answers of one system."""

    name: str
    unit: str = "session"
    about: str = ""
    answers: list[Answer] = field(default_factory=list)
    prepared: list[tuple[frozenset[str], float]] = field(
        default_factory=list
    )  # questions of a case, seconds to index it
    why: str = ""  # the reason, if it was not run

    def of(self, ids: Iterable[str]) -> Sheet:
        """Return a sheet with only the answers to these questions."""
        wanted = set(ids)
        answers = [answer for answer in self.answers if answer.question.id in wanted]
        prepared = [(asked, seconds) for asked, seconds in self.prepared if asked & wanted]
        return Sheet(self.name, self.unit, self.about, answers, prepared, self.why)

    def scored(self, kind: str | None = None, unit: str | None = None, unanswerable: bool = False) -> Scores:
        """Return the mean scores of the answerable or unanswerable questions."""
        unit = unit or self.unit
        return scores(
            (answer.ranked(unit), answer.gold(unit))
            for answer in self.answers
            if answer.question.unanswerable is unanswerable and kind in (None, answer.question.kind)
        )

    def kinds(self) -> list[str]:
        """Return the kinds of the answerable questions."""
        questions = [answer.question for answer in self.answers]
        return distinct(sorted(question.kind for question in questions if not question.unanswerable))

    def silence(self) -> tuple[float | None, float | None]:
        """Return how often the system abstained on unanswerable and on answerable questions."""
        sides = ((side, [a.silent for a in self.answers if a.question.unanswerable is side]) for side in (True, False))
        rightly, wrongly = (sum(silent) / len(silent) if silent else None for _, silent in sides)
        return rightly, wrongly

    def tokens(self) -> float:
        """Return the mean number of tokens shown, at four characters per token."""
        shown = [sum(len(hit.snippet) for hit in answer.hits[:SHOWN]) / 4 for answer in self.answers]
        return sum(shown) / len(shown) if shown else 0.0

    def index_seconds(self) -> float:
        """Return how many seconds indexing took."""
        return sum(seconds for _, seconds in self.prepared)

    def milliseconds(self) -> tuple[float, float]:
        """Return the median and the 95th percentile of query times."""
        took = [answer.ms for answer in self.answers]
        return percentile(took, 0.5), percentile(took, 0.95)


def ask(system: System, cases: list[Case], unit: str) -> Sheet:
    """Ask a system all questions; return its answers, or why it could not run."""
    sheet = Sheet(system.name, unit, system.about)
    try:
        for case in cases:
            began = time.perf_counter()
            system.prepare(case.sessions, unit)
            sheet.prepared.append((frozenset(question.id for question in case.questions), time.perf_counter() - began))
            sheet.answers += [_answer(system, question) for question in case.questions]
    except NotRun as problem:
        return Sheet(system.name, unit, why=str(problem))
    return sheet


def _answer(system: System, question: Question) -> Answer:
    began = time.perf_counter()
    hits = system.search(question.text, question.asked_at, K, abstain=system.abstains)  # as it ships: silence counts
    took = (time.perf_counter() - began) * 1000
    return Answer(question, tuple(hits), not hits, took)
