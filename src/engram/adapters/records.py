"""Transcripts of one JSON record per line, read from any place on, whatever happened to them.

A record ends at the byte `\\n` and nothing else: U+2028 and friends occur raw inside. The last line
without one is not bad but not written yet. A bad line costs itself only: whole records glued to each
other or to a cut one are found, NUL padding is skipped, a raw newline inside a text is mended.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import orjson

from engram.adapters.adapter import Item, Mark, as_text
from engram.adapters.beginning import parse_beginning
from engram.adapters.bounded import CHUNK, Bytes, Line, read_lines
from engram.adapters.salvage import Piece, find_whole_records
from engram.model import Event

LONG_LINE = 4 << 20  # from here on, texts inside are shortened before they are parsed
LONG_TEXT = 256 << 10
KEPT = 32 << 10  # of a text that is shortened, at either end
_JOINED = 16  # lines that raw newlines may have cut one record into
_SURROGATES = re.compile(rb"(\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
_LOW = re.compile(rb"\\u[dD][c-fC-F]")


Telling: TypeAlias = Callable[["Record", dict[str, Any], dict[str, Any]], Iterator[Item]]


class Record(NamedTuple):
    """One record and where it lies; without a value it is what could not be read."""

    start: int
    end: int
    value: Any
    lost: int = 0  # bytes before or in it that say nothing


def records(path: str, offset: int = 0, skip: Callable[[Bytes], bool] | None = None) -> Iterator[Record]:
    """Yield every record after a place in the file, but lines that are to be skipped unread."""
    waiting: list[Line] = []
    for line in read_lines(path, offset):
        if skip is not None and skip(line.text):
            continue
        if not line.is_ended:
            yield from _unended(line, waiting)
            break
        yield from _ended(line, waiting)
    # The next line may complete those that wait, and be still to come: no mark passes them, and they are read again.


def _ended(line: Line, waiting: list[Line]) -> Iterator[Record]:
    """Yield what a line says; one that is no record alone may be the rest of those that wait, or wait with them."""
    found = _parse(line.text) if line.size < LONG_LINE else None
    if found is None and line.size >= LONG_LINE:
        yield from _given_up(waiting)
        yield from _long(line)
    elif found is None and line.text.strip(b"\0 \t\r"):
        yield from _joined(line, waiting) or _salvaged(line, waiting)
    else:
        yield from _given_up(waiting)
        if found is not None:
            yield Record(start=line.start, end=line.start + line.size + 1, value=found)


def _joined(line: Line, waiting: list[Line]) -> list[Record]:
    """Return the record that raw newlines cut into the lines that wait and this one."""
    found = _parse(b"\\n".join([each.text for each in (*waiting, line)])) if waiting else None
    if found is None:
        return []
    start = waiting[0].start
    waiting.clear()
    return [Record(start=start, end=line.start + line.size + 1, value=found)]


def followed(
    path: str, offset: int, state: dict[str, Any], tell: Telling, whose: Callable[[dict[str, Any]], str],
    skip: Callable[[Bytes], bool] | None = None,
) -> Iterator[Item]:  # fmt: skip
    """Yield what is told by each record after a place, with a mark about every megabyte and one at the end."""
    end = marked = offset
    for record in records(path, offset, skip):
        if record.end == record.start:  # it comes again: what is remembered must not know it yet
            before = deepcopy(state)
            yield from _told(record, state, tell, whose)
            state = before
            break
        yield from _told(record, state, tell, whose)
        end = record.end
        if end - marked > CHUNK:
            yield Mark(offset=end, state=deepcopy(state))
            marked = end
    yield Mark(offset=end, state=deepcopy(state))


def _told(
    record: Record, state: dict[str, Any], tell: Telling, whose: Callable[[dict[str, Any]], str]
) -> Iterator[Item]:  # fmt: skip
    """Yield what one record says; a field of a kind nobody expected costs its record, not the transcript."""
    if not isinstance(record.value, dict):
        yield damage(whose(state), record)
        return
    try:
        yield from tell(record, record.value, state)
    except Exception:
        yield opaque(whose(state), record, None, "unexpected")


def _unended(line: Line, waiting: list[Line]) -> Iterator[Record]:
    """Yield what the last line says although its end is still to come; what ends with it is read again when it does."""
    if line.is_lost:
        yield Record(start=line.start, end=line.start, value=None, lost=line.size)
        return
    text = _fitted(line.text)
    found = _parse(text) if text is not None and text.endswith(b"}") else None
    if found is not None:
        yield Record(start=line.start, end=line.start, value=found)
    elif not waiting and line.size < LONG_LINE:
        yield from _leading(line)


def _leading(line: Line) -> Iterator[Record]:
    """Yield the whole records that a line begins with; only the last can still become another one."""
    done = 0
    for piece in find_whole_records(line.text):
        if line.text[done : piece.start].strip():
            return
        done, start = piece.end, line.start + piece.start
        value = _read_piece(line.text, piece)
        yield Record(start=start, end=start if done == line.size else line.start + done, value=value)


def _long(line: Line) -> Iterator[Record]:
    """Yield what a very long line says, its texts shortened; places inside it are those of the shortened line."""
    text = None if line.is_lost else _fitted(line.text)
    found = None if text is None else _parse(text)
    if found is not None:
        yield Record(start=line.start, end=line.start + line.size + 1, value=found)
    elif text is not None and len(text) <= LONG_LINE and (pieces := find_whole_records(text)):
        yield from _cut_out(line, text, pieces)
    else:
        yield Record(start=line.start, end=line.start + line.size + 1, value=None, lost=line.size)


def _fitted(line: Bytes) -> Bytes | None:
    """Return a line short enough to be parsed within bounded memory; one long by many short texts is given up."""
    if len(line) < LONG_LINE:
        return line
    short = shortened(line, most=LONG_LINE) or shortened(line, LONG_TEXT // 64, KEPT // 64, most=4 * LONG_LINE)
    return short if short and not is_dense(short) else None


def is_dense(text: Bytes, most: int = 1_500_000) -> bool:
    """Tell whether a JSON text would become more objects than memory should hold."""
    return sum(map(text.count, (b",", b"{", b"["))) > most


def _parse(line: Bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _salvaged(line: Line, waiting: list[Line]) -> Iterator[Record]:
    """Yield the whole records of a spoilt line, or keep the line for the next one to complete."""
    pieces = find_whole_records(line.text)
    if pieces:
        yield from _given_up(waiting)
        yield from _cut_out(line, line.text, pieces)
        return
    found = _parse(line.text.replace(b"\0", b""))
    if found is not None:
        yield from _given_up(waiting)
        end = line.start + line.size + 1
        yield Record(start=line.start, end=end, value=found, lost=line.text.count(b"\0"))
        return
    waiting.append(line)
    if len(waiting) == _JOINED or sum(each.size for each in waiting) > LONG_LINE:
        yield from _given_up(waiting)


def _cut_out(line: Line, text: Bytes, pieces: list[Piece]) -> Iterator[Record]:
    """Yield the whole records of a line, and what lies between them as lost."""
    ends = [0, *(place for piece in pieces for place in piece), len(text)]
    parts = [Piece(*pair) for pair in pairwise(ends)]  # a gap, a record, a gap …
    kept = [part for number, part in enumerate(parts) if number % 2 or text[part.start : part.end].strip()]
    for part in kept:
        whole = part in pieces
        yield Record(
            start=line.start + part.start,
            end=line.start + (line.size + 1 if part is kept[-1] else part.end),
            value=_read_piece(text, part) if whole else None,
            lost=0 if whole else part.end - part.start,
        )


def _read_piece(text: Bytes, piece: Piece) -> Any:
    """Parse one record of a line, leniently if need be: lone surrogates, control characters, broken UTF-8."""
    import json

    part = bytes(text[piece.start : piece.end])
    found = _parse(part)
    if found is not None:
        return found
    whole = _SURROGATES.sub(lambda pair: pair[1] or b"\\ufffd", part)
    return json.loads(whole.decode("utf-8", "replace"), strict=False)


def _given_up(waiting: list[Line]) -> Iterator[Record]:
    for line in waiting:
        yield Record(start=line.start, end=line.start + line.size + 1, value=None, lost=line.size)
    waiting.clear()


def shortened(line: Bytes, longest: int = LONG_TEXT, kept: int = KEPT, most: int = sys.maxsize) -> Bytes:
    """Return a JSON line in which very long texts keep only their two ends; nothing if it stays too long."""
    pieces: list[Bytes] = []
    done = place = size = 0
    while True:
        first = line.find(b'"', place)
        last = _closing(line, first + 1) if first >= 0 else -1
        if last < 0:
            break
        if last - first > longest:
            pieces += [line[done : _uncut(line, first + 1 + kept)], _note(line, first, last)]
            size += len(pieces[-1]) + len(pieces[-2])
            done = _uncut(line, last - kept)
        place = last + 1
        if size + place - done > most:
            return b""
    if size + len(line) - done > most:
        return b""
    return b"".join([*pieces, line[done:]]) if pieces else line


def _closing(line: Bytes, place: int) -> int:
    """Return where the text that starts here ends."""
    while (place := line.find(b'"', place)) >= 0:
        if _is_escape(line, place):
            return place
        place += 1
    return -1


def _uncut(line: Bytes, place: int) -> int:
    """Return a place nearby that lies in no escape, no character and no pair of surrogates."""
    for near in range(place, place - 24, -1):
        if line[near] == 0x5C:
            if _is_escape(line, near) and not _LOW.match(line, near):
                return near
        elif line[near] < 0x80 and b"\\" not in line[near - 6 : near]:
            return near
    return place


def _is_escape(line: Bytes, place: int) -> bool:
    """Tell whether a character stands for itself or begins an escape: no odd backslash stands before it."""
    back = place
    while line[back - 1] == 0x5C:
        back -= 1
    return (place - back) % 2 == 0


def _note(line: Bytes, first: int, last: int) -> bytes:
    whole = memoryview(line)[first + 1 : last]
    return b" [%d bytes left out, blake2 %s] " % (len(whole), blake2b(whole, digest_size=8).hexdigest().encode())


def damage(session: str, record: Record) -> Event:
    """Return the event that stands for what could not be read."""
    return Event(
        session=session, key=f"damage:{record.start}", kind="damage", order=record.start << 8,
        name="unreadable", data={"offset": record.start, "bytes": record.lost},
    )  # fmt: skip


def record_key(value: Any) -> str:
    """Return a key for a record that has no id of its own."""
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str), digest_size=12).hexdigest()


def place_key(record: Record) -> str:
    """Return a key for a record without an id; two that are equal to the letter differ by time, or by their place."""
    key = record_key(record.value)
    timed = isinstance(record.value, dict) and record.value.get("timestamp")
    return key if timed else f"{key}:{record.start}"


def opaque(session: str, record: Record, at: int | None, name: str | None) -> Event:
    """Return the event that keeps a record nobody has described to us yet."""
    kept = as_text(record.value)
    return Event(
        session=session, key=place_key(record), kind="opaque", order=record.start << 8, at=at, name=name,
        text=kept if len(kept) <= KEPT else f"{kept[:KEPT]}…",
    )  # fmt: skip


def looks_like(head: bytes, tests: Callable[[dict[str, Any]], bool], lines: int = 40) -> bool:
    """Tell whether one of a file's first records passes a test; one that is cut is judged by its beginning."""
    for line in head.split(b"\n")[:lines]:
        found = _parse(line) or parse_beginning(line)
        if isinstance(found, dict) and tests(found):
            return True
    return False
