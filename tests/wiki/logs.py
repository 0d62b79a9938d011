"""Daily logs as a flush leaves them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engram.hub import Hub
from engram.vault.vault import Vault, of

PROJECT = "/home/ada/shop"


def entry(number: int, *, goal: str = "", project: str = PROJECT, hour: str = "10:00", **parts: Any) -> str:
    """Return an entry with a goal and lists under labels."""
    head = f"### Session ({hour}) claude in {os.path.basename(project)}"
    comment = f'<!-- engram entry="e{number}" session="s{number}" flavor="claude" project="{project}" -->'
    blocks = [f"**Goal:** {goal or f'work on part number {number} of the shop'}"]
    for label, items in parts.items():
        blocks.append("\n".join([f"**{label.capitalize()}:**", *(f"- {each}" for each in items)]))
    return "\n\n".join([f"{head}\n{comment}", *blocks])


def log(hub: Hub, day: str, *entries: str) -> Path:
    """Write the log of a day whole."""
    path = Path(of(hub).root) / "daily" / f"{day}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    body = "\n\n".join(entries)
    path.write_text(f"# Daily Log: {day}\n\n## Sessions\n\n{body}\n\n## Memory Maintenance\n")
    return path


def page(hub: Hub, target: str) -> str:
    """Return what a page says."""
    return of(hub).read(target) or ""


def everything(vault: Vault) -> dict[str, Any]:
    """Return all files of a vault that people see, and what is known of its pages."""
    root = Path(vault.root)
    kept = [*root.rglob("*.md"), *(root / ".engram" / "pages").rglob("*.json"), *(root / ".engram").glob("*.json")]
    return {str(path.relative_to(root)): path.read_text() for path in sorted(kept)}
