"""Pages as they were before a pass of the dream changed them, kept so that the pass can be undone."""

from __future__ import annotations

import os
import shutil
from json import dumps

from engram.hub import Hub
from engram.memory import attribution
from engram.vault import gate, state
from engram.vault.history import telling
from engram.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

PAGE = "page"  # the kind of such a change
_FOLDER = "undo"
_KEPT = 50  # passes


def keep(hub: Hub, vault: Vault, plans: dict[str, tuple[str | None, str | None]]) -> None:
    """Keep pages that are about to change, if a pass is at work; before anything is written."""
    pass_id = attribution.current()
    changed = {target: plan for target, plan in plans.items() if plan[0] != plan[1]}
    if pass_id is None or not changed:
        return
    folder = os.path.join(vault.own, _FOLDER, str(pass_id))
    os.makedirs(folder, exist_ok=True)
    number = len(os.listdir(folder))
    prune(vault)
    held = {
        target: {
            "before": before, "record": state.page(vault, target),
            "after": None if after is None else gate.digest(after),
        }
        for target, (before, after) in changed.items()
    }  # fmt: skip
    state.write(vault, f"{_FOLDER}/{pass_id}/{number:04}.json", {"pages": held})
    with hub.engine.transaction():
        for target in changed:
            attribution.note(hub, PAGE, target)


def of_pass(vault: Vault, pass_id: int) -> dict[str, dict[str, Any]]:
    """Return the pages a pass changed, each as it was before its first change and as the last one left it."""
    folder = os.path.join(vault.own, _FOLDER, str(pass_id))
    found: dict[str, dict[str, Any]] = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        for target, held in state.read(vault, f"{_FOLDER}/{pass_id}/{name}").get("pages", {}).items():
            first = found.get(target, held)
            found[target] = {**first, "after": held["after"]}
    return found


def prune(vault: Vault) -> None:
    """Forget the pages of passes long past."""
    folder = os.path.join(vault.own, _FOLDER)
    there = sorted((name for name in os.listdir(folder) if name.isdigit()), key=int) if os.path.isdir(folder) else []
    for name in there[:-_KEPT]:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def forget(vault: Vault, names: Collection[str]) -> None:
    """Forget those that name sessions or logs: they may quote what was deleted."""
    told, root = telling(names), os.path.join(vault.own, _FOLDER)
    for place, _, files in os.walk(root):
        for each in (os.path.relpath(os.path.join(place, name), vault.own) for name in files):
            pages = state.read(vault, each).get("pages", {})
            left = {target: held for target, held in pages.items() if not told.search(_words(target, held))}
            if left != pages:
                state.write(vault, each, {"pages": left})


def _words(target: str, held: dict[str, Any]) -> str:
    """Return all that is kept of a page as one text."""
    return "\n".join((target, held.get("before") or "", dumps(held.get("record"), ensure_ascii=False)))
