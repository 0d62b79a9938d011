"""Write decisions for a reader with little room. Pure."""

from __future__ import annotations

from engram.evidence.content_words import extract_content_words
from engram.evidence.decision_kinds import RECAP
from engram.platform.sentences import split_sentences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.evidence.records import Decision

_NEW = 0.25  # minimum share of a sentence's words that are not yet said


def render_decisions(decisions: Sequence[Decision], characters: int) -> str:
    """Return what decisions say within a budget: restatements first, then the sentences that add most."""
    in_force = [item for item in decisions if item.superseded_by is None] or list(decisions)
    recaps = [item.text for item in in_force if item.kind == RECAP]
    lines = [recaps[0][:characters]] if recaps else []
    said = set(extract_content_words(" ".join(lines)))
    sentences = [sentence for item in in_force if item.kind != RECAP for sentence in split_sentences(item.text)]
    while sentences:
        best = max(sentences, key=lambda sentence: _measure_news(sentence, said))
        sentences.remove(best)
        if _measure_news(best, said) < 0:
            break
        if sum(map(len, lines)) + len(lines) + len(best) <= characters:
            lines.append(best)
            said |= extract_content_words(best)
    return "\n".join(lines)


def _measure_news(sentence: str, said: set[str]) -> float:
    """Return how much a sentence adds for its length; negative if it repeats what is said."""
    words = extract_content_words(sentence)
    new = words - said
    return len(new) / (len(sentence) + 30) if words and len(new) >= _NEW * len(words) else -1.0
