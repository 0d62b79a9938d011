"""What a secret looks like if only its name indicates it: random, and not a placeholder. No I/O."""

from __future__ import annotations

import re

from engram.redaction.placeholders import (
    compute_odd_pair_share,
    is_names,
    is_pattern,
    is_reference,
    is_usual_pair,
    remove_template_parts,
)

# Code and references rather than a value.
_REFERENCE = re.compile(
    rb"\[REDACTED|process\.env|environ|getenv|secrets\.|import\.meta|vault:|ssm:|arn:|op://|^(?:[A-Za-z]:[\\/]|~/|\.{1,2}/)"
    rb"|://|[a-z_\-]{2}\.(?:py|js|ts|tsx|json|ya?ml|toml|txt|md|sh|env|pem|key|go|rs|html?)(?![A-Za-z0-9])",
)
_PLACEHOLDER = re.compile(
    rb"example|change.?me|placeholder|sample|redact|replace|insert|fill.?in|invalid|masked|hidden|undefined"
    rb"|1234567|abcdef",
    re.IGNORECASE,
)
# So short that random text contains them too: they count only if the text around them is not random.
_FILLER = re.compile(
    rb"your|fake|todo|mock|dummy|lorem|\bfoo|\bbar\b|none$|null$|true$|false$|^test|-test-|^my[_-]|[_-]here"
    rb"|x{4,}|-{4,}|_{3,}|0{6,}|a{5,}|\*{3,}|\.{3,}",
    re.IGNORECASE,
)
_PLAIN_SEGMENT = re.compile(rb"/[a-z._\-]{3,}(?=/|\Z)")
_TYPE = re.compile(
    rb"(?:u?int|float|bool|utf|base|sha|md|aes|varchar|char|string|str|bytes|uuid|hmac|rsa|ed|es|hs|rs|gpt|oauth|http|v)-?\d{1,4}",
    re.IGNORECASE,
)
_DOTTED = re.compile(rb"[A-Za-z_][\w.]*+")
_UUID = re.compile(rb"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_MIXED = re.compile(rb"(?=.*[A-Za-z])(?=.*[^A-Za-z_.\-/]).{7}", re.DOTALL)
_DIGIT = re.compile(rb"[0-9]")
_KINDS = tuple(map(re.compile, (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9_.\-]")))
_HEX = re.compile(rb"[0-9a-f]++|[0-9A-F]++")
_NUMBER = re.compile(rb"[-+0-9.,:_eExTZ/ ]++")
_TURN = re.compile(rb"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
_VOWELS = re.compile(rb"[aeiouy]", re.IGNORECASE)
_LONG_WORD = re.compile(rb"[A-Z]?[a-z]{5,}|[A-Z]{5,}")
_LONG_RUN = re.compile(rb"[A-Za-z0-9+/_\-]{20,}")
_PHRASE = re.compile(rb"[A-Za-z]{3,}(?:-[A-Za-z]{3,}){2,9}")
_ENCODED = re.compile(rb"%[0-9A-Fa-f]{2}")
_LABEL = re.compile(rb"pass|secret|token|key|user|login|auth|cred", re.IGNORECASE)


def is_placeholder(text: bytes) -> bool:
    """Return whether a value is only a placeholder: a variable, a path, a type, a number."""
    return bool(
        _REFERENCE.search(text)
        or _PLACEHOLDER.search(text)
        or _is_filler(text)
        or _is_path(text)
        or _TYPE.fullmatch(text)
        or is_reference(text)
        or _is_template(text)
        or _NUMBER.fullmatch(text)
        or len(set(text)) < 5
    )


def _is_template(text: bytes) -> bool:
    """Return whether a value is made of variables, with nothing meaningful left without them."""
    rest = remove_template_parts(text)
    return rest != text and not is_dense(rest.strip(b"/"))


def _is_filler(text: bytes) -> bool:
    """Return whether a value contains a placeholder word and nothing random around it."""
    around = text if _HEX.fullmatch(text) else _FILLER.sub(b"", text)
    return bool(_FILLER.search(text)) and not (is_random(around) or is_short_secret(around))


def _is_path(text: bytes) -> bool:
    """Return whether a value is a path rather than base64 that starts with a slash."""
    if not text.startswith(b"/"):
        return False
    return bool(_PLAIN_SEGMENT.search(text)) or not (is_random(text) or is_dense(text.lstrip(b"/")))


def is_random(text: bytes) -> bool:
    """Return whether a value of sixteen or more characters is generated rather than made of words."""
    if len(text) < 16 or len(set(text)) < 8:
        return False
    if _HEX.fullmatch(text) or _UUID.fullmatch(text):
        return len(text) >= 32
    turns = len(_TURN.findall(text)) / len(text)
    enough = 0.2 if _DIGIT.search(text) else 0.3 if len(text) >= 20 else 1
    return (turns >= enough and not _is_wordy(text)) or any(map(_is_odd, _LONG_RUN.findall(text)))


def _is_odd(run: bytes) -> bool:
    """Return whether letters and digits are mixed unlike in any word; without a digit, the bar is higher."""
    length, share = (20, 0.5) if _DIGIT.search(run) else (24, 0.55)
    if len(run) < length or len(set(run)) < 8:
        return False
    pairs = [run[at : at + 2] for at in range(min(len(run), 256) - 1)]
    telling = [pair for pair in pairs if pair.isalnum() and not pair.isdigit()]
    return sum(map(_is_odd_pair, telling)) >= share * max(len(telling), 8)


def _is_odd_pair(pair: bytes) -> bool:
    return bool(_TURN.search(pair) and not pair.istitle()) or not is_usual_pair(pair)


def _is_wordy(text: bytes) -> bool:
    """Return whether most letters are in pronounceable runs, as in names."""
    spoken = sum(len(word) for word in _LONG_WORD.findall(text) if len(_VOWELS.findall(word)) * 4 >= len(word))
    return spoken * 2 > len(text)


def is_dense(text: bytes) -> bool:
    """Return whether a short value mixes letters, digits and marks as no name does."""
    if len(text) < 6 or is_names(text) or is_pattern(text):
        return False
    kinds = sum(bool(kind.search(text)) for kind in _KINDS)
    return kinds >= 3 or (kinds == 2 and len(_TURN.findall(text)) * 4 >= len(text))


def is_short_secret(text: bytes) -> bool:
    """Return whether a value too short to look random is still unlike code or prose."""
    plain = _ENCODED.sub(b".", text)
    return len(plain) >= 10 and bool(_DIGIT.search(plain)) and is_dense(plain)


def is_password(text: bytes, *, quoted: bool) -> bool:
    """Return whether a value after the word password is a password chosen by a person."""
    if is_random(text):
        return True
    if is_pattern(text) or (b"/" in text and is_names(text)):
        return False
    if not _MIXED.match(text.rstrip(b"=")):
        return quoted and _is_wordless_password(text)
    return quoted or is_dense(text) or not _is_variable(text)


def _is_variable(text: bytes) -> bool:
    """Return whether a bare text looks like a variable: in snake case, or named after its content."""
    return bool(_DOTTED.fullmatch(text) and (b"_" in text or _LABEL.search(text)))


def _is_wordless_password(text: bytes) -> bool:
    """Return whether letters alone are a password: a phrase of words, or unpronounceable."""
    phrase = bool(_PHRASE.fullmatch(text)) and not _LABEL.search(text)
    return phrase or (len(text) >= 10 and compute_odd_pair_share(text) >= 0.6)


def is_distinctive(text: bytes) -> bool:
    """Return whether a value is so distinctive that it can be removed anywhere."""
    if len(text) < 10 or b"\n" in text or is_placeholder(text):
        return False
    return sum(bool(kind.search(text)) for kind in _KINDS) >= 3 or is_random(text)
