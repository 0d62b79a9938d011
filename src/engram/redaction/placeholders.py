"""Recognize what stands in for a value: variables, templates, names, calls, patterns. No I/O."""

from __future__ import annotations

import re

_PARTS = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_WORDS = re.compile(rb"[A-Za-z]{2,}")
_NAMES = re.compile(rb"[A-Za-z_](?:[A-Za-z0-9_/#\->]|[.:@](?=[A-Za-z_/:]))*")
_USUAL_NAMES = re.compile(
    rb"passw(?:or)?d|pwd|token|secret|key|user|api|env|sql|config|(?<![A-Za-z])(?:db|ci|pg|my)(?![a-z])", re.IGNORECASE
)
_NUMBERED = re.compile(rb"(?<=[A-Za-z_])[0-9]{1,2}(?![A-Za-z0-9])")
_LONG_NUMBER = re.compile(rb"[0-9]{3}")
_LETTERS = re.compile(rb"[A-Za-z_.:/>\-]{1,40}+")
# An attribute named after its content: args.mysql_password, cfg.smtp_pass
_ATTRIBUTE = re.compile(
    rb"(?:[A-Za-z_]{1,30}+\.){1,4}[A-Za-z_]{0,30}?(?:pass|pwd|secret|token|key|cred)[A-Za-z_]{0,8}[0-9]{0,2}",
    re.IGNORECASE,
)
_SIGIL = re.compile(rb"(?:\$(?:env:|Env:)?|[!#*&@~:?+%^]{1,2}|--?)(?=[A-Za-z_])")
# Each can be the whole text or part of a longer one, as in "user:$PASSWORD".
_INSERTED = re.compile(
    rb"\$?\{\{.{0,80}?\}\}|\$\{[^{}]{1,80}\}|\$\([^()]{1,80}\)"
    rb"|^\$[{(].*|\$[{(][A-Za-z_]{2,20}\Z|#?\{[A-Za-z_][\w.:!\[\]\"']{0,60}\}|\{[0-9]?\}"
    rb"|\$(?P<name>[A-Z][A-Z_]{2,}[0-9]?|[a-z][a-z_]{3,})(?![A-Za-z0-9])|\$[0-9@*#](?![^\s\"':/@,;])"
    rb"|%\([A-Za-z_]\w{0,40}\)[sdr]|%(?P<variable>[A-Z][A-Z0-9_]{2,40})%|%[sdrv](?![A-Za-z0-9])"
    rb"|<[A-Za-z][A-Za-z0-9_.:/ \-]{0,60}>"
)
_CALL = re.compile(rb"[A-Za-z_][\w.:]*+\(.*\)[;,]?|[A-Za-z_][\w.:]*+\[.*\]|(?:await|new|lambda)\b.*", re.DOTALL)
_CHOICES = re.compile(rb"[a-z_]{2,20}+(?::[\w,.]{1,20}+)?(?:\|[a-z_]{2,20}+(?::[\w,.]{1,20}+)?){1,9}")  # min:8|max:64
_PATTERN = re.compile(
    rb"\(\?[:=!<P]|\[[^\[\]]{0,20}(?:a-z|A-Z|0-9)|\[\^?[^\[\]]{1,20}\][*+]|\\[wdsbS][*+{?)]|\.[*+]\??\)|^\^.*\.[*+].*\$$"
)
# The letter pairs that make up four fifths of the words in code and documentation.
_USUAL = frozenset(
    (
        "in re er te on en es st ed se or at le ti nt ng th de co al ar an me it he ro et ne io nd li ta ec ra ve "
        "ns ce ea ct as ri tr di ge is pe ou el no si ll ac ma la ch ts un ur ha lo om pa ca il ex ss pr fi ut rt "
        "to am rs ot ho ic mp nc na em pl ad od im ke ol ow ai fo po rr us ep ef wh mo tu su hi op ee ul ab pt so "
        "os id be ly bl ie cl ir ls ap wi ni ck ue ty ry ld sa oo da va tt ev ag um mi sh"
    ).split()
)


def is_usual_pair(pair: bytes) -> bool:
    """Return whether two letters often follow each other in words."""
    return pair.lower().decode() in _USUAL


def compute_odd_pair_share(text: bytes) -> float:
    """Return the share of letter pairs inside words that are unusual in any language; 0 if there are too few."""
    pairs = [word[at : at + 2] for word in _WORDS.findall(text[:128]) for at in range(len(word) - 1)]
    return sum(not is_usual_pair(pair) for pair in pairs) / len(pairs) if len(pairs) > 2 else 0.0


def is_names(text: bytes) -> bool:
    """Return whether a text consists of names: a variable, an attribute, a path of names."""
    if not _NAMES.fullmatch(text):
        return False
    parts = _PARTS.findall(_NUMBERED.sub(b"", text))
    size = sum(map(len, parts))
    return size <= 4 or (size >= 3 * len(parts) and compute_odd_pair_share(_USUAL_NAMES.sub(b"_", text)) < 0.6)


def is_reference(text: bytes) -> bool:
    """Return whether a text is a variable, tag or pointer with its sign, or a call."""
    sigil = _SIGIL.match(text)
    if sigil and (_LETTERS.fullmatch(text, sigil.end()) or _is_variable(text[sigil.end() :])):
        return True
    if _ATTRIBUTE.fullmatch(text):
        return True
    return bool(_CALL.fullmatch(text) or _CHOICES.fullmatch(text) or (re.search(rb"[./:]", text) and is_names(text)))


def _is_variable(name: bytes) -> bool:
    return is_names(name) and (b"_" in name or not _LONG_NUMBER.search(name))


def is_pattern(text: bytes) -> bool:
    """Return whether a text is a regular expression."""
    return bool(_PATTERN.search(text))


def remove_template_parts(text: bytes) -> bytes:
    """Return a text without the variables and templates in it."""
    return _INSERTED.sub(lambda match: match[0] if _is_chance(match) else b"", text)


def _is_chance(match: re.Match[bytes]) -> bool:
    """Return whether letters after a dollar sign look like part of a random value, not a variable name."""
    name = match["name"]
    if name is None:
        return bool(match["variable"]) and not is_names(match["variable"])
    glued = match.string[match.start() - 1 : match.start()].isalnum()
    return compute_odd_pair_share(name) >= 0.5 or (glued and len(name) < 6)
