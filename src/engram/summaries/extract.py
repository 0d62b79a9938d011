"""Extract the central sentences of a conversation, and those worth keeping by their form, all quoted.

Nothing is reworded or invented: every line is part of a message, with the exchange it comes from. The same conversation
gives the same extract. The work is linear in the length of the conversation: beyond a limit, centrality is measured
against a sample.
"""

from __future__ import annotations

import math
from collections import Counter

from engram.index.tokenizer import extract_terms
from engram.platform.sentences import extract_sentences
from engram.platform.text import count_tokens
from engram.platform.value import value
from engram.summaries import statement_kinds
from engram.summaries.statement_kinds import ASKED, DECIDED, DONE, FACT, OPEN, SAID, WISHED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

RULES = "extract/1"  # increase when the same conversation gives different lines

FILE, COMMAND, NAME = "file", "command", "name"
_SAMPLE = 400  # sentences that centrality is measured against
_LOOKED_AT = 300  # best sentences that are checked for repetition
_REPEATS = 0.6  # two sentences this similar say the same
_ALIKE = 0.7  # weight of novelty against centrality
_STATEMENTS = 300  # statements of a session
_PASTED, _AROUND, _TYPED = 20, 2, 1 << 30  # sentences: more than a person types at once; kept around a paste; no limit

_ROLE_WEIGHTS = {"user": 1.6, "assistant": 1.0, "gist": 1.3}
_SPOKEN = 0.35  # weight of all other roles, mainly tools
_BONUS = {ASKED: 1.0, DECIDED: 0.9, WISHED: 0.8, FACT: 0.8, OPEN: 0.5, DONE: 0.5, SAID: 0.0}
_SHARE = {ASKED: 0.18, DECIDED: 0.25, WISHED: 0.15, FACT: 0.12, OPEN: 0.14, DONE: 0.16, SAID: 1.0}
_FLOOR = 0.1  # minimum weight of a sentence that no other resembles
_LIST_LIMITS = {FILE: 8, COMMAND: 5, NAME: 8}
_LISTS_SHARE = 0.12

_HEADING = {
    ASKED: "Asked", SAID: "Said", DECIDED: "Decided", DONE: "Done", WISHED: "Preferences", FACT: "Facts", OPEN: "Open",
    FILE: "Files", COMMAND: "Commands", NAME: "Names",
}  # fmt: skip


@value
class Quote:
    """One quote."""

    kind: str  # asked, said, decided, done, wished, fact, open; file, command, name
    text: str
    exchange: int  # exchange id; 0 if only a summary is left
    role: str
    at: int
    session: str = ""


class _Sentence:
    """A sentence while it is scored."""

    def __init__(self, line: Quote, position: int, is_own: bool = True) -> None:
        self.line, self.position = line, position
        self.weight = _ROLE_WEIGHTS.get(line.role, _SPOKEN) if is_own else _SPOKEN
        self.terms = Counter(extract_terms(line.text))
        self.vector: dict[str, float] = {}
        self.score = 0.0


def extract_lines(rows: Iterable[Mapping[str, Any]], budget: int) -> list[Quote]:
    """Return the lines of exchanges worth keeping, in order, within a token budget."""
    exchanges = list(rows)
    weighed = _score_sentences(_collect_sentences(exchanges))
    prose = _choose_lines(weighed, budget - int(budget * _LISTS_SHARE))
    return _trim_lines([*prose, *_list_mentions(exchanges)], budget)


def select_best_lines(lines: Sequence[Quote], budget: int) -> list[Quote]:
    """Return the most important lines of several extracts, in order, within a token budget."""
    prose = [line for line in lines if line.kind not in _LIST_LIMITS]
    weighed = _score_sentences([_Sentence(line, position) for position, line in enumerate(prose)])
    return [sentence.line for sentence in _pick_sentences(weighed, budget, [])]


def extract_statements(rows: Iterable[Mapping[str, Any]]) -> list[Quote]:
    """Return what users say about themselves and how they want things done; if there are too many, the newest."""
    quotes: list[Quote] = []
    for row in rows:
        if row["role"] == "user":
            classified = (
                (statement_kinds.classify_sentence(sentence, "user") if is_own else SAID, sentence)
                for sentence, is_own in _split_exchange(row)
            )
            quotes += [_quote_from_row(row, kind, sentence) for kind, sentence in classified if kind in (WISHED, FACT)]
            if len(quotes) > 4 * _STATEMENTS:
                quotes = quotes[-_STATEMENTS:]
    return quotes[-_STATEMENTS:]


