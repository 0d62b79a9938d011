"""Split text into search terms: code-aware, folded, stemmed. No I/O."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

# Names and numbers with their joining characters: paths, versions, error codes, snake_case, don't.
_CHUNK = re.compile(r"\w+(?:[./\\:@#+~'’-]+\w+)*", re.UNICODE)
_PIECE = re.compile(r"[^\W_]+")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_HASH = re.compile(r"[0-9a-f]{6,64}")
_LONGEST = 64  # characters of a term: longer ones are blobs, found by their start

_VOWELS = frozenset("aeiouy")

STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could did do does doing
    done for from get got had has have having he her here hers him his how i if in into is it its just like me more most
    my no not of off on once only or our ours out over own please same she should so some such than that the their them
    then there these they this those through to too under up us very was we were what when where which while who whom
    why will with would you your yours d ll m re s t ve""".split()
)

# Words used for asking, stemmed: they say little about the subject.
QUESTION_WORDS = frozenset(
    """many much often long remind remember recall mention tell told say said talk discuss conversation chat earlier
    previous previously last suggest recommend suggestion recommendation know think total current currently""".split()
)


def extract_terms(text: str) -> list[str]:
    """Return the search terms of a text, in order: each name whole, and its parts."""
    terms: list[str] = []
    for chunk in _CHUNK.findall(text):
        terms += _split_chunk(chunk) if len(chunk) <= _LONGEST else _split_long_chunk(chunk)
    return terms


def find_written_words(text: str, terms: Collection[str]) -> list[str]:
    """Return the words of a text that match some terms, as written."""
    written = (chunk for chunk in _CHUNK.findall(text) if not {*extract_terms(chunk)}.isdisjoint(terms))
    return list({chunk.casefold(): chunk for chunk in written}.values())


def looks_like_hash(term: str) -> bool:
    """Return whether a term may be a prefix of a commit or content hash."""
    return bool(_HASH.fullmatch(term)) and not term.isalpha() and not term.isdigit()


def _split_long_chunk(chunk: str) -> list[str]:
    """Return the terms of a chunk too long for a name: its pieces, cut; in a script without spaces, all of it."""
    folded = fold_text(chunk)
    if _IDEOGRAPHS.search(folded):
        return [term[:_LONGEST] for term in _split_ideographs(folded)]
    return [term for piece in _PIECE.findall(chunk) for term in _split_chunk(piece[:_LONGEST])]


@lru_cache(maxsize=200_000)
def _split_chunk(chunk: str) -> tuple[str, ...]:
    """Return the terms of one chunk; cached, because chunks repeat."""
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle()):
        return _stem_unless_stop_word(chunk.lower())
    folded = fold_text(chunk)
    if _IDEOGRAPHS.search(folded):
        return _split_ideographs(folded)
    pieces = _PIECE.findall(chunk)
    joined_name = () if len(pieces) < 2 or _is_contraction(folded) else (folded,)
    parts = [term for piece in pieces for term in _split_piece(piece)]
    return tuple(dict.fromkeys([*joined_name, *parts]))


def _split_piece(piece: str) -> list[str]:
    """Return the terms of one unbroken piece: itself, and the parts of a CamelCase name."""
    humps = _HUMPS.findall(piece) if not (piece.islower() or piece.isupper() or piece.isdigit()) else []
    names = [piece, *humps] if len(humps) > 1 else [piece]
    return [term for name in names for term in _stem_unless_stop_word(fold_text(name))]


def _stem_unless_stop_word(word: str) -> tuple[str, ...]:
    return () if word in STOP_WORDS or not word else (stem_word(word),)


def _is_contraction(chunk: str) -> bool:
    return "'" in chunk or "’" in chunk


def _split_ideographs(text: str) -> tuple[str, ...]:
    """Return pairs of characters for scripts without spaces, and the words between them."""
    terms: list[str] = []
    for run in _IDEOGRAPHS.findall(text):
        terms += [run] if len(run) == 1 else [run[n : n + 2] for n in range(len(run) - 1)]
    rest = _IDEOGRAPHS.sub(" ", text)
    return (*terms, *(term for piece in _PIECE.findall(rest) for term in _stem_unless_stop_word(piece)))


def fold_text(text: str) -> str:
    """Return a text in lower case without accents."""
    if text.isascii():
        return text.lower()
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", "".join(c for c in spread if not unicodedata.combining(c)))


def stem_word(word: str) -> str:
    """Return a word without English endings; light, so that names stay intact."""
    if len(word) < 3 or not word.isascii() or not word.isalpha():
        return word
    word = _to_singular(word)
    if word.endswith("ing") and _is_pronounceable(word[:-3]):
        word = _drop_double_letter(word[:-3])
    elif word.endswith("eed"):
        word = word[:-1] if len(word) > 5 else word
    elif word.endswith("ed") and _is_pronounceable(word[:-2]):
        word = _drop_double_letter(word[:-2])
    return word[:-1] if word.endswith("e") and _is_pronounceable(word[:-1]) else word


def _is_pronounceable(rest: str) -> bool:
    """Return whether the rest can be the start of a word: two letters and a vowel."""
    return len(rest) > 1 and not _VOWELS.isdisjoint(rest)


def _to_singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _drop_double_letter(word: str) -> str:
    return word[:-1] if len(word) > 2 and word[-1] == word[-2] and word[-1] not in "lszaeiou" else word
