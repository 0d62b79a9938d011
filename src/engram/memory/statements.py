"""What people say of themselves over the years, folded into what holds now. Pure, and English only.

A statement on a subject that has one answer (where I live, what my X is, what I prefer to what) replaces the one
before; so does the same said with or without a "not". What is said again counts once, with all its evidence.
"""

from __future__ import annotations

import math
import re

from engram.index.words import words
from engram.memory.forms import WISHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engram.memory.extract import Line

_SAME = 0.6  # of their words two statements share, and say the same or its opposite
_EVIDENCE = 5  # exchanges named per statement
_COMPARED = 50  # older statements with a word in common

_NOT = re.compile(
    r"\b(?:not?|never|don'?t|doesn'?t|won'?t|can'?t|stop(?:ped)?|avoid|without|hate|dislike|quit)\b", re.IGNORECASE
)
_NOISE = frozenset("not never dont alway now anymor longer stop avoid pleas realli actual also still".split())
_HOME = re.compile(
    r"\bi(?:'?m| am|'ve)? (?:now )?(?:live|living|based|moved|relocated)(?: (?:in|to|at|near)\b|$)", re.IGNORECASE
)
_WORK = re.compile(
    r"\bi(?:'?m| am)?(?: now| just)? (?:work(?:ing)? (?:at|for)|joined|employed (?:at|by))\b", re.IGNORECASE
)
_AGE = re.compile(r"\bi(?:'?m| am) \d{1,3}(?: years old)?\b", re.IGNORECASE)
_MINE = re.compile(r"\b(my|our) ((?:[\w'-]+ ){0,3}[\w'-]+) (?:is|are|was|were) (?:now |called |named )?", re.IGNORECASE)
_PREFER = re.compile(
    r"\b(?:prefer|rather (?:use|have)?) ?(.{1,60}?) (?:over|to|than|instead of|rather than) (.{1,60})", re.IGNORECASE
)
_FOR = re.compile(r"\b(?:i|we) (?:now |always )?use (.{1,60}?) (?:for|as) (.{1,60})", re.IGNORECASE)
_GONE = re.compile(
    r"\b(?:switched|moved|migrated|changed) from (.{1,60}?) to\b"
    r"|\bno longer (?:use|have|like|work|want|do|own)\w* (.{1,60})"
    r"|\b(?:stopped|quit|gave up) (?:using )?(.{1,60})"
    r"|\bdon'?t (?:use|have|like|want|own) (.{1,60}?) any ?more\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\b(?:always|never|from now on|prefer|rather|hate|dislike|can'?t stand|i (?:really )?(?:like|love)|don'?t|do not"
    r"|remember|avoid|no more|in general|every time|whenever)\b",
    re.IGNORECASE,
)


class Statement:
    """Something that holds until it is said otherwise."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.subject = _subject(line.text)
        self.order = [word for word in words(line.text) if word not in _NOISE]
        self.terms = frozenset(self.order)
        self.negated = bool(_NOT.search(line.text))
        self.evidence = [line.exchange]
        self.sessions = {line.session}

    def again(self, older: Statement) -> None:
        """Take over the evidence of the same said before."""
        self.evidence = list(dict.fromkeys([*older.evidence, *self.evidence]))
        self.sessions |= older.sessions

    @property
    def weight(self) -> float:
        """Return how much a statement tells about a person rather than about one task."""
        stands = bool(_STANDING.search(self.line.text))
        kind = 2.0 if self.subject else 1.6 if stands else 0.0 if self.line.kind == WISHED else 1.0
        return kind + math.log2(len(self.sessions) + len(self.evidence) / 2)

    @property
    def places(self) -> list[int]:
        """Return the exchanges that say so, the newest of them."""
        return self.evidence[-_EVIDENCE:]


class Held:
    """What holds, while statements come in."""

    def __init__(self, known: Iterable[Statement] = ()) -> None:
        self._by_number: dict[int, Statement] = {}
        self._by_subject: dict[str, int] = {}
        self._by_term: dict[str, list[int]] = {}
        self._next = 0
        for each in known:
            self._add(each)

    def all(self) -> Iterator[Statement]:
        """Yield what holds, what was said last at the end."""
        yield from self._by_number.values()

    def standing(self) -> list[Statement]:
        """Return what holds and tells something, in the order it was last said."""
        return [each for each in self.all() if each.weight > 0.6]

    def hear(self, lines: Iterable[Line]) -> None:
        """Take in what was said, in the order it was."""
        for line in sorted(lines, key=lambda line: (line.at, line.exchange)):
            self.take(Statement(line))

    def take(self, new: Statement) -> None:
        """Take a statement in, in the place of what it repeats or replaces."""
        for gone in self._retracted(new):
            self._drop(gone)
        for number, old in self._near(self._rarest(new.terms)):
            if _alike(new, old):
                if _agrees(new, old):
                    new.again(old)
                self._drop(number)
        before = self._by_subject.get(new.subject) if new.subject else None
        if before is not None:
            self._drop(before)
        self._add(new)

    def _add(self, new: Statement) -> None:
        self._by_number[self._next] = new
        if new.subject:
            self._by_subject[new.subject] = self._next
        for term in new.terms:
            self._by_term.setdefault(term, []).append(self._next)
        self._next += 1

    def _drop(self, number: int) -> None:
        old = self._by_number.pop(number, None)
        if old is not None and self._by_subject.get(old.subject) == number:
            del self._by_subject[old.subject]

    def _rarest(self, terms: Iterable[str]) -> list[str]:
        """Return so many of the rarest words that statements which share none of them cannot be alike."""
        ranked = sorted(terms, key=lambda term: (len(self._by_term.get(term, ())), term))
        return ranked[: int((1 - _SAME) * len(ranked)) + 1]

    def _near(self, terms: Iterable[str]) -> list[tuple[int, Statement]]:
        """Return the newest statements that share a word."""
        found: set[int] = set()
        for term in terms:
            known = [number for number in self._by_term.get(term, ()) if number in self._by_number][-_COMPARED:]
            self._by_term[term] = known
            found.update(known)
        return [(number, self._by_number[number]) for number in sorted(found)]

    def _retracted(self, new: Statement) -> list[int]:
        """Return the statements a new one says to be over."""
        over = _GONE.search(new.line.text)
        what = next((part for part in over.groups() if part), "") if over else ""
        terms = frozenset(words(what)) - _NOISE
        if not terms:
            return []
        near = self._near(terms)
        return [number for number, old in near if not old.negated and len(terms & old.terms) >= len(terms) / 2]


def _agrees(one: Statement, other: Statement) -> bool:
    """Tell whether two statements that are alike say the same: tabs over spaces is not spaces over tabs."""
    turned = one.subject == other.subject != "" and one.order != other.order
    return one.negated == other.negated and not turned


def _alike(one: Statement, other: Statement) -> bool:
    shared = len(one.terms & other.terms)
    return shared > 0 and shared >= _SAME * (len(one.terms) + len(other.terms) - shared)


def _subject(text: str) -> str:
    """Return what a statement is about, where there can be one answer only."""
    for name, pattern in (("home", _HOME), ("work", _WORK), ("age", _AGE)):
        if pattern.search(text):
            return name
    mine = _MINE.search(text)
    if mine:
        return f"{mine[1]} {' '.join(words(mine[2]))}".lower()
    prefer = _PREFER.search(text)
    if prefer:
        return f"prefer {' '.join(sorted({*words(prefer[1])[:4], *words(prefer[2])[:4]}))}"
    use = _FOR.search(text)
    return f"use for {' '.join(words(use[2])[:4])}" if use else ""
