"""Tables of our own in somebody's TOML: lines added at the end, and the same lines taken out. Pure.

The text is edited by lines, which odd writing could deceive; so every result is read back, and one that says
anything else than it should is refused.
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


class Refused(ValueError):
    """A text whose tables we cannot change without touching something else."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


def data(text: str) -> dict[str, Any]:
    """Return what a text says, or where it is damaged."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as problem:
        found = re.search(r"line (\d+)", str(problem))
        raise Refused(int(found.group(1)) if found else text.count("\n") + 1, f"{problem}.") from None


def put(text: str, path: Path, facts: dict[str, Any]) -> str:
    """Return the text with a table of these facts: the lines of an older one replaced, else added at the end."""
    held = data(text)
    if at(held, path) is not None:
        return _replaced(text, held, path, facts)
    newline = "\r\n" if "\r\n" in text else "\n"
    block = newline.join(_lines(path, facts))
    if not text.strip("\ufeff\r\n \t"):
        new = f"{text}{block}{newline}"
    elif text.endswith("\n"):
        new = f"{text}{newline}{block}{newline}"
    else:
        new = f"{text}{newline}{newline}{block}"
    return _checked(new, _with(held, path, facts), path)


def remove(text: str, path: Path) -> str:
    """Return the text without a table and the tables inside it."""
    held = data(text)
    if at(held, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    spans = _spans(lines, path)
    for start, end in reversed(spans):
        if end == len(lines) and not lines[-1].endswith("\n") and start > 1:  # it was put behind an unfinished line
            lines[start - 2] = lines[start - 2].rstrip("\r\n")
            start -= 1
        elif start and not lines[start - 1].strip():
            start -= 1
        del lines[start:end]
    return _checked("".join(lines), _without(held, path), path)


def at(held: Any, path: Path) -> Any:
    """Return what stands at a path, or None."""
    for key in path:
        held = held.get(key) if isinstance(held, dict) else None
    return held


def _replaced(text: str, held: dict[str, Any], path: Path, facts: dict[str, Any]) -> str:
    """Change the lines of one table that say something else; what others added to it stays."""
    old = at(held, path)
    differing = {key: fact for key, fact in facts.items() if old.get(key) != fact}
    if not differing:
        return text
    lines = text.splitlines(keepends=True)
    own = [span for span in _spans(lines, path) if _name(lines[span[0]]) == path]
    if not own:
        raise Refused(1, f"{'.'.join(path)} is not a table of its own. Mend it by hand.")
    for key, fact in differing.items():
        _set_line(lines, own[0], key, fact)
    return _checked("".join(lines), _with(held, path, {**old, **facts}), path)


def _set_line(lines: list[str], span: tuple[int, int], key: str, fact: Any) -> None:
    for number in range(span[0] + 1, span[1]):
        if re.match(rf"[ \t]*{re.escape(key)}[ \t]*=", lines[number]):
            end = lines[number][len(lines[number].rstrip("\r\n")) :]
            lines[number] = f"{key} = {_literal(fact)}{end}"
            return
    newline = "\r\n" if lines[span[0]].endswith("\r\n") else "\n"
    lines.insert(span[0] + 1, f"{key} = {_literal(fact)}{newline}")


def _lines(path: Path, facts: dict[str, Any]) -> list[str]:
    name = ".".join(part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else _literal(part) for part in path)
    return [f"[{name}]", *(f"{key} = {_literal(fact)}" for key, fact in facts.items())]


def _literal(fact: Any) -> str:
    return json.dumps(fact, ensure_ascii=False).replace("\x7f", "\\u007f")  # its texts, lists, numbers are TOML's too


def _spans(lines: list[str], path: Path) -> list[tuple[int, int]]:
    """Return from which to which line the table and those inside it go; comments before the next one are its own."""
    outside = _outside_strings(lines)
    heads = [(number, name) for number in outside if (name := _name(lines[number])) is not None]
    found = []
    for place, (start, name) in enumerate(heads):
        if name[: len(path)] == path:
            end = heads[place + 1][0] if place + 1 < len(heads) else len(lines)
            while end > start + 1 and re.fullmatch(r"\s*(?:#.*)?\s*", lines[end - 1]):
                end -= 1
            found.append((start, end))
    return found


def _outside_strings(lines: list[str]) -> list[int]:
    """Return the lines that begin outside of any string of several lines."""
    found, opened = [], ""
    for number, line in enumerate(lines):
        if not opened:
            found.append(number)
        place = 0
        while match := re.compile(opened or _QUOTED).search(line, place):
            place = match.end()
            opened = match.group() if not opened and match.group() in ('"""', "'''") else ""
    return found


def _name(line: str) -> Path | None:
    match = _HEADER.match(line)
    if match is None:
        return None
    name, parts, place = match.group("name").strip(), [], 0
    while place < len(name):
        part = _PART.match(name, place)
        if part is None:
            return None
        parts.append(part.group("bare") or part.group("raw") or json.loads(part.group("text") or '""'))
        place = part.end()
    return tuple(parts)


def _with(held: dict[str, Any], path: Path, facts: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**held, path[0]: facts}
    inner = held.get(path[0], {})
    if not isinstance(inner, dict):
        raise Refused(1, f"{path[0]} is not a table.")
    return {**held, path[0]: _with(inner, path[1:], facts)}


def _without(held: dict[str, Any], path: Path) -> dict[str, Any]:
    """Return the facts without a path; a table that only led to it goes too, as its line does."""
    inner = dict(held)
    if len(path) == 1:
        del inner[path[0]]
    else:
        inner[path[0]] = _without(inner[path[0]], path[1:])
    return inner


def _checked(text: str, expected: dict[str, Any], path: Path) -> str:
    """Return a text that says what it should; an empty table on the way may be there or not."""
    try:
        fits = _bare(data(text), path) == _bare(expected, path)
    except Refused:
        fits = False
    if not fits:
        raise Refused(1, f"[{'.'.join(path)}] cannot be changed in place beside what is there; do it by hand.")
    return text


def _bare(held: Any, path: Path) -> Any:
    if len(path) < 2 or not isinstance(held, dict) or path[0] not in held:
        return held
    inner = _bare(held[path[0]], path[1:])
    rest = {key: each for key, each in held.items() if key != path[0]}
    return rest if inner == {} else {**rest, path[0]: inner}
