"""Guess from words how a session went: objections, approval, giving up. No I/O; only a hint for its outcome.

What a single message answers, and the decisions in it, are read by `replies`.
"""

from __future__ import annotations

import re

_CORRECTION = re.compile(
    r"^\s*(?:no+\b(?! (?:problem|worries|need))|nope|wrong|stop|wait|undo|revert|don'?t|hmm+|actually|"
    r"not (?:quite|what|that|right))|"
    r"\b(?:that'?s (?:not|wrong)|that is (?:not|wrong)|still (?:fail|broken|not|doesn'?t|see|get|the same)|"
    r"doesn'?t work|does not work|didn'?t work|not working|isn'?t (?:right|correct|what)|"
    r"you (?:forgot|missed|broke|removed|ignored)|i (?:said|told you|asked|meant|didn'?t ask|don'?t want)|"
    r"why (?:did|are|do) you|should(?: not|n'?t) have|instead of|try again|same (?:error|problem|issue)|"
    r"roll ?back|undo (?:that|this|it)|is (?:broken|wrong|incorrect)|fails? (?:again|now))\b",
    re.IGNORECASE,
)
_APPROVAL = re.compile(
    r"\b(?:thanks|thank you|thx|perfect|great|awesome|excellent|nice|lgtm|looks good|good job|well done|works now|"
    r"it works|that works|works (?:great|fine|well)|approved|ship it|love it|exactly|commit (?:this|it|that)|"
    r"merge it)\b",
    re.IGNORECASE,
)
_GIVING_UP = re.compile(
    r"\b(?:i (?:was|am|'m) (?:not able|unable)|"
    r"i (?:could ?n[o']?t|can ?not|can'?t) (?:complete|finish|fix|resolve|find|access|proceed|reproduce|continue)|"
    r"unfortunately,? (?:i|this|the)|remains? (?:broken|failing|unresolved)|still fail(?:s|ing)|ran out of|"
    r"need your (?:help|input)|blocked (?:by|on))\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|complete[d]?|fixed|implemented|all (?:tests|checks) pass|successfully|is now|are now|resolved|pushed|"
    r"committed|created|updated|added|merged|finished|works)\b",
    re.IGNORECASE,
)


def is_correction(text: str) -> bool:
    """Return whether the user objects to what was done."""
    return bool(_CORRECTION.search(text[:400]))


def is_approval(text: str) -> bool:
    """Return whether the user approves."""
    return bool(_APPROVAL.search(text[:400])) and not is_correction(text)


def is_giving_up(text: str) -> bool:
    """Return whether the agent says that it could not do the task."""
    return bool(_GIVING_UP.search(text[-1500:]))


def is_claiming_done(text: str) -> bool:
    """Return whether the agent says that it is done."""
    return bool(_DONE.search(text[-1500:]))


def is_question(text: str) -> bool:
    """Return whether the agent ends with a question."""
    return text.rstrip().endswith("?")
