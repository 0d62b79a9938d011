"""Which fingerprints mean the same: a function of the set of them, whatever order they came in. Pure.

Fingerprints that are words of people are near or far in meaning. In the order of their hashes, each one that is near
to no leader yet becomes a leader; every other one follows the nearest leader. So the same fingerprints always give the
same leaders. Whether one leads depends only on those before it, so a new one is settled by asking who is near to it,
and on from there only where leading changes: a few, however many there are. What a person decided is not settled again:
its seed leads whoever comes near, before all others.

Nearness is a whole number times whole numbers, so that no machine rounds it differently.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from engram.patterns.fingerprint import pattern_id
from engram.value import value

# Kinds whose fingerprints are words; two commands or files are not the same however near their names are.
BY_MEANING = ("correction", "abandoned", "wasted-tokens", "short-path", "error")
# How near two fingerprints of a kind must be, as a cosine.
NEAR = {"error": 0.88}
_NEAR = 0.8
_AT_ONCE = 256  # rows of the table of nearness that are held at a time

Array = np.ndarray[Any, Any]
Links = tuple[Array, Array]  # who is near, and how near


@value
class Member:
    """One fingerprint among others of its kind."""

    fingerprint: str
    codes: bytes
    pattern: str = ""  # where it belongs now; empty: it is new
    decided: bool = False  # a person decided about that pattern


def coded(vectors: Array) -> list[bytes]:
    """Return vectors as whole numbers from -127 to 127."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.rint(vectors / np.where(largest > 0, largest, 1) * 127)
    return [row.astype(np.int8).tobytes() for row in scaled]


class Field:
    """The fingerprints of one kind, who is near to whom, and who leads; found out only where it is asked."""

    def __init__(self, kind: str, members: Sequence[Member], decided: Container[str] = ()) -> None:
        self.members, self._kind, self._near = members, kind, NEAR.get(kind, _NEAR)
        codes = np.frombuffer(b"".join([each.codes for each in members]), np.int8)
        # Products and sums of whole numbers below 2**24 are exact in 32-bit floats, in any order.
        self._codes = codes.reshape(len(members), -1).astype(np.float32) if members else np.zeros((0, 1), np.float32)
        self._sizes = np.sqrt(np.einsum("ij,ij->i", self._codes, self._codes).astype(np.float64))
        held = [n for n, each in enumerate(members) if each.decided]
        self._held = set(held)
        self._seeds = {n for n in held if self.rank(n) in decided}
        self._leading: dict[int, bool] = {}
        self._links: dict[int, Links] = {}

    def rank(self, place: int) -> str:
        """Return the place of a member in the order: the id of the pattern it would be the seed of."""
        return pattern_id(self._kind, self.members[place].fingerprint)

    def settled(self, gone: Container[str]) -> dict[str, str]:
        """Return the fingerprints that belong elsewhere now, and where, once the new are in and others are gone."""
        new = [n for n, each in enumerate(self.members) if not each.pattern]
        left = {n for n, each in enumerate(self.members) if each.fingerprint in gone}
        turned = self._turned({*new, *left} - self._held, left)
        beside = {int(each) for n in turned for each in self._near_to(n)}
        open_now = sorted({*new, *turned, *beside} - self._held - left)
        self._look(open_now)
        placed = {n: self._place(n) for n in open_now}
        return {self.members[n].fingerprint: to for n, to in placed.items() if to != self.members[n].pattern}

    def _turned(self, start: set[int], left: set[int]) -> set[int]:
        """Let leading change where it must, from what is new or gone on to those behind it; return where it did."""
        waiting = sorted((self.rank(n), n) for n in start)
        seen, turned = set(start), set()
        self._look(sorted(start))
        self._look(sorted({int(each) for n in start for each in self._near_to(n)}))  # most that will be asked about
        while waiting:
            rank, place = heappop(waiting)
            leads = place not in left and not self._follows(rank, place)
            if leads == self._leads(place):
                continue
            self._leading[place] = leads
            turned.add(place)
            behind = {int(n) for n in self._near_to(place)} - seen - left - self._held
            behind = {n for n in behind if self.rank(n) > rank}
            self._look(sorted(behind))
            for each in behind:
                heappush(waiting, (self.rank(each), each))
            seen |= behind
        return turned

    def _leads(self, place: int) -> bool:
        if place not in self._leading:
            self._leading[place] = place not in self._held and self.members[place].pattern == self.rank(place)
        return self._leading[place]

    def _follows(self, rank: str, place: int) -> bool:
        """Tell whether somebody near leads it: a decided seed, or one before it in the order."""
        return any(
            int(n) in self._seeds or (self._leads(int(n)) and self.rank(int(n)) < rank) for n in self._near_to(place)
        )

    def _place(self, place: int) -> str:
        """Return the pattern a fingerprint belongs to, now that it is clear who leads."""
        links = [(-near, int(n)) for n, near in zip(*self._links[place], strict=True)]
        seeds = [(near, self.rank(n), n) for near, n in links if n in self._seeds]
        if seeds:
            return self.members[min(seeds)[2]].pattern
        if self._leads(place):
            return self.rank(place)
        return min((near, self.rank(n)) for near, n in links if self._leads(n))[1]

    def _near_to(self, place: int) -> Array:
        self._look([place])
        return self._links[place][0]

    def _look(self, places: Sequence[int]) -> None:
        """Find out who is near to some members: roughly for all, exactly for those that may be."""
        wanted = [place for place in places if place not in self._links]
        bounds = (self._sizes * self._near * 0.999).astype(np.float32)
        for first in range(0, len(wanted), _AT_ONCE):
            rows = wanted[first : first + _AT_ONCE]
            for row, product in zip(rows, self._codes[rows] @ self._codes.T, strict=True):
                others = np.flatnonzero((product >= bounds * np.float32(self._sizes[row])) & (product > 0))
                near = product[others].astype(np.float64) / (self._sizes[others] * self._sizes[row])
                kept = (near >= self._near) & (others != row)
                self._links[row] = (others[kept], near[kept])
