"""`index.md`, a table of all articles with what changed last at the top, and `log.md`, what was done when.

Only the rows that changed are touched: the table of ten thousand articles is not made anew for one of them. What people
write around the table stays.
"""

from __future__ import annotations

import os
import re

from engram.text import inline
from engram.vault.links import link, unlinked
from engram.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INDEX, LOG = "index", "log"
_TABLE = "| Article | Summary | Compiled From | Updated |\n| --- | --- | --- | --- |\n"
_HEADER = f"# Index\n\n{_TABLE}"
_HEAD = re.compile(r"(?m)^\| *Article *\|.*\n\|[ |:-]+\|[ \t]*\n?")
_NAMED = 3  # logs in a row
_TAIL = 65_536  # bytes of log.md in which a line just written is looked for


def row(target: str, summary: str, sources: Iterable[str], updated: str) -> str:
    """Return the row of an article."""
    named = list(sources)
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    cells = (link(target), _cell(summary), ", ".join(link(each) for each in named[:_NAMED]) + more, updated)
    return f"| {' | '.join(cells)} |\n"


def with_rows(text: str | None, rows: Mapping[str, str], gone: Iterable[str] = ()) -> str:
    """Return the index with rows in the place of those these articles had, what changed at the top."""
    text = _HEADER if text is None else text
    fresh: list[str] = []
    for target in (*rows, *gone):
        start, end = _place(text, target)
        new = rows.get(target, "")
        if start < 0 or text[start:end].rstrip() != new.rstrip():
            text = text if start < 0 else text[:start] + text[end:]
            fresh += [new] if new else []
    return _on_top(text, "".join(fresh)) if fresh else text


def add_rows(vault: Vault, rows: Mapping[str, str], gone: Iterable[str] = ()) -> None:
    """Bring the index up to date; to be called under the lock of the vault."""
    removed = list(gone)
    while rows or removed:
        seen = vault.read(INDEX)
        text = with_rows(seen, rows, removed)
        if text == seen or vault.write(INDEX, text, seen):
            return


def log_entry(at: str, what: str, subject: str, lines: Mapping[str, Iterable[str]]) -> str:
    """Return an entry of `log.md`."""
    told = [f"- {name}: {', '.join(link(each) for each in targets)}" for name, targets in lines.items() if targets]
    return "\n".join([f"## [{at}] {what} | {_cell(subject)}", "", *told, ""])


def add_log(vault: Vault, entry: str) -> None:
    """Append to `log.md`, once; to be called under the lock of the vault."""
    path = vault.path(LOG)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        tail = file.read()
        if entry.partition("\n")[0].encode() + b"\n" in tail:
            return
        before = "" if not size or tail.endswith(b"\n\n") else "\n" if tail.endswith(b"\n") else "\n\n"
        file.write((before if size else "# Build Log\n\n").encode() + entry.encode())
        file.flush()
        os.fsync(file.fileno())


def _place(text: str, target: str) -> tuple[int, int]:
    """Return where the row of an article begins and ends; -1 where it has none."""
    for mark in (f"\n| [[{target}]] |", f"\n| [[{target}|", f"\n| [[{target}\\|"):
        start = text.find(mark)
        if start >= 0:
            end = text.find("\n", start + 1)
            return start + 1, len(text) if end < 0 else end + 1
    return -1, -1


def _on_top(text: str, rows: str) -> str:
    table = _HEAD.search(text)
    if table is None:
        return f"{text.rstrip()}\n\n{_TABLE}{rows}"
    head = table[0] if table[0].endswith("\n") else f"{table[0]}\n"
    return text[: table.start()] + head + rows + text[table.end() :]


def _cell(text: str) -> str:
    return unlinked(inline(text, 160).replace("|", "¦"))