def render_lines(lines: Sequence[Quote]) -> str:
    """Render lines under headings, each with its author and source."""
    blocks: list[str] = []
    for kind, heading in _HEADING.items():
        matching = [line for line in lines if line.kind == kind]
        if matching and kind in _LIST_LIMITS:
            blocks.append(f"{heading}: {', '.join(line.text for line in matching)}")
        elif matching:
            blocks.append("\n".join([f"{heading}:", *map(render_line, matching)]))
    return "\n".join(blocks)


def render_line(line: Quote) -> str:
    """Render a line with its author and source."""
    reference = f" (#{line.exchange})" if line.exchange else ""
    return f"- {line.role}: {line.text}{reference}"


def _quote_from_row(row: Mapping[str, Any], kind: str, text: str) -> Quote:
    return Quote(
        kind=kind, text=text, exchange=int(row["id"]), role=str(row["role"]), at=int(row["at"]),
        session=str(row["session_id"]),
    )  # fmt: skip


def _collect_sentences(rows: Sequence[Mapping[str, Any]]) -> list[_Sentence]:
    """Return every sentence once, in order, with its form."""
    collected: list[_Sentence] = []
    seen: set[str] = set()
    last_spoken = _find_last_spoken(rows)
    request_seen = False
    for row in rows:
        for text, is_own in _split_exchange(row):
            key = text.casefold()
            if key in seen:
                continue
            seen.add(key)
            kind = _classify_sentence(text, row, request_seen, row is last_spoken) if is_own else SAID
            request_seen = request_seen or kind == ASKED
            collected.append(_Sentence(_quote_from_row(row, kind, text), len(collected), is_own))
    return collected


