"""The topics of a vault as the compiler holds them: records of pages and of candidates for pages.

Only topics that entries touch are read. Topics too rare for a page wait in one file of bounded size; the least recently
seen are dropped.
"""

from __future__ import annotations

from typing import Any

from engram.wiki.compiler import topic_record
from engram.wiki.compiler.co_mentions import CoMentions
from engram.wiki.compiler.topic_record import TopicRecord
from engram.wiki.compiler.topics import (
    DECISIONS,
    ERROR,
    FILE,
    MIN_ENTRIES,
    PROJECT,
    TERM,
    Topic,
    TopicEvidence,
    project_key,
    second_name,
    topic_key,
)
from engram.wiki.vault import state
from engram.wiki.vault.vault import Vault

CANDIDATES_FILE = "candidates.json"
_MAX_WAITING = 3_000  # topics that wait
_MIN_SHARED = 3  # entries that connect two topics
_MIN_SHARE = 0.5  # share of the rarer topic's entries
_MIN_DAYS = 2  # days of these entries
_MIN_GOALS = 2  # different goals of these entries: repeated work connects nothing
_MAX_CONNECTIONS = 3  # new connections per log
_CONNECTABLE = (FILE, ERROR, TERM)
_MAX_TERM_SHARE = 0.25  # share of all entries: a more frequent name means nothing
_MIN_TOTAL = 12  # entries needed to judge that
_KEPT_KEYS = ("made_by", "sections", "front", "summary", "target")  # keys of a record that describe what we wrote


