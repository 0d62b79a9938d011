"""An extract of a conversation: its central sentences and what is worth keeping by its form, all of it quoted.

Nothing is reworded and nothing is made up: every line is a piece of what somebody said, with the exchange it comes
from. The same conversation gives the same extract. The work grows with the length of the conversation only: beyond a
bound, how central a sentence is is measured against a sample.
"""

from __future__ import annotations

import math
from collections import Counter

from engram.index.words import words
from engram.memory import forms
from engram.memory.forms import ASKED, DECIDED, DONE, FACT, OPEN, SAID, WISHED
from engram.memory.sentences import sentences
from engram.text import tokens
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

RULES = "extract/1"  # changes when the same conversation would give another extract

FILE, COMMAND, NAME = "file", "command", "name"
_SAMPLE = 400  # sentences that centrality is measured against
_LOOKED_AT = 300  # the best sentences, among which those that repeat each other are sorted out
_REPEATS = 0.6  # two sentences this near say the same
_ALIKE = 0.7  # how much saying something new counts against being central
_STATEMENTS = 300  # of one session
_PASTED, _AROUND, _TYPED = 20, 2, 1 << 30  # sentences: nobody types more at once; what is said around a paste; all

_WEIGHT = {"user": 1.6, "assistant": 1.0, "gist": 1.3}
_SPOKEN = 0.35  # the weight of everybody else, tools first of all
_BONUS = {ASKED: 1.0, DECIDED: 0.9, WISHED: 0.8, FACT: 0.8, OPEN: 0.5, DONE: 0.5, SAID: 0.0}
_SHARE = {ASKED: 0.18, DECIDED: 0.25, WISHED: 0.15, FACT: 0.12, OPEN: 0.14, DONE: 0.16, SAID: 1.0}
_FLOOR = 0.1  # what nothing else speaks of is said all the same
_LISTED = {FILE: 8, COMMAND: 5, NAME: 8}
_LISTS_SHARE = 0.12

_HEADING = {
    ASKED: "Asked", SAID: "Said", DECIDED: "Decided", DONE: "Done", WISHED: "Wished", FACT: "Told", OPEN: "Open",
    FILE: "Files", COMMAND: "Commands", NAME: "Names",
}  # fmt: skip


@value
class Line:
    """One quote."""

    kind: str  # asked, said, decided, done, wished, fact, open; file, command, name
    text: str
    exchange: int  # where it was said; 0 where only a summary is left
    role: str
    at: int
    session: str = ""


class _Sentence:
    """A sentence while it is weighed."""

    def __init__(self, line: Line, place: int, own: bool = True) -> None:
        self.line, self.place = line, place
        self.weight = _WEIGHT.get(line.role, _SPOKEN) if own else _SPOKEN
        self.terms = Counter(words(line.text))
        self.vector: dict[str, float] = {}
        self.score = 0.0


def extract(rows: Iterable[Mapping[str, Any]], budget: int) -> list[Line]:
    """Return the lines worth keeping of exchanges in order, so many that they fit a token budget as text."""
    given = list(rows)
    found = _weighed(_said(given))
    chosen = _chosen(found, budget - int(budget * _LISTS_SHARE))
    return _trimmed([*chosen, *_lists(given)], budget)


def best(lines: Sequence[Line], budget: int) -> list[Line]:
    """Return the lines of several extracts that matter most together, in their order, within a token budget."""
    prose = [line for line in lines if line.kind not in _LISTED]
    found = _weighed([_Sentence(line, place) for place, line in enumerate(prose)])
    return [each.line for each in _picked(found, budget, [])]


def statements(rows: Iterable[Mapping[str, Any]]) -> list[Line]:
    """Return what people say of themselves and of how they want things done; of too many the newest."""
    found: list[Line] = []
    for row in rows:
        if row["role"] == "user":
            kinds = ((forms.form(each, "user") if own else SAID, each) for each, own in _words(row))
            found += [_line(row, kind, each) for kind, each in kinds if kind in (WISHED, FACT)]
            if len(found) > 4 * _STATEMENTS:
                found = found[-_STATEMENTS:]
    return found[-_STATEMENTS:]


def rendered(lines: Sequence[Line]) -> str:
    """Return lines as text: under headings, each with who said it and where."""
    blocks: list[str] = []
    for kind, heading in _HEADING.items():
        here = [line for line in lines if line.kind == kind]
        if here and kind in _LISTED:
            blocks.append(f"{heading}: {', '.join(line.text for line in here)}")
        elif here:
            blocks.append("\n".join([f"{heading}:", *map(shown, here)]))
    return "\n".join(blocks)


def shown(line: Line) -> str:
    """Return a line as text: who said it, what, and where."""
    place = f" (#{line.exchange})" if line.exchange else ""
    return f"- {line.role}: {line.text}{place}"


def _line(row: Mapping[str, Any], kind: str, text: str) -> Line:
    return Line(
        kind=kind, text=text, exchange=int(row["id"]), role=str(row["role"]), at=int(row["at"]),
        session=str(row["session_id"]),
    )  # fmt: skip


def _said(rows: Sequence[Mapping[str, Any]]) -> list[_Sentence]:
    """Return every sentence once, in order, by the form it is said in."""
    found: list[_Sentence] = []
    seen: set[str] = set()
    last = _last_spoken(rows)
    asked = False
    for row in rows:
        for text, own in _words(row):
            key = text.casefold()
            if key in seen:
                continue
            seen.add(key)
            kind = _kind(text, row, asked, row is last) if own else SAID
            asked = asked or kind == ASKED
            found.append(_Sentence(_line(row, kind, text), len(found), own))
    return found


