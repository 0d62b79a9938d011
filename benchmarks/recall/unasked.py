"""Measure what comes unasked: how often a prompt is told something when it should, and when it should not.

Prompts with a label: LongMemEval's questions asked of their own history (the right session is known) and of three
others'; what people typed in real transcripts, asked of the other sessions of their repository and of other
repositories; and prompts so general that nothing should ever come of them, asked of every one of these stores.
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
from engram.model import Hit
from engram.recall import context

TRANSCRIPTS = DATA.parent / "transcripts"
LABELLED = DATA.parent / "labelled" / "transcripts"
_OTHERS = 3  # histories of others that a question is asked of
_TYPED = range(12, 1_000)  # characters of what a person typed rather than pasted
_PROMPTS = 120  # of one repository
_SWEEP = {"cover": (0.4, 0.5, 0.6, 0.7), "near": (0.6, 0.8, 1.0), "rare": (0.0, 1.5, 2.0, 2.5, 3.0)}

Rule = Callable[[str, Hit], bool]


@dataclass(frozen=True)
class Asked:
    """A prompt and what recall finds for it."""

    kind: str  # of store and prompt
    prompt: str
    hits: tuple[Hit, ...]
    gold: frozenset[str] = frozenset()  # sessions that answer it

    def told(self, rule: Rule) -> list[Hit]:
        """Return what a rule lets pass."""
        return [hit for hit in self.hits if rule(self.prompt, hit)]


def measure(cases: list[Case], quick: bool) -> str:
    """Ask everything once and return the table of all rules."""
    asked = [*_histories(cases), *_repositories(8 if quick else _PROMPTS, _folders(few=quick))]
    return table(asked)


# ---- Asking


def _histories(cases: list[Case]) -> Iterator[Asked]:
    """Ask each history its own question, some others', and what is general."""
    for number, case in enumerate(cases):
        held = {session.id for session in case.sessions}
        others = (cases[(number + step) % len(cases)] for step in range(1, 2 * _OTHERS))
        foreign = [each for each in others if not held & each.questions[0].sessions][:_OTHERS]
        with _store() as engram:
            for session in case.sessions:
                rows = [{"role": turn.role, "content": turn.content, "at": turn.at} for turn in session.turns]
                engram.add_exchanges_bulk(session.id, rows)
            engram.index()
            for question in case.questions:
                if not question.unanswerable:
                    yield _asked(engram, "own history", question.text, question.sessions, now=question.asked_at)
            for each in foreign:
                question = each.questions[0]
                yield _asked(engram, "other's history", question.text, now=question.asked_at)
            if number % 5 == 0:
                yield from (_asked(engram, "general, history", prompt) for prompt in GENERIC)


def _repositories(most: int, repositories: dict[str, list[Path]]) -> Iterator[Asked]:
    """Ask the sessions of each repository what was typed in its other sessions, and elsewhere."""
    with ExitStack() as stack:
        stores = {name: stack.enter_context(_taken_in(folders)) for name, folders in repositories.items()}
        typed = {name: _typed(engram, most) for name, engram in stores.items()}
        for name, engram in stores.items():
            for session, prompt in typed[name]:
                yield _asked(engram, "own repository", prompt, exclude_session=session)
            for _, prompt in itertools.chain.from_iterable(typed[other] for other in typed if other != name):
                yield _asked(engram, "other repository", prompt)
            yield from (_asked(engram, "general, repository", prompt) for prompt in GENERIC)


def _folders(*, few: bool) -> dict[str, list[Path]]:
    """Return where the transcripts of the repositories lie that have enough of them; few are two small ones."""
    there = {
        "cli": [LABELLED, TRANSCRIPTS / "claude" / "entireio+cli@entire"],
        "agentv": sorted(TRANSCRIPTS.glob("*/*agentv*")),
        "log": sorted(TRANSCRIPTS.glob("claude/*claude-code-log*")),
    }
    if few:
        there = {"cli": there["cli"][:1], "agentv": there["agentv"][:1]}
    return {name: [each for each in folders if each.exists()] for name, folders in there.items()}


@contextmanager
def _taken_in(folders: list[Path]) -> Iterator[Any]:
    with _store() as engram:
        engram.ingest(paths=[str(each) for each in folders])
        yield engram


def _typed(engram: Any, most: int) -> list[tuple[str, str]]:
    """Return what people typed, once each, evenly spread, with the session they typed it in."""
    sql = "select session_id, content from exchanges where role = 'user' order by session_id, id"
    said: dict[str, list[str]] = {}
    for row in engram.engine.run(sql):
        if len(row["content"]) in _TYPED and row["content"].lstrip()[:1] not in ("<", "[", "{", "/"):
            said.setdefault(row["content"].strip(), []).append(row["session_id"])
    once = [(sessions[0], content) for content, sessions in said.items() if len(set(sessions)) == 1]
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
    yield "what context does", lambda prompt, hit: context.worth_asking(prompt) and context.to_the_point(prompt, hit)
    for cover, near, rare in itertools.product(*_SWEEP.values()):
        yield f"cover {cover} near {near} rare {rare}", _above(cover=cover, near=near, rare=rare)


def _above(**least: float) -> Rule:
    def passes(_: str, hit: Hit) -> bool:
        return all(hit.why.get(part, 0.0) >= each for part, each in least.items())

    return passes


def table(asked: list[Asked]) -> str:
    """Return for each rule how often something is told, kind by kind."""
    kinds = list(dict.fromkeys(each.kind for each in asked))
    heads = [*(f"{kind} ({sum(each.kind == kind for each in asked)})" for kind in kinds), "right session"]
    lines = ["\nTold unasked, share of prompts", f"  {'':34} " + " ".join(f"{head:>25}" for head in heads)]
    for name, rule in _rules():
        shares = [_share(bool(each.told(rule)) for each in asked if each.kind == kind) for kind in kinds]
        shares.append(_share(_right(each.told(rule), each.gold) for each in asked if each.gold))
        lines.append(f"  {name:34} " + " ".join(f"{share:25.1%}" for share in shares))
    return "\n".join(lines)


def _right(told: list[Hit], gold: frozenset[str]) -> bool:
    return any(hit.session_id in gold for hit in told)


def _share(told: Iterable[bool]) -> float:
    known = list(told)
    return sum(known) / len(known) if known else 0.0
