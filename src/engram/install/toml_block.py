"""Add and remove our tables in a TOML file. Pure.

tomllib reads and lines are edited: a header or a value may start at a line only if the lines before it parse on their
own. Every result is parsed, and one that differs from the expected result is refused.
"""

from __future__ import annotations

import io
import json
import re
import tomllib
from typing import Any

Path = tuple[str, ...]
_BOM = "\ufeff"


class TomlEditRefused(ValueError):
    """Raised if our tables cannot be changed without touching something else."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text; raise an error with the line if it is damaged."""
    try:
        return tomllib.loads(text.removeprefix(_BOM))
    except tomllib.TOMLDecodeError as problem:
        match = re.search(r"line (\d+)", str(problem))
        raise TomlEditRefused(int(match.group(1)) if match else text.count("\n") + 1, f"{problem}.") from None


def put_table(text: str, path: Path, fields: dict[str, Any]) -> str:
    """Return the text with a table of these values: replace the lines of an existing one, or append it."""
    tables = parse_toml(text)
    if get_at_path(tables, path) is not None:
        return _replace_table(text, tables, path, fields)
    newline = _get_newline(text)
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
    bom, lines = _split_lines(text)
    for start, end, _ in reversed(_find_table_spans(lines, path)):
        if start and not lines[start - 1].strip():
            start -= 1
            if start and end == len(lines) and not lines[-1].endswith("\n"):  # it was appended to an unfinished line
                lines[start - 1] = lines[start - 1].rstrip("\r\n")
        del lines[start:end]
    return _verify_edit(bom + "".join(lines), _delete_at_path(tables, path), path)


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
    bom, lines = _split_lines(text)
    own_spans = [(start, end) for start, end, name in _find_table_spans(lines, path) if name == path]
    if not own_spans:
        raise TomlEditRefused(1, f"{'.'.join(path)} is not a separate table. Fix it by hand.")
    for key, field in differing.items():
        _set_field(lines, own_spans[0], key, field)
    return _verify_edit(bom + "".join(lines), _set_at_path(tables, path, {**old, **fields}), path)


def _set_field(lines: list[str], span: tuple[int, int], key: str, field: Any) -> None:
    """Replace the lines of a value, or add a line below the header; the number of lines stays the same."""
    start, end = span[0] + 1, span[0] + 1
    while end < span[1]:
        end += 1
        old = _try_parse(lines[start:end])
        if old is None:
            continue  # the value goes on in the next line
        if key in old:
            indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
            new = f"{indent}{key} = {_format_value(field)}{_get_comment(''.join(lines[start:end]), old)}"
            lines[start:end] = [new, *[""] * (end - start - 1)]
            return
        start = end
    header = lines[span[0]]
    newline = _get_newline("".join(lines))
    new = f"{key} = {_format_value(field)}"
    lines[span[0]] = f"{header}{new}{newline}" if header.endswith("\n") else f"{header}{newline}{new}"


def _get_comment(statement: str, fields: dict[str, Any]) -> str:
    """Return what follows a value: a comment if there is one, and the end of the line."""
    for match in re.finditer(r"[ \t]*#", statement):
        if _try_parse([statement[: match.start()]]) == fields:
            return statement[match.start() :]
    return statement[len(statement.rstrip("\r\n")) :]


def _format_table(path: Path, fields: dict[str, Any]) -> list[str]:
    name = ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else _format_value(part) for part in path)
    return [f"[{name}]", *(f"{key} = {_format_value(field)}" for key, field in fields.items())]


def _format_value(field: Any) -> str:
    # JSON texts, lists and numbers are valid TOML.
    return json.dumps(field, ensure_ascii=False).replace("\x7f", "\\u007f")


def _find_table_spans(lines: list[str], path: Path) -> list[tuple[int, int, Path]]:
    """Return the line ranges of a table and its subtables; comments before the next table belong to that one."""
    headers = [(number, name) for number, line in enumerate(lines) if (name := _parse_header(line))]
    spans = []
    for index, (start, name) in enumerate(headers):
        if name[: len(path)] == path and _try_parse(lines[:start]) is not None:
            later_headers = (number for number, _ in headers[index + 1 :])
            end = next((number for number in later_headers if _try_parse(lines[start:number]) is not None), len(lines))
            while end > start + 1 and re.fullmatch(r"\s*(?:#.*)?\s*", lines[end - 1]):
                end -= 1
            spans.append((start, end, name))
    return spans


def _parse_header(line: str) -> Path:
    """Return the path of the table that a line opens, unless the line is inside a value; empty for other lines."""
    table: Any = _try_parse([line]) if line.lstrip().startswith("[") else None
    names = []
    while table:
        name, table = next(iter(table.items()))
        table = table[0] if isinstance(table, list) else table
        names.append(name)
    return tuple(names)


def _try_parse(lines: list[str]) -> dict[str, Any] | None:
    """Return the values in some lines, or None if they end inside a value or are damaged."""
    try:
        return tomllib.loads("".join(lines))
    except tomllib.TOMLDecodeError:
        return None


def _split_lines(text: str) -> tuple[str, list[str]]:
    """Return the byte order mark, if any, and the lines with their ends; only LF ends a line in TOML."""
    bom = _BOM if text.startswith(_BOM) else ""
    return bom, list(io.StringIO(text.removeprefix(_BOM), newline="\n"))


def _get_newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


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
