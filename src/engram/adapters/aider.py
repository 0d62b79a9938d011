"""Aider.

Where: `.aider.chat.history.md` in each project's root (`AIDER_CHAT_HISTORY_FILE` names another file). One file for all
chats; each begins with `# aider chat started at <local time>`, no zone, the only time there is. No ids.

Text: `#### ` before a person's lines, `> ` before what Aider says itself, anything else is the answer. What Aider
writes ends in two blanks, which tells it from headings and quotes in an answer; if it has more than one line, only the
first has the sign and only the last the blanks. Lines without blanks count as a person's or as Aider's only outside an
answer; Aider ends each answer by telling its tokens.

Usage: printed as text, rounded (`Tokens: 12k sent, 1.2k cache write, 3k cache hit, 604 received.`), so uncertain. What
was sent holds what was written to the cache.

Seen: 0.47 to 0.51.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from engram.adapters.adapter import Item, Mark, Place
from engram.adapters.bounded import Line, read_lines
from engram.model import About, Event, Usage
from engram.value import value

_NAME = ".aider.chat.history.md"
_START = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$", re.MULTILINE)
_MARKED = re.compile(r"^(?:#### |> ).*  $", re.MULTILINE)
_TOKENS = re.compile(
    r"^Tokens: ([\d.,]+k?) sent,(?: ([\d.,]+k?) cache write,)?(?: ([\d.,]+k?) cache(?: hit|d),)? ([\d.,]+k?) received\."
    r"(?:[^$\n]*\n?Cost: \$([\d.]+) )?",
    re.MULTILINE,
)
_VERSION = re.compile(r"Aider v(\S+)")
_MODEL = re.compile(r"(?:Main model|Models?): (\S+) with ")
_DONE = re.compile(r"(?:Applied (edit) to|(Commit)) (.+)")
_LONGEST_CHAT = 16 << 20
_INJECTED = "# Fix any errors below"


class _Chat(NamedTuple):
    """The text of one chat, and how much of it was too long to be read."""

    number: int
    text: str
    lost: int
    is_last: bool


@value
class Block:
    """Lines one after another that the same one says."""

    speaker: str  # user, aider, model
    text: str


class Aider:
    """The adapter of Aider."""

    flavor = "aider"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield the projects, in each of which Aider keeps its chats."""
        named = os.path.basename(environ.get("AIDER_CHAT_HISTORY_FILE") or _NAME)
        for project in projects:
            yield Place(root=project, endings=(named,), depth=0)

    def recognises(self, path: str, head: bytes) -> bool:
        """Tell whether a file is a history of Aider's chats."""
        text = head.decode("utf-8", "replace")
        return bool(_START.search(text)) or (os.path.basename(path) == _NAME and "\n#### " in text)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the chats from the last one on that was begun before."""
        origin = _origin(path)
        known = (since.state or {}).get("chats", 0) if (since.state or {}).get("origin") == origin else 0
        found: _Chat | None = None
        for found in _chats(path):
            if (found.number >= known or found.is_last) and (found.number or found.text.strip()):
                yield from _chat(path, origin, found)
        yield Mark(state={"chats": found.number if found else 0, "origin": origin})


def _chats(path: str) -> Iterator[_Chat]:
    """Yield what stands before the first chat, then each chat; of a very long one, its beginning."""
    number = size = lost = 0
    held: list[str] = []
    for line in read_lines(path):
        text = _text(line)
        if _START.match(text):
            yield _Chat(number, "".join(held), lost, False)
            number, size, lost, held = number + 1, 0, 0, []
        size += line.size
        if size > _LONGEST_CHAT:
            lost += line.size
        else:
            held.append(text)
    yield _Chat(number, "".join(held), lost, True)


def _text(line: Line) -> str:
    return "" if line.size > _LONGEST_CHAT else line.text.decode("utf-8", "surrogateescape") + "\n" * line.is_ended


def _origin(path: str) -> str:
    """Return what tells this file from others: its first chat, or else its first line."""
    first = ""
    for line in map(_text, read_lines(path)):
        first = first or line.strip()
        if _START.match(line):
            first = line.strip()
            break
    return blake2b(first.encode("utf-8", "replace"), digest_size=4).hexdigest()


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8", "replace")


def _chat(path: str, origin: str, chat: _Chat) -> Iterator[Item]:
    """Yield one chat; what stands before the first was cut off its start."""
    text = chat.text
    begun = _START.match(text)
    stamp = begun[1].replace(" ", "T") if begun else "before"
    session = f"{stamp}-{origin}-{chat.number}"
    place = os.path.dirname(os.path.abspath(path)) if os.path.basename(path) == _NAME else None
    yield About(session=session, cwd=place)
    if begun:
        yield Event(session=session, key="start", kind="lifecycle", name="start", at=_moment(begun[1]))
        text = text[begun.end() :]
    for order, block in enumerate(_blocks(text), 1):
        yield from _said(session, order, block)
    if chat.lost:
        yield Event(session=session, key="damage", kind="damage", name="unreadable", data={"bytes": chat.lost})


def _moment(stamp: str) -> int | None:
    """Return a local time of this machine in microseconds."""
    try:
        return int(datetime.fromisoformat(stamp).astimezone().timestamp() * 1_000_000)
    except (ValueError, OverflowError, OSError):
        return None


def _blocks(text: str) -> Iterator[Block]:
    """Yield who says what, one after the other."""
    marked = bool(_MARKED.search(text))
    lines: list[str] = []
    speaker, before, running = "aider", "", False
    for line in text.split("\n"):
        now = "aider" if running else _speaker(line, before, speaker, marked)
        running = marked and now == "aider" and bool(running or line.strip()) and not line.endswith("  ")
        if now != speaker or (now == "user" and line.strip() and not before.strip()):
            yield from _block(speaker, lines)
            speaker, lines = now, []
        lines.append(line)
        before = line
    yield from _block(speaker, lines)


def _block(speaker: str, lines: list[str]) -> Iterator[Block]:
    if speaker != "model":
        lines = [line.removeprefix("#### ").removeprefix("> ").rstrip() for line in lines]
    if text := _clean("\n".join(lines)).strip("\n"):
        yield Block(speaker=speaker, text=text)


def _speaker(line: str, before: str, speaker: str, marked: bool) -> str:
    """Return whose a line is, by its own look and by what stands before it."""
    if not line.strip():
        return speaker
    ours = (marked and line.endswith("  ")) or speaker != "model"
    if line.startswith("> ") and (ours or not marked or line.startswith("> Tokens: ")):
        return "aider"
    begins = not before.strip() or before.startswith(("#### ", "> ")) or before.endswith("  ")
    return "user" if line.startswith("#### ") and ours and begins else "model"


def _said(session: str, order: int, block: Block) -> Iterator[Item]:
    common: dict[str, Any] = {"session": session, "key": str(order), "order": order << 8}
    if block.speaker == "user":
        name = "injected" if block.text.startswith(_INJECTED) else None
        yield Event(kind="message", role="system" if name else "user", name=name, text=block.text, **common)
    elif block.speaker == "model":
        yield Event(kind="message", role="assistant", text=block.text.strip(), **common)
    else:
        yield from _printed(session, order, block.text, common)


def _printed(session: str, order: int, text: str, common: dict[str, Any]) -> Iterator[Item]:
    """Yield what Aider said itself: the text, and the facts in it."""
    yield Event(kind="lifecycle", name="output", text=text, **common)
    version, model = _VERSION.search(text), _MODEL.search(text)
    if version or model:
        yield About(session=session, version=version[1] if version else None, model=model[1] if model else None)
    for place, line in enumerate(text.split("\n"), 1):
        inner = {**common, "key": f"{order}:{place}", "order": order << 8 | min(place, 255)}
        if line.startswith("^C"):
            yield Event(kind="interrupt", role="user", text=line, **inner)
        elif done := _DONE.fullmatch(line):
            yield Event(kind="lifecycle", name=(done[1] or done[2]).lower(), text=done[3], verdict="ok", **inner)
    for place, spent in enumerate(_TOKENS.finditer(text)):
        yield _usage(session, f"{session}:{order}:{place}", spent)


def _usage(session: str, key: str, spent: re.Match[str]) -> Usage:
    sent, written, read, received = (_count(spent[each]) for each in range(1, 5))
    cost = spent[5].strip(".") if spent[5] else ""
    return Usage(
        session=session, key=key, model="", input=max(sent - written, 0), output=received, cache_read=read,
        cache_write=written, cost=float(cost) if cost.count(".") <= 1 and cost else None, basis="uncertain",
    )  # fmt: skip


def _count(printed: str | None) -> int:
    """Return a count of tokens as Aider prints it: 604, 5,244 or 12k."""
    digits = (printed or "0").replace(",", "")
    try:
        return round(float(digits.removesuffix("k").strip(".")) * (1000 if digits.endswith("k") else 1))
    except ValueError:
        return 0


adapter = Aider()