def _words(row: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the sentences of an exchange, and whether each is the speaker's own: a person who pastes a whole
    document speaks before it and after it.
    """
    found = sentences(row["content"])
    typed = _TYPED if len(found) <= _PASTED or row["role"] != "user" else _AROUND
    return [(each, place < typed or place >= len(found) - typed) for place, each in enumerate(found)]


def _last_spoken(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((row for row in reversed(rows) if row["role"] in ("user", "assistant")), None)


def _kind(text: str, row: Mapping[str, Any], asked: bool, unanswered: bool) -> str:
    """Return the form of a sentence: the first thing a person wants, a question nobody answered, or as it is said."""
    role = str(row["role"])
    found = forms.form(text, role)
    if role == "user" and not asked and found == SAID and not forms.is_polite(text):
        return ASKED
    if unanswered and text.endswith(("?", "？")) and not forms.is_polite(text):
        return OPEN
    return found


def _weighed(found: list[_Sentence]) -> list[_Sentence]:
    """Weigh sentences: how central they are, who says them, how, and at what length."""
    _vectorize(found)
    central = _centrality(found)
    highest = max(central, default=0.0) or 1.0
    for each, how in zip(found, central, strict=True):
        numbered = each.line.kind == FACT and any(map(str.isdigit, each.line.text))
        bonus = _BONUS.get(each.line.kind, 0.0) + 0.3 * numbered
        each.score = (how / highest + bonus + _FLOOR) * each.weight * _length(each)
        if forms.is_polite(each.line.text):
            each.score *= 0.2
    return found


def _length(sentence: _Sentence) -> float:
    """Return how much a sentence counts by its length: neither a word nor a list of everything."""
    count = sum(sentence.terms.values())
    return min(1.0, 0.25 + count / 8) if count <= 30 else max(0.6, 1.3 - count / 100)


def _vectorize(found: Sequence[_Sentence]) -> None:
    spread = Counter(term for each in found for term in each.terms)
    total = len(found)
    for each in found:
        weights = {
            term: (1 + math.log(count)) * math.log(1 + total / spread[term]) for term, count in each.terms.items()
        }
        norm = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        each.vector = {term: weight / norm for term, weight in weights.items()}


def _centrality(found: Sequence[_Sentence]) -> list[float]:
    """Return how near each sentence is to all others, or to an even sample of them."""
    step = max(1, -(-len(found) // _SAMPLE))
    index: dict[str, list[float]] = {}
    for each in found[::step]:
        for term, weight in each.vector.items():
            index.setdefault(term, []).append(weight)
    sums = {term: math.fsum(weights) for term, weights in index.items()}
    # What a sentence has in common with itself says nothing of the others.
    return [
        max(0.0, math.fsum(w * sums.get(t, 0.0) for t, w in each.vector.items()) - (place % step == 0))
        for place, each in enumerate(found)
    ]


def _chosen(found: Sequence[_Sentence], budget: int) -> list[Line]:
    """Choose by form first, each within its share, then whatever else is central."""
    taken: list[_Sentence] = []
    for kind, share in _SHARE.items():
        known = {each.place for each in taken}
        here = [each for each in found if kind in (each.line.kind, SAID) and each.place not in known]
        spent = sum(_cost(each.line) for each in taken)
        room = budget - spent if kind == SAID else min(int(budget * share), budget - spent)
        most = 2 if kind == ASKED else len(here)
        taken += _picked(here, room, taken)[:most]
    return [each.line for each in sorted(taken, key=lambda each: each.place)]


def _picked(found: Sequence[_Sentence], budget: int, beside: Sequence[_Sentence]) -> list[_Sentence]:
    """Pick the best sentences that fit and do not repeat each other or those beside them, in their order."""
    ranked = sorted(found, key=lambda each: (-each.score, each.place))[:_LOOKED_AT]
    near = {id(each): max((_likeness(each, other) for other in beside), default=0.0) for each in ranked}
    picked: list[_Sentence] = []
    while ranked:
        one = max(ranked, key=lambda each: (each.score * (1 - _ALIKE * near[id(each)]), -each.place))
        ranked.remove(one)
        if _cost(one.line) > budget or one.score <= 0 or near[id(one)] >= _REPEATS:
            continue
        picked.append(one)
        budget -= _cost(one.line)
        for each in ranked:
            near[id(each)] = max(near[id(each)], _likeness(each, one))
    return sorted(picked, key=lambda each: each.place)


def _likeness(one: _Sentence, other: _Sentence) -> float:
    small, large = sorted((one.vector, other.vector), key=len)
    return math.fsum(weight * large[term] for term, weight in small.items() if term in large)


def _cost(line: Line) -> int:
    return tokens(shown(line)) + 1


def _lists(rows: Sequence[Mapping[str, Any]]) -> list[Line]:
    """Return the files, commands and names spoken of most, each with where it was first."""
    finders = {FILE: forms.files, COMMAND: forms.commands, NAME: forms.names}
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in finders}
    first: dict[tuple[str, str], Line] = {}
    for row in rows:
        if row["role"] not in ("user", "assistant"):
            continue
        for kind, find in finders.items():
            for text in find(row["content"][:20_000]):
                counts[kind][text] += 2 if row["role"] == "user" else 1
                first.setdefault((kind, text), _line(row, kind, text))
    return [
        first[kind, text]
        for kind, most in _LISTED.items()
        for text, count in counts[kind].most_common(most)
        if count > 1 or kind != NAME
    ]


def _trimmed(lines: list[Line], budget: int) -> list[Line]:
    """Return lines that fit as text, those at the end of the lists given up first."""
    while lines and tokens(rendered(lines)) > budget:
        lines = lines[:-1]
    return lines
