"""Aider.

Where: `.aider.chat.history.md` in each project's root (`AIDER_CHAT_HISTORY_FILE` names another file). One file for all
chats; each starts with `# aider chat started at <local time>`, without a zone, the only time given. No ids.

Text: `#### ` before the user's lines, `> ` before Aider's own output, anything else is the reply. Lines that Aider
writes end in two spaces, which distinguishes them from headings and quotes in a reply; if a text has several lines,
only the first has the prefix and only the last the spaces. Lines without the spaces count as the user's or Aider's only
outside a reply; Aider ends each reply with its token counts.

Usage: printed as text, rounded (`Tokens: 12k sent, 1.2k cache write, 3k cache hit, 604 received.`), so uncertain.
Tokens sent include those written to the cache.

Seen: 0.47 to 0.51.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from engram.agents.transcripts.adapter import Item, Mark, Place
from engram.agents.transcripts.formats.bounded_file import FileLine, read_lines
from engram.platform.value import value
from engram.types import About, Event, Usage

_FILE_NAME = ".aider.chat.history.md"
_CHAT_START = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$", re.MULTILINE)
_MARKED = re.compile(r"^(?:#### |> ).*  $", re.MULTILINE)
_TOKENS = re.compile(
    r"^Tokens: ([\d.,]+k?) sent,(?: ([\d.,]+k?) cache write,)?(?: ([\d.,]+k?) cache(?: hit|d),)? ([\d.,]+k?) received\."
    r"(?:[^$\n]*\n?Cost: \$([\d.]+) )?",
    re.MULTILINE,
)
_VERSION = re.compile(r"Aider v(\S+)")
_MODEL = re.compile(r"(?:Main model|Models?): (\S+) with ")
_EDIT_OR_COMMIT = re.compile(r"(?:Applied (edit) to|(Commit)) (.+)")
_LONGEST_CHAT = 16 << 20
_INJECTED = "# Fix any errors below"


class _AiderChat(NamedTuple):
    """The text of one chat, and how many bytes of it were too long to read."""

    number: int
    text: str
    lost: int
    is_last: bool


@value
class SpeakerBlock:
    """Consecutive lines of one speaker."""

    speaker: str  # user, aider, model
    text: str


class AiderAdapter:
    """The adapter of Aider."""

    flavor = "aider"
    version = 1

    def places(self, environ: Mapping[str, str], projects: Iterable[str]) -> Iterator[Place]:
        """Yield the projects; Aider keeps its chats in each of them."""
        file_name = os.path.basename(environ.get("AIDER_CHAT_HISTORY_FILE") or _FILE_NAME)
        for project in projects:
            yield Place(root=project, endings=(file_name,), depth=0)

    def recognises(self, path: str, head: bytes) -> bool:
        """Return whether a file is a chat history of Aider."""
        text = head.decode("utf-8", "replace")
        return bool(_CHAT_START.search(text)) or (os.path.basename(path) == _FILE_NAME and "\n#### " in text)

    def read(self, path: str, since: Mark) -> Iterator[Item]:
        """Yield the chats, starting with the last one already seen."""
        origin = _hash_origin(path)
        known_chats = (since.state or {}).get("chats", 0) if (since.state or {}).get("origin") == origin else 0
        chat: _AiderChat | None = None
        for chat in _iter_chats(path):
            if (chat.number >= known_chats or chat.is_last) and (chat.number or chat.text.strip()):
                yield from _read_chat(path, origin, chat)
        yield Mark(state={"chats": chat.number if chat else 0, "origin": origin})


def _iter_chats(path: str) -> Iterator[_AiderChat]:
    """Yield the text before the first chat, then each chat; of a very long chat, its start."""
    number = size = lost = 0
    texts: list[str] = []
    for line in read_lines(path):
        text = _decode_line(line)
        if _CHAT_START.match(text):
            yield _AiderChat(number, "".join(texts), lost, False)
            number, size, lost, texts = number + 1, 0, 0, []
        size += line.size
        if line.is_lost or size > _LONGEST_CHAT:
            lost += line.size
        else:
            texts.append(text)
    yield _AiderChat(number, "".join(texts), lost, True)


def _decode_line(line: FileLine) -> str:
    return "" if line.size > _LONGEST_CHAT else line.text.decode("utf-8", "surrogateescape") + "\n" * line.is_ended


def _hash_origin(path: str) -> str:
    """Return what identifies this file: its first chat, or else its first line."""
    first = ""
    for line in map(_decode_line, read_lines(path)):
        first = first or line.strip()
        if _CHAT_START.match(line):
            first = line.strip()
            break
    return blake2b(first.encode("utf-8", "replace"), digest_size=4).hexdigest()


def _replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8", "replace")


def _read_chat(path: str, origin: str, chat: _AiderChat) -> Iterator[Item]:
    """Yield one chat; the text before the first chat lost its start."""
    text = chat.text
    start = _CHAT_START.match(text)
    stamp = start[1].replace(" ", "T") if start else "before"
    session = f"{stamp}-{origin}-{chat.number}"
    cwd = os.path.dirname(os.path.abspath(path)) if os.path.basename(path) == _FILE_NAME else None
    yield About(session=session, cwd=cwd)
    if start:
        yield Event(session=session, key="start", kind="lifecycle", name="start", at=_parse_local_time(start[1]))
        text = text[start.end() :]
    for order, block in enumerate(_split_blocks(text), 1):
        yield from _read_block(session, order, block)
    if chat.lost:
        yield Event(session=session, key="damage", kind="damage", name="unreadable", data={"bytes": chat.lost})


def _parse_local_time(stamp: str) -> int | None:
    """Return a local time of this machine in microseconds."""
    try:
        return int(datetime.fromisoformat(stamp).astimezone().timestamp() * 1_000_000)
    except (ValueError, OverflowError, OSError):
        return None


def _split_blocks(text: str) -> Iterator[SpeakerBlock]:
    """Yield the blocks of a chat with their speakers."""
    has_marks = bool(_MARKED.search(text))
    lines: list[str] = []
    speaker, previous, in_output = "aider", "", False
    for line in text.split("\n"):
        line_speaker = "aider" if in_output else _find_speaker(line, previous, speaker, has_marks)
        in_output = (
            has_marks and line_speaker == "aider" and bool(in_output or line.strip()) and not line.endswith("  ")
        )
        if line_speaker != speaker or (line_speaker == "user" and line.strip() and not previous.strip()):
            yield from _build_block(speaker, lines)
            speaker, lines = line_speaker, []
        lines.append(line)
        previous = line
    yield from _build_block(speaker, lines)


def _build_block(speaker: str, lines: list[str]) -> Iterator[SpeakerBlock]:
    if speaker != "model":
        lines = [line.removeprefix("#### ").removeprefix("> ").rstrip() for line in lines]
    if text := _replace_surrogates("\n".join(lines)).strip("\n"):
        yield SpeakerBlock(speaker=speaker, text=text)


def _find_speaker(line: str, previous: str, speaker: str, has_marks: bool) -> str:
    """Return the speaker of a line, by its prefix and the lines before it."""
    if not line.strip():
        return speaker
    is_marked = (has_marks and line.endswith("  ")) or speaker != "model"
    if line.startswith("> ") and (is_marked or not has_marks or line.startswith("> Tokens: ")):
        return "aider"
    begins = not previous.strip() or previous.startswith(("#### ", "> ")) or previous.endswith("  ")
    return "user" if line.startswith("#### ") and is_marked and begins else "model"


def _read_block(session: str, order: int, block: SpeakerBlock) -> Iterator[Item]:
    common: dict[str, Any] = {"session": session, "key": str(order), "order": order << 8}
    if block.speaker == "user":
        name = "injected" if block.text.startswith(_INJECTED) else None
        yield Event(kind="message", role="system" if name else "user", name=name, text=block.text, **common)
    elif block.speaker == "model":
        yield Event(kind="message", role="assistant", text=block.text.strip(), **common)
    else:
        yield from _read_aider_output(session, order, block.text, common)


def _read_aider_output(session: str, order: int, text: str, common: dict[str, Any]) -> Iterator[Item]:
    """Yield Aider's own output: the text, and the facts in it."""
    yield Event(kind="lifecycle", name="output", text=text, **common)
    version, model = _VERSION.search(text), _MODEL.search(text)
    if version or model:
        yield About(session=session, version=version[1] if version else None, model=model[1] if model else None)
    for index, line in enumerate(text.split("\n"), 1):
        inner = {**common, "key": f"{order}:{index}", "order": order << 8 | min(index, 255)}
        if line.startswith("^C"):
            yield Event(kind="interrupt", role="user", text=line, **inner)
        elif done := _EDIT_OR_COMMIT.fullmatch(line):
            yield Event(kind="lifecycle", name=(done[1] or done[2]).lower(), text=done[3], verdict="ok", **inner)
    for index, tokens in enumerate(_TOKENS.finditer(text)):
        yield _build_usage(session, f"{session}:{order}:{index}", tokens)


def _build_usage(session: str, key: str, tokens: re.Match[str]) -> Usage:
    sent, cache_write, cache_read, received = (_parse_count(tokens[group]) for group in range(1, 5))
    cost = tokens[5].strip(".") if tokens[5] else ""
    return Usage(
        session=session, key=key, model="", input=max(sent - cache_write, 0), output=received, cache_read=cache_read,
        cache_write=cache_write, cost=float(cost) if cost.count(".") <= 1 and cost else None, basis="uncertain",
    )  # fmt: skip


def _parse_count(printed: str | None) -> int:
    """Return a token count as Aider prints it: 604, 5,244 or 12k."""
    digits = (printed or "0").replace(",", "")
    try:
        return round(float(digits.removesuffix("k").strip(".")) * (1000 if digits.endswith("k") else 1))
    except ValueError:
        return 0


adapter = AiderAdapter()
