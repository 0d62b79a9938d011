"""How alike two texts are, by the runs of words they share; and hashes by which those that are alike meet. Pure.

Of the runs of a text the smallest is taken under many orders (minhash): two texts have it in common as often as they
have runs in common. Six of them together make a band, and there are twenty: texts that share four fifths of their
runs meet in one of these with 99.8 %, those that share a fifth with 0.1 %.
"""

from __future__ import annotations

import re
from functools import cache
from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

ALIKE = 0.8  # of their runs two near-duplicates share
_RUN = 3  # words
_BANDS, _ROWS = 20, 6  # with the orders below, they are stored: changed, nothing old meets anything new
_WORD = re.compile(r"[^\W⺀-鿿가-힣]+|[⺀-鿿가-힣]")  # ideographs stand for a word each
_LONGEST = 20_000  # words of a text that are looked at


def words(text: str) -> list[str]:
    """Return the words of a text, whatever stands between them and however they are written."""
    return _WORD.findall(text.casefold())[:_LONGEST]


def runs(said: Sequence[str], length: int = _RUN) -> frozenset[int]:
    """Return the runs of words of a text as numbers; a text that is shorter is one run."""
    if not said:
        return frozenset()
    last = max(1, len(said) - length + 1)
    return frozenset(_number(" ".join(said[start : start + length])) for start in range(last))


def exact(said: Sequence[str]) -> str:
    """Return what all texts of just these words have in common."""
    return blake2b(" ".join(said).encode(), digest_size=12).hexdigest()


def share(one: frozenset[int], other: frozenset[int]) -> float:
    """Return how many of all their runs two texts share."""
    return len(one & other) / len(one | other) if one and other else 0.0


def bands(found: frozenset[int]) -> list[str]:
    """Return the bands in which a text meets those that are like it."""
    import numpy as np

    if not found:
        return []
    times, plus = _orders()
    rows = (times * np.fromiter(found, np.uint64, len(found)) + plus).min(axis=1).astype("<u8").reshape(_BANDS, _ROWS)
    return [blake2b(row.tobytes(), digest_size=8, salt=bytes([place])).hexdigest() for place, row in enumerate(rows)]


def _number(run: str) -> int:
    return int.from_bytes(blake2b(run.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@cache
def _orders() -> tuple[Any, Any]:
    """Return the numbers that make each order of runs, the same in every process."""
    import numpy as np

    names = [("times", place) for place in range(_BANDS * _ROWS)], [("plus", place) for place in range(_BANDS * _ROWS)]
    times, plus = (np.array([_number(f"{name} {place}") | 1 for name, place in some], np.uint64) for some in names)
    return times[:, None], plus[:, None]
