"""The questions and what is to be remembered, read from the files of the public benchmarks."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "recall"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "engram-benchmarks"
LONGMEMEVAL = DATA / "longmemeval_s_dev.jsonl.gz"
LOCOMO = DATA / "locomo_dev.json"
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # some are written "D:11:26", some hold two


@dataclass(frozen=True)
class Turn:
    """One thing that was said."""

    role: str
    content: str
    at: datetime


@dataclass(frozen=True)
class Session:
    """A conversation; a turn is known by the session's id and its place in it."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Question:
    """What is asked, and where the answer is."""

    id: str
    text: str
    asked_at: datetime
    kind: str
    sessions: frozenset[str]
    turns: frozenset[str]
    unanswerable: bool


@dataclass(frozen=True)
class Case:
    """One memory and what it is asked."""

    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


def turn_id(session: str, place: int) -> str:
    """Return how a turn is known."""
    return f"{session}/{place}"


def described(path: Path, cases: list[Case]) -> str:
    """Return which file was read, so that figures can be compared."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    questions = sum(len(case.questions) for case in cases)
    return f"{path.name}  sha256 {digest}  {questions} questions"


# ---- LongMemEval


def longmemeval(path: Path) -> list[Case]:
    """Return every question with the sessions that are its own."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    records = json.loads(text) if text.lstrip().startswith("[") else map(json.loads, filter(None, text.split("\n")))
    return [_longmemeval_case(record) for record in records]


def _longmemeval_case(record: dict[str, Any]) -> Case:
    given = zip(
        record["haystack_session_ids"], record["haystack_dates"], record["haystack_sessions"], strict=True
    )  # fmt: skip
    raw = {
        session: (_when(date), turns) for session, date, turns in reversed(list(given))
    }  # the first of a kind counts
    gold = frozenset(record["answer_session_ids"])
    turns = frozenset(
        turn_id(session, place)
        for session in gold & raw.keys()
        for place, turn in enumerate(raw[session][1])
        if turn.get("has_answer")
    )
    question = Question(
        record["question_id"], record["question"], _when(record["question_date"]), record["question_type"],
        gold, turns, record["question_id"].endswith("_abs"),
    )  # fmt: skip
    sessions = sorted((Session(each, tuple(_turns(at, said))) for each, (at, said) in raw.items()), key=_begun)
    return Case(tuple(sessions), (question,))


def _when(text: str) -> datetime:
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=timezone.utc)


def _turns(at: datetime, turns: list[dict[str, Any]]) -> Iterator[Turn]:
    for place, turn in enumerate(turns):
        yield Turn(turn["role"], turn["content"], at + timedelta(seconds=place))


def _begun(session: Session) -> datetime:
    return session.turns[0].at


def pooled(cases: list[Case]) -> list[Case]:
    """Return one memory of all distinct sessions, asked every question."""
    sessions = {session.id: session for case in cases for session in case.sessions}
    questions = tuple(question for case in cases for question in case.questions)
    return [Case(tuple(sorted(sessions.values(), key=_begun)), questions)]


# ---- LoCoMo


def locomo(path: Path) -> list[Case]:
    """Return every conversation with its questions."""
    return [_locomo_case(record) for record in json.loads(path.read_text(encoding="utf-8"))]


def _locomo_case(record: dict[str, Any]) -> Case:
    held = record["conversation"]
    names = sorted((name for name in held if re.fullmatch(r"session_\d+", name)), key=lambda name: int(name[8:]))
    sessions = tuple(Session(name, tuple(_said(held, name))) for name in names if held[name])
    places = {
        turn["dia_id"]: (name, place) for name in names for place, turn in enumerate(held[name])
    }  # fmt: skip
    asked_at = sessions[-1].turns[-1].at + timedelta(days=1)
    questions = (_locomo_question(record, number, places, asked_at) for number in range(len(record["qa"])))
    return Case(sessions, tuple(questions))


def _said(held: dict[str, Any], name: str) -> Iterator[Turn]:
    """Yield the turns of a session with speaker, date and picture in the text, as everybody is given them."""
    date = held[f"{name}_date_time"]
    at = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
    for place, turn in enumerate(held[name]):
        picture = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        role = "user" if turn["speaker"] == held["speaker_a"] else "assistant"
        text = f"{turn['speaker']}: {turn['text']}{picture} ({date.split(' on ')[-1]})"
        yield Turn(role, text, at + timedelta(seconds=place))


def _locomo_question(
    record: dict[str, Any], number: int, places: dict[str, tuple[str, int]], asked_at: datetime
) -> Question:
    asked = record["qa"][number]
    found = (f"D{one}:{two}" for each in asked["evidence"] for one, two in _EVIDENCE.findall(each))
    gold = [places[each] for each in found if each in places]
    kind = _CATEGORIES[asked["category"]]
    return Question(
        f"{record['sample_id']}/{number}", asked["question"], asked_at, kind,
        frozenset(name for name, _ in gold), frozenset(turn_id(*place) for place in gold), kind == "adversarial",
    )  # fmt: skip


# ---- A part of them


def some(cases: list[Case], count: int) -> list[Case]:
    """Return about so many of the questions, evenly spread, with their memories."""
    ids = [question.id for case in cases for question in case.questions]
    step = max(len(ids) / count, 1)
    chosen = {ids[int(number * step)] for number in range(min(count, len(ids)))}
    kept = (replace(case, questions=tuple(q for q in case.questions if q.id in chosen)) for case in cases)
    return [case for case in kept if case.questions]