def _split_exchange(row: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the sentences of an exchange, and whether each is the author's own: a user who pastes a document
    writes before and after it.
    """
    texts = extract_sentences(row["content"])
    own_margin = _TYPED if len(texts) <= _PASTED or row["role"] != "user" else _AROUND
    return [(text, index < own_margin or index >= len(texts) - own_margin) for index, text in enumerate(texts)]


def _find_last_spoken(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    return next((row for row in reversed(rows) if row["role"] in ("user", "assistant")), None)


def _classify_sentence(text: str, row: Mapping[str, Any], request_seen: bool, unanswered: bool) -> str:
    """Return the form of a sentence: the first request of a user, an unanswered question, or as it is worded."""
    role = str(row["role"])
    kind = statement_kinds.classify_sentence(text, role)
    if role == "user" and not request_seen and kind == SAID and not statement_kinds.is_polite(text):
        return ASKED
    if unanswered and text.endswith(("?", "？")) and not statement_kinds.is_polite(text):
        return OPEN
    return kind


def _score_sentences(sentences: list[_Sentence]) -> list[_Sentence]:
    """Score sentences by centrality, author, form and length."""
    _vectorize_sentences(sentences)
    centralities = _measure_centrality(sentences)
    highest = max(centralities, default=0.0) or 1.0
    for sentence, centrality in zip(sentences, centralities, strict=True):
        numbered = sentence.line.kind == FACT and any(map(str.isdigit, sentence.line.text))
        bonus = _BONUS.get(sentence.line.kind, 0.0) + 0.3 * numbered
        sentence.score = (centrality / highest + bonus + _FLOOR) * sentence.weight * _weigh_length(sentence)
        if statement_kinds.is_polite(sentence.line.text):
            sentence.score *= 0.2
    return sentences


def _weigh_length(sentence: _Sentence) -> float:
    """Return the weight of a sentence's length: neither a word nor a list of everything."""
    count = sum(sentence.terms.values())
    return min(1.0, 0.25 + count / 8) if count <= 30 else max(0.6, 1.3 - count / 100)


def _vectorize_sentences(sentences: Sequence[_Sentence]) -> None:
    spread = Counter(term for sentence in sentences for term in sentence.terms)
    total = len(sentences)
    for sentence in sentences:
        weights = {
            term: (1 + math.log(count)) * math.log(1 + total / spread[term]) for term, count in sentence.terms.items()
        }
        norm = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
        sentence.vector = {term: weight / norm for term, weight in weights.items()}


def _measure_centrality(sentences: Sequence[_Sentence]) -> list[float]:
    """Return the similarity of each sentence to all others, or to an even sample of them."""
    step = max(1, -(-len(sentences) // _SAMPLE))
    index: dict[str, list[float]] = {}
    for sentence in sentences[::step]:
        for term, weight in sentence.vector.items():
            index.setdefault(term, []).append(weight)
    sums = {term: math.fsum(weights) for term, weights in index.items()}
    # The similarity of a sentence to itself does not count.
    return [
        max(0.0, math.fsum(w * sums.get(t, 0.0) for t, w in sentence.vector.items()) - (position % step == 0))
        for position, sentence in enumerate(sentences)
    ]


def _choose_lines(sentences: Sequence[_Sentence], budget: int) -> list[Quote]:
    """Choose lines by form first, each within its share, then whatever else is central."""
    chosen: list[_Sentence] = []
    for kind, share in _SHARE.items():
        taken_positions = {sentence.position for sentence in chosen}
        candidates = [
            sentence
            for sentence in sentences
            if kind in (sentence.line.kind, SAID) and sentence.position not in taken_positions
        ]
        spent = sum(_count_tokens(sentence.line) for sentence in chosen)
        remaining = budget - spent if kind == SAID else min(int(budget * share), budget - spent)
        limit = 2 if kind == ASKED else len(candidates)
        chosen += _pick_sentences(candidates, remaining, chosen)[:limit]
    return [sentence.line for sentence in sorted(chosen, key=lambda sentence: sentence.position)]


def _pick_sentences(
    candidates: Sequence[_Sentence], budget: int, already_chosen: Sequence[_Sentence]
) -> list[_Sentence]:
    """Pick the best sentences that fit and do not repeat each other or those already chosen, in order."""
    ranked = sorted(candidates, key=lambda sentence: (-sentence.score, sentence.position))[:_LOOKED_AT]
    similarity = {
        id(sentence): max((_compute_similarity(sentence, earlier) for earlier in already_chosen), default=0.0)
        for sentence in ranked
    }
    picked: list[_Sentence] = []
    while ranked:
        best = max(
            ranked, key=lambda sentence: (sentence.score * (1 - _ALIKE * similarity[id(sentence)]), -sentence.position)
        )
        ranked.remove(best)
        if _count_tokens(best.line) > budget or best.score <= 0 or similarity[id(best)] >= _REPEATS:
            continue
        picked.append(best)
        budget -= _count_tokens(best.line)
        for sentence in ranked:
            similarity[id(sentence)] = max(similarity[id(sentence)], _compute_similarity(sentence, best))
    return sorted(picked, key=lambda sentence: sentence.position)


def _compute_similarity(first: _Sentence, second: _Sentence) -> float:
    small, large = sorted((first.vector, second.vector), key=len)
    return math.fsum(weight * large[term] for term, weight in small.items() if term in large)


def _count_tokens(line: Quote) -> int:
    return count_tokens(render_line(line)) + 1


def _list_mentions(rows: Sequence[Mapping[str, Any]]) -> list[Quote]:
    """Return the files, commands and names mentioned most, each with its first exchange."""
    finders = {
        FILE: statement_kinds.find_files,
        COMMAND: statement_kinds.find_commands,
        NAME: statement_kinds.find_names,
    }
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in finders}
    first: dict[tuple[str, str], Quote] = {}
    for row in rows:
        if row["role"] not in ("user", "assistant"):
            continue
        for kind, finder in finders.items():
            for text in finder(row["content"][:20_000]):
                counts[kind][text] += 2 if row["role"] == "user" else 1
                first.setdefault((kind, text), _quote_from_row(row, kind, text))
    return [
        first[kind, text]
        for kind, limit in _LIST_LIMITS.items()
        for text, count in counts[kind].most_common(limit)
        if count > 1 or kind != NAME
    ]


def _trim_lines(lines: list[Quote], budget: int) -> list[Quote]:
    """Trim lines to fit the budget as text, from the end of the lists first."""
    while lines and count_tokens(render_lines(lines)) > budget:
        lines = lines[:-1]
    return lines
