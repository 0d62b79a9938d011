"""Measure recall for prompts: how often a prompt gets context when it should, and when it should not.

The labelled prompts are: LongMemEval questions with their own history (the right session is known) and with three other
histories; prompts from real transcripts with the other sessions of their repository and with other repositories; and
prompts so general that they should never get context, with all of these stores.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.recall.data import DATA, Case
from benchmarks.recall.unasked_prompts import GENERIC
from engram import Engram
from engram.search import context
from engram.types import Hit

TRANSCRIPTS = DATA.parent / "transcripts"
LABELLED = DATA.parent / "labelled" / "transcripts"
_OTHERS = 3  # number of other histories per question
_TYPED = range(12, 1_000)  # length of prompts that were typed rather than pasted
_PROMPTS = 120  # maximum per repository
_SWEEP = {"cover": (0.4, 0.5, 0.6, 0.7), "near": (0.6, 0.8, 1.0), "rare": (0.0, 1.5, 2.0, 2.5, 3.0)}

Rule = Callable[[str, Hit], bool]


@dataclass(frozen=True)
class Asked:
    """A prompt and its hits."""

    kind: str  # kind of store and prompt
    prompt: str
    hits: tuple[Hit, ...]
    gold: frozenset[str] = frozenset()  # the right sessions

    def passed(self, rule: Rule) -> list[Hit]:
        """Return the hits that pass a rule."""
        return [hit for hit in self.hits if rule(self.prompt, hit)]


def measure(cases: list[Case], quick: bool) -> str:
    """Run recall for all prompts and return the table of all rules."""
    asked = [*_histories(cases), *_repositories(8 if quick else _PROMPTS, _folders(few=quick))]
    return table(asked)


# ---- Prompts


def _histories(cases: list[Case]) -> Iterator[Asked]:
    """Ask each history its own question, questions of others, and general prompts."""
    for number, case in enumerate(cases):
        session_ids = {session.id for session in case.sessions}
        others = (cases[(number + step) % len(cases)] for step in range(1, 2 * _OTHERS))
        foreign = [other for other in others if not session_ids & other.questions[0].sessions][:_OTHERS]
        with _store() as engram:
            for session in case.sessions:
                rows = [{"role": turn.role, "content": turn.content, "at": turn.at} for turn in session.turns]
                engram.add_exchanges_bulk(session.id, rows)
            engram.index()
            for question in case.questions:
                if not question.unanswerable:
                    yield _asked(engram, "own history", question.text, question.sessions, now=question.asked_at)
            for other in foreign:
                question = other.questions[0]
                yield _asked(engram, "other's history", question.text, now=question.asked_at)
            if number % 5 == 0:
                yield from (_asked(engram, "general, history", prompt) for prompt in GENERIC)


def _repositories(most: int, repositories: dict[str, list[Path]]) -> Iterator[Asked]:
    """Ask each repository the prompts of its own sessions and of other repositories."""
    with ExitStack() as stack:
        stores = {name: stack.enter_context(_ingested(folders)) for name, folders in repositories.items()}
        typed = {name: _typed(engram, most) for name, engram in stores.items()}
        for name, engram in stores.items():
            for session, prompt in typed[name]:
                yield _asked(engram, "own repository", prompt, exclude_session=session)
            for _, prompt in itertools.chain.from_iterable(typed[other] for other in typed if other != name):
                yield _asked(engram, "other repository", prompt)
            yield from (_asked(engram, "general, repository", prompt) for prompt in GENERIC)


def _folders(*, few: bool) -> dict[str, list[Path]]:
    """Return the transcript directories of repositories with enough transcripts; `few` selects two small ones."""
    there = {
        "cli": [LABELLED, TRANSCRIPTS / "claude" / "entireio+cli@entire"],
        "agentv": sorted(TRANSCRIPTS.glob("*/*agentv*")),
        "log": sorted(TRANSCRIPTS.glob("claude/*claude-code-log*")),
    }
    if few:
        there = {"cli": there["cli"][:1], "agentv": there["agentv"][:1]}
    return {name: [folder for folder in folders if folder.exists()] for name, folders in there.items()}


@contextmanager
def _ingested(folders: list[Path]) -> Iterator[Any]:
    with _store() as engram:
        engram.ingest(paths=[str(folder) for folder in folders])
        yield engram


def _typed(engram: Any, most: int) -> list[tuple[str, str]]:
    """Return prompts that occur in one session only, evenly spread, with that session."""
    sql = "select session_id, content from exchanges where role = 'user' order by session_id, id"
    prompts: dict[str, list[str]] = {}
    for row in engram.engine.run(sql):
        if len(row["content"]) in _TYPED and row["content"].lstrip()[:1] not in ("<", "[", "{", "/"):
            prompts.setdefault(row["content"].strip(), []).append(row["session_id"])
    once = [(sessions[0], content) for content, sessions in prompts.items() if len(set(sessions)) == 1]
    return once[:: max(1, len(once) // most)][:most]


@contextmanager
def _store() -> Iterator[Any]:
    with (
        tempfile.TemporaryDirectory(prefix="engram-bench-") as folder,
        Engram(folder, embedder="static") as engram,
    ):
        yield engram


def _asked(engram: Any, kind: str, prompt: str, gold: frozenset[str] = frozenset(), **more: Any) -> Asked:
    return Asked(kind, prompt, tuple(engram.recall(prompt, context.HITS, **more)), gold)


# ---- Rules


def _rules() -> Iterator[tuple[str, Rule]]:
    yield (
        "current rule of context",
        lambda prompt, hit: context.is_worth_asking(prompt) and context.is_relevant(prompt, hit),
    )
    for cover, near, rare in itertools.product(*_SWEEP.values()):
        yield f"cover {cover} near {near} rare {rare}", _above(cover=cover, near=near, rare=rare)


def _above(**least: float) -> Rule:
    def passes(_: str, hit: Hit) -> bool:
        return all(hit.why.get(part, 0.0) >= minimum for part, minimum in least.items())

    return passes


def table(asked: list[Asked]) -> str:
    """Return for each rule how often a prompt gets context, by kind."""
    kinds = list(dict.fromkeys(prompt.kind for prompt in asked))
    heads = [*(f"{kind} ({sum(prompt.kind == kind for prompt in asked)})" for kind in kinds), "right session"]
    lines = ["\nShare of prompts with context", f"  {'':34} " + " ".join(f"{head:>25}" for head in heads)]
    for name, rule in _rules():
        shares = [_share(bool(prompt.passed(rule)) for prompt in asked if prompt.kind == kind) for kind in kinds]
        shares.append(_share(_right(prompt.passed(rule), prompt.gold) for prompt in asked if prompt.gold))
        lines.append(f"  {name:34} " + " ".join(f"{share:25.1%}" for share in shares))
    return "\n".join(lines)


def _right(hits: list[Hit], gold: frozenset[str]) -> bool:
    return any(hit.session_id in gold for hit in hits)


def _share(outcomes: Iterable[bool]) -> float:
    values = list(outcomes)
    return sum(values) / len(values) if values else 0.0
