"""Read sessions and questions from the files of the public benchmarks."""

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
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # some are written "D:11:26", some contain two


@dataclass(frozen=True)
class Turn:
    """One message of a conversation."""

    role: str
    content: str
    at: datetime


@dataclass(frozen=True)
class Session:
    """A conversation; the id of a turn is the session id and its position."""

    id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Question:
    """A question and the sessions and turns that answer it."""

    id: str
    text: str
    asked_at: datetime
    kind: str
    sessions: frozenset[str]
    turns: frozenset[str]
    unanswerable: bool


@dataclass(frozen=True)
class Case:
    """Sessions to remember and the questions about them."""

    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


def turn_id(session: str, place: int) -> str:
    """Return the id of a turn."""
    return f"{session}/{place}"


def described(path: Path, cases: list[Case]) -> str:
    """Describe a file by name, hash and number of questions, so that figures can be compared."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    questions = sum(len(case.questions) for case in cases)
    return f"{path.name}  sha256 {digest}  {questions} questions"


# ---- LongMemEval


def longmemeval(path: Path) -> list[Case]:
    """Return one case per question, with its own sessions."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    records = json.loads(text) if text.lstrip().startswith("[") else map(json.loads, filter(None, text.split("\n")))
    return [_longmemeval_case(record) for record in records]


def _longmemeval_case(record: dict[str, Any]) -> Case:
    haystack = zip(
        record["haystack_session_ids"], record["haystack_dates"], record["haystack_sessions"], strict=True
    )  # fmt: skip
    raw = {
        session: (_when(date), turns) for session, date, turns in reversed(list(haystack))
    }  # the first one with an id wins
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
    sessions = sorted(
        (Session(session, tuple(_turns(*timed_turns))) for session, timed_turns in raw.items()), key=_begun
    )
    return Case(tuple(sessions), (question,))


def _when(text: str) -> datetime:
    return datetime.strptime(text, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=timezone.utc)


def _turns(at: datetime, turns: list[dict[str, Any]]) -> Iterator[Turn]:
    for place, turn in enumerate(turns):
        yield Turn(turn["role"], turn["content"], at + timedelta(seconds=place))


def _begun(session: Session) -> datetime:
    return session.turns[0].at


def pooled(cases: list[Case]) -> list[Case]:
    """Return one case with all distinct sessions and all questions."""
    sessions = {session.id: session for case in cases for session in case.sessions}
    questions = tuple(question for case in cases for question in case.questions)
    return [Case(tuple(sorted(sessions.values(), key=_begun)), questions)]


# ---- LoCoMo


def locomo(path: Path) -> list[Case]:
    """Return one case per conversation, with its questions."""
    return [_locomo_case(record) for record in json.loads(path.read_text(encoding="utf-8"))]


def _locomo_case(record: dict[str, Any]) -> Case:
    conversation = record["conversation"]
    names = sorted(
        (name for name in conversation if re.fullmatch(r"session_\d+", name)), key=lambda name: int(name[8:])
    )
    sessions = tuple(Session(name, tuple(_locomo_turns(conversation, name))) for name in names if conversation[name])
    places = {
        turn["dia_id"]: (name, place) for name in names for place, turn in enumerate(conversation[name])
    }  # fmt: skip
    asked_at = sessions[-1].turns[-1].at + timedelta(days=1)
    questions = (_locomo_question(record, number, places, asked_at) for number in range(len(record["qa"])))
    return Case(sessions, tuple(questions))


def _locomo_turns(conversation: dict[str, Any], name: str) -> Iterator[Turn]:
    """Yield the turns of a session with speaker, date and picture in the text, the same for all systems."""
    date = conversation[f"{name}_date_time"]
    at = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
    for place, turn in enumerate(conversation[name]):
        picture = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        role = "user" if turn["speaker"] == conversation["speaker_a"] else "assistant"
        text = f"{turn['speaker']}: {turn['text']}{picture} ({date.split(' on ')[-1]})"
        yield Turn(role, text, at + timedelta(seconds=place))


def _locomo_question(
    record: dict[str, Any], number: int, places: dict[str, tuple[str, int]], asked_at: datetime
) -> Question:
    asked = record["qa"][number]
    ids = (f"D{session}:{turn}" for text in asked["evidence"] for session, turn in _EVIDENCE.findall(text))
    gold = [places[dialog_id] for dialog_id in ids if dialog_id in places]
    kind = _CATEGORIES[asked["category"]]
    return Question(
        f"{record['sample_id']}/{number}", asked["question"], asked_at, kind,
        frozenset(name for name, _ in gold), frozenset(turn_id(*place) for place in gold), kind == "adversarial",
    )  # fmt: skip


# ---- Subsets


def some(cases: list[Case], count: int) -> list[Case]:
    """Return the cases of about `count` questions, evenly spread."""
    ids = [question.id for case in cases for question in case.questions]
    step = max(len(ids) / count, 1)
    chosen = {ids[int(number * step)] for number in range(min(count, len(ids)))}
    smaller = (replace(case, questions=tuple(q for q in case.questions if q.id in chosen)) for case in cases)
    return [case for case in smaller if case.questions]
