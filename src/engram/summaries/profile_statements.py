"""Statements of users about themselves over the years, merged into what holds now. Pure, and English only.

A statement on a subject with one answer (where I live, what my X is, what I prefer to what) replaces the previous one;
so does the same statement with or without a "not". A repeated statement counts once, with all its evidence.
"""

from __future__ import annotations

import math
import re

from engram.index.tokenizer import extract_terms
from engram.summaries.statement_kinds import WISHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from engram.summaries.extract import Quote

_SAME = 0.6  # share of common words at which two statements say the same or its opposite
_EVIDENCE = 5  # exchanges cited per statement
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


_LONGEST = 240  # characters of a standing fact
_REPEATED = 3  # sessions in which an order was given that then stands
_HABIT = re.compile(
    r"\b(?:from now on|in general|every time|whenever|i (?:(?:really|always|usually) )?(?:prefer|like|love|"
    r"hate|dislike|avoid|can'?t stand)(?! (?:the idea|how|that|this|it\b|what|where))|i(?:'d| would) (?:always|never|"
    r"rather)|"
    r"(?:i|we) (?:always|never|only|usually|generally|no longer)|i am allergic|my preference|no more)\b|"
    r"^(?:(?:so|and|but|ok(?:ay)?|no|please|also|remember|you (?:should|must)),? )*(?:always|never)\b|"
    r"\b(?:must|should|do|please) (?:always|never)\b|\b(?:is|are) (?:always|never)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:remember (?:that|to|this)|keep in mind|note (?:in memory|for (?:later|the future))|"
    r"(?:save|add|put) (?:this|that|it) (?:in|to) (?:your |the )?memory)\b",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"^(?:(?:and|but|so|also|well|yes|no|fyi|btw|note that),? )*(?:"
    r"i(?:'?m| am) an? (?!bit|little|lot|big|huge|fan of (?:this|that)|idiot|moron)[\w-]+|"
    r"(?:i|we) (?:use|own|have|speak|study|play|drive) "
    r"(?!to\b|in\b|a (?:question|feeling|problem|issue|bug|error|look)|"
    r"the (?:impression|feeling|same|following)|an? (?:idea|error|issue)|no idea|been|it\b|this|that|seen|found|"
    r"noticed|tried|tested)\w+)",
    re.IGNORECASE,
)
_MOMENT = re.compile(  # what my X is right now, while working
    r"\b(?:my|our) (?:\w+ ){0,2}?(?:thinking|thought|question|problem|issue|concern|worry|impression|guess|idea|"
    r"understanding|point|suggestion|assumption|goal|task|plan|branch|pr|change|changes|commit|code|test|tests|error|"
    r"output|terminal|screen|mistake|bad|fault|request|prompt|message|config|intention|expectation|feeling|hope)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(  # about this moment
    r"\?\s*$|https?://|\b(?:just yet|for now|right now|at the moment|currently|today|here\b.{0,20}$|this (?:time|one|"
    r"pr|change|commit|branch|file|test|issue)|yet\b|i have the (?:impression|feeling)|maybe|probably|"
    r"i (?:guess|think|see|noticed|wonder)|in this (?:case|file|pr)|theoretically|before (?:we|you)|let'?s)\b|[`{}]",
    re.IGNORECASE,
)


class Statement:
    """Something that holds until a later statement changes it."""

    def __init__(self, line: Quote) -> None:
        self.line = line
        self.subject = _find_subject(line.text)
        self.order = [word for word in extract_terms(line.text) if word not in _NOISE]
        self.terms = frozenset(self.order)
        self.negated = bool(_NOT.search(line.text))
        self.evidence = [line.exchange]
        self.sessions = {line.session}

    def merge_evidence(self, older: Statement) -> None:
        """Add the evidence of an earlier, equal statement."""
        self.evidence = list(dict.fromkeys([*older.evidence, *self.evidence]))
        self.sessions |= older.sessions

    @property
    def weight(self) -> float:
        """Return how much a statement says about a person rather than about one task."""
        stands = bool(_STANDING.search(self.line.text))
        kind = 2.0 if self.subject else 1.6 if stands else 0.0 if self.line.kind == WISHED else 1.0
        return kind + math.log2(len(self.sessions) + len(self.evidence) / 2)

    @property
    def newest_evidence(self) -> list[int]:
        """Return the newest exchanges that support it."""
        return self.evidence[-_EVIDENCE:]


