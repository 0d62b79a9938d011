"""What a secret looks like when only its name tells: random, and nobody's placeholder. Pure."""

from __future__ import annotations

import re

# Code, references and stand-ins for a value rather than a value.
_REFERENCE = re.compile(
    rb"\$|%\(|\{\{|[{}]$|<|\[REDACTED|process\.env|environ|getenv|secrets\.|import\.meta|vault:|ssm:|arn:|op://"
    rb"|^(?:[A-Za-z]:\\|~|\.{0,2}/|@|&|\*|!|#)|://|\.(?:py|js|ts|tsx|json|ya?ml|toml|txt|md|sh|env|pem|key|go|rs|html?)\b",
)
_PLACEHOLDER = re.compile(
    rb"your|example|change.?me|placeholder|dummy|sample|redact|replace|insert|fill.?in|fake|todo|mock|invalid|masked|hidden"
    rb"|\bfoo|\bbar\b|x{4}|\*{3}|\.{3}|-{4}|_{3}|1234567|abcdef|0{6}|a{5}|lorem|none$|null$|true$|false$|undefined|^test|-test-"
    rb"|^my[_-]|_here|-here",
    re.IGNORECASE,
)
_TYPE = re.compile(
    rb"(?:u?int|float|bool|utf|base|sha|md|aes|varchar|char|string|str|bytes|uuid|hmac|rsa|ed|es|hs|rs|gpt|oauth|http|v)-?\d{1,4}",
    re.IGNORECASE,
)
_DOTTED = re.compile(rb"[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)++")
_WORD = re.compile(rb"[A-Za-z_]\w*+")
_UUID = re.compile(rb"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}")
_MIXED = re.compile(rb"(?=.*[A-Za-z])(?=.*[^A-Za-z_.\-/]).{7}", re.DOTALL)
_DIGIT = re.compile(rb"[0-9]")
_KINDS = tuple(map(re.compile, (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9_.\-]")))
_HEX = re.compile(rb"[0-9a-f]++|[0-9A-F]++")
_NUMBER = re.compile(rb"[-+0-9.,:_eExTZ/ ]++")
_TURN = re.compile(rb"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")
_VOWELS = re.compile(rb"[aeiouy]", re.IGNORECASE)
_LONG_WORD = re.compile(rb"[A-Z]?[a-z]{5,}|[A-Z]{5,}")


def stands_in(text: bytes) -> bool:
    """Tell whether a value only stands for one: a variable, a path, a placeholder, a type, a number."""
    return bool(
        _REFERENCE.search(text)
        or _PLACEHOLDER.search(text)
        or _TYPE.fullmatch(text)
        or _DOTTED.fullmatch(text)
        or _NUMBER.fullmatch(text)
        or len(set(text)) < 5
    )


def is_random(text: bytes) -> bool:
    """Tell whether a value of sixteen or more is drawn from a generator rather than made of words."""
    if len(text) < 16 or len(set(text)) < 8:
        return False
    if _HEX.fullmatch(text) or _UUID.fullmatch(text):
        return len(text) >= 32
    turns = len(_TURN.findall(text)) / len(text)
    if not _DIGIT.search(text):
        return turns >= 0.3 and len(text) >= 20 and not _wordy(text)
    return turns >= 0.2 and not _wordy(text)


def _wordy(text: bytes) -> bool:
    """Tell whether most letters stand in runs that can be spoken, as in names of things."""
    spoken = sum(len(word) for word in _LONG_WORD.findall(text) if len(_VOWELS.findall(word)) * 4 >= len(word))
    return spoken * 2 > len(text)


def is_password(text: bytes, *, quoted: bool) -> bool:
    """Tell whether a value behind the word password is one that a person chose."""
    if is_random(text):
        return True
    mixed = _MIXED.match(text.rstrip(b"="))
    if not mixed or b"/" in text or b"(" in text:
        return False
    return quoted or not _WORD.fullmatch(text) or b"_" not in text


def is_distinctive(text: bytes) -> bool:
    """Tell whether a value is so unlikely elsewhere that it may be removed wherever it stands."""
    if len(text) < 10 or b"\n" in text or stands_in(text):
        return False
    return sum(bool(kind.search(text)) for kind in _KINDS) >= 3 or is_random(text)
