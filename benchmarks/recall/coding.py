"""Ask questions of real coding sessions: known problems, times, commands, and what nothing answers.

The questions about known problems are formed from the published summary of each session by one rule; the others are
fixed. Every question is asked as it ships, with the default settings and abstention.
"""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from engram import Engram
from engram.search.query import parse_question

_K = 5
_ID = re.compile(r'"sessionId":\s*"([^"]+)"')
_TIMES = (  # a question, and days after the first day of the history on which it is asked
    ("what did I do yesterday", 4), ("what did I do yesterday", 14), ("what was done last Monday", 8),
    ("what did we do on Monday", 5), ("what happened last week", 13), ("what did I work on this week", 6),
    ("what have I worked on in the last three days", 13), ("what did I get done today", 12),
    ("show me my work from last week", 10), ("what did the agents do yesterday afternoon", 5),
    ("what changed since Monday", 6), ("what did I commit yesterday", 5), ("which tasks did I finish last week", 11),
    ("summary of this month", 14), ("what did I do the day before yesterday", 14),
    ("what was I working on last Friday", 11), ("what did I do two days ago", 6),
    ("what did I do in {name} last week", 13), ("in {name} last week", 13),
    ("what did I work on between {first} and {second}", 14),
)  # fmt: skip
_COMMANDS = (
    "How do I run the tests?", "how do I build this", "how to lint here", "what is the command to run the tests",
    "how do we compile",
)  # fmt: skip
_NOTHING = (
    "what is the capital of Peru", "how do I bake sourdough bread", "what did the dentist say",
    "how many people came to the wedding", "how do I renew my passport", "which hotel did we book in Lisbon",
    "what did we decide about kubernetes", "stripe webhook signature verification", "postgres replication slot lag",
    "what is my sister's birthday", "how long does the chicken stay in the oven", "who won the chess tournament",
)  # fmt: skip


@dataclass
class Tally:
    """How many questions were answered right, and which were not."""

    right: int = 0
    total: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, is_right: bool, question: str) -> None:
        """Count one question."""
        self.total += 1
        self.right += is_right
        self.wrong += [] if is_right else [question]

    def __str__(self) -> str:
        share = self.right / self.total if self.total else 0.0
        lost = "".join(f"\n      - {question[:150]}" for question in self.wrong)
        return f"{self.right:>4} of {self.total:<4} {share:6.1%}{lost}"


def measure_coding(data: Path) -> str:
    """Return the figures over the labelled sessions and the histories below a folder."""
    lines = ["", "coding sessions"]
    if (data / "labelled" / "labels.jsonl").exists():
        answers, messages = _ask_known_problems(data / "labelled")
        lines += [
            f"  known problem, its session among the first {_K}: {answers}",
            f"  the same by messages only: {messages.right} of {messages.total}",
        ]
    for history in sorted((data / "histories").glob("*")) if (data / "histories").exists() else ():
        if history.is_dir():
            lines += _ask_history(history)
    return "\n".join(lines)


# ---- Known problems


def form_question(sentence: str) -> str:
    """Return a sentence of a summary as a question that a person would ask."""
    return f"What happened when {sentence[:1].lower()}{sentence[1:].rstrip('.')}?"


def _ask_known_problems(folder: Path) -> tuple[Tally, Tally]:
    labels = [json.loads(line) for line in (folder / "labels.jsonl").read_text().splitlines()]
    answers, messages = Tally(), Tally()
    with tempfile.TemporaryDirectory() as home, Engram(f"{home}/engram", raw_max_age_days=100_000) as engram:
        engram.ingest(sorted({str(folder / label["transcript"]) for label in labels}))
        known = {capture.session.native_id: capture.session.id for capture in engram.list_sessions(limit=1000)}
        for label in labels:
            ids = {*_ID.findall((folder / label["transcript"]).read_text()), label["session_id"]}
            gold = {known[native] for native in ids if native in known}
            for sentence in label["reference_summary"]["friction"]:
                question = form_question(sentence)
                for tally, by_message in ((answers, False), (messages, True)):
                    hits: list[Any] = engram.recall(question, k=_K, messages=by_message)
                    tally.add(bool(gold & {hit.session_id for hit in hits}), question)
    return answers, messages


# ---- A history


def _ask_history(folder: Path) -> list[str]:
    with tempfile.TemporaryDirectory() as home:
        paths = [_unpack(path, Path(home) / "transcripts") for path in sorted(folder.glob("*.jsonl.gz"))]
        with Engram(f"{home}/engram", raw_max_age_days=100_000) as engram:
            engram.ingest(paths)
            first = min(capture.session.started_at for capture in engram.list_sessions(limit=1000))
            times, commands = _ask_times(engram, folder.name, first), _ask_commands(engram)
            silence = _count((not engram.recall(question), question) for question in _NOTHING)
    return [
        f"  {folder.name}: a time, all sessions inside it: {times}", f"  {folder.name}: a command: {commands}",
        f"  {folder.name}: nothing answers, and nothing is said: {silence}",
    ]  # fmt: skip


def _unpack(path: Path, target: Path) -> str:
    target.mkdir(exist_ok=True)
    plain = target / path.name.removesuffix(".gz")
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return str(plain)


def _ask_times(engram: Engram, name: str, first: datetime) -> Tally:
    midnight = first.astimezone(timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
    first_day, second_day = (_name_day(midnight + timedelta(days=days)) for days in (2, 4))
    names = {"name": name, "first": first_day, "second": second_day}
    tally = Tally()
    for asked, days in _TIMES:
        now, question = midnight + timedelta(days=days, hours=20), asked.format(**names)
        window, hits = parse_question(question, now).window, engram.recall(question, now=now.isoformat())
        is_inside = window is not None and all(
            hit.tier == "session" and hit.at is not None and (window.since is None or hit.at >= window.since)
            and (window.until is None or hit.at < window.until)
            for hit in hits
        )  # fmt: skip
        tally.add(is_inside and _is_complete(engram, window, hits), f"{question} ({len(hits)} sessions)")
    return tally


def _name_day(day: datetime) -> str:
    return f"{day:%B} {day.day}"


def _is_complete(engram: Engram, window: Any, hits: list[Any]) -> bool:
    """Return whether a time without an answer had no session, and one with sessions has a hit."""
    if hits:
        return True
    starts = [capture.session.started_at for capture in engram.list_sessions(limit=1000)]
    return not any(
        (window.since is None or start >= window.since) and (window.until is None or start < window.until)
        for start in starts
    )


def _ask_commands(engram: Engram) -> Tally:
    return _count((_is_command(engram, question), question) for question in _COMMANDS)


def _is_command(engram: Engram, question: str) -> bool:
    """Return whether the first hit is a command, with how often and when it last passed."""
    hits = engram.recall(question)
    return bool(hits) and hits[0].tier == "command" and "passed " in hits[0].snippet and "last " in hits[0].snippet


def _count(answers: Iterable[tuple[bool, str]]) -> Tally:
    tally = Tally()
    for is_right, question in answers:
        tally.add(is_right, question)
    return tally
