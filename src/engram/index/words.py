"""Words as they are searched: code-aware, folded, stemmed. Pure."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Names and numbers with what may join them: paths, versions, error codes, snake_case, don't.
_CHUNK = re.compile(r"\w+(?:[./\\:@#+~'’-]+\w+)*", re.UNICODE)
_PIECE = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_HASH = re.compile(r"[0-9a-f]{6,64}")
_LONGEST = 64  # characters of a term: what is longer is a blob, and found by its beginning

_VOWELS = frozenset("aeiouy")

STOP = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could did do does doing
    done for from get got had has have having he her here hers him his how i if in into is it its just like me more most
    my no not of off on once only or our ours out over own please same she should so some such than that the their them
    then there these they this those through to too under up us very was we were what when where which while who whom
    why will with would you your yours d ll m re s t ve""".split()
)

# Words of asking, as they are stemmed: they say little of what is asked for.
ASKING = frozenset(
    """many much often long remind remember recall mention tell told say said talk discuss conversation chat earlier
    previous previously last suggest recommend suggestion recommendation know think total current currently""".split()
)


def words(text: str) -> list[str]:
    """Return the terms a text is found by, in order: each name whole, and its parts."""
    found: list[str] = []
    for chunk in _CHUNK.findall(text):
        found += _terms(chunk) if len(chunk) <= _LONGEST else _long(chunk)
    return found


def looks_like_hash(term: str) -> bool:
    """Tell whether a term may be the beginning of a commit or content hash."""
    return bool(_HASH.fullmatch(term)) and not term.isalpha() and not term.isdigit()


def _long(chunk: str) -> list[str]:
    """Return the terms of a chunk too long to be one name: its pieces, cut; where a script has no spaces, all of it."""
    folded = fold(chunk)
    if _IDEOGRAPHS.search(folded):
        return [term[:_LONGEST] for term in _ideographs(folded)]
    return [term for piece in _PIECE.findall(chunk) for term in _terms(piece[:_LONGEST])]


@lru_cache(maxsize=200_000)
def _terms(chunk: str) -> tuple[str, ...]:
    """Return the terms of one chunk; the same chunks come again and again."""
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        return _plain(chunk.lower())
    folded = fold(chunk)
    if _IDEOGRAPHS.search(folded):
        return _ideographs(folded)
    pieces = _PIECE.findall(chunk)
    whole = () if len(pieces) < 2 or _is_contraction(folded) else (folded,)
    parts = [term for piece in pieces for term in _parts(piece)]
    return tuple(dict.fromkeys([*whole, *parts]))


def _parts(piece: str) -> list[str]:
    """Return the terms of one unbroken piece: itself, and the humps of a CamelCase name."""
    humps = _HUMPS.findall(piece) if not (piece.islower() or piece.isupper() or piece.isdigit()) else []
    names = [piece, *humps] if len(humps) > 1 else [piece]
    return [term for name in names for term in _plain(fold(name))]


def _plain(word: str) -> tuple[str, ...]:
    return () if word in STOP or not word else (stem(word),)


def _is_contraction(chunk: str) -> bool:
    return "'" in chunk or "’" in chunk


def _ideographs(text: str) -> tuple[str, ...]:
    """Return pairs of characters where a script has no spaces, and the words between."""
    found: list[str] = []
    for run in _IDEOGRAPHS.findall(text):
        found += [run] if len(run) == 1 else [run[n : n + 2] for n in range(len(run) - 1)]
    rest = _IDEOGRAPHS.sub(" ", text)
    return (*found, *(term for piece in _PIECE.findall(rest) for term in _plain(piece)))


def fold(text: str) -> str:
    """Return a text in small letters without accents."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", "".join(c for c in spread if not unicodedata.combining(c)))


def stem(word: str) -> str:
    """Return a word without the endings that English puts on it; light, so that names stay themselves."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _singular(word)
    if word.endswith("ing") and _speaks(word[:-3]):
        word = _undoubled(word[:-3])
    elif word.endswith("eed"):
        word = word[:-1] if len(word) > 5 else word
    elif word.endswith("ed") and _speaks(word[:-2]):
        word = _undoubled(word[:-2])
    return word[:-1] if word.endswith("e") and _speaks(word[:-1]) else word


def _speaks(rest: str) -> bool:
    """Tell whether what is left is a word's beginning: two letters and a vowel."""
    return len(rest) > 1 and not _VOWELS.isdisjoint(rest)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _undoubled(word: str) -> str:
    return word[:-1] if len(word) > 2 and word[-1] == word[-2] and word[-1] not in "lszaeiou" else word
