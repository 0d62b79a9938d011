"""The work one log makes: which entries are new in it, and the pages that come of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engram.compiler import pages
from engram.compiler import record as records
from engram.compiler.catalogue import WAITING, Catalogue
from engram.compiler.record import Record
from engram.compiler.together import TOGETHER, is_obvious
from engram.compiler.topics import PROJECT, second_name, topics
from engram.hub import Hub
from engram.vault import article, daily_log, gate, state
from engram.vault.daily_log import Entry
from engram.vault.links import slug
from engram.vault.merge import fingerprint
from engram.vault.vault import Vault
from engram.vault.writes import Write

_LONGEST = 80  # characters of a name
_MODEL = "model:"


class Work:
    """What compiling one log comes to, before anything is written."""

    def __init__(self, vault: Vault, catalogue: Catalogue, day: str, total: int, *, anew: bool) -> None:
        self.vault, self.catalogue, self.day, self.anew = vault, catalogue, day, anew
        self.stamp = gate.stamp(vault, day)
        text = vault.read(f"daily/{day}") or ""
        self.hash = gate.digest(text)
        self.cost, self.tokens, self.dropped = 0.0, 0, 0
        entries = {each.id: each for each in daily_log.read(text, day) if each.id}
        kept = state.read(vault, state.log_file(day))
        before = kept.get("entries", {}) if kept.get("epoch") == catalogue.epoch else {}
        self.taken: dict[str, Any] = {each: facts for each, facts in before.items() if each in entries}
        self.new = [each for each in entries.values() if before.get(each.id, {}).get("hash") != _print(each)]
        waiting = [each for each in entries.values() if each not in self.new and before[each.id].get("pending")]
        self.unread = [*waiting, *self.new]  # what no model has seen
        self._withdraw(before, set(before) - set(entries) | {each.id for each in self.new})
        self.writes = self._by_rules(total)

    def think(self, hub: Hub, today: str) -> None:
        """Let the model add to it."""
        from engram.compiler.draft import drafted

        for each in self.unread:
            self.taken[each.id]["pending"] = True  # until an answer is here
        found = drafted(hub, self.vault, self.unread, today, self._homes())
        self.cost, self.tokens, self.dropped = found.cost, found.tokens, found.dropped
        for each in self.unread:
            self.taken[each.id].pop("pending")
        ruled = {each.target: each for each in self.writes}
        for write in found.writes:
            rest = ruled.get(write.target)
            record = {
                **write.record,
                **(rest.record if rest else {}),
                "summary": write.summary,
                "made_by": write.made_by,
            }
            ruled[write.target] = Write(**{**vars(write), "record": record})
        self.writes = list(ruled.values())

    def _homes(self) -> dict[str, list[str]]:
        """Return the page of the project of each entry that no model has seen."""
        held = self.catalogue.pages
        of_entries = {each.id: [key for key, _ in self.taken[each.id]["topics"] if key in held] for each in self.unread}
        return {
            entry: [held[key]["target"] for key in keys if held[key]["kind"] == PROJECT]
            for entry, keys in of_entries.items()
        }

    def log(self, before: dict[str, Any], at: str, now: int, problem: str) -> dict[str, Any]:
        """Return what is kept of the log."""
        if problem:
            return gate.failed(before, problem, now)
        cost = round(float(before.get("cost") or 0.0) + self.cost, 6)
        return {"hash": self.hash, "compiled_at": at, "cost": cost, "stamp": self.stamp, "epoch": self.catalogue.epoch}

    def files(self, log: dict[str, Any]) -> dict[str, Any]:
        """Return the files of our own that change with it."""
        return {
            WAITING: self.catalogue.settle(),
            TOGETHER: self.catalogue.together.settle(),
            state.log_file(self.day): {"epoch": self.catalogue.epoch, "log": log, "entries": self.taken},
        }

    def _withdraw(self, before: dict[str, Any], entries: set[str]) -> None:
        for entry in sorted(entries & set(before)):
            for key, name in before[entry].get("topics", ()):
                self.catalogue.drop(key, name, entry)
            self.catalogue.together.drop(entry, before[entry].get("named", []))

    def _by_rules(self, total: int) -> list[Write]:
        """Return the pages the rules make of what is new."""
        of_entries: list[list[str]] = []
        for entry in self.new:
            found = topics(entry)
            for topic, evidence in found:
                self.catalogue.add(topic, evidence)
            of_entries.append([topic.key for topic, _ in found])
            self.taken[entry.id] = {"hash": _print(entry), "topics": [[t.key, t.name] for t, _ in found]}
        self.catalogue.promote(total + len(self.new))
        for keys in of_entries:
            self.catalogue.relate(keys)
        for entry in self.new:
            self.taken[entry.id]["named"] = self.catalogue.together.add(entry)
        made = [self._connection(*each) for each in self.catalogue.connections(of_entries)]
        connected = list({each.target: each for each in (*made, *self._named_together())}.values())
        due = self.catalogue.due()
        there = {record["target"] for record in due} | {each.target for each in connected}
        return [*(self._page(record, there) for record in due), *connected]

    def _page(self, record: Record, there: set[str]) -> Write:
        target, made_by = record["target"], record.get("made_by", "")
        if not record["evidence"] and not records.count(record):
            return Write(target=target, text=None, made_by=made_by, record=record, gone=not made_by.startswith(_MODEL))
        if made_by.startswith(_MODEL) or not record["evidence"]:
            return Write(target=target, text=None, made_by=made_by, record=record)
        record["related"] = {
            each: facts for each, facts in record["related"].items() if each in there or self._exists(each)
        }
        page = pages.page(record)
        record |= {"summary": page.summary, "made_by": pages.RULES}
        return Write(
            target=target, text=page.text, made_by=pages.RULES, summary=page.summary, sources=page.sources,
            record=record, anew=self.anew,
        )  # fmt: skip

    def _connection(self, one: Record, other: Record, shared: list[Any]) -> Write:
        """Return the page about two topics, and let them know of it."""
        titles, targets = (one["title"], other["title"]), (one["target"], other["target"])
        insight = pages.worked_together(one, other, len(shared))
        found = self._connected(f"connection {one['key']} | {other['key']}", titles, targets, shared, insight)
        for each in (one, other):
            records.relate(each, found.target, " and ".join(titles), "connection", len(shared))
        return found

    def _named_together(self) -> Iterator[Write]:
        """Yield the pages about two pages that sentences name both, and those that lost what they were made of."""
        together = self.catalogue.together
        for (one, other), shared in together.changed():
            kinds = {(state.page(self.vault, each) or {}).get("kind", "") for each in (one, other)}
            key = f"connection {one} | {other}"
            if is_obvious(one, other, kinds):
                continue
            if shared:
                titles = self._title(one), self._title(other)
                counts = together.counted(one), together.counted(other)
                insight = pages.named_together(titles, counts, together.shared((one, other)))
                yield self._connected(key, titles, (one, other), shared, insight)
            elif (kept := state.page(self.vault, self._place(key, (one, other))) or {}).get("key") == key:
                made_by = kept.get("made_by", "")
                gone = not made_by.startswith(_MODEL)
                yield Write(target=self._place(key, (one, other)), text=None, made_by=made_by, record=kept, gone=gone)

    def _title(self, target: str) -> str:
        return article.read(self.vault.read(target) or "").title or target.rpartition("/")[2]

    def _place(self, key: str, targets: tuple[str, str]) -> str:
        """Return where the page about two pages lies."""
        names = [target.partition("/")[2] for target in targets]
        name = slug(" ".join(names))
        return self.vault.named("connections", second_name(name, key) if len("-".join(names)) > _LONGEST else name)

    def _connected(
        self, key: str, titles: tuple[str, str], targets: tuple[str, str], shared: list[Any], insight: str
    ) -> Write:  # fmt: skip
        target = self._place(key, targets)
        kept = state.page(self.vault, target) or {}
        page = pages.connection(titles, targets, shared, insight)
        record = {
            "kind": "connection", "key": key, "title": " and ".join(titles), "last": shared[0]["day"],
            "summary": page.summary,
        }  # fmt: skip
        made_by = kept.get("made_by", "")
        if made_by.startswith(_MODEL):
            return Write(target=target, text=None, made_by=made_by, record=kept)
        return Write(
            target=target, text=page.text, made_by=pages.RULES, summary=page.summary, sources=page.sources,
            record=record, anew=self.anew,
        )  # fmt: skip

    def _exists(self, target: str) -> bool:
        import os

        return os.path.exists(self.vault.path(target))


def _print(entry: Entry) -> str:
    return fingerprint(f"{entry.title}\n{entry.project}\n{entry.content}")
