"""Which pages the logs name in one sentence: what connects them where no model says so.

Any page of `concepts/` counts, whoever wrote it. Few pairs are connected: several entries of several days must name
both in sentences of their own: at least half of those that name the rarer one and a quarter of those that name the
other, for what is named everywhere is connected with nothing.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import Any

from engram.compiler.said import said
from engram.compiler.topics import DULL, PROJECT, TERM, names_in, place, quote, root_of
from engram.index.words import STOP
from engram.vault import state
from engram.vault.daily_log import Entry
from engram.vault.links import slug
from engram.vault.vault import Vault

TOGETHER = "together.json"
_SENTENCES = 3  # different ones, each of another entry
_DAYS = 2
_OF_RARER, _OF_OTHER = 0.5, 0.25  # of the entries that name each page
_PAIRS = 2_000  # that are kept, the last seen
_KEPT = 12  # sentences of a pair
_LONGEST = 6  # words of a name
_SHORTEST = 4  # letters of a name
_IN_ONE = 6  # pages in one sentence: more make it a list
_PARTS = ("decided", "lessons", "corrected", "goal", "asked", "told", "open", "commits", "ended")
_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`\"“])")
_CAPITAL = re.compile(r"\b[A-Z]\w{3,}\b")
_WORD = re.compile(r"[a-z0-9]+")

Pair = tuple[str, str]
Evidence = dict[str, Any]


class Together:
    """Pairs of pages and the sentences that name both, as a compiler holds them."""

    def __init__(self, vault: Vault, epoch: int) -> None:
        self.vault, self.epoch = vault, epoch
        kept = state.read(vault, TOGETHER)
        kept = kept if kept.get("epoch") == epoch else {}
        self._pairs: dict[str, list[Evidence]] = kept.get("pairs", {})
        self._older: dict[str, int] = kept.get("older", {})  # entries of a pair whose sentences are not kept
        self._named: dict[str, int] = kept.get("named", {})  # how many entries name a page
        self._made: set[str] = set(kept.get("made", []))  # pairs that were connected when last looked at
        self._touched: dict[str, None] = {}
        self._names: dict[str, str] | None = None
        self._spelt: dict[str, str] = {}  # how pages are spelt that the rules made

    def add(self, entry: Entry) -> list[str]:
        """Take in what an entry says; return the pages it names."""
        own = slug(root_of(entry.project).rpartition("/")[2].removesuffix(".git"))
        met: dict[str, None] = {}
        pairs: dict[Pair, str] = {}
        for sentence, plain in _sentences(entry):
            found = sorted(each for each in self._mentioned(sentence, plain) if each != f"concepts/{own}")
            met |= dict.fromkeys(found)
            if len(found) <= _IN_ONE:
                pairs |= {pair: sentence for pair in combinations(found, 2) if pair not in pairs}
        for pair, sentence in pairs.items():
            self._note(pair, entry, sentence)
        for target in met:
            self._named[target] = self._named.get(target, 0) + 1
        self._touched |= dict.fromkeys(key for key in sorted(self._made) if not met.keys().isdisjoint(key.split("|")))
        return list(met)

    def drop(self, entry: str, named: list[str]) -> None:
        """Take out what an entry said."""
        for target in named:
            self._named[target] = max(0, self._named.get(target, 0) - 1)
        for key, seen in self._pairs.items():
            left = [each for each in seen if each["entry"] != entry]
            if len(left) < len(seen):
                self._pairs[key] = left
                self._touched[key] = None

    def learn(self, target: str) -> None:
        """Take in that there is a page."""
        if target.startswith("concepts/"):
            self._known()[target.removeprefix("concepts/")] = target

    def changed(self) -> list[tuple[Pair, list[Evidence]]]:
        """Return the pairs that are connected by what is new, or no more; these without evidence."""
        found = {key: self._connected(key) for key in self._touched}
        told = [(key, seen) for key, seen in found.items() if seen or key in self._made]
        self._made = self._made - found.keys() | {key for key, seen in found.items() if seen}
        return [((one, other), seen) for key, seen in told for one, other in [key.split("|")]]

    def counted(self, target: str) -> int:
        """Return how many entries name a page."""
        return self._named.get(target, 0)

    def shared(self, pair: Pair) -> int:
        """Return how many entries name two pages in one sentence."""
        return self._shared("|".join(pair))

    def _shared(self, key: str) -> int:
        return len({each["entry"] for each in self._pairs.get(key, ())}) + self._older.get(key, 0)

    def settle(self) -> dict[str, Any]:
        """Forget what was touched, and return what is kept."""
        self._touched = {}
        self._pairs = dict([(key, seen) for key, seen in self._pairs.items() if seen][-_PAIRS:])
        older = {key: count for key, count in self._older.items() if count and key in self._pairs}
        named = {target: count for target, count in self._named.items() if count}
        made = sorted(self._made & self._pairs.keys())
        return {"epoch": self.epoch, "pairs": self._pairs, "older": older, "named": named, "made": made}

    def _connected(self, key: str) -> list[Evidence]:
        """Return the sentences that connect two pages, the newest first; none if they are too few."""
        unlike = {each["sentence"].casefold(): each for each in self._pairs.get(key, ())}
        of_entries = {each["entry"]: each for each in unlike.values()}  # one sentence of each
        rarer, other = sorted(self.counted(target) for target in key.split("|"))
        days = {each["day"] for each in of_entries.values()}
        few = len(of_entries) < _SENTENCES or len(days) < _DAYS
        few = few or self._shared(key) < max(_OF_RARER * rarer, _OF_OTHER * other)
        return [] if few else sorted(of_entries.values(), key=_when, reverse=True)

    def _note(self, pair: Pair, entry: Entry, sentence: str) -> None:
        key = "|".join(pair)
        seen = {"entry": entry.id, "day": entry.day, "link": place(entry), "sentence": quote(sentence)}
        before = self._pairs.pop(key, [])
        self._older[key] = self._older.get(key, 0) + (len(before) == _KEPT)
        self._pairs[key] = sorted([*(each for each in before if each["entry"] != entry.id), seen], key=_when)[-_KEPT:]
        self._touched[key] = None

    def _mentioned(self, sentence: str, plain: set[str]) -> set[str]:
        """Return the pages a sentence names."""
        known, words = self._known(), _WORD.findall(sentence.casefold())
        longer = {
            "-".join(words[start : start + count])
            for count in range(2, _LONGEST + 1) for start in range(len(words) - count + 1)
        }  # fmt: skip
        single = {word for word in words if word not in STOP and word not in DULL} - _parts_of_names(words, known)
        capital = (each for each in _CAPITAL.findall(sentence) if each.casefold() not in plain)
        names = set(map(slug, (*names_in(sentence, plain), *capital)))
        found = {known[name]: name in names for name in longer | single if name in known and len(name) >= _SHORTEST}
        return {target for target, is_name in found.items() if self._is_meant(target, sentence, is_name)}

    def _is_meant(self, target: str, sentence: str, is_name: bool) -> bool:
        """Tell whether a page is meant: what the rules made a page of, only as it is spelt there, and as a name.

        `user_query` is no query of a user; but what people call a page, they also write in small letters.
        """
        if target not in self._spelt:
            record = state.page(self.vault, target) or {}
            self._spelt[target] = str(record.get("title", "")) if record.get("kind") in (TERM, PROJECT) else ""
        spelt = self._spelt[target]
        return not spelt or (spelt in sentence and (is_name or "-" in target.rpartition("/")[2]))

    def _known(self) -> dict[str, str]:
        if self._names is None:
            self._names = {each.removeprefix("concepts/"): each for each in self.vault.pages("concepts")}
        return self._names


def is_obvious(one: str, other: str, kinds: set[str]) -> bool:
    """Tell whether two pages belong together by their very names, or one of them is the project of the other."""
    names = [target.rpartition("/")[2] for target in (one, other)]
    return names[0] in names[1] or names[1] in names[0] or (PROJECT in kinds and len(kinds) > 1)


def _parts_of_names(words: list[str], known: dict[str, str]) -> set[str]:
    """Return the words that stand side by side although each has a page: they are one name, such as Hyde Park."""
    return {word for pair in pairwise(words) if pair[0] in known and pair[1] in known for word in pair}


def _when(each: Evidence) -> tuple[str, str]:
    return each["day"], each["link"]


def _sentences(entry: Entry) -> list[tuple[str, set[str]]]:
    """Return the sentences of an entry, each with the plain words of the entry."""
    parts = said(entry.content)
    lines = [line for part in _PARTS for line in parts.get(part, ())]
    plain = {word for line in lines for word in re.findall(r"\b[a-z]+\b", line)}
    return [(sentence.strip(), plain) for line in lines for sentence in _END.split(line) if sentence.strip()]
