"""Snapshots of pages before a dream changed them, so that it can be undone."""

from __future__ import annotations

import os
import shutil
from json import dumps

from engram.hub import Hub
from engram.summaries import attribution
from engram.wiki.vault import due_logs, state
from engram.wiki.vault.history import compile_name_pattern
from engram.wiki.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

PAGE = "page"  # kind of the stored change
_FOLDER = "undo"
_MAX_PASSES = 50  # dreams whose snapshots are kept


def save_snapshots(hub: Hub, vault: Vault, plans: dict[str, tuple[str | None, str | None]]) -> None:
    """Save pages before they are written, if a dream is running."""
    pass_id = attribution.get_current_pass()
    changed = {target: plan for target, plan in plans.items() if plan[0] != plan[1]}
    if pass_id is None or not changed:
        return
    folder = os.path.join(vault.own_dir, _FOLDER, str(pass_id))
    os.makedirs(folder, exist_ok=True)
    number = len(os.listdir(folder))
    prune_snapshots(vault)
    snapshots = {
        target: {
            "before": before, "record": state.read_page_record(vault, target),
            "after": None if after is None else due_logs.hash_text(after),
        }
        for target, (before, after) in changed.items()
    }  # fmt: skip
    state.write_file(vault, f"{_FOLDER}/{pass_id}/{number:04}.json", {"pages": snapshots})
    with hub.engine.transaction():
        for target in changed:
            attribution.record_change(hub, PAGE, target)


def read_snapshots(vault: Vault, pass_id: int) -> dict[str, dict[str, Any]]:
    """Return the pages a dream changed, each before its first and after its last change."""
    folder = os.path.join(vault.own_dir, _FOLDER, str(pass_id))
    snapshots: dict[str, dict[str, Any]] = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        for target, snapshot in state.read_file(vault, f"{_FOLDER}/{pass_id}/{name}").get("pages", {}).items():
            first = snapshots.get(target, snapshot)
            snapshots[target] = {**first, "after": snapshot["after"]}
    return snapshots


def prune_snapshots(vault: Vault) -> None:
    """Delete the snapshots of old dreams."""
    folder = os.path.join(vault.own_dir, _FOLDER)
    pass_folders = (
        sorted((name for name in os.listdir(folder) if name.isdigit()), key=int) if os.path.isdir(folder) else []
    )
    for name in pass_folders[:-_MAX_PASSES]:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def delete_snapshots_naming(vault: Vault, names: Collection[str]) -> None:
    """Delete snapshots that name sessions or logs: they may quote what was deleted."""
    name_pattern, root = compile_name_pattern(names), os.path.join(vault.own_dir, _FOLDER)
    for directory, _, files in os.walk(root):
        for file_name in (os.path.relpath(os.path.join(directory, name), vault.own_dir) for name in files):
            pages = state.read_file(vault, file_name).get("pages", {})
            remaining = {
                target: snapshot
                for target, snapshot in pages.items()
                if not name_pattern.search(_join_text(target, snapshot))
            }
            if remaining != pages:
                state.write_file(vault, file_name, {"pages": remaining})


def _join_text(target: str, snapshot: dict[str, Any]) -> str:
    """Return everything stored of a page as one text."""
    return "\n".join((target, snapshot.get("before") or "", dumps(snapshot.get("record"), ensure_ascii=False)))
