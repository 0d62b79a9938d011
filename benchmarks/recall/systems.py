"""The memory systems, behind one small protocol."""

from __future__ import annotations

import math
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.util import find_spec
from typing import Any, Protocol

from benchmarks.recall import kept
from benchmarks.recall.data import Session, turn_id

_DEEP = 50  # exchanges to request before grouping them by session


@dataclass(frozen=True)
class Hit:
    """A search result: a session, the turn if known, and the text to show."""

    session: str
    turn: str | None
    snippet: str


class NotRun(Exception):
    """The system cannot be measured here; the message says why."""


class System(Protocol):
    """A memory system that can be filled and searched."""

    name: str
    about: str  # version and configuration
    abstains: bool  # can report that it knows nothing

    def prepare(self, sessions: Sequence[Session], unit: str) -> None:
        """Replace the contents by these sessions, to be found by session or by turn."""

    def search(self, question: str, asked_at: datetime, k: int, abstain: bool = False) -> list[Hit]:
        """Return the hits, best first."""

    def close(self) -> None:
        """Release all resources."""


# ---- Ours


class Ours:
    """Engram through its Python library."""

    abstains = True

    def __init__(self, embedder: str = "static") -> None:
        from engram import Engram

        self.name = "engram" if embedder == "static" else f"engram, {embedder}"
        self.about = f"Engram through its library, embedder {embedder}"
        if embedder == "minilm" and not find_spec("onnxruntime"):
            raise NotRun("the extra minilm is not installed")
        self.embedder = kept.offered(embedder)

        lacking = [name for name in ("add_exchanges_bulk", "index") if not hasattr(Engram, name)]
        if lacking or not _takes(Engram.recall, "now"):
            raise NotRun(f"this Engram has no {' and no '.join(lacking or ['recall at a given time'])}")
        self.unit = "session"
        self.engram: Any = None
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def prepare(self, sessions: Sequence[Session], unit: str) -> None:
        from engram import Engram

        self.close()
        self.unit = unit
        self.folder = tempfile.TemporaryDirectory(prefix="engram-bench-")
        self.engram = Engram(self.folder.name, embedder=self.embedder)
        for session in sessions:
            rows = [{"role": turn.role, "content": turn.content, "at": turn.at} for turn in session.turns]
            self.engram.add_exchanges_bulk(session.id, rows)
        self.engram.index()

    def search(self, question: str, asked_at: datetime, k: int, abstain: bool = False) -> list[Hit]:
        more: dict[str, Any] = {"abstain": abstain}
        if self.unit == "turn" and _takes(self.engram.recall, "messages"):
            more["messages"] = True
        hits = self.engram.recall(question, k=max(k, _DEEP), now=asked_at, **more)
        return [Hit(hit.session_id, turn_id(hit.session_id, hit.turn), hit.snippet) for hit in hits]

    def close(self) -> None:
        if self.engram is not None:
            self.engram.close()
        if self.folder is not None:
            self.folder.cleanup()
        self.engram = self.folder = None


def _takes(function: Any, parameter: str) -> bool:
    from inspect import signature

    return parameter in signature(function).parameters


# ---- Baseline


class Bm25:
    """Okapi BM25 over sessions or turns: lowercase, no stemming."""

    name = "bm25"
    about = "Okapi BM25, k1 1.5, b 0.75"
    abstains = False
    k1, b = 1.5, 0.75

    def prepare(self, sessions: Sequence[Session], unit: str) -> None:
        self.texts: list[Hit] = []
        for session in sessions:
            if unit == "turn":
                self.texts += [
                    Hit(session.id, turn_id(session.id, place), turn.content)
                    for place, turn in enumerate(session.turns)
                ]
            else:
                self.texts.append(Hit(session.id, None, "\n".join(turn.content for turn in session.turns)))
        counts = [Counter(_words(hit.snippet)) for hit in self.texts]
        self.lengths = [count.total() for count in counts]
        self.mean = sum(self.lengths) / max(len(counts), 1)
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for word, times in count.items():
                self.postings[word].append((place, times))

    def search(self, question: str, asked_at: datetime, k: int, abstain: bool = False) -> list[Hit]:  # noqa: ARG002
        total: dict[int, float] = defaultdict(float)
        for word in set(_words(question)):
            postings = self.postings.get(word, [])
            weight = math.log(1 + (len(self.texts) - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, times in postings:
                length = 1 - self.b + self.b * self.lengths[place] / self.mean
                total[place] += weight * times * (self.k1 + 1) / (times + self.k1 * length)
        return [self.texts[place] for place in sorted(total, key=lambda place: (-total[place], place))[:k]]

    def close(self) -> None:
        self.texts, self.postings = [], {}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
