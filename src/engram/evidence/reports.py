"""Read what an agent reports: its sentences, what it proposes and asks, what went wrong. Pure."""

from __future__ import annotations

import re

from engram.evidence import lasting
from engram.platform.sentences import split_sentences
from engram.platform.text import to_one_line

_FRICTION_READ = 2_000
SENTENCE = 280  # characters of one sentence kept
LONGEST = 420  # characters of a proposal
_TAIL = 6_000  # characters from the end of a message that are looked at
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE_LINES = 5  # of a block of code that is more than an example
_TABLE = re.compile(r"^\s*\|")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+(?:\[([ xX])\]\s+)?")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.*)|\*\*([^*]{3,60})\*\*:?\s*|([A-Z][\w' /-]{2,40}):)$")

_PROPOSING = re.compile(
    r"\b(?:i(?:'d| would)? (?:recommend|suggest|propose)|my (?:recommendation|suggestion|proposal|plan|instinct|"
    r"advice|take)|"
    r"recommend(?:ed|ation)\b|i(?:'ll| will|'d)\b|(?:want|like) me to|should i\b|shall i\b|do you want|"
    r"would you (?:like|prefer)|"
    r"we can (?:consolidate|use|add|move|keep|drop)|let'?s\b|the (?:natural |simplest |cleanest |best |proper |"
    r"right |minimal |better )?(?:fix|plan|way|"
    r"approach|option|setup) (?:is|would be|will be|should)|the natural fix|option [a-c1-4]\b|proposed?\b|"
    r"first fix:|ready to implement|"
    r"(?:what i would|would) improve|so for the implementation|^strip \w+|instead)\b",
    re.IGNORECASE,
)
_RECOMMENDING = re.compile(
    r"\b(?:recommend\w*|suggest\w*|propos\w+|my (?:plan|instinct|advice|take)|i(?:'d|'ll| would| will)\b(?! (?:check|"
    r"verify|look|run|start|begin|note|report|wait|let you))|let'?s\b|we (?:can|should)|should be|"
    r"(?:the|a|one) (?:\w+ )?(?:fix|plan|way|approach|setup) (?:is to|is|would be|will be|should)|the natural fix|"
    r"first fix:|so for the implementation|^strip \w+)",
    re.IGNORECASE,
)
_PROPOSAL_HEADING = re.compile(
    r"\b(?:propos\w+|(?:suggested |proposed )?fix(?: direction)?|recommend\w+|plan|approach|solution|"
    r"the changes would be)\b",
    re.IGNORECASE,
)
_REPORTING = re.compile(  # a finding or a remark, which proposes nothing
    r"\b(?:found|was|were|verified|confirmed|caveat|passed|already|currently|turns out|not vulnerable|"
    r"implementing|checking|everything)\b",
    re.IGNORECASE,
)
_ANNOUNCING = re.compile(  # the code that follows in the same message
    r"^(?:(?:so|now|then|first|next|finally|to \w+[^,]{0,60}),? )*(?:let'?s|i'?ll|i will|i(?:'m| am) going to|we'?ll|"
    r"we (?:will|need to|can|should)|here(?:'s| is| are))\b",
    re.IGNORECASE,
)
_WAITING = re.compile(
    r"\b(?:say the word|let me know|happy to|on your go|when you(?:'re| are) ready|feel free)\b", re.IGNORECASE
)
_OFFER = re.compile(
    r"^(?:so,?\s+)?(?:(?:do|would) you (?:want|like) (?:me )?to|want me to|should i(?: also)?|shall i(?: also)?|"
    r"can i|may i|"
    r"ready (?:for me )?to|is it ok(?:ay)? to|ok(?:ay)? to|would it be ok(?:ay)? to|let me know if you(?:'d|"
    r" would) (?:like|want)(?: me)? to)\s+",
    re.IGNORECASE,
)
_REFERS = re.compile(r"\b(?:now|next|too|as well|the same way)$", re.IGNORECASE)  # an offer that only points at work
_ASKS = re.compile(r"^(?:which|what|how|should|shall|do you|would you)\b", re.IGNORECASE)
_POINTS = re.compile(
    r"^(?:go ahead|proceed|do (?:it|that|so|both)|(?:implement|apply|fix|add) (?:it|that|this|them)\b)", re.IGNORECASE
)
_ALTERNATIVE = re.compile(
    r",? or (?:do you|want|would|should|is (?:the|analysis)|analysis|leave|just|keep|the )|, or |\s+\(", re.IGNORECASE
)
_FRICTION = re.compile(
    r"\b(?:stale|false positives?|flaky|misleading|confus\w+|unexpected(?:ly)?|surpris\w+|didn'?t work|"
    r"doesn'?t work|not working|"
    r"still (?:fail\w*|broken|shows?|there|not)|pre-existing|merge conflicts?|conflicts? (?:in|with)|missed|"
    r"forgot|my (?:mistake|bad)|"
    r"i was wrong|incorrectly|wrong(?:ly)?|overlooked|turns out|regress\w+|race condition|timed? ?out|"
    r"can'?t (?:find|reproduce|access)|"
    r"couldn'?t|unable to|blocked|denied|interrupted|duplicate[sd]?|out of date|outdated|re-?index\w*|cach(?:e|ed|"
    r"ing) (?:issue|result)|"
    r"had to|workaround|linter? (?:caught|flag|complain|error|failure)|lint (?:error|failure|issue)|"
    r"compil\w+ (?:error|failure)|"
    r"needs? (?:to be )?(?:updated|fixed) too|also (?:fails?|broke|needs?)|breaks?)\b",
    re.IGNORECASE,
)


