"""Turn what a person told an agent into a rule: one imperative sentence. Pure."""

from __future__ import annotations

import re

from engram.platform.text import to_one_line

_LEAD_IN = re.compile(
    r"^\W*(?:(?:no+|nope|wrong|hm+|huh|wait|actually|please|hey|oh|ok(?:ay)?|but|and|so|also|well|just|again|yes|/ask|"
    r"that'?s (?:wrong|not right|not what i (?:asked|meant)(?: for)?)|i (?:already )?(?:said|told you)(?: that)?)\b"
    r"[\s,.:;!-]*)+",
    re.IGNORECASE,
)
# A verb of doing: "I do not know" and "why do you think" are no orders.
_ACT = (
    r"(?!(?:want|know|think|say|see|believe|understand|like|get|need|have|mind|care|feel|find|mean|remember)\b)(?=\w)"
)
_TO_MEMORY = r"(?:please )?(?:note|remember|keep|save|put) (?:it )?in (?:your |the )?memory "
# What a sentence says, and the order it amounts to; the rest of the sentence follows.
_ORDERS = (
    (r"why (?:are|do) you (?:still |always |keep )*(\w+ing)\b", "Do not {verb}"),
    (rf"why (?:did|do|would) you (?:still |always |keep )*{_ACT}", "Do not "),
    (r"(?:please )?(?:don'?t|do not) (?:ever )?", "Do not "),
    (r"why (?:aren'?t|are not) (?:we|you) (\w+ing)\b", "{Verb}"),
    (r"why (?:don'?t|do not) (?:we|you) (?=\w)", ""),
    (r"(?:please )?stop (\w+ing)\b", "Do not {verb}"),
    (r"you (?:forgot|forget) to (?=\w)", "Remember to "),
    (rf"(?:we|i) (?:don'?t|do not) want (?:you )?to {_ACT}", "Do not "),
    (rf"(?:we|i) (?:don'?t|do not) {_ACT}", "Do not "),
    (r"(?:we|you) (?:must|should)(?: not|n'?t) (?!have\b)(?=\w)", "Do not "),
    (r"(?:we|i|you) never (?=\w)", "Never "),
    (r"(?:we|i) always (?=\w)", "Always "),
    (r"(?:we|you) (?:must|should|have to|need to) (?:always )?(?=\w)", ""),
    (r"you (?:were|are) not supposed to (?=\w)", "Do not "),
    (r"i (?:want|would like|'d like) you to (?=\w)", ""),
    (r"(?:we|i) (?=use\b)", ""),
    (r"(?:we|i) no longer (?:use|need|want) (?=\w)", "Do not use "),
    (rf"{_TO_MEMORY}(?:that |to )?not to (?=\w)", "Do not "),
    (rf"{_TO_MEMORY}(?:that|to) (?=\w)", ""),
    (r"(?:from now on|in (?:the )?future),? ?(?:please )?", ""),
)  # fmt: skip
_KEPT = re.compile(rf"^.*?\b(?={_TO_MEMORY})", re.IGNORECASE)
_PATTERNS = tuple((re.compile(rf"^{pattern}", re.IGNORECASE), order) for pattern, order in _ORDERS)
_IMPERATIVE = re.compile(
    r"^(?:do not|don'?t|never|always|only|remember|use|keep|make|leave|put|write|add|run|read|ask|call|name|set|let|"
    r"stay|stick|follow|prefer|avoid|commit|push|test|check|skip|drop|remove|undo|revert|move|change|update|create|"
    r"wrap|return|throw|log|mock|import|show|start|stop|treat|try|answer|reply|explain|wait|build|format|rename|"
    r"split|sort|store|validate|verify|bump|open|close|delete|document|describe|omit|quote|reuse|extend|include)\b",
    re.IGNORECASE,
)
_ADDRESSES = re.compile(r"^(?:i|you|we|it|this|that)\b", re.IGNORECASE)
_DOUBLED = re.compile(r"[bdgmnprt]$")
# Stems of verbs in which a final "e" was dropped before "ing".
_DROPPED_E = re.compile(
    r"(?:(?:[^aeiou]|cre)at|iz|bl|v|rg|ag|duc|plac|fac|rais|pars|ignor|stor|defin|includ|hid|overrid|describ|writ|quot|"
    r"past|nam|renam|fil|compil|cod|cach|typ|wip|shar|configur|requir|execut|comput|rout|delet|clon|chang|mak|tak|"
    r"(?:^|re)us|clos|compos|expos|propos|chos|clos|invok|mov|remov)$"
)


def word_order(words: str) -> str:
    """Return a person's sentence as an imperative sentence, or "" if it cannot be one."""
    bare = _LEAD_IN.sub("", _KEPT.sub("", words)).strip()
    for pattern, order in _PATTERNS:
        match = pattern.match(bare)
        if match:
            bare = f"{_fill_verb(order, match)}{bare[match.end() :]}".strip()
            bare = re.sub(r"\s+anymore\b", "", bare).rstrip(" ?") if order.startswith("Do not") else bare.rstrip(" ?")
            break
    return _end_sentence(bare[:1].upper() + bare[1:]) if _IMPERATIVE.match(bare) else ""


def _fill_verb(order: str, match: re.Match[str]) -> str:
    if "{" not in order:
        return order
    verb = _drop_ing(match[1].lower())
    return order.format(verb=verb, Verb=verb.capitalize())


def _drop_ing(gerund: str) -> str:
    """Return the verb of a word in -ing."""
    stem = gerund.removesuffix("ing")
    if stem[-1:] == stem[-2:-1] and _DOUBLED.search(stem) and len(stem) > len("add"):
        return stem[:-1]
    return f"{stem}e" if _DROPPED_E.search(stem) else stem


def word_statement(words: str) -> str:
    """Return a person's sentence about the project as a sentence of its own."""
    bare = _LEAD_IN.sub("", words).strip()
    return "" if _ADDRESSES.match(bare) or bare.endswith("?") else _end_sentence(bare[:1].upper() + bare[1:])


def _end_sentence(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "…")) else f"{sentence}."


def quote_words(words: str, length: int) -> str:
    """Return a person's words in quotation marks, shortened to fit."""
    return f"“{to_one_line(words, length - 2)}”"
