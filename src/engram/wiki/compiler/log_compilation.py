"""Compile one log: find its new entries and build the pages that change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engram.hub import Hub
from engram.platform.text import build_slug
from engram.wiki.compiler import rule_pages
from engram.wiki.compiler import topic_record as records
from engram.wiki.compiler.co_mentions import CO_MENTIONS_FILE, is_obvious_pair
from engram.wiki.compiler.topic_catalog import CANDIDATES_FILE, TopicCatalog
from engram.wiki.compiler.topic_record import TopicRecord
from engram.wiki.compiler.topics import PROJECT, find_topics, second_name
from engram.wiki.vault import article, daily_log, due_logs, state
from engram.wiki.vault.daily_log import LogEntry
from engram.wiki.vault.merge import fingerprint_text
from engram.wiki.vault.vault import Vault
from engram.wiki.vault.write_batch import PageWrite

_MAX_NAME_CHARS = 80  # characters of a name
_MODEL_PREFIX = "model:"


class LogCompilation:
    """The compilation of one log, before anything is written."""

    def __init__(self, vault: Vault, catalogue: TopicCatalog, day: str, total: int, *, anew: bool) -> None:
        self.vault, self.catalog, self.day, self.anew = vault, catalogue, day, anew
        self.stamp = due_logs.read_stamp(vault, day)
        text = vault.read(f"daily/{day}") or ""
        self.hash = due_logs.hash_text(text)
        self.cost, self.tokens, self.dropped = 0.0, 0, 0
        entries = {item.id: item for item in daily_log.parse_entries(text, day) if item.id}
        saved = state.read_file(vault, state.log_record_path(day))
        before = saved.get("entries", {}) if saved.get("epoch") == catalogue.epoch else {}
        self.entry_records: dict[str, Any] = {item: facts for item, facts in before.items() if item in entries}
        self.new_entries = [
            item for item in entries.values() if before.get(item.id, {}).get("hash") != _fingerprint_entry(item)
        ]
        waiting = [item for item in entries.values() if item not in self.new_entries and before[item.id].get("pending")]
        self.unread_entries = [*waiting, *self.new_entries]  # entries no model has seen
        self._withdraw_entries(before, set(before) - set(entries) | {item.id for item in self.new_entries})
        self.writes = self._build_rule_pages(total)

    def ask_model(self, hub: Hub, today: str) -> None:
        """Let the model add pages."""
        from engram.wiki.compiler.model_draft import draft_pages

        for item in self.unread_entries:
            self.entry_records[item.id]["pending"] = True  # until an answer arrives
        draft = draft_pages(hub, self.vault, self.unread_entries, today, self._map_entry_projects())
        self.cost, self.tokens, self.dropped = draft.cost, draft.tokens, draft.dropped
        for item in self.unread_entries:
            self.entry_records[item.id].pop("pending")
        writes_by_target = {item.target: item for item in self.writes}
        for write in draft.writes:
            rule_write = writes_by_target.get(write.target)
            record = {
                **write.record,
                **(rule_write.record if rule_write else {}),
                "summary": write.summary,
                "made_by": write.made_by,
            }
            writes_by_target[write.target] = PageWrite(**{**vars(write), "record": record})
        self.writes = list(writes_by_target.values())

    def _map_entry_projects(self) -> dict[str, list[str]]:
        """Return the project page of each entry that no model has seen."""
        records = self.catalog.pages
        of_entries = {
            entry_read.id: [key for key, _ in self.entry_records[entry_read.id]["topics"] if key in records]
            for entry_read in self.unread_entries
        }
        return {
            entry: [records[key]["target"] for key in keys if records[key]["kind"] == PROJECT]
            for entry, keys in of_entries.items()
        }

    def build_log_record(self, before: dict[str, Any], at: str, now: int, problem: str) -> dict[str, Any]:
        """Return the record of the log to save."""
        if problem:
            return due_logs.record_failure(before, problem, now)
        cost = round(float(before.get("cost") or 0.0) + self.cost, 6)
        return {"hash": self.hash, "compiled_at": at, "cost": cost, "stamp": self.stamp, "epoch": self.catalog.epoch}

    def build_files(self, log: dict[str, Any]) -> dict[str, Any]:
        """Return our own files that change with it."""
        return {
            CANDIDATES_FILE: self.catalog.export_state(),
            CO_MENTIONS_FILE: self.catalog.co_mentions.export_state(),
            state.log_record_path(self.day): {"epoch": self.catalog.epoch, "log": log, "entries": self.entry_records},
        }

    def _withdraw_entries(self, before: dict[str, Any], entries: set[str]) -> None:
        for entry in sorted(entries & set(before)):
            for key, name in before[entry].get("topics", ()):
                self.catalog.remove_evidence(key, name, entry)
            self.catalog.co_mentions.remove_entry(entry, before[entry].get("named", []))

    def _build_rule_pages(self, total: int) -> list[PageWrite]:
        """Build the pages the rules make from what is new."""
        of_entries: list[list[str]] = []
        for entry in self.new_entries:
            topics_found = find_topics(entry)
            for topic, evidence in topics_found:
                self.catalog.add_evidence(topic, evidence)
            of_entries.append([topic.key for topic, _ in topics_found])
            self.entry_records[entry.id] = {
                "hash": _fingerprint_entry(entry),
                "topics": [[t.key, t.name] for t, _ in topics_found],
            }
        self.catalog.promote_topics(total + len(self.new_entries))
        for keys in of_entries:
            self.catalog.relate_pages(keys)
        for entry in self.new_entries:
            self.entry_records[entry.id]["named"] = self.catalog.co_mentions.add_entry(entry)
        connections = [self._connect_topics(*item) for item in self.catalog.find_connections(of_entries)]
        connected = list({item.target: item for item in (*connections, *self._connect_co_mentions())}.values())
        due_records = self.catalog.list_due_records()
        targets = {record["target"] for record in due_records} | {item.target for item in connected}
        return [*(self._build_page(record, targets) for record in due_records), *connected]

    def _build_page(self, record: TopicRecord, new_targets: set[str]) -> PageWrite:
        target, made_by = record["target"], record.get("made_by", "")
        if not record["evidence"] and not records.count_entries(record):
            return PageWrite(
                target=target, text=None, made_by=made_by, record=record, gone=not made_by.startswith(_MODEL_PREFIX)
            )
        if made_by.startswith(_MODEL_PREFIX) or not record["evidence"]:
            return PageWrite(target=target, text=None, made_by=made_by, record=record)
        record["related"] = {
            related_target: facts
            for related_target, facts in record["related"].items()
            if related_target in new_targets or self._page_exists(related_target)
        }
        page = rule_pages.build_topic_page(record)
        record |= {"summary": page.summary, "made_by": rule_pages.RULES}
        return PageWrite(
            target=target, text=page.text, made_by=rule_pages.RULES, summary=page.summary, sources=page.sources,
            record=record, anew=self.anew,
        )  # fmt: skip

    def _connect_topics(self, first: TopicRecord, second: TopicRecord, shared: list[Any]) -> PageWrite:
        """Build the page about two topics, and link both to it."""
        titles, targets = (first["title"], second["title"]), (first["target"], second["target"])
        insight = rule_pages.describe_shared_work(first, second, len(shared))
        write = self._build_connection(f"connection {first['key']} | {second['key']}", titles, targets, shared, insight)
        for record in (first, second):
            records.add_related(record, write.target, " and ".join(titles), "connection", len(shared))
        return write

    def _connect_co_mentions(self) -> Iterator[PageWrite]:
        """Yield the pages about two pages named in the same sentences, and those that lost their evidence."""
        together = self.catalog.co_mentions
        for (first, second), shared in together.list_changed_pairs():
            kinds = {(state.read_page_record(self.vault, target) or {}).get("kind", "") for target in (first, second)}
            key = f"connection {first} | {second}"
            if is_obvious_pair(first, second, kinds):
                continue
            if shared:
                titles = self._read_title(first), self._read_title(second)
                counts = together.count_entries(first), together.count_entries(second)
                insight = rule_pages.describe_co_mentions(titles, counts, together.count_shared((first, second)))
                yield self._build_connection(key, titles, (first, second), shared, insight)
            elif (saved := state.read_page_record(self.vault, self._connection_target(key, (first, second))) or {}).get(
                "key"
            ) == key:
                made_by = saved.get("made_by", "")
                gone = not made_by.startswith(_MODEL_PREFIX)
                yield PageWrite(
                    target=self._connection_target(key, (first, second)),
                    text=None,
                    made_by=made_by,
                    record=saved,
                    gone=gone,
                )

    def _read_title(self, target: str) -> str:
        return article.parse_article(self.vault.read(target) or "").title or target.rpartition("/")[2]

    def _connection_target(self, key: str, targets: tuple[str, str]) -> str:
        """Return the target of the page about two pages."""
        names = [target.partition("/")[2] for target in targets]
        name = build_slug(" ".join(names))
        return self.vault.make_target(
            "connections", second_name(name, key) if len("-".join(names)) > _MAX_NAME_CHARS else name
        )

    def _build_connection(
        self, key: str, titles: tuple[str, str], targets: tuple[str, str], shared: list[Any], insight: str
    ) -> PageWrite:  # fmt: skip
        target = self._connection_target(key, targets)
        saved = state.read_page_record(self.vault, target) or {}
        page = rule_pages.build_connection_page(titles, targets, shared, insight)
        record = {
            "kind": "connection", "key": key, "title": " and ".join(titles), "last": shared[0]["day"],
            "summary": page.summary,
        }  # fmt: skip
        made_by = saved.get("made_by", "")
        if made_by.startswith(_MODEL_PREFIX):
            return PageWrite(target=target, text=None, made_by=made_by, record=saved)
        return PageWrite(
            target=target, text=page.text, made_by=rule_pages.RULES, summary=page.summary, sources=page.sources,
            record=record, anew=self.anew,
        )  # fmt: skip

    def _page_exists(self, target: str) -> bool:
        import os

        return os.path.exists(self.vault.resolve_path(target))


def _fingerprint_entry(entry: LogEntry) -> str:
    return fingerprint_text(f"{entry.title}\n{entry.project}\n{entry.content}")
