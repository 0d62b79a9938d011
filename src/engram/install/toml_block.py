"""Add and remove our tables in a TOML file. Pure.

The text is edited by lines, which unusual formatting could break; so every result is parsed, and one that differs from
the expected result is refused.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

Path = tuple[str, ...]
_HEADER = re.compile(
    r"[ \t]*\[\[?[ \t]*(?P<name>[^\[\]#\n]*(?:\"(?:[^\"\\\n]|\\.)*\"[^\[\]#\n]*)*)\]\]?[ \t]*(?:#.*)?\r?\n?$"
)
_QUOTED = re.compile(r"""\"{3}|'{3}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#.*""")
_PART = re.compile(r"[ \t]*(?:(?P<bare>[A-Za-z0-9_-]+)|(?P<text>\"(?:[^\"\\]|\\.)*\")|'(?P<raw>[^']*)')[ \t]*(?:\.|$)")


class TomlEditRefused(ValueError):
    """Raised if our tables cannot be changed without touching something else."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text; raise an error with the line if it is damaged."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as problem:
        match = re.search(r"line (\d+)", str(problem))
        raise TomlEditRefused(int(match.group(1)) if match else text.count("\n") + 1, f"{problem}.") from None


def put_table(text: str, path: Path, fields: dict[str, Any]) -> str:
    """Return the text with a table of these values: replace the lines of an existing one, or append it."""
    tables = parse_toml(text)
    if get_at_path(tables, path) is not None:
        return _replace_table(text, tables, path, fields)
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join(_format_table(path, fields))
    if not text.strip("\ufeff\r\n \t"):
        new = f"{text}{block}{newline}"
    elif text.endswith("\n"):
        new = f"{text}{newline}{block}{newline}"
    else:
        new = f"{text}{newline}{newline}{block}"
    return _verify_edit(new, _set_at_path(tables, path, fields), path)


def remove_table(text: str, path: Path) -> str:
    """Return the text without a table and its subtables."""
    tables = parse_toml(text)
    if get_at_path(tables, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    spans = _find_table_spans(lines, path)
    for start, end in reversed(spans):
        if end == len(lines) and not lines[-1].endswith("\n") and start > 1:  # it was appended to an unfinished line
            lines[start - 2] = lines[start - 2].rstrip("\r\n")
            start -= 1
        elif start and not lines[start - 1].strip():
            start -= 1
        del lines[start:end]
    return _verify_edit("".join(lines), _delete_at_path(tables, path), path)


def get_at_path(table: Any, path: Path) -> Any:
    """Return the value at a path, or None."""
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _replace_table(text: str, tables: dict[str, Any], path: Path, fields: dict[str, Any]) -> str:
    """Change the lines of a table that differ; lines added by others are kept."""
    old = get_at_path(tables, path)
    differing = {key: field for key, field in fields.items() if old.get(key) != field}
    if not differing:
        return text
    lines = text.splitlines(keepends=True)
    own_spans = [span for span in _find_table_spans(lines, path) if _parse_header(lines[span[0]]) == path]
    if not own_spans:
        raise TomlEditRefused(1, f"{'.'.join(path)} is not a separate table. Fix it by hand.")
    for key, field in differing.items():
        _set_key_line(lines, own_spans[0], key, field)
    return _verify_edit("".join(lines), _set_at_path(tables, path, {**old, **fields}), path)


def _set_key_line(lines: list[str], span: tuple[int, int], key: str, field: Any) -> None:
    for number in range(span[0] + 1, span[1]):
        if re.match(rf"[ \t]*{re.escape(key)}[ \t]*=", lines[number]):
            end = lines[number][len(lines[number].rstrip("\r\n")) :]
            lines[number] = f"{key} = {_format_value(field)}{end}"
            return
    newline = "\r\n" if lines[span[0]].endswith("\r\n") else "\n"
    lines.insert(span[0] + 1, f"{key} = {_format_value(field)}{newline}")


def _format_table(path: Path, fields: dict[str, Any]) -> list[str]:
    name = ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else _format_value(part) for part in path)
    return [f"[{name}]", *(f"{key} = {_format_value(field)}" for key, field in fields.items())]


def _format_value(field: Any) -> str:
    # JSON texts, lists and numbers are valid TOML.
    return json.dumps(field, ensure_ascii=False).replace("\x7f", "\\u007f")


def _find_table_spans(lines: list[str], path: Path) -> list[tuple[int, int]]:
    """Return the line ranges of a table and its subtables; comments before the next table belong to that one."""
    outside = _find_lines_outside_strings(lines)
    heads = [(number, name) for number in outside if (name := _parse_header(lines[number])) is not None]
    spans = []
    for index, (start, name) in enumerate(heads):
        if name[: len(path)] == path:
            end = heads[index + 1][0] if index + 1 < len(heads) else len(lines)
            while end > start + 1 and re.fullmatch(r"\s*(?:#.*)?\s*", lines[end - 1]):
                end -= 1
            spans.append((start, end))
    return spans


def _find_lines_outside_strings(lines: list[str]) -> list[int]:
    """Return the lines that begin outside of multi-line strings."""
    line_numbers, open_quote = [], ""
    for number, line in enumerate(lines):
        if not open_quote:
            line_numbers.append(number)
        position = 0
        while match := re.compile(open_quote or _QUOTED).search(line, position):
            position = match.end()
            open_quote = match.group() if not open_quote and match.group() in ('"""', "'''") else ""
    return line_numbers


def _parse_header(line: str) -> Path | None:
    match = _HEADER.match(line)
    if match is None:
        return None
    name, parts, position = match.group("name").strip(), [], 0
    while position < len(name):
        part = _PART.match(name, position)
        if part is None:
            return None
        parts.append(part.group("bare") or part.group("raw") or json.loads(part.group("text") or '""'))
        position = part.end()
    return tuple(parts)


def _set_at_path(tables: dict[str, Any], path: Path, fields: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**tables, path[0]: fields}
    inner = tables.get(path[0], {})
    if not isinstance(inner, dict):
        raise TomlEditRefused(1, f"{path[0]} is not a table.")
    return {**tables, path[0]: _set_at_path(inner, path[1:], fields)}


def _delete_at_path(tables: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the values without a path; also drop a table that only led to it."""
    inner = dict(tables)
    if len(path) == 1:
        del inner[path[0]]
    else:
        inner[path[0]] = _delete_at_path(inner[path[0]], path[1:])
    return inner


def _verify_edit(text: str, expected: dict[str, Any], path: Path) -> str:
    """Return the text if it parses to the expected values; an empty table on the way is ignored."""
    try:
        fits = _drop_empty_tables(parse_toml(text), path) == _drop_empty_tables(expected, path)
    except TomlEditRefused:
        fits = False
    if not fits:
        raise TomlEditRefused(
            1, f"[{'.'.join(path)}] cannot be changed without touching other lines. Change it by hand."
        )
    return text


def _drop_empty_tables(tables: Any, path: Path) -> Any:
    if len(path) < 2 or not isinstance(tables, dict) or path[0] not in tables:
        return tables
    inner = _drop_empty_tables(tables[path[0]], path[1:])
    rest = {key: field for key, field in tables.items() if key != path[0]}
    return rest if inner == {} else {**rest, path[0]: inner}