class StatementSet:
    """The statements that hold, updated as new ones arrive."""

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        self._by_number: dict[int, Statement] = {}
        self._by_subject: dict[str, int] = {}
        self._by_term: dict[str, list[int]] = {}
        self._next = 0
        for statement in statements:
            self._insert(statement)

    def iter_statements(self) -> Iterator[Statement]:
        """Yield the statements that hold, the latest last."""
        yield from self._by_number.values()

    def list_standing(self) -> list[Statement]:
        """Return the informative statements that hold, in the order they were last said."""
        statements = (statement for statement in self.iter_statements() if statement.weight > 0.6)
        return [item for item in statements if is_standing(item.line.text) or len(item.sessions) >= _REPEATED]

    def add_lines(self, lines: Iterable[Quote]) -> None:
        """Add lines in the order they were said."""
        for line in sorted(lines, key=lambda line: (line.at, line.exchange)):
            self.add_statement(Statement(line))

    def add_statement(self, new: Statement) -> None:
        """Add a statement in place of what it repeats or replaces."""
        for retracted in self._find_retracted(new):
            self._discard(retracted)
        for number, old in self._find_sharing(self._pick_rarest_terms(new.terms)):
            if _is_similar(new, old):
                if _has_same_meaning(new, old):
                    new.merge_evidence(old)
                self._discard(number)
        previous = self._by_subject.get(new.subject) if new.subject else None
        if previous is not None:
            self._discard(previous)
        self._insert(new)

    def _insert(self, new: Statement) -> None:
        self._by_number[self._next] = new
        if new.subject:
            self._by_subject[new.subject] = self._next
        for term in new.terms:
            self._by_term.setdefault(term, []).append(self._next)
        self._next += 1

    def _discard(self, number: int) -> None:
        old = self._by_number.pop(number, None)
        if old is not None and self._by_subject.get(old.subject) == number:
            del self._by_subject[old.subject]

    def _pick_rarest_terms(self, terms: Iterable[str]) -> list[str]:
        """Return enough of the rarest words that statements sharing none of them cannot be similar."""
        ranked = sorted(terms, key=lambda term: (len(self._by_term.get(term, ())), term))
        return ranked[: int((1 - _SAME) * len(ranked)) + 1]

    def _find_sharing(self, terms: Iterable[str]) -> list[tuple[int, Statement]]:
        """Return the newest statements that share a word."""
        numbers: set[int] = set()
        for term in terms:
            live = [number for number in self._by_term.get(term, ()) if number in self._by_number][-_COMPARED:]
            self._by_term[term] = live
            numbers.update(live)
        return [(number, self._by_number[number]) for number in sorted(numbers)]

    def _find_retracted(self, new: Statement) -> list[int]:
        """Return the statements that a new one revokes."""
        match = _GONE.search(new.line.text)
        phrase = next((part for part in match.groups() if part), "") if match else ""
        terms = frozenset(extract_terms(phrase)) - _NOISE
        if not terms:
            return []
        candidates = self._find_sharing(terms)
        return [number for number, old in candidates if not old.negated and len(terms & old.terms) >= len(terms) / 2]


def is_standing(text: str) -> bool:
    """Return whether a sentence says how something always is, not what is asked for or seen now."""
    if len(text) > _LONGEST or text.rstrip().endswith("?"):
        return False
    if _TOLD.search(text):
        return True
    if _PASSING.search(text):
        return False
    return any(pattern.search(text) for pattern in (_HABIT, _HOME, _WORK, _AGE, _SELF, _GONE)) or bool(
        _MINE.search(text) and not _MOMENT.search(text)
    )


def _has_same_meaning(first: Statement, second: Statement) -> bool:
    """Check whether two similar statements say the same: tabs over spaces is not spaces over tabs."""
    reordered = first.subject == second.subject != "" and first.order != second.order
    return first.negated == second.negated and not reordered


def _is_similar(first: Statement, second: Statement) -> bool:
    shared = len(first.terms & second.terms)
    return shared > 0 and shared >= _SAME * (len(first.terms) + len(second.terms) - shared)


def _find_subject(text: str) -> str:
    """Return the subject of a statement, if it can have only one answer."""
    for name, pattern in (("home", _HOME), ("work", _WORK), ("age", _AGE)):
        if pattern.search(text):
            return name
    mine = _MINE.search(text)
    if mine:
        return f"{mine[1]} {' '.join(extract_terms(mine[2]))}".lower()
    prefer = _PREFER.search(text)
    if prefer:
        return f"prefer {' '.join(sorted({*extract_terms(prefer[1])[:4], *extract_terms(prefer[2])[:4]}))}"
    use = _FOR.search(text)
    return f"use for {' '.join(extract_terms(use[2])[:4])}" if use else ""
