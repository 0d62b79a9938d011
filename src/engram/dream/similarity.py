"""The similarity of texts by shared runs of words, and hashes to find similar texts. Pure.

MinHash: the smallest run of a text under many random orders; two texts share it as often as they share runs. Six of
them make a band, and there are twenty: texts that share four fifths of their runs meet in a band with 99.8 %, those
that share a fifth with 0.1 %.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

ALIKE = 0.8  # share of common runs of near-duplicates
_RUN = 3  # words
_BANDS, _ROWS = 20, 6  # stored, together with the orders below: if they change, old and new texts never meet
_WORD = re.compile(r"[^\W⺀-鿿가-힣]+|[⺀-鿿가-힣]")  # each ideograph counts as a word
_LONGEST = 20_000  # words read of a text


def split_words(text: str) -> list[str]:
    """Return the words of a text, ignoring case and punctuation."""
    return _WORD.findall(text.casefold())[:_LONGEST]


def hash_runs(word_list: Sequence[str], length: int = _RUN) -> frozenset[int]:
    """Return the runs of words of a text as numbers; a shorter text is one run."""
    if not word_list:
        return frozenset()
    last = max(1, len(word_list) - length + 1)
    return frozenset(_hash_run(" ".join(word_list[start : start + length])) for start in range(last))


def hash_words(word_list: Sequence[str]) -> str:
    """Return a hash of exactly these words."""
    return blake2b(" ".join(word_list).encode(), digest_size=12).hexdigest()


def compute_overlap(first: frozenset[int], second: frozenset[int]) -> float:
    """Return the share of runs that two texts have in common."""
    return len(first & second) / len(first | second) if first and second else 0.0


def compute_bands(run_hashes: frozenset[int]) -> list[str]:
    """Return the bands in which a text meets similar ones."""
    import numpy as np

    if not run_hashes:
        return []
    times, plus = _make_hash_orders()
    rows = (
        (times * np.fromiter(run_hashes, np.uint64, len(run_hashes)) + plus)
        .min(axis=1)
        .astype("<u8")
        .reshape(_BANDS, _ROWS)
    )
    return [blake2b(row.tobytes(), digest_size=8, salt=bytes([band])).hexdigest() for band, row in enumerate(rows)]


def _hash_run(run: str) -> int:
    return int.from_bytes(blake2b(run.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@cache
def _make_hash_orders() -> tuple[Any, Any]:
    """Return the numbers that define each order of runs, the same in every process."""
    import numpy as np

    names = (
        [("times", number) for number in range(_BANDS * _ROWS)],
        [("plus", number) for number in range(_BANDS * _ROWS)],
    )
    times, plus = (
        np.array([_hash_run(f"{name} {number}") | 1 for name, number in pairs], np.uint64) for pairs in names
    )
    return times[:, None], plus[:, None]