def iter_statements(text: str, limit: int = _TAIL) -> list[tuple[str, str]]:
    """Return the sentences of an agent's message with the heading above each, without code and tables."""
    heading = ""
    statements: list[tuple[str, str]] = []
    for line in _FENCE.sub("\n", text[-limit:]).replace("\u2019", "'").splitlines():
        title = _HEADING.match(line)
        if title:
            heading = next(filter(None, title.groups()), "")
            continue
        bullet = _BULLET.match(line)
        bare = line[bullet.end() :] if bullet else line
        if not bare.strip() or _TABLE.match(line) or (bullet and bullet[1] in ("x", "X")):
            continue
        plain = bare.replace("**", "").strip()
        statements += [(heading, sentence) for sentence in split_sentences(plain) if len(sentence) > 12]
    return statements


def delivers_code(text: str) -> bool:
    """Return whether a message has the code of a change: what it says around it describes what was done."""
    return "<<<<<<< SEARCH" in text or any(block[0].count("\n") >= _CODE_LINES for block in _FENCE.finditer(text))


def drop_tables(text: str) -> str:
    """Return a message without tables, rules and bold marks, to be shown on one line."""
    lines = (line for line in text.splitlines() if not _TABLE.match(line) and line.strip(" -*_"))
    return "\n".join(lines).replace("**", "")


def find_last_question(text: str) -> str:
    """Return the question an agent's message ends with, or ""."""
    for line in reversed(_FENCE.sub("\n", text[-1500:]).strip().splitlines()[-6:]):
        for sentence in reversed(split_sentences(line.replace("**", "").strip(" -*#>"))):
            if sentence.rstrip(" )\"'").endswith("?"):
                return sentence
    return ""


def find_proposal(text: str, *, ordered: bool = False) -> str:
    """Return what an agent's message proposes, for a person to accept: its final offer, or what it recommends.

    If the person ordered it to be done (`ordered`), a looser form of a proposal counts too.
    """
    question = find_last_question(text)
    offer = _ALTERNATIVE.split(_OFFER.sub("", question))[0].rstrip("?,. ")
    if (
        _OFFER.match(question)
        and lasting.names_something(offer)
        and not (lasting.is_step(offer) or _REFERS.search(offer) or _POINTS.match(offer))
    ):
        return to_one_line(offer[:1].upper() + offer[1:], SENTENCE)
    statements = [
        (heading, sentence)
        for heading, sentence in iter_statements(text)
        if not (sentence.rstrip().endswith("?") or _ASKS.match(sentence) or _WAITING.search(sentence))
        and len(sentence.split()) >= 4
    ]
    if delivers_code(text):
        statements = [item for item in statements if not _ANNOUNCING.match(item[1])]
    statements = [
        (heading, sentence)
        for heading, sentence in statements
        if not _REPORTING.search(sentence) and lasting.is_proposal_text(sentence)
    ]
    headed = [
        sentence
        for heading, sentence in statements
        if _PROPOSAL_HEADING.search(heading) and (lasting.is_change(sentence) or _RECOMMENDING.search(sentence))
    ]
    proposing = [sentence for _, sentence in statements if _RECOMMENDING.search(sentence)]
    if ordered and not headed and not proposing:
        proposing = [
            sentence for _, sentence in statements if _PROPOSING.search(sentence) or lasting.is_change(sentence)
        ]
    return to_one_line(" ".join(headed[:2] or proposing[-2:]), LONGEST)


def offers_to_act(text: str) -> bool:
    """Return whether an agent's message ends by offering to do what it describes."""
    return bool(_OFFER.match(find_last_question(text)))


def has_proposal(text: str) -> bool:
    """Return whether an agent's message proposes or asks something."""
    return bool(_OFFER.match(find_last_question(text))) or bool(_PROPOSING.search(text[-_TAIL:]))


def find_friction(text: str) -> list[str]:
    """Return the sentences in which an agent says that something went wrong or took an extra turn."""
    if not _FRICTION.search(text[-_FRICTION_READ:]):
        return []
    return [
        to_one_line(sentence, 160)
        for _, sentence in iter_statements(text, _FRICTION_READ)
        if len(sentence.split()) >= 5 and _FRICTION.search(sentence) and not sentence.endswith("?")
    ][:2]
