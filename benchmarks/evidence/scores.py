"""Compare statements by their content words, and count what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

FOUND = 0.35  # minimum share of the content words of a statement

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_ENDING = re.compile(r"(?:ations?|ings?|ments?|ions?|ers?|ies|ied|ed|es|ly|s|e|y)$")
_EMPTY = frozenset(
    re.findall(
        r"\w+",
        """the and that this with for from was were are not but had has have been into onto when while after before
        because their there then than them they its also only any all some which what who how why could would should
        can may did does doing done being between about over under again more most other such same very too out off
        per via user users wanted initially required needed needs need make made use used using be is of in on to a an
        as by at it if or so no do""",
    )
)


def content_words(text: str) -> set[str]:
    """Return the roughly stemmed words of a text that carry its meaning."""
    words = {word.lower() for word in _PART.findall(text)}
    return {_ENDING.sub("", word) if len(word) > 4 else word for word in words if word not in _EMPTY}


def share(statement: str, text: str) -> float:
    """Return which share of a statement's content words a text has."""
    words = content_words(statement)
    return len(words & content_words(text)) / len(words) if words else 0.0


def says(statement: str, texts: Iterable[str], least: float = FOUND) -> bool:
    """Return whether one of some texts says what a statement says."""
    return any(share(statement, text) >= least for text in texts)


@dataclass
class Count:
    """How many of something were right."""

    right: int = 0
    total: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, is_right: bool, description: str) -> None:
        """Count one, and keep what was wrong."""
        self.total += 1
        self.right += is_right
        if not is_right:
            self.wrong.append(description)

    @property
    def rate(self) -> float:
        """The share that was right; 1 if there was nothing."""
        return self.right / self.total if self.total else 1.0

    def __str__(self) -> str:
        return f"{self.right}/{self.total} {self.rate:.0%}"


@dataclass
class Report:
    """Named counts, as lines."""

    title: str
    counts: dict[str, Count] = field(default_factory=dict)
    summary: list[str] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Count:
        return self.counts.setdefault(name, Count())

    def render(self, *, misses: bool = False, notes: int = 0) -> str:
        """Return the figures; if asked for, what was wrong, and some examples."""
        lines = [self.title]
        for name, count in self.counts.items():
            lines.append(f"  {name:44} {count}")
            if misses:
                lines += [f"      - {wrong}" for wrong in count.wrong]
        return "\n".join([*lines, *self.summary, *self.examples[:notes]])


def match_files(labelled: Sequence[str], found: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Return which labelled paths were found and which found ones are labelled; directories above may differ."""

    def same(path: str, other: str) -> bool:
        first, second = (part.replace("\\", "/").strip("/") for part in (path, other))
        return first == second or first.endswith(f"/{second}") or second.endswith(f"/{first}")

    return (
        [any(same(path, other) for other in found) for path in labelled],
        [any(same(path, other) for other in labelled) for path in found],
    )
