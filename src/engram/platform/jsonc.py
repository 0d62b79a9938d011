"""Edit JSON with comments in place; what is not ours keeps its bytes. No I/O.

Agents' settings contain comments, tabs, trailing commas and a custom order. A new member or element is added
after the last one, with the file's own indentation and line endings, and can be removed again byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from engram.platform.value import value

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_MARK = re.compile(r"//[^\r\n]*|/\*.*?\*/|,", re.DOTALL)
_WIDE = 110  # maximum length of a line we write
_DEEP = 200  # maximum nesting; no real settings are deeper

Path = tuple[str | int, ...]


class Damaged(ValueError):
    """The text is not valid JSON."""

    def __init__(self, text: str, at: int, reason: str) -> None:
        super().__init__(reason)
        self.line = text.count("\n", 0, at) + 1
        self.reason = reason


@value
class Token:
    """A comma, a comment, or a complete member."""

    kind: str
    text: str
    start: int
    end: int


@value
class Node:
    """A value and its position; positions inside it are known only along the parsed path."""

    data: Any
    start: int
    end: int
    children: tuple[tuple[str | int, int, Node], ...] = ()  # key, start of the member, value


def parse(text: str, path: Path = ()) -> Node:
    """Parse a text, with the positions of the values along a path."""
    return _Reader(text).whole(path)


def data(text: str) -> Any:
    """Return the parsed value of a text."""
    try:
        return _decoder().decode(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return parse(text).data


def at(node: Node, path: Path) -> Node | None:
    """Return the value at a path; the last of duplicate keys counts, as it does for the agents."""
    for key in path:
        matches = [child for name, _, child in node.children if name == key and type(name) is type(key)]
        if not matches:
            return None
        node = matches[-1]
    return node


def put(text: str, path: Path, new: Any) -> str:
    """Return the text with a value set at a path: replaced, or added if missing."""
    if not text.strip("\ufeff \t\r\n"):
        return f"{text}{_written(_nested(path, new), '', '  ', _newline(text))}{_newline(text)}"
    root = parse(text, path)
    depth = len(path)
    while (holder := at(root, path[:depth])) is None:
        depth -= 1
    if depth == len(path):
        indent = _indent_of_line(text, holder.start)
        return text[: holder.start] + _written(new, indent, _unit(text, root), _newline(text)) + text[holder.end :]
    wanted = dict if isinstance(path[depth], str) else list
    if not isinstance(holder.data, wanted):
        name = ".".join(map(str, path[:depth])) or "the file"
        raise Damaged(text, holder.start, f"{name} is not {'an object' if wanted is dict else 'a list'}.")
    return _added(text, root, holder, path[depth], _nested(path[depth + 1 :], new))


def remove(text: str, path: Path) -> str:
    """Return the text without the value at a path."""
    root = parse(text, path)
    holder = at(root, path[:-1])
    places = [n for n, child in enumerate(holder.children) if child[0] == path[-1]] if holder else []
    if holder is None or not places:
        return text
    tokens = _tokens(text, holder)
    return _cut(text, holder, tokens, holder.children[places[-1]])


def _cut(text: str, holder: Node, tokens: list[Token], child: tuple[str | int, int, Node]) -> str:
    _, start, node = child
    before = [token for token in tokens if token.end <= start]
    after = [token for token in tokens if token.start >= node.end]
    follows = next((n for n, token in enumerate(after) if token.kind == "mark"), None)
    begin = before[-1].end if before else holder.start + 1
    end = after[follows].end if follows is not None else node.end
    if not before and not (after if follows is None else after[follows + 1 :]):
        return text[: holder.start + 1] + text[holder.end - 1 :]  # it was the only member: remove everything of ours
    if before and before[-1].text.startswith("//") and not re.match(r"[ \t]*[\r\n]", text[end:]):
        begin = start  # otherwise the comment would include what follows
    rest = text[:begin] + text[end:]
    commas = [token for token in before if token.kind == "mark"]
    if follows is None and commas:  # the preceding comma was for the removed member
        return rest[: commas[-1].start] + rest[commas[-1].end :]
    return rest


def _added(text: str, root: Node, holder: Node, key: str | int, new: Any) -> str:
    newline, unit, outer = _newline(text), _unit(text, root), _indent_of_line(text, holder.start)
    tokens = _tokens(text, holder)
    last = tokens[-1].end if tokens else holder.start + 1
    first = holder.children[0][1] if holder.children else None
    stacked = first is None or "\n" in text[holder.start : first] or holder is root
    inner = _indent_of_line(text, first) if first is not None and "\n" in text[holder.start : first] else outer + unit
    label = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    lead = newline + inner if stacked or tokens[-1].text.startswith("//") else " "
    member = lead + label + _written(new, inner, unit, newline, len(label))
    if first is None:
        tail = "" if tokens and "\n" in text[last : holder.end] else newline + outer
        gap = last if tokens else holder.end - 1
        return text[:last] + member + tail + text[gap:]
    value_end = holder.children[-1][2].end
    if any(token.kind == "mark" and token.start >= value_end for token in tokens):  # there is a trailing comma
        return f"{text[:last]}{member},{text[last:]}"
    return f"{text[:value_end]},{text[value_end:last]}{member}{text[last:]}"


def _nested(path: Path, new: Any) -> Any:
    for key in reversed(path):
        new = {key: new} if isinstance(key, str) else [new]
    return new


def _written(new: Any, indent: str, unit: str, newline: str, taken: int = 0) -> str:
    """Return a value as text: on one line if it is short, else one line per member."""
    line = json.dumps(new, ensure_ascii=False)
    if not isinstance(new, dict | list) or not new or (_flat(new) and len(line) + len(indent) + taken <= _WIDE):
        return line
    inner, parts = indent + unit, []
    for key, member in new.items() if isinstance(new, dict) else ((None, member) for member in new):
        label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        parts.append(f"{newline}{inner}{label}{_written(member, inner, unit, newline, len(label))}")
    opened, closed = "{}" if isinstance(new, dict) else "[]"
    return f"{opened}{','.join(parts)}{newline}{indent}{closed}"


def _flat(new: Any) -> bool:
    """Return whether a value reads well on one line, unlike an object of several objects."""
    inside = [member for member in (new.values() if isinstance(new, dict) else new) if isinstance(member, dict | list)]
    return len(inside) <= 1 and all(map(_flat, inside))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _unit(text: str, root: Node) -> str:
    """Return the indentation of one level in this file."""
    for _, start, _ in root.children:
        indent = _indent_of_line(text, start)
        if indent:
            return indent
    return "  "


def _indent_of_line(text: str, position: int) -> str:
    begin = text.rfind("\n", 0, position) + 1
    match = re.match(r"[ \t]*", text[begin:position].lstrip("\ufeff"))
    return match.group() if match else ""


def _tokens(text: str, holder: Node) -> list[Token]:
    """Return the commas and comments of a container, and each member as one token."""
    tokens, place = list[Token](), holder.start + 1
    for _, start, node in holder.children:
        tokens += [*_marks(text, place, start), Token("part", "", start, node.end)]
        place = node.end
    return [*tokens, *_marks(text, place, holder.end - 1)]


def _marks(text: str, start: int, end: int) -> Iterator[Token]:
    for match in _MARK.finditer(text, start, end):
        kind = "mark" if match.group() == "," else "comment"
        yield Token(kind, match.group(), match.start(), match.end())


def _decoder() -> json.JSONDecoder:
    return json.JSONDecoder(parse_constant=_refuse)


def _refuse(name: str) -> Any:
    raise ValueError(name)  # NaN is Python's, not JSON's


class _Reader:
    """Parses values with their positions; values off the path are left to the standard library, which is faster."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.decoder = _decoder()

    def whole(self, path: Path) -> Node:
        node = self.value(self.gap(1 if self.text.startswith("\ufeff") else 0), path, 0)
        rest = self.gap(node.end)
        if rest < len(self.text):
            raise Damaged(self.text, rest, "unexpected text after the end.")
        return node

    def gap(self, place: int) -> int:
        match = _GAP.match(self.text, place)
        return match.end() if match else place

    def peek(self, place: int) -> str:
        if place >= len(self.text):
            raise Damaged(self.text, len(self.text), "unexpected end of the file.")
        return self.text[place]

    def value(self, place: int, path: Path | None, depth: int) -> Node:
        opened = self.peek(place)
        if depth > _DEEP:
            raise Damaged(self.text, place, "nested too deeply.")
        if opened in "{[" and path is not None:
            return self.container(place, path, depth)
        try:
            data, end = self.decoder.raw_decode(self.text, place)
        except (ValueError, RecursionError):  # contains a comment, or is damaged
            if opened in "{[":
                return self.container(place, None, depth)
            raise Damaged(self.text, place, f"{self.shown(place)} is not valid JSON.") from None
        return Node(data, place, end)

    def container(self, opened: int, path: Path | None, depth: int) -> Node:
        closing = "}" if self.text[opened] == "{" else "]"
        children: list[tuple[str | int, int, Node]] = []
        place = self.gap(opened + 1)
        while self.peek(place) != closing:
            start = place
            key, place = self.key(place) if closing == "}" else (len(children), place)
            inner = path[1:] if path and path[0] == key and type(path[0]) is type(key) else None
            child = self.value(place, inner, depth + 1)
            children.append((key, start, child))
            place = self.gap(child.end)
            if self.peek(place) != closing:
                place = self.gap(self.take(place, ","))
        data = {key: child.data for key, _, child in children} if closing == "}" else [c.data for _, _, c in children]
        return Node(data, opened, place + 1, tuple(children))

    def key(self, place: int) -> tuple[str | int, int]:
        if self.peek(place) != '"':
            raise Damaged(self.text, place, f"missing name in quotes before {self.shown(place)}.")
        name = self.value(place, None, 0)
        return name.data, self.gap(self.take(self.gap(name.end), ":"))

    def take(self, place: int, wanted: str) -> int:
        if self.peek(place) != wanted:
            raise Damaged(self.text, place, f"missing {wanted!r} before {self.shown(place)}.")
        return place + 1

    def shown(self, place: int) -> str:
        return repr(self.text[place : place + 20].splitlines()[0])
