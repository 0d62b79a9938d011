"""The kinds of decisions, and a decision as it is found in a message. Pure."""

from __future__ import annotations

from engram.platform.value import value

ANSWER, CORRECTION, RULE, ACCEPTED, RECAP = "answer", "correction", "rule", "accepted", "recap"
REJECTED = "rejected"
LONGEST = 420  # characters of a decision


@value
class FoundDecision:
    """A rule or a choice, with the question or proposal it settles."""

    kind: str  # answer, correction, rule, accepted, recap; rejected for what was turned down
    text: str
    about: str = ""