class TopicCatalog:
    """Topics by key, loaded on first use."""

    def __init__(self, vault: Vault, epoch: int) -> None:
        self.vault, self.epoch = vault, epoch
        saved = state.read_file(vault, CANDIDATES_FILE)
        waiting = saved.get("topics") if saved.get("epoch") == epoch else None
        self.waiting: dict[str, TopicRecord] = {}
        for record in waiting.values() if isinstance(waiting, dict) else ():
            self._add_waiting(_update_key(record))
        self.pages: dict[str, TopicRecord] = {}  # loaded records with a page, by key
        self.touched: dict[str, None] = {}
        self.co_mentions = CoMentions(vault, epoch)
        self._used_targets: dict[str, str] = {}  # targets in use, with the key of their topic

    def _add_waiting(self, record: TopicRecord) -> None:
        """Add a waiting topic; merge what an older spelling of it collected."""
        waiting_record = self.waiting.setdefault(record["key"], record)
        for evidence in record["evidence"] if waiting_record is not record else ():
            topic_record.add_evidence(waiting_record, evidence)

    def get_record(self, topic: Topic) -> TopicRecord:
        """Return the record of a topic."""
        record = self.find_by_key(topic.key) or self._load_record(topic.key, topic.name)
        if record is None:
            record = self.waiting[topic.key] = {**topic_record.create_record(topic), "epoch": self.epoch}
        return record

    def find_by_key(self, key: str) -> TopicRecord | None:
        """Return a record that is loaded or waiting."""
        return self.pages.get(key) or self.waiting.get(key)

    def add_evidence(self, topic: Topic, evidence: TopicEvidence) -> None:
        """Add what an entry says about a topic."""
        record = self.get_record(topic)
        topic_record.add_evidence(record, evidence)
        if topic.key in self.waiting:  # keep the latest last
            self.waiting[topic.key] = self.waiting.pop(topic.key)
        self.touched[topic.key] = None

    def remove_evidence(self, key: str, name: str, entry: str) -> None:
        """Remove what an entry said about a topic."""
        record = self.find_by_key(key) or self._load_record(key, name) or self._find_old_spelling(name, entry)
        if record is not None:
            topic_record.remove_evidence(record, entry)
            self.touched[record["key"]] = None

    def _find_old_spelling(self, name: str, entry: str) -> TopicRecord | None:
        """Return the record of a topic whose key changed after the entry was added."""
        renamed = _update_key(state.read_page_record(self.vault, f"concepts/{name}") or {}) if name else {}
        record = self._load_record(renamed["key"], name) if "key" in renamed else None
        return record if record and any(evidence["entry"] == entry for evidence in record["evidence"]) else None

    def promote_topics(self, total: int) -> None:
        """Give a page to each touched topic that is frequent enough, and relate it to its projects."""
        for key in list(self.touched):
            record = self.waiting.get(key)
            if record is not None and is_page_worthy(record, total):
                record["target"] = self._choose_target(record)
                self.pages[key] = self.waiting.pop(key)
                self.co_mentions.add_page(record["target"])
                for project, name in sorted({project_key(evidence) for evidence in record["evidence"]}):
                    if self.pages.get(project) or self._load_record(project, name):
                        self.relate_pages([key, project])
                        self.touched[project] = None

    def list_due_records(self) -> list[TopicRecord]:
        """Return the records whose pages must be rebuilt."""
        return [self.pages[key] for key in self.touched if key in self.pages]

    def export_state(self) -> dict[str, Any]:
        """Clear the change list and return the waiting topics to save."""
        self.touched = {}
        self.waiting = dict([(k, r) for k, r in self.waiting.items() if r["evidence"]][-_MAX_WAITING:])
        return {"epoch": self.epoch, "topics": self.waiting}

    def relate_pages(self, keys: list[str]) -> None:
        """Relate a project's page and the pages of an entry's topics to each other."""
        page_records = [self.pages[key] for key in keys if key in self.pages]
        for project in (record for record in page_records if record["kind"] == PROJECT):
            for other in page_records:
                if other is not project:
                    shared = len(find_shared_entries(project, other)) or 1
                    topic_record.add_related(project, other["target"], other["title"], other["kind"], shared)
                    topic_record.add_related(other, project["target"], project["title"], PROJECT, shared)

    def find_connections(
        self, of_entries: list[list[str]]
    ) -> list[tuple[TopicRecord, TopicRecord, list[TopicEvidence]]]:
        """Return pairs of pages that share enough entries, the most first."""
        pairs: dict[tuple[str, str], int] = {}
        for keys in of_entries:
            connectable = sorted(key for key in keys if key in self.pages and self.pages[key]["kind"] in _CONNECTABLE)
            for position, first in enumerate(connectable):
                for second in connectable[position + 1 :]:
                    pairs[first, second] = len(find_shared_entries(self.pages[first], self.pages[second]))
        best = sorted(
            (pair for pair in pairs if self._is_connected(pair, pairs[pair])), key=lambda pair: (-pairs[pair], pair)
        )
        record_pairs = [(self.pages[first], self.pages[second]) for first, second in best]
        return [
            (first, second, find_shared_entries(first, second))
            for first, second in _limit_per_topic(record_pairs)[:_MAX_CONNECTIONS]
        ]

    def _is_connected(self, pair: tuple[str, str], shared: int) -> bool:
        first, second = (self.pages[key] for key in pair)
        rarer = min(len(first["evidence"]), len(second["evidence"]))
        return (
            shared >= _MIN_SHARED
            and shared >= _MIN_SHARE * rarer
            and _has_variety(first, second)
            and not _is_obvious_pair(first, second)
        )

    def _load_record(self, key: str, name: str) -> TopicRecord | None:
        """Load the record of a topic that has a page."""
        for page_name in (name, second_name(name, key)) if name else ():
            record = _update_key(state.read_page_record(self.vault, f"concepts/{page_name}") or {})
            if record.get("key") == key and "evidence" in record:
                self.pages[key] = self._reset_old_epoch({**record, "target": f"concepts/{page_name}"})
                return self.pages[key]
        return None

    def _reset_old_epoch(self, record: TopicRecord) -> TopicRecord:
        """Return a record; without its evidence if it is from an older epoch."""
        if record.get("epoch") == self.epoch:
            return record
        topic = Topic(**{name: record[name] for name in Topic.__annotations__})
        kept_facts = {name: record[name] for name in _KEPT_KEYS if name in record}
        return {**topic_record.create_record(topic), **kept_facts, "epoch": self.epoch}

    def _choose_target(self, record: TopicRecord) -> str:
        """Return a target for a new page that no other topic uses."""
        topic = Topic(**{name: record[name] for name in Topic.__annotations__})
        for name in (topic.name, topic.other_name):
            target = self.vault.make_target("concepts", name)
            owner_key = self._used_targets.get(target) or _update_key(
                state.read_page_record(self.vault, target) or {}
            ).get("key")
            if owner_key in (None, topic.key):
                break
        self._used_targets[target] = topic.key
        if target.endswith(topic.other_name) and topic.kind == PROJECT:  # its name is taken
            record["title"] = f"{topic.title} (project)"
        return target


