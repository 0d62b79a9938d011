"""Compile one log: find its new entries, and let a model add articles about them."""

from __future__ import annotations

from typing import Any

from engram.hub import Hub
from engram.wiki.compiler.project_compilation import read_targets
from engram.wiki.project_pages.page_draft import PROJECT
from engram.wiki.vault import daily_log, due_logs, state
from engram.wiki.vault.daily_log import LogEntry
from engram.wiki.vault.merge import fingerprint_text
from engram.wiki.vault.vault import Vault
from engram.wiki.vault.write_batch import PageWrite


class LogCompilation:
    """The compilation of one log, before anything is written."""

    def __init__(self, vault: Vault, epoch: int, day: str) -> None:
        self.vault, self.epoch, self.day = vault, epoch, day
        self.stamp = due_logs.read_stamp(vault, day)
        text = vault.read(f"daily/{day}") or ""
        self.hash = due_logs.hash_text(text)
        self.cost, self.tokens, self.dropped = 0.0, 0, 0
        self.writes: list[PageWrite] = []
        entries = {item.id: item for item in daily_log.parse_entries(text, day) if item.id}
        saved = state.read_file(vault, state.log_record_path(day))
        before = saved.get("entries", {}) if saved.get("epoch") == epoch else {}
        self.entry_records: dict[str, Any] = {item: facts for item, facts in before.items() if item in entries}
        self.new_entries = [
            item for item in entries.values() if before.get(item.id, {}).get("hash") != _fingerprint_entry(item)
        ]
        waiting = [item for item in entries.values() if item not in self.new_entries and before[item.id].get("pending")]
        self.unread_entries = [*waiting, *self.new_entries]  # entries no model has seen
        self.entry_records |= {item.id: {"hash": _fingerprint_entry(item)} for item in self.new_entries}

    def ask_model(self, hub: Hub, today: str) -> None:
        """Let the model add pages."""
        from engram.wiki.compiler.model_draft import draft_pages

        for item in self.unread_entries:
            self.entry_records[item.id]["pending"] = True  # until an answer arrives
        draft = draft_pages(hub, self.vault, self.unread_entries, today, self._map_entry_projects())
        self.cost, self.tokens, self.dropped = draft.cost, draft.tokens, draft.dropped
        for item in self.unread_entries:
            self.entry_records[item.id].pop("pending")
        self.writes = draft.writes

    def _map_entry_projects(self) -> dict[str, list[str]]:
        """Return the page of the project of each entry that no model has seen."""
        targets = {project: read_targets(self.vault, project).get(PROJECT, "") for project in
                   {entry.project for entry in self.unread_entries if entry.project}}  # fmt: skip
        return {
            entry.id: [targets[entry.project]]
            for entry in self.unread_entries
            if entry.project and targets[entry.project] and self.vault.read(targets[entry.project]) is not None
        }

    def build_log_record(self, before: dict[str, Any], at: str, now: int, problem: str) -> dict[str, Any]:
        """Return the record of the log to save."""
        if problem:
            return due_logs.record_failure(before, problem, now)
        cost = round(float(before.get("cost") or 0.0) + self.cost, 6)
        return {"hash": self.hash, "compiled_at": at, "cost": cost, "stamp": self.stamp, "epoch": self.epoch}

    def build_files(self, log: dict[str, Any]) -> dict[str, Any]:
        """Return our own files that change with it."""
        return {state.log_record_path(self.day): {"epoch": self.epoch, "log": log, "entries": self.entry_records}}


def _fingerprint_entry(entry: LogEntry) -> str:
    return fingerprint_text(f"{entry.title}\n{entry.project}\n{entry.content}")
