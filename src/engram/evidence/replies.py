"""Tell what a person's message is to the one before it: an approval, a correction, an answer, a rule. Pure.

`intent` has coarser signs for the outcome of a whole session.
"""

from __future__ import annotations

import re

_APPROVING = re.compile(
    r"^(?:(?:yes|yep|yeah|yup|sure|ok(?:ay)?|alright|great|perfect|good|nice|right|exactly|correct|agreed?|confirmed|"
    r"absolutely|definitely|please|fine|cool|lgtm|awesome|excellent|thanks?|thank you|that'?s (?:right|it|fine|good)|"
    r"sounds (?:good|great|fine)|looks (?:good|great|fine)|works for me|makes sense|go (?:ahead|for it|on)|"
    r"do (?:it|that|so)|"
    r"let'?s (?:do (?:it|that)|go)|proceed|ship it|continue|carry on|got it|gtg|y|i agree|"
    r"approved?)\b[\s,.!:;\u2013\u2014-]*)+",
    re.IGNORECASE,
)
_CORRECTING = re.compile(
    r"^(?:no+\b(?! (?:problem|worries|need to worry|idea|clue|explicit))|nope|wrong|stop|wait|hold on|careful|"
    r"actually|almost|"
    r"not (?:quite|that|a|the|just|exactly|what|right|really|on)\b|never ?mind|undo|revert|don'?t|do not|instead|but\b|"
    r"that'?s (?:not|wrong|only)|that part is|you (?:forgot|missed|should|shouldn'?t|can|could|don'?t)|"
    r"we (?:don'?t|shouldn'?t)|i (?:said|meant|told you|asked|don'?t (?:want|think (?:we|you)|need))|"
    r"why (?:are|did|aren'?t|didn'?t|don'?t|couldn'?t|can'?t) (?:we|you)|can'?t (?:we|you|the)|"
    r"shouldn'?t (?:we|you|it|this|that|the)|couldn'?t (?:we|you)|neither|too |so on |one correction)",
    re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"\bnot\b[^.?!]{1,60}\bbut\b|\binstead\b|\brather than\b|\bno,|,\s+not\b|\bno longer\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:always|never|only|exactly|must|mustn'?t|at least|at most|no more than|as \w+ as possible|don'?t want|"
    r"do not want|"
    r"instead of|rather than|not .{1,50} but|make sure|ensure|without|no longer|from now on|strictly|unless|except|"
    r"should (?:not|never|always|only|be|use|stay|keep|have)|shouldn'?t|keep (?:the|it|them|this|that|our|in mind)|"
    r"prefer|stick (?:to|with)|similar to|needs? to (?:be|stay)|has to (?:be|stay)|i want (?!you to (?:do|look|"
    r"check|analy|invest))|i'?d (?:like|prefer|rather)|"
    r"the rules? (?:is|are)|please (?:don'?t|do not|use|keep|avoid)|(?:do not|don'?t) (?:use|add|create|change|"
    r"touch|make))\b",
    re.IGNORECASE,
)
_SUGGESTING = re.compile(  # a question that says what to do
    r"^(?:why (?:aren'?t|are(?: you| we)? still|don'?t|didn'?t|couldn'?t|can'?t|not) ?(?:we|you)?|why (?:are|"
    r"did) (?:you|we) (?:still|not)|"
    r"(?:can|could|should)n'?t (?:we|you|it|the|this|that)|(?:can|could|should) we (?:have|use|just|make)|"
    r"what about (?:using|just)|how about)\b",
    re.IGNORECASE,
)
_WEAK_APPROVAL = re.compile(  # agreement in a conversation, which accepts nothing
    r"^(?:(?:makes (?:total |perfect )?sense|got it|nice|cool|great|good (?:point|call|to know|catch)|interesting|"
    r"thanks?|thank you|right|"
    r"ah|oh|okay|ok|yeah|yep|hmm+|true|fair(?: enough)?|absolutely|definitely|awesome|perfect|excellent|exactly|"
    r"that makes (?:total |perfect )?sense|agreed|sounds like)\b[\s,.!:;\u2013\u2014-]*)+",
    re.IGNORECASE,
)
_FACT_QUESTION = re.compile(
    r"^(?:and |so |also,? |hmm,? |interesting\. )?(?:are you|did (?:you|it|we)|have you|has (?:it|this)|"
    r"is it (?:possible|similar|related)|was|were|"
    r"do you (?:have|see|remember|recall|know|happen)|(?:can|could) you (?:give|share|provide|show|tell|"
    r"reproduce)|what(?:'s| is) (?:the|your) "
    r"(?:version|error|python|use case)|what (?:python|version|specifically|kind)|which version|where do you|"
    r"how (?:often|big|large|many))\b",
    re.IGNORECASE,
)
_WISH = re.compile(r"\b(?:should|shall|want me|would you (?:like|prefer)|prefer)\b", re.IGNORECASE)
_STRONG_APPROVAL = re.compile(
    r"\b(?:yes|sure|go (?:ahead|for)|do (?:it|that|so|both|all)|please|let'?s|sounds (?:good|great)|looks (?:good|"
    r"great)|lgtm|gtg|proceed|"
    r"ship it|approved?|confirmed|correct|leave it|keep it|fix (?:it|that|them|everything)|implement|"
    r"that'?s (?:it|right|the policy))\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    r"\b(?:i (?:guess|wonder|was wondering|imagine|assume|suppose|recall|remember|think|believe|noticed|saw)|"
    r"seems?|feels?|probably|maybe|"
    r"might|perhaps|kind of|sort of|almost)\b|^so\b,? (?!on|keep|use|do|don'?t|make|never|always|the rule)",
    re.IGNORECASE,
)
_CHOICE = re.compile(  # a question about what should be, not about what is
    r"\b(?:should|shall|want|prefer|would you (?:like|rather)|or\b|which|keep|allow|skip|ok(?:ay)? (?:to|with)|"
    r"confirm|do we (?:need|want|keep)|"
    r"does (?:that|this) (?:work|sound)|sound (?:good|right)|go ahead|proceed|ready to|move on|right\?|correct\?|"
    r"what (?:shape|should|name|rule|"
    r"value|happens)|how (?:should|do you want|would you)|what'?s the (?:actual )?rule|what did|what about|"
    r"before or after|in or out|"
    r"land on|normalize|validate|clamp)\b|right\?|correct\?",
    re.IGNORECASE,
)
_ASIDE = re.compile(  # about something else, or about no decision
    r"\b(?:heads?-?up|unrelated|by the way|fyi|flaky|rerun)\b|^(?:thanks|thank you|sorry|great work|good job|"
    r"nice work)\b",
    re.IGNORECASE,
)
_QUESTION_START = re.compile(
    r"^(?:and |so |but |also,? )?(?:(?:do|does|did|is|are|was|were|can|could|would|should|will|has|have) (?:you|"
    r"we|i|it|the|this|that|there)|"
    r"what(?:'s| is| are| was| were| would| could| happens| does| did| about)|how (?:do|does|did|is|are|can|could|"
    r"would|much|many|come)|"
    r"when (?:is|do|does|did|will)|where (?:is|do|does|did|are)|which (?:one|of)|who |i(?:'m| am) wondering|"
    r"why (?:is|are|do|does|did)|"
    r"the question is|i want to (?:know|understand|see if|check))\b",
    re.IGNORECASE,
)


def strip_approval(text: str) -> str:
    """Return what follows the words of approval at the start of a message."""
    match = _APPROVING.match(text)
    return text[match.end() :].strip() if match else text


def is_approval(text: str) -> bool:
    """Return whether a message approves of what was proposed, whatever else it says."""
    return bool(_APPROVING.match(text)) and not _CORRECTING.match(strip_approval(text)[:60] or "-")


def is_bare_approval(text: str) -> bool:
    """Return whether a message only approves."""
    return bool(_APPROVING.match(text)) and len(strip_approval(text).split()) <= 3


def is_correction(text: str) -> bool:
    """Return whether a message turns down or changes what the agent did or proposed."""
    start = text[:200]
    return bool(_CORRECTING.match(start)) and not is_bare_approval(start)


def has_contrast(sentence: str) -> bool:
    """Return whether a sentence says what not to do: not X but Y, instead of X."""
    return bool(_CONTRAST.search(sentence))


def is_rule(sentence: str) -> bool:
    """Return whether a sentence states a rule or a constraint."""
    return bool(_RULE.search(sentence)) and not is_plain_question(sentence)


def is_weak_approval(text: str) -> bool:
    """Return whether a message only agrees in a conversation, or goes on asking."""
    if text.rstrip().endswith("?"):
        return True
    strong = _STRONG_APPROVAL.search(text[:80])
    return bool(_WEAK_APPROVAL.match(text)) and not strong


def is_hedged(sentence: str) -> bool:
    """Return whether a person is not sure of what they say."""
    return bool(_HEDGED.search(sentence))


def is_choice(question: str) -> bool:
    """Return whether a question is about what should be, not about what is."""
    if _FACT_QUESTION.match(question) and not _WISH.search(question):
        return False
    return bool(_CHOICE.search(question))


def is_suggestion(sentence: str) -> bool:
    """Return whether a question says what should be done: why aren't we using X?"""
    return bool(_SUGGESTING.match(sentence))


def is_plain_question(sentence: str) -> bool:
    """Return whether a sentence only asks."""
    if is_suggestion(sentence):
        return False
    return sentence.rstrip(" \"')").endswith("?") or bool(_QUESTION_START.match(sentence))


def is_aside(sentence: str) -> bool:
    """Return whether a sentence is about something else, or only polite."""
    return bool(_ASIDE.search(sentence))
