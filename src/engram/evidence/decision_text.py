"""Write decisions for a reader with little room. Pure."""

from __future__ import annotations

import re

from engram.evidence import lasting, replies
from engram.evidence.content_words import extract_content_words, measure_overlap
from engram.evidence.decision_kinds import RECAP
from engram.platform.sentences import split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from engram.evidence.records import Decision

_BESIDE_RECAP = 320  # characters of other sentences beside a restatement
_REFERS_BACK = re.compile(r"^(?:and |but |so |no[.,] )*(?:that|this|it|these|those|they|one|same)\b", re.IGNORECASE)
_LONGEST_CONVENTION = 220  # characters of one sentence
_REPEATED, _COMPARED = 0.8, 60  # share of a decision's words that a newer one has; newer ones it is compared with
_SHORT_ANSWER = 160  # characters
_JOINING = re.compile(r"^(?:and|but|so|also|then|please|go ahead (?:and|with))\b[,\s]*", re.IGNORECASE)
_POINTS_AT = re.compile(  # a message that the reader does not see
    r"\b(?:bullet|point|option|item|step|number|nr\.?|question) ?#?\d|^ideally\b|\b\d\. (?:and|or) \d\b|"
    r"\b(?:above|below)\b",
    re.IGNORECASE,
)
_NEW = 0.25  # minimum share of a sentence's words that are not yet said


def find_convention(text: str) -> str:
    """Return the sentences of a person's decision that are rules for work to come, or "" if there are none."""
    kept = [
        sentence
        for sentence in split_sentences(text)
        if len(sentence) <= _LONGEST_CONVENTION and lasting.is_standing(sentence) and not _POINTS_AT.search(sentence)
    ]
    return describe_decision(" ".join(kept)) if kept else ""


def keep_newest(decisions: Iterable[Any], read_text: Callable[[Any], str]) -> list[Any]:
    """Return decisions, given newest first, without those that a newer one says in nearly the same words."""
    kept: list[Any] = []
    texts: list[str] = []
    for decision in decisions:
        text = read_text(decision)
        if not any(measure_overlap(text, newer) >= _REPEATED for newer in texts[-_COMPARED:]):
            kept.append(decision)
            texts.append(text)
    return kept


def is_put_as_question(text: str) -> bool:
    """Return whether a decision is put as a question, which does not say what became of it."""
    return split_sentences(text)[:1] != [] and split_sentences(text)[0].rstrip("\"')* ").endswith("?")


def describe_decision(text: str, question: str = "") -> str:
    """Return a decision for a list: without the words that only agree, a short answer with its question."""
    said = _JOINING.sub("", replies.strip_approval(_JOINING.sub("", text))) or text
    first = said.split(" ", 1)[0].rstrip(",.")
    said = said[:1].upper() + said[1:] if first.isalpha() else said  # code keeps its case
    is_short = max(len(text), len(question)) <= _SHORT_ANSWER
    return f"{question} {said}" if is_short and question.endswith("?") and lasting.names_something(question) else said


def render_decisions(decisions: Sequence[Decision], characters: int) -> str:
    """Return what decisions say within a budget: restatements first, then the sentences that add most."""
    in_force = [item for item in decisions if item.superseded_by is None] or list(decisions)
    return "\n".join(choose_sentences([(item.kind, item.text) for item in in_force], characters))


def choose_sentences(decisions: Sequence[tuple[str, str]], characters: int) -> list[str]:
    """Return the sentences of decisions, given by kind and text, that say most within a budget, in their order."""
    recaps = [_cut_sentences(text, characters) for kind, text in decisions if kind == RECAP][:1]
    said = set(extract_content_words(" ".join(recaps)))
    sentences = [sentence for kind, text in decisions if kind != RECAP for sentence in split_sentences(text)]
    if recaps:  # which says it all: of what was said before only what stands for itself
        sentences = [sentence for sentence in sentences if not _REFERS_BACK.match(sentence)]
    remaining, chosen = [*sentences], []
    room = min(characters - sum(map(len, recaps)), _BESIDE_RECAP if recaps else characters)
    while remaining:
        best = max(remaining, key=lambda sentence: _measure_news(sentence, said))
        remaining.remove(best)
        if _measure_news(best, said) < 0:
            break
        if len(best) + 1 <= room:
            room -= len(best) + 1
            chosen.append(best)
            said |= extract_content_words(best)
    return [*recaps, *(sentence for sentence in dict.fromkeys(sentences) if sentence in chosen)]


def _cut_sentences(text: str, characters: int) -> str:
    """Return the first sentences of a text that fit, at least a part of the first."""
    if len(text) <= characters:
        return text
    kept = ""
    for sentence in split_sentences(text):
        if len(kept) + len(sentence) + 1 > characters:
            break
        kept = f"{kept} {sentence}".strip()
    return kept or text[:characters]


def _measure_news(sentence: str, said: set[str]) -> float:
    """Return how much a sentence adds for its length; negative if it repeats what is said."""
    words = extract_content_words(sentence)
    new = words - said
    return len(new) / (len(sentence) + 30) if words and len(new) >= _NEW * len(words) else -1.0
