"""Cluster fingerprints that mean the same; the result does not depend on the order they arrive in. Pure.

Fingerprints made of words are compared by meaning. In the order of their hashes, each fingerprint that is not near an
existing leader becomes a leader; every other one follows the nearest leader. So the same fingerprints always give the
same leaders. Whether a fingerprint leads depends only on those before it, so adding one needs only its neighbours, and
then the neighbours of each one whose role changes: a few, however many there are. Patterns a person decided about are
fixed: their seeds lead before all others.

Similarities are computed on integers, so every machine rounds them alike.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from engram.patterns.fingerprint import pattern_id
from engram.platform.value import value

# Kinds whose fingerprints are words; two commands or files are never the same, however similar their names are.
BY_MEANING = ("correction", "standing-rule", "abandoned", "wasted-tokens", "short-path", "error")
# Minimum cosine similarity of two fingerprints of a kind.
NEAR = {"error": 0.88}
_DEFAULT_NEAR = 0.8
_BATCH_ROWS = 256  # rows of the similarity matrix held in memory at a time

Array = np.ndarray[Any, Any]
Links = tuple[Array, Array]  # neighbours and their similarity


@value
class Member:
    """One fingerprint among others of its kind."""

    fingerprint: str
    codes: bytes
    pattern: str = ""  # its current pattern; empty if it is new
    decided: bool = False  # a person decided about that pattern


def quantize_vectors(vectors: Array) -> list[bytes]:
    """Quantize vectors to integers from -127 to 127."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.rint(vectors / np.where(largest > 0, largest, 1) * 127)
    return [row.astype(np.int8).tobytes() for row in scaled]


class FingerprintField:
    """The fingerprints of one kind, their neighbours and leaders, computed on demand."""

    def __init__(self, kind: str, members: Sequence[Member], decided: Container[str] = ()) -> None:
        self.members, self._kind, self._threshold = members, kind, NEAR.get(kind, _DEFAULT_NEAR)
        codes = np.frombuffer(b"".join([member.codes for member in members]), np.int8)
        # Products and sums of integers below 2**24 are exact in 32-bit floats, in any order.
        self._codes = codes.reshape(len(members), -1).astype(np.float32) if members else np.zeros((0, 1), np.float32)
        self._sizes = np.sqrt(np.einsum("ij,ij->i", self._codes, self._codes).astype(np.float64))
        decided_places = [n for n, member in enumerate(members) if member.decided]
        self._decided = set(decided_places)
        self._seeds = {n for n in decided_places if self.get_rank(n) in decided}
        self._leading: dict[int, bool] = {}
        self._links: dict[int, Links] = {}

    def get_rank(self, position: int) -> str:
        """Return a member's sort key: the id of the pattern it would be the seed of."""
        return pattern_id(self._kind, self.members[position].fingerprint)

    def find_reassignments(self, gone: Container[str]) -> dict[str, str]:
        """Return the fingerprints whose pattern changes after adding and removing some, with their new pattern."""
        new = [n for n, item in enumerate(self.members) if not item.pattern]
        gone_places = {n for n, item in enumerate(self.members) if item.fingerprint in gone}
        changed = self._update_leaders({*new, *gone_places} - self._decided, gone_places)
        neighbors = {int(item) for n in changed for item in self._find_near(n)}
        unsettled = sorted({*new, *changed, *neighbors} - self._decided - gone_places)
        self._compute_links(unsettled)
        patterns_by_place = {n: self._find_pattern(n) for n in unsettled}
        return {
            self.members[n].fingerprint: pattern
            for n, pattern in patterns_by_place.items()
            if pattern != self.members[n].pattern
        }

    def _update_leaders(self, start: set[int], gone_places: set[int]) -> set[int]:
        """Update leaders, starting from new and removed members; return those whose role changed."""
        waiting = sorted((self.get_rank(n), n) for n in start)
        seen, changed = set(start), set()
        self._compute_links(sorted(start))
        # Most of the rows that will be needed.
        self._compute_links(sorted({int(neighbor) for n in start for neighbor in self._find_near(n)}))
        while waiting:
            rank, position = heappop(waiting)
            is_leader = position not in gone_places and not self._has_leader(rank, position)
            if is_leader == self._is_leader(position):
                continue
            self._leading[position] = is_leader
            changed.add(position)
            behind = {int(n) for n in self._find_near(position)} - seen - gone_places - self._decided
            behind = {n for n in behind if self.get_rank(n) > rank}
            self._compute_links(sorted(behind))
            for neighbor in behind:
                heappush(waiting, (self.get_rank(neighbor), neighbor))
            seen |= behind
        return changed

    def _is_leader(self, position: int) -> bool:
        if position not in self._leading:
            self._leading[position] = position not in self._decided and self.members[position].pattern == self.get_rank(
                position
            )
        return self._leading[position]

    def _has_leader(self, rank: str, position: int) -> bool:
        """Check whether a near member leads it: a decided seed, or one before it in the order."""
        return any(
            int(n) in self._seeds or (self._is_leader(int(n)) and self.get_rank(int(n)) < rank)
            for n in self._find_near(position)
        )

    def _find_pattern(self, position: int) -> str:
        """Return the pattern of a fingerprint once leaders are known."""
        links = [(-near, int(n)) for n, near in zip(*self._links[position], strict=True)]
        seeds = [(near, self.get_rank(n), n) for near, n in links if n in self._seeds]
        if seeds:
            return self.members[min(seeds)[2]].pattern
        if self._is_leader(position):
            return self.get_rank(position)
        return min((near, self.get_rank(n)) for near, n in links if self._is_leader(n))[1]

    def _find_near(self, position: int) -> Array:
        self._compute_links([position])
        return self._links[position][0]

    def _compute_links(self, positions: Sequence[int]) -> None:
        """Find the neighbours of some members: roughly for all, then exactly for the candidates."""
        missing = [position for position in positions if position not in self._links]
        bounds = (self._sizes * self._threshold * 0.999).astype(np.float32)
        for first in range(0, len(missing), _BATCH_ROWS):
            rows = missing[first : first + _BATCH_ROWS]
            for row, product in zip(rows, self._codes[rows] @ self._codes.T, strict=True):
                others = np.flatnonzero((product >= bounds * np.float32(self._sizes[row])) & (product > 0))
                near = product[others].astype(np.float64) / (self._sizes[others] * self._sizes[row])
                is_near = (near >= self._threshold) & (others != row)
                self._links[row] = (others[is_near], near[is_near])
