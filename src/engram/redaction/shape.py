"""What a secret looks like when only its name tells: random, and nobody's placeholder. Pure."""

from __future__ import annotations

import re

# Code, references and stand-ins for a value rather than a value.
_REFERENCE = re.compile(
    rb"\$|%\(|\{\{|[{}]$|<|\[REDACTED|process\.env|environ|getenv|secrets\.|import\.meta|vault:|ssm:|arn:|op://"
    rb"|^(?:[A-Za-z]:\\|~|\.{1,2}/|@|&|\*|!|#)|://|\.(?:py|js|ts|tsx|json|ya?ml|toml|txt|md|sh|env|pem|key|go|rs|html?)\b",
)
_PLACEHOLDER = re.compile(
    rb"example|change.?me|placeholder|dummy|sample|redact|replace|insert|fill.?in|invalid|masked|hidden"
    rb"|\*{3}|\.{3}|1234567|abcdef|lorem|none$|null$|true$|false$|undefined|^test|-test-|^my[_-]|_here|-here",
    re.IGNORECASE,
)
# So short that chance writes them too: they only count where what stands around them is not random.
_FILLER = re.compile(rb"your|fake|todo|mock|\bfoo|\bbar\b|x{4,}|-{4,}|_{3,}|0{6,}|a{5,}", re.IGNORECASE)
_PLAIN_SEGMENT = re.compile(rb"/[a-z._\-]{3,}(?=/|\Z)")
_TYPE = re.compile(
    rb"(?:u?int|float|bool|utf|base|sha|md|aes|varchar|char|string|str|bytes|uuid|hmac|rsa|ed|es|hs|rs|gpt|oauth|http|v)-?\d{1,4}",
    re.IGNORECASE,
)
_DOTTED = re.compile(rb"[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+){1,99}")
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
_LONG_RUN = re.compile(rb"[A-Za-z0-9+/_\-]{20,}")
# The pairs of letters that make up four fifths of the words in code and documentation.
_USUAL = frozenset(
    (
        "in re er te on en es st ed se or at le ti nt ng th de co al ar an me it he ro et ne io nd li ta ec ra ve "
        "ns ce ea ct as ri tr di ge is pe ou el no si ll ac ma la ch ts un ur ha lo om pa ca il ex ss pr fi ut rt "
        "to am rs ot ho ic mp nc na em pl ad od im ke ol ow ai fo po rr us ep ef wh mo tu su hi op ee ul ab pt so "
        "os id be ly bl ie cl ir ls ap wi ni ck ue ty ry ld sa oo da va tt ev ag um mi sh"
    ).split()
)


def stands_in(text: bytes) -> bool:
    """Tell whether a value only stands for one: a variable, a path, a placeholder, a type, a number."""
    return bool(
        _REFERENCE.search(text)
        or _PLACEHOLDER.search(text)
        or _is_filled(text)
        or _is_path(text)
        or _TYPE.fullmatch(text)
        or _DOTTED.fullmatch(text)
        or _NUMBER.fullmatch(text)
        or len(set(text)) < 5
    )


def _is_filled(text: bytes) -> bool:
    """Tell whether a value holds a stand-in's word, and nothing around it that chance wrote."""
    around = text if _HEX.fullmatch(text) else _FILLER.sub(b"", text)
    return bool(_FILLER.search(text)) and not is_random(around)


def _is_path(text: bytes) -> bool:
    """Tell whether a value is a path rather than base64 that begins with a slash."""
    return text.startswith(b"/") and (bool(_PLAIN_SEGMENT.search(text)) or not is_random(text))


def is_random(text: bytes) -> bool:
    """Tell whether a value of sixteen or more is drawn from a generator rather than made of words."""
    if len(text) < 16 or len(set(text)) < 8:
        return False
    if _HEX.fullmatch(text) or _UUID.fullmatch(text):
        return len(text) >= 32
    turns = len(_TURN.findall(text)) / len(text)
    enough = 0.2 if _DIGIT.search(text) else 0.3 if len(text) >= 20 else 1
    return (turns >= enough and not _wordy(text)) or any(map(_is_odd, _LONG_RUN.findall(text)))


def _is_odd(run: bytes) -> bool:
    """Tell whether letters and digits follow each other as in no word; without a digit, it takes more of them."""
    length, share = (20, 0.5) if _DIGIT.search(run) else (24, 0.55)
    if len(run) < length or len(set(run)) < 8:
        return False
    pairs = [run[at : at + 2] for at in range(min(len(run), 256) - 1)]
    telling = [pair for pair in pairs if pair.isalnum() and not pair.isdigit()]
    return sum(map(_is_odd_pair, telling)) >= share * max(len(telling), 8)


def _is_odd_pair(pair: bytes) -> bool:
    return bool(_TURN.search(pair) and not pair.istitle()) or pair.lower().decode() not in _USUAL


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
