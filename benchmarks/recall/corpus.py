"""Generated conversations of any length: a seeded random vocabulary with Zipf frequencies."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from benchmarks.recall.data import Session, Turn

TURNS = 20  # per session
_WORDS = 30_000
_BEGIN = datetime(2024, 1, 1, tzinfo=timezone.utc)
_SOUNDS = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "el", "or", "ist")]


class Corpus:
    """Generates the same sessions and questions for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        spelled: dict[str, None] = {}
        while len(spelled) < _WORDS:
            spelled["".join(self.random.choices(_SOUNDS, k=self.random.randint(1, 4)))] = None
        self.words = list(spelled)
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(_WORDS)))

    def text(self, least: int, most: int) -> str:
        """Return random words by their frequency."""
        return " ".join(self.random.choices(self.words, cum_weights=self.weights, k=self.random.randint(least, most)))

    def sessions(self, exchanges: int) -> Iterator[Session]:
        """Yield sessions with this many exchanges in total."""
        for number in range((exchanges + TURNS - 1) // TURNS):
            at = _BEGIN + timedelta(minutes=30 * number)
            count = min(TURNS, exchanges - number * TURNS)
            turns = (self.turn(at + timedelta(seconds=20 * place), place) for place in range(count))
            yield Session(f"session-{number}", tuple(turns))

    def turn(self, at: datetime, place: int) -> Turn:
        """Return one random turn."""
        return Turn("assistant" if place % 2 else "user", self.text(8, 60), at)

    def question(self) -> str:
        """Return a question of three to eight words."""
        return self.text(3, 8)
