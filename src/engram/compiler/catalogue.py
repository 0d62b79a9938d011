"""The topics of a vault as a compiler holds them: records of pages, and of what may become one.

Only what entries touch is read. What came up too rarely for a page waits in one bounded file; what was not seen for
longest leaves it.
"""

from __future__ import annotations

from typing import Any

from engram.compiler import record as records
from engram.compiler.record import Record
from engram.compiler.together import Together
from engram.compiler.topics import (
    DECISIONS,
    ENOUGH,
    ERROR,
    FILE,
    PROJECT,
    TERM,
    Evidence,
    Topic,
    key_of,
    project_of,
    second_name,
)
from engram.vault import state
from engram.vault.vault import Vault

WAITING = "candidates.json"
_MOST = 3_000  # topics that wait
_SHARED = 3  # entries that connect two topics
_ALIKE = 0.5  # of the entries of the rarer one
_DAYS = 2  # of these entries
_GOALS = 2  # of these entries: the same work done again connects nothing
_CONNECTED = 3  # new connections of one log
_CONNECTABLE = (FILE, ERROR, TERM)
_COMMON = 0.25  # of all entries: a name that is in more tells nothing
_FEW = 12  # entries below which nothing can be said about that
_KEPT = ("made_by", "sections", "front", "summary", "target")  # of a record: what we wrote, not why


class Catalogue:
    """Topics by their keys, read when they are first asked for."""

    def __init__(self, vault: Vault, epoch: int) -> None:
        self.vault, self.epoch = vault, epoch
        kept = state.read(vault, WAITING)
        waiting = kept.get("topics") if kept.get("epoch") == epoch else None
        self.waiting: dict[str, Record] = {}
        for each in waiting.values() if isinstance(waiting, dict) else ():
            self._wait(_rekeyed(each))
        self.pages: dict[str, Record] = {}  # by key: those with a page, as far as they were asked for
        self.touched: dict[str, None] = {}
        self.together = Together(vault, epoch)
        self._taken: dict[str, str] = {}  # targets given away, and the key of the topic that has each

    def _wait(self, record: Record) -> None:
        """Let a topic wait; what an older spelling of it had seen counts with it."""
        held = self.waiting.setdefault(record["key"], record)
        for evidence in record["evidence"] if held is not record else ():
            records.add(held, evidence)

    def record(self, topic: Topic) -> Record:
        """Return the record of a topic."""
        found = self.by_key(topic.key) or self._kept(topic.key, topic.name)
        if found is None:
            found = self.waiting[topic.key] = {**records.new(topic), "epoch": self.epoch}
        return found

    def by_key(self, key: str) -> Record | None:
        """Return a record that was asked for before, or waits."""
        return self.pages.get(key) or self.waiting.get(key)

    def add(self, topic: Topic, evidence: Evidence) -> None:
        """Take in what an entry says of a topic."""
        record = self.record(topic)
        records.add(record, evidence)
        if topic.key in self.waiting:  # the last one seen stands last
            self.waiting[topic.key] = self.waiting.pop(topic.key)
        self.touched[topic.key] = None

    def drop(self, key: str, name: str, entry: str) -> None:
        """Take out what an entry said of a topic."""
        found = self.by_key(key) or self._kept(key, name) or self._spelt_otherwise(name, entry)
        if found is not None:
            records.drop(found, entry)
            self.touched[found["key"]] = None

    def _spelt_otherwise(self, name: str, entry: str) -> Record | None:
        """Return the record of a topic whose key was another when the entry was taken in."""
        found = _rekeyed(state.page(self.vault, f"concepts/{name}") or {}) if name else {}
        held = self._kept(found["key"], name) if "key" in found else None
        return held if held and any(each["entry"] == entry for each in held["evidence"]) else None

    def promote(self, total: int) -> None:
        """Give a page to each touched topic that came up often enough; the projects it came up in learn of it."""
        for key in list(self.touched):
            record = self.waiting.get(key)
            if record is not None and enough(record, total):
                record["target"] = self._name(record)
                self.pages[key] = self.waiting.pop(key)
                self.together.learn(record["target"])
                for project, name in sorted({project_of(each) for each in record["evidence"]}):
                    if self.pages.get(project) or self._kept(project, name):
                        self.relate([key, project])
                        self.touched[project] = None

    def due(self) -> list[Record]:
        """Return the records of pages that have to be made again."""
        return [self.pages[key] for key in self.touched if key in self.pages]

    def settle(self) -> dict[str, Any]:
        """Forget what was touched, and return what waits, as it is kept."""
        self.touched = {}
        self.waiting = dict([(k, r) for k, r in self.waiting.items() if r["evidence"]][-_MOST:])
        return {"epoch": self.epoch, "topics": self.waiting}

    def relate(self, keys: list[str]) -> None:
        """Let the page of a project and the pages of what an entry is about know of each other."""
        held = [self.pages[key] for key in keys if key in self.pages]
        for project in (each for each in held if each["kind"] == PROJECT):
            for other in held:
                if other is not project:
                    shared = len(common(project, other)) or 1
                    records.relate(project, other["target"], other["title"], other["kind"], shared)
                    records.relate(other, project["target"], project["title"], PROJECT, shared)

    def connections(self, of_entries: list[list[str]]) -> list[tuple[Record, Record, list[Evidence]]]:
        """Return the pairs of pages that share enough entries, those that share most first."""
        pairs: dict[tuple[str, str], int] = {}
        for keys in of_entries:
            some = sorted(key for key in keys if key in self.pages and self.pages[key]["kind"] in _CONNECTABLE)
            for place, one in enumerate(some):
                for other in some[place + 1 :]:
                    pairs[one, other] = len(common(self.pages[one], self.pages[other]))
        best = sorted(
            (pair for pair in pairs if self._belong(pair, pairs[pair])), key=lambda pair: (-pairs[pair], pair)
        )
        found = [(self.pages[one], self.pages[other]) for one, other in best]
        return [(one, other, common(one, other)) for one, other in _varied(found)[:_CONNECTED]]

    def _belong(self, pair: tuple[str, str], shared: int) -> bool:
        one, other = (self.pages[key] for key in pair)
        rarer = min(len(one["evidence"]), len(other["evidence"]))
        return shared >= _SHARED and shared >= _ALIKE * rarer and _varies(one, other) and not _obvious(one, other)

    def _kept(self, key: str, name: str) -> Record | None:
        """Return the record of a topic that has a page."""
        for each in (name, second_name(name, key)) if name else ():
            found = _rekeyed(state.page(self.vault, f"concepts/{each}") or {})
            if found.get("key") == key and "evidence" in found:
                self.pages[key] = self._renewed({**found, "target": f"concepts/{each}"})
                return self.pages[key]
        return None

    def _renewed(self, found: Record) -> Record:
        """Return a record as it is; one of an older epoch without its evidence."""
        if found.get("epoch") == self.epoch:
            return found
        topic = Topic(**{name: found[name] for name in Topic.__annotations__})
        kept = {name: found[name] for name in _KEPT if name in found}
        return {**records.new(topic), **kept, "epoch": self.epoch}

    def _name(self, record: Record) -> str:
        """Return the target of a new page, one that no other topic has."""
        topic = Topic(**{name: record[name] for name in Topic.__annotations__})
        for name in (topic.name, topic.other_name):
            target = self.vault.named("concepts", name)
            held = self._taken.get(target) or _rekeyed(state.page(self.vault, target) or {}).get("key")
            if held in (None, topic.key):
                break
        self._taken[target] = topic.key
        if target.endswith(topic.other_name) and topic.kind == PROJECT:  # something else has its name
            record["title"] = f"{topic.title} (project)"
        return target


