"""Find where an agent states why something does not work. Pure."""

from __future__ import annotations

import re
from typing import Any

from engram.evidence.content_words import measure_overlap
from engram.evidence.reports import iter_statements
from engram.platform.text import to_one_line

_READ = 6_000  # characters from the end of a message that are looked at
_SHORTEST = 40
_HINTS = (
    "cause", "because", "problem", "issue", "bug", "culprit", "reason", "due to", "turns out", "wrong", "found it",
    "since", "diagnosis", "why it",
)  # fmt: skip
_LEAST = 8  # words of a cause
_SHORT = 200  # characters of a cause that the next sentence may complete
_LONGEST = 400
_MOST = 3  # causes of one message
_SAME = 0.6  # share of the words of a cause that another one repeats
_NAMED = re.compile(  # says that it is the cause
    r"\b(?:root cause\b|the (?:real |actual |underlying |main |core )?(?:problem|issue|bug|culprit|cause|"
    r"reason)\b)[^.:]{0,60}?(?:\bis\b|\bwas\b|:).{20}|"
    r"^(?:what (?:was|went|is) wrong|what (?:broke|breaks|fails|failed)|(?:the )?(?:root )?cause|diagnosis|"
    r"why it (?:fail|happen|br[eo]ke?)\w*)\b[^:]{0,20}:.{20}|"
    r"\b(?:fails?|failed|failing|broken?|breaks|missing|crash\w*|happen\w*|stopped|"
    r"because)\b.{0,60}\b(?:because|since|"
    r"due to|caused by)\b.{15}|"
    r"\b(?:this|it|that) (?:fails|failed|happens|happened|breaks|broke) because\b.{15}|\bcaused by\b.{15}|"
    r"^(?:ah[,!]? |now )?i (?:can )?(?:now )?see (?:the|what|why)\b[^.:]{0,40}? [-\u2014] .{25}|"
    r"\bturns out\b.{20}|^found (?:it|the (?:cause|bug|problem|issue)):.{20}",
    re.IGNORECASE,
)
_FOLLOWS = re.compile(  # states a fact and the wrong that follows from it
    r"(?:, (?:so|which means|meaning)|[\u2014;] so|, which (?:is why|makes|made|breaks|broke|leaves|left))\b"
    r"[^.]{0,90}\b(?:never|not|n't|cannot|can't|fail\w*|silently|deleted|ignored|refuses|stays?|stayed|remains?|"
    r"empty|dropped|"
    r"lost|breaks?|broke|wrong|stale|unfiltered|missing|no longer|instead of|truncated|blocks?|hangs?)",
    re.IGNORECASE,
)
_OMITS = re.compile(  # states what the code wrongly does not do
    r"\b(?:does(?:n't| not)|do(?:n't| not)|did(?:n't| not)|never|fails to|failed to|forgets to) "
    r"(?:include|handle|check|recogni[sz]e|capture|set|reset|pass|escape|update|read|trigger|account for|match|"
    r"restore|rerun|"
    r"re-run|wait|close|contain)\b.{10}|\bsilently (?:dropped|ignored|drops|ignores|skips|skipped)\b",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(  # the next sentence tells it
    r"^(?:ah|ok(?:ay)?|great|perfect|good)?[,.! ]*(?:now )?i (?:can )?(?:now )?(?:see|found|understand) "
    r"(?:the (?:\w+ )?(?:issue|problem|bug|cause)|what(?:'s| is| went) wrong|why)\b|"
    r"^(?:found|got) (?:it|the (?:issue|problem|bug|cause))\b",
    re.IGNORECASE,
)
_NEW_STATE = re.compile(
    r"\b(?:now|fixed|added|updated|will|should|would|tests? pass\w*|so (?:you|i|we)|clean|verified)\b", re.IGNORECASE
)
_ACTS = re.compile(
    r"^(?:let|i|we|now|so|the fix|fix|fixed|fixing|to fix|this fix|then|next|with|you|want|should|adding|updat\w+)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"^\W*(?:(?:the )?(?:root )?cause|what (?:was|went|is) wrong|what broke|diagnosis|"
    r"why it (?:fail|happen|br[eo]ke?)\w*|the (?:bug|problem))\b",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\b(?:might|maybe|perhaps|possibly|could be|may be|probably|likely|i (?:think|suspect|wonder)|let me|let's|"
    r"isn'?t the|appears? (?:that|to)|seems?|suggests?|must be|i understand|you'?re right|"
    r"no (?:issue|bug|problem)s?|side note|bonus|correction|issue (?:was filed|author)|root cause fix|latent|"
    r"still stays|to find|find the root cause|if the|whether|i(?:'ll| will)|launch\w*|phase|should fix|"
    r"exactly why|well[- ]understood|i verified|^part \w\b|"
    r"not (?:from|what)|to (?:address|debug|fix|help)|we (?:need|should)|now (?:updating|let|sets?|"
    r"passes|uses?|returns?))\b",
    re.IGNORECASE,
)
_DESIGN = re.compile(  # describes the new state, not what was wrong
    r"\b(?:now|added|adds|updated|fixed|changed|renamed|removed|moved|instead,|will (?:be|now)|should|would|"
    r"so (?:you|i|we|that)|"
    r"new|tests? (?:cover|verif|pass)\w*|verified|all (?:tests|checks)|clean)\b|^(?:`[^`]+`|"
    r"\[[^\]]+\]\([^)]*\)):",
    re.IGNORECASE,
)


def find_causes(text: str, *, asks_for_fix: bool = False) -> list[str]:
    """Return the sentences in which an agent states a cause as a fact.

    Where something is to be fixed, a fact with the wrong that follows from it is a cause too.
    """
    if len(text) < _SHORTEST or not (_hints_at_cause(text[-_READ:]) or (asks_for_fix and _states_wrong(text[-_READ:]))):
        return []  # most messages name no cause
    chosen: list[str] = []
    before, announced = "", False
    statements = iter_statements(text)
    plain = text[-_READ:].replace("**", "").replace("\u2019", "'")
    for number, (heading, sentence) in enumerate(statements):
        is_first = heading != before  # of several sentences under a heading, the first one says it
        before = heading
        was_announced, announced = announced, bool(_ANNOUNCES.match(sentence)) and len(sentence.split()) < _LEAST
        if not _is_stated(sentence):
            continue
        if (
            was_announced
            or _names_cause(heading if is_first else "", sentence)
            or (asks_for_fix and _explains(sentence))
        ):
            following = statements[number + 1][1] if number + 1 < len(statements) else ""
            chosen.append(to_one_line(_add_following(sentence, following, plain).lstrip("> "), _LONGEST))
    return [cause for cause in chosen if len(cause.split()) >= _LEAST][:_MOST]


def _add_following(sentence: str, following: str, plain: str) -> str:
    """Return a cause with the next sentence of its paragraph, which often says what the first one only names."""
    is_more = (
        len(sentence) < _SHORT
        and _is_stated(following)
        and not (_ACTS.match(following) or _NEW_STATE.search(following))
    )
    return f"{sentence} {following}" if is_more and f"{sentence[-40:]} {following[:40]}" in plain else sentence


def _hints_at_cause(text: str) -> bool:
    """Return whether a word in a text hints at a cause: far cheaper than to look at every sentence."""
    lower = text.lower()
    return any(word in lower for word in _HINTS)


def _states_wrong(text: str) -> bool:
    return bool(_FOLLOWS.search(text) or _OMITS.search(text))


def _is_stated(sentence: str) -> bool:
    return not _GUESS.search(sentence) and not sentence.endswith(("?", ":", "\u2014", "-"))


def _names_cause(heading: str, sentence: str) -> bool:
    return bool(_NAMED.search(sentence) or (_HEADING.match(heading) and len(sentence.split()) >= 8))


def _explains(sentence: str) -> bool:
    return _states_wrong(sentence) and not _DESIGN.search(sentence)


def drop_repeated(older: list[dict[str, Any]], cause: str) -> list[dict[str, Any]]:
    """Return earlier causes without those that a newer one says again."""
    return [item for item in older if measure_overlap(item["text"], cause) < _SAME]
