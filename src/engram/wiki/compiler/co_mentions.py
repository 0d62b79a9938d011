"""Connect pages that log entries name in the same sentence.

Any page in `concepts/` counts, whoever wrote it. Few pairs are connected: several entries of several days must name
both pages, each in its own sentence. These must be at least half of the entries that name the rarer page and a quarter
of those that name the other, because a page named everywhere is connected to nothing.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import Any

from engram.index.tokenizer import STOP_WORDS
from engram.platform.text import build_slug
from engram.wiki.compiler.entry_sections import parse_sections
from engram.wiki.compiler.topics import DULL, PROJECT, TERM, clean_quote, find_names, link_to_entry, project_root
from engram.wiki.vault import state
from engram.wiki.vault.daily_log import LogEntry
from engram.wiki.vault.vault import Vault

CO_MENTIONS_FILE = "together.json"
_MIN_SENTENCES = 3  # different sentences, each of another entry
_MIN_DAYS = 2
_MIN_SHARE_OF_RARER, _MIN_SHARE_OF_OTHER = 0.5, 0.25  # share of the entries that name each page
_MAX_PAIRS = 2_000  # pairs kept, the latest ones
_MAX_SENTENCES = 12  # sentences of a pair
_MAX_NAME_WORDS = 6  # words of a name
_MIN_NAME_CHARS = 4  # letters of a name
_MAX_PAGES_IN_SENTENCE = 6  # pages in one sentence; with more it is a list
_PARTS = ("decided", "lessons", "corrected", "goal", "asked", "told", "open", "commits", "ended")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`\"“])")
_CAPITAL = re.compile(r"\b[A-Z]\w{3,}\b")
_WORD = re.compile(r"[a-z0-9]+")

Pair = tuple[str, str]
PairEvidence = dict[str, Any]


class CoMentions:
    """Pairs of pages and the sentences that name both."""

    def __init__(self, vault: Vault, epoch: int) -> None:
        self.vault, self.epoch = vault, epoch
        saved = state.read_file(vault, CO_MENTIONS_FILE)
        saved = saved if saved.get("epoch") == epoch else {}
        self._pairs: dict[str, list[PairEvidence]] = saved.get("pairs", {})
        self._older: dict[str, int] = saved.get("older", {})  # entries of a pair whose sentences were dropped
        self._entry_counts: dict[str, int] = saved.get("named", {})  # number of entries that name a page
        self._connected_pairs: set[str] = set(saved.get("made", []))  # pairs that were connected at the last check
        self._changed_keys: dict[str, None] = {}
        self._names: dict[str, str] | None = None
        self._spellings: dict[str, str] = {}  # spelling of pages made by rules

    def add_entry(self, entry: LogEntry) -> list[str]:
        """Add the sentences of an entry; return the pages it names."""
        own_name = build_slug(project_root(entry.project).rpartition("/")[2].removesuffix(".git"))
        named_pages: dict[str, None] = {}
        pairs: dict[Pair, str] = {}
        for sentence, plain_words in _split_sentences(entry):
            pages = sorted(
                page_target
                for page_target in self._find_mentions(sentence, plain_words)
                if page_target != f"concepts/{own_name}"
            )
            named_pages |= dict.fromkeys(pages)
            if len(pages) <= _MAX_PAGES_IN_SENTENCE:
                pairs |= {pair: sentence for pair in combinations(pages, 2) if pair not in pairs}
        for pair, sentence in pairs.items():
            self._record_pair(pair, entry, sentence)
        for target in named_pages:
            self._entry_counts[target] = self._entry_counts.get(target, 0) + 1
        self._changed_keys |= dict.fromkeys(
            key for key in sorted(self._connected_pairs) if not named_pages.keys().isdisjoint(key.split("|"))
        )
        return list(named_pages)

    def remove_entry(self, entry: str, targets: list[str]) -> None:
        """Remove the sentences of an entry."""
        for target in targets:
            self._entry_counts[target] = max(0, self._entry_counts.get(target, 0) - 1)
        for key, sentences in self._pairs.items():
            left = [evidence for evidence in sentences if evidence["entry"] != entry]
            if len(left) < len(sentences):
                self._pairs[key] = left
                self._changed_keys[key] = None

    def add_page(self, target: str) -> None:
        """Register a page."""
        if target.startswith("concepts/"):
            self._load_names()[target.removeprefix("concepts/")] = target

    def list_changed_pairs(self) -> list[tuple[Pair, list[PairEvidence]]]:
        """Return the pairs whose connection changed; those no longer connected have no evidence."""
        connections = {key: self._find_connection(key) for key in self._changed_keys}
        changed_pairs = [
            (key, sentences) for key, sentences in connections.items() if sentences or key in self._connected_pairs
        ]
        self._connected_pairs = self._connected_pairs - connections.keys() | {
            key for key, sentences in connections.items() if sentences
        }
        return [((first, second), sentences) for key, sentences in changed_pairs for first, second in [key.split("|")]]

    def count_entries(self, target: str) -> int:
        """Return the number of entries that name a page."""
        return self._entry_counts.get(target, 0)

    def count_shared(self, pair: Pair) -> int:
        """Return the number of entries that name both pages in one sentence."""
        return self._count_shared("|".join(pair))

    def _count_shared(self, key: str) -> int:
        return len({evidence["entry"] for evidence in self._pairs.get(key, ())}) + self._older.get(key, 0)

    def export_state(self) -> dict[str, Any]:
        """Clear the change list and return the state to save."""
        self._changed_keys = {}
        self._pairs = dict([(key, sentences) for key, sentences in self._pairs.items() if sentences][-_MAX_PAIRS:])
        older = {key: count for key, count in self._older.items() if count and key in self._pairs}
        entry_counts = {target: count for target, count in self._entry_counts.items() if count}
        connected = sorted(self._connected_pairs & self._pairs.keys())
        return {"epoch": self.epoch, "pairs": self._pairs, "older": older, "named": entry_counts, "made": connected}

    def _find_connection(self, key: str) -> list[PairEvidence]:
        """Return the sentences that connect two pages, newest first; none if there are too few."""
        unlike = {evidence["sentence"].casefold(): evidence for evidence in self._pairs.get(key, ())}
        of_entries = {evidence["entry"]: evidence for evidence in unlike.values()}  # one sentence per entry
        rarer, other = sorted(self.count_entries(target) for target in key.split("|"))
        days = {evidence["day"] for evidence in of_entries.values()}
        few = len(of_entries) < _MIN_SENTENCES or len(days) < _MIN_DAYS
        few = few or self._count_shared(key) < max(_MIN_SHARE_OF_RARER * rarer, _MIN_SHARE_OF_OTHER * other)
        return [] if few else sorted(of_entries.values(), key=_sort_key, reverse=True)

    def _record_pair(self, pair: Pair, entry: LogEntry, sentence: str) -> None:
        key = "|".join(pair)
        evidence = {
            "entry": entry.id,
            "day": entry.day,
            "link": link_to_entry(entry),
            "sentence": clean_quote(sentence),
        }
        previous = self._pairs.pop(key, [])
        self._older[key] = self._older.get(key, 0) + (len(previous) == _MAX_SENTENCES)
        self._pairs[key] = sorted(
            [*(older for older in previous if older["entry"] != entry.id), evidence], key=_sort_key
        )[-_MAX_SENTENCES:]
        self._changed_keys[key] = None

    def _find_mentions(self, sentence: str, plain: set[str]) -> set[str]:
        """Return the pages a sentence names."""
        pages_by_name, words = self._load_names(), _WORD.findall(sentence.casefold())
        longer = {
            "-".join(words[start : start + count])
            for count in range(2, _MAX_NAME_WORDS + 1) for start in range(len(words) - count + 1)
        }  # fmt: skip
        single = {word for word in words if word not in STOP_WORDS and word not in DULL} - _find_name_parts(
            words, pages_by_name
        )
        capitalized = (word_found for word_found in _CAPITAL.findall(sentence) if word_found.casefold() not in plain)
        names = set(map(build_slug, (*find_names(sentence, plain), *capitalized)))
        candidates = {
            pages_by_name[name]: name in names
            for name in longer | single
            if name in pages_by_name and len(name) >= _MIN_NAME_CHARS
        }
        return {target for target, is_name in candidates.items() if self._is_meant(target, sentence, is_name)}

    def _is_meant(self, target: str, sentence: str, is_name: bool) -> bool:
        """Check whether a word refers to a page: pages made by rules only in their exact spelling and as a whole name.

        `user_query` does not name the page of a user query; but pages made by people are also written in lower case.
        """
        if target not in self._spellings:
            record = state.read_page_record(self.vault, target) or {}
            self._spellings[target] = str(record.get("title", "")) if record.get("kind") in (TERM, PROJECT) else ""
        spelt = self._spellings[target]
        return not spelt or (spelt in sentence and (is_name or "-" in target.rpartition("/")[2]))

    def _load_names(self) -> dict[str, str]:
        if self._names is None:
            self._names = {target.removeprefix("concepts/"): target for target in self.vault.iter_pages("concepts")}
        return self._names


def is_obvious_pair(first: str, second: str, kinds: set[str]) -> bool:
    """Check whether two pages are related by name alone, or one is the project of the other."""
    names = [target.rpartition("/")[2] for target in (first, second)]
    return names[0] in names[1] or names[1] in names[0] or (PROJECT in kinds and len(kinds) > 1)


def _find_name_parts(words: list[str], pages_by_name: dict[str, str]) -> set[str]:
    """Return adjacent words that each have a page but form one name, such as Hyde Park."""
    return {word for pair in pairwise(words) if pair[0] in pages_by_name and pair[1] in pages_by_name for word in pair}


def _sort_key(evidence: PairEvidence) -> tuple[str, str]:
    return evidence["day"], evidence["link"]


def _split_sentences(entry: LogEntry) -> list[tuple[str, set[str]]]:
    """Return the sentences of an entry, with the plain words of the entry."""
    parts = parse_sections(entry.content)
    lines = [line for part in _PARTS for line in parts.get(part, ())]
    plain = {word for line in lines for word in re.findall(r"\b[a-z]+\b", line)}
    return [(sentence.strip(), plain) for line in lines for sentence in _SENTENCE_END.split(line) if sentence.strip()]
