"""Tell an agent's remark about its next step, such as "Now run the tests.", from what answers a question. Pure."""

from __future__ import annotations

import re

from engram.platform.sentences import split_sentences

_LONGEST = 320  # characters of a message that only narrates
_WORDS = 14  # words of a bare step
_LEAD = (
    r"(?:(?:now|ok(?:ay)?|good|great|perfect|excellent|alright|right|next|first|then|finally|also|so|and|but)\b"
    r"[\s,.!:—–-]*)*"
)
_INTENT = re.compile(
    rf"^{_LEAD}(?:let me(?! know)|let'?s|i'?ll|i will|i'?m going to|i am going to|i need to|i should|i want to|time to|"
    r"we need to|waiting (?:for|on))\b|"
    r"^(?:\w+[,.]? )?now,? (?!it\b|that\b|this\b|you\b|we have\b|works?\b)",
    re.IGNORECASE,
)
_STEP = re.compile(
    rf"^{_LEAD}(?:also )?(?:add|apply|build|check|clean|commit|compare|confirm|continue|create|delegate|do|edit|"
    r"examine|fetch|find|fix|format|get|go|grep|inspect|investigate|launch|list|look|make|move|open|proceed|push|read|rebase|"
    r"re-?run|re-?read|remove|rename|replace|review|rewrite|run|running|search|see|stage|start|test|try|update|"
    r"validate|verify|view|wire|write|checking|looking|reading|verifying|updating)\b",
    re.IGNORECASE,
)
_GOING_ON = re.compile(
    r"^\w+ing\b(?! is\b| was\b| are\b)|[—–-]\s(?:now\b|\w+ing (?:it|that|them|now|the|my|up)\b)", re.IGNORECASE
)
_PRAISE = re.compile(r"^(?:good|great|perfect|excellent|clean|done|ok(?:ay)?|all (?:green|good))[.!]*$", re.IGNORECASE)


def is_narration(role: str, text: str) -> bool:
    """Return whether a message of an agent only says what it does next."""
    if role != "assistant" or len(text) > _LONGEST:
        return False
    sentences = [sentence.strip() for sentence in split_sentences(text.strip()) if sentence.strip()]
    return bool(sentences) and (text.rstrip().endswith(":") or _is_step(sentences[-1]))


def _is_step(sentence: str) -> bool:
    if _INTENT.match(sentence) or _PRAISE.match(sentence):
        return True
    return bool(_STEP.match(sentence) or _GOING_ON.search(sentence)) and len(sentence.split()) <= _WORDS