def _rekeyed(record: Record) -> Record:
    """Return a record under today's key: it was the directory once, of which a project may have several."""
    if record.get("kind") not in (PROJECT, DECISIONS, FILE) or "project" not in record:
        return record
    return {**record, "key": key_of(record["kind"], record["project"], record["title"])}


def enough(record: Record, total: int) -> bool:
    """Tell whether a topic came up often enough for a page."""
    number = records.count(record)
    if number < ENOUGH[record["kind"]]:
        return False
    return record["kind"] != TERM or (records.days(record) > 1 and (total < _FEW or number <= _COMMON * total))


def common(one: Record, other: Record) -> list[Evidence]:
    """Return the entries two topics share, the newest first, each with a line that names both if there is one."""
    beside = {each["entry"]: set(each.get("said", ())) for each in other["evidence"]}
    return [
        {**each, "sentence": next((line for line in each.get("said", ()) if line in beside[each["entry"]]), "")}
        for each in one["evidence"] if each["entry"] in beside
    ]  # fmt: skip


def _varies(one: Record, other: Record) -> bool:
    """Tell whether two topics share entries of several days and about several things; a name, also lines."""
    shared = common(one, other)
    days, goals = ({each.get(part, "").casefold() for each in shared} for part in ("day", "goal"))
    named = sum(bool(each["sentence"]) for each in shared)
    return (
        len(days) >= _DAYS and len(goals) >= _GOALS and (TERM not in (one["kind"], other["kind"]) or named >= _SHARED)
    )


def _obvious(one: Record, other: Record) -> bool:
    """Tell whether two topics belong together by their very names, or are to be judged by sentences alone."""
    if one["kind"] == other["kind"] == TERM:
        return True  # whether sentences name both is looked at apart
    if one["kind"] == other["kind"] == FILE:
        return bool(one["title"].rpartition("/")[0] == other["title"].rpartition("/")[0])
    names = [each["title"].casefold() for each in (one, other)]
    return names[0] in names[1] or names[1] in names[0]


def _varied(pairs: list[tuple[Record, Record]]) -> list[tuple[Record, Record]]:
    """Return pairs in which no topic comes more than twice: a cluster is told by a few of its edges."""
    seen: dict[str, int] = {}
    kept = []
    for pair in pairs:
        if all(seen.get(each["key"], 0) < 2 for each in pair):
            kept.append(pair)
            for each in pair:
                seen[each["key"]] = seen.get(each["key"], 0) + 1
    return kept
