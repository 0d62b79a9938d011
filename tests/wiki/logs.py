"""Daily logs as a flush writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from engram.hub import Hub
from engram.wiki.vault.vault import Vault, open_vault

PROJECT = "/home/ada/shop"


def entry(number: int, *, goal: str = "", project: str = PROJECT, hour: str = "10:00", **parts: Any) -> str:
    """Return an entry with a goal and labelled lists."""
    head = f"### Session ({hour}) claude in {os.path.basename(project)}"
    comment = f'<!-- engram entry="e{number}" session="s{number}" flavor="claude" project="{project}" -->'
    blocks = [f"**Goal:** {goal or f'work on part number {number} of the shop'}"]
    for label, items in parts.items():
        blocks.append("\n".join([f"**{label.capitalize()}:**", *(f"- {item}" for item in items)]))
    return "\n\n".join([f"{head}\n{comment}", *blocks])


def log(hub: Hub, day: str, *entries: str) -> Path:
    """Write the complete log of a day."""
    path = Path(open_vault(hub).root) / "daily" / f"{day}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    body = "\n\n".join(entries)
    path.write_text(f"# Daily Log: {day}\n\n## Sessions\n\n{body}\n\n## Memory Maintenance\n")
    return path


def page(hub: Hub, target: str) -> str:
    """Return the text of a page."""
    return open_vault(hub).read(target) or ""


def everything(vault: Vault) -> dict[str, Any]:
    """Return all visible files of a vault, and the records of its pages."""
    root = Path(vault.root)
    kept = [*root.rglob("*.md"), *(root / ".engram" / "pages").rglob("*.json"), *(root / ".engram").glob("*.json")]
    return {str(path.relative_to(root)): path.read_text() for path in sorted(kept)}
