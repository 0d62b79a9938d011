"""`index.md`, a table of all articles with the latest changes on top, and `log.md`, a log of what was done.

Only rows that changed are touched: the table of ten thousand articles is not rebuilt for one of them. Text around the
table is kept.
"""

from __future__ import annotations

import os
import re

from engram.platform.text import escape_inline
from engram.wiki.vault.links import escape_links, format_link
from engram.wiki.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

INDEX, LOG = "index", "log"
_TABLE = "| Article | Summary | Compiled From | Updated |\n| --- | --- | --- | --- |\n"
_HEADER = f"# Index\n\n{_TABLE}"
_HEAD = re.compile(r"(?m)^\| *Article *\|.*\n\|[ |:-]+\|[ \t]*\n?")
_MAX_LOGS = 3  # logs listed in a row
_TAIL_BYTES = 65_536  # bytes at the end of log.md that are searched for a line just written


def format_row(target: str, summary: str, sources: Iterable[str], updated: str) -> str:
    """Format the index row of an article."""
    source_list = list(sources)
    more = f" and {len(source_list) - _MAX_LOGS} more" if len(source_list) > _MAX_LOGS else ""
    cells = (
        format_link(target),
        _format_cell(summary),
        ", ".join(format_link(source) for source in source_list[:_MAX_LOGS]) + more,
        updated,
    )
    return f"| {' | '.join(cells)} |\n"


def update_rows(text: str | None, rows: Mapping[str, str], gone: Iterable[str] = ()) -> str:
    """Return the index with the rows of these articles replaced and moved to the top."""
    text = _HEADER if text is None else text
    new_rows: list[str] = []
    for target in (*rows, *gone):
        start, end = _find_row(text, target)
        new_row = rows.get(target, "")
        if start < 0 or text[start:end].rstrip() != new_row.rstrip():
            text = text if start < 0 else text[:start] + text[end:]
            new_rows += [new_row] if new_row else []
    return _insert_rows_on_top(text, "".join(new_rows)) if new_rows else text


def write_rows(vault: Vault, rows: Mapping[str, str], gone: Iterable[str] = ()) -> None:
    """Update the index; call it while holding the vault lock."""
    removed = list(gone)
    while rows or removed:
        current_text = vault.read(INDEX)
        text = update_rows(current_text, rows, removed)
        if text == current_text or vault.write(INDEX, text, current_text):
            return


def format_log_entry(at: str, what: str, subject: str, lines: Mapping[str, Iterable[str]]) -> str:
    """Format an entry of `log.md`."""
    target_lines = [
        f"- {name}: {', '.join(format_link(target) for target in targets)}"
        for name, targets in lines.items()
        if targets
    ]
    return "\n".join([f"## [{at}] {what} | {_format_cell(subject)}", "", *target_lines, ""])


def append_log(vault: Vault, entry: str) -> None:
    """Append to `log.md` once; call it while holding the vault lock."""
    path = vault.resolve_path(LOG)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "ab+") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL_BYTES))
        tail = file.read()
        if entry.encode()[: _TAIL_BYTES // 2] in tail:  # not the heading alone: two compiles may share a second
            return
        before = "" if not size or tail.endswith(b"\n\n") else "\n" if tail.endswith(b"\n") else "\n\n"
        file.write((before if size else "# Build Log\n\n").encode() + entry.encode())
        file.flush()
        os.fsync(file.fileno())


def _find_row(text: str, target: str) -> tuple[int, int]:
    """Return the start and end of an article's row; -1 if it has none."""
    for mark in (f"\n| [[{target}]] |", f"\n| [[{target}|", f"\n| [[{target}\\|"):
        start = text.find(mark)
        if start >= 0:
            end = text.find("\n", start + 1)
            return start + 1, len(text) if end < 0 else end + 1
    return -1, -1


def _insert_rows_on_top(text: str, rows: str) -> str:
    table = _HEAD.search(text)
    if table is None:
        return f"{text.rstrip()}\n\n{_TABLE}{rows}"
    head = table[0] if table[0].endswith("\n") else f"{table[0]}\n"
    return text[: table.start()] + head + rows + text[table.end() :]


def _format_cell(text: str) -> str:
    return escape_links(escape_inline(text, 160).replace("|", "¦"))