def _update_key(record: TopicRecord) -> TopicRecord:
    """Return a record under its current key: older versions used the directory, of which a project may have several."""
    if record.get("kind") not in (PROJECT, DECISIONS, FILE) or "project" not in record:
        return record
    return {**record, "key": topic_key(record["kind"], record["project"], record["title"])}


def is_page_worthy(record: TopicRecord, total: int) -> bool:
    """Check whether a topic is frequent enough for a page."""
    number = topic_record.count_entries(record)
    if number < MIN_ENTRIES[record["kind"]]:
        return False
    return record["kind"] != TERM or (
        topic_record.count_days(record) > 1 and (total < _MIN_TOTAL or number <= _MAX_TERM_SHARE * total)
    )


def find_shared_entries(first: TopicRecord, second: TopicRecord) -> list[TopicEvidence]:
    """Return the entries two topics share, newest first, each with a line that names both if there is one."""
    lines_by_entry = {evidence["entry"]: set(evidence.get("said", ())) for evidence in second["evidence"]}
    return [
        {
            **evidence,
            "sentence": next(
                (line for line in evidence.get("said", ()) if line in lines_by_entry[evidence["entry"]]), ""
            ),
        }
        for evidence in first["evidence"]
        if evidence["entry"] in lines_by_entry
    ]


def _has_variety(first: TopicRecord, second: TopicRecord) -> bool:
    """Check whether the shared entries are of several days and goals; for a name, also of several lines."""
    shared = find_shared_entries(first, second)
    days, goals = ({evidence.get(part, "").casefold() for evidence in shared} for part in ("day", "goal"))
    named_count = sum(bool(evidence["sentence"]) for evidence in shared)
    return (
        len(days) >= _MIN_DAYS
        and len(goals) >= _MIN_GOALS
        and (TERM not in (first["kind"], second["kind"]) or named_count >= _MIN_SHARED)
    )


def _is_obvious_pair(first: TopicRecord, second: TopicRecord) -> bool:
    """Check whether two topics are related by name alone, or are compared by sentences only."""
    if first["kind"] == second["kind"] == TERM:
        return True  # pairs named in one sentence are handled by co_mentions
    if first["kind"] == second["kind"] == FILE:
        return bool(first["title"].rpartition("/")[0] == second["title"].rpartition("/")[0])
    names = [record["title"].casefold() for record in (first, second)]
    return names[0] in names[1] or names[1] in names[0]


def _limit_per_topic(pairs: list[tuple[TopicRecord, TopicRecord]]) -> list[tuple[TopicRecord, TopicRecord]]:
    """Keep at most two pairs per topic: a few edges describe a cluster."""
    uses_by_key: dict[str, int] = {}
    chosen = []
    for pair in pairs:
        if all(uses_by_key.get(record["key"], 0) < 2 for record in pair):
            chosen.append(pair)
            for record in pair:
                uses_by_key[record["key"]] = uses_by_key.get(record["key"], 0) + 1
    return chosen
