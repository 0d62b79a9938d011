"""Transcripts of one JSON record per line, read from any place on, whatever happened to them.

A record ends at the byte `\\n` and nothing else: U+2028 and friends occur raw inside. The last line
without one is not bad but not written yet. A bad line costs itself only: the whole record glued to a
cut one is found, NUL padding is skipped, a raw newline inside a text is mended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import blake2b
from typing import IO, Any, NamedTuple, TypeAlias, cast

import orjson

from engram.adapters.adapter import Item, Mark, as_text
from engram.model import Event

CHUNK = 1 << 20
LONG_LINE = 4 << 20  # from here on, texts inside are shortened before they are parsed
LONG_TEXT = 256 << 10
KEPT = 32 << 10  # of a text that is shortened, at either end
_JOINED = 16  # lines that raw newlines may have cut one record into
_TRIES = 32
_SURROGATES = re.compile(rb"(\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
_LOW = re.compile(rb"\\u[dD][c-fC-F]")
_START = re.compile(rb'\{"[A-Za-z$_][\w$-]{0,40}":')


Telling: TypeAlias = Callable[["Record", dict[str, Any], dict[str, Any]], Iterator[Item]]


class Record(NamedTuple):
    """One record and where it lies; without a value it is what could not be read."""

    start: int
    end: int
    value: Any
    lost: int = 0  # bytes before or in it that say nothing


def opened(path: str) -> IO[bytes]:
    """Open a transcript as it was before it was compressed."""
    if path.endswith(".zst"):
        from engram.zstd import zstd

        return cast("IO[bytes]", zstd.open(path, "rb"))
    return open(path, "rb")


def records(path: str, offset: int = 0, skip: Callable[[bytes], bool] | None = None) -> Iterator[Record]:
    """Yield every record after a place in the file, but lines that are to be skipped unread."""
    waiting: list[tuple[int, bytes]] = []
    for start, line, ended in _lines(path, offset):
        if skip is not None and skip(line):
            continue
        if not ended:
            yield from _unended(start, line)
            break
        end = start + len(line) + 1
        found = _parse(line) if len(line) < LONG_LINE else _parse_long(line)
        if found is None and len(line) >= LONG_LINE:
            yield from _given_up(waiting)
            yield Record(start=start, end=end, value=None, lost=len(line))  # to try further would take its size again
            continue
        if found is None and waiting:
            whole = b"\\n".join([*(each for _, each in waiting), line])
            found = _parse(whole)
            if found is not None:
                yield Record(start=waiting[0][0], end=end, value=found)
                waiting = []
                continue
        if found is None and line.strip(b"\0 \t\r"):
            yield from _salvaged(waiting, start, line)
            continue
        yield from _given_up(waiting)
        if found is not None:
            yield Record(start=start, end=end, value=found)
    # The next line may complete those that wait, and be still to come: no mark passes them, and they are read again.


def followed(
    path: str, offset: int, state: dict[str, Any], tell: Telling, whose: Callable[[dict[str, Any]], str],
    skip: Callable[[bytes], bool] | None = None,
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


def _unended(start: int, line: bytes) -> Iterator[Record]:
    """Yield the last line although its end is still to come, if it says all; it is read again when it ends."""
    found = (_parse(line) if len(line) < LONG_LINE else _parse_long(line)) if line.endswith(b"}") else None
    if found is not None:
        yield Record(start=start, end=start, value=found)


def _lines(path: str, offset: int) -> Iterator[tuple[int, bytes, bool]]:
    """Yield lines, where they start, and whether they have ended."""
    with opened(path) as file:
        if offset:
            file.seek(offset)
        held: list[bytes] = []
        while chunk := file.read(CHUNK):
            pieces = chunk.split(b"\n")
            if len(pieces) == 1:
                held.append(chunk)
                continue
            pieces[0] = b"".join([*held, pieces[0]])
            held = [pieces.pop()]
            for line in pieces:
                yield offset, line, True
                offset += len(line) + 1
        if any(held):
            yield offset, b"".join(held), False


def _parse_long(line: bytes) -> Any:
    """Parse a very long line within bounded memory; one that is long by many short texts is given up."""
    line = shortened(line)
    if len(line) > LONG_LINE:
        line = shortened(line, LONG_TEXT // 64, KEPT // 64)
    return _parse(line) if len(line) <= 4 * LONG_LINE else None


def _parse(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _salvaged(waiting: list[tuple[int, bytes]], start: int, line: bytes) -> Iterator[Record]:
    """Yield the whole record at the end of a spoilt line, or keep the line for the next one to complete."""
    for count, place in enumerate(_START.finditer(line, 1)):
        if count == _TRIES:
            break
        found = _parse(line[place.start() :])
        if found is not None:
            yield from _given_up(waiting)
            yield Record(start=start, end=start + place.start(), value=None, lost=place.start())
            yield Record(start=start + place.start(), end=start + len(line) + 1, value=found)
            return
    found = _parse(line.replace(b"\0", b"")) or _loose(line)
    if found is not None:
        yield from _given_up(waiting)
        yield Record(start=start, end=start + len(line) + 1, value=found, lost=line.count(b"\0"))
        return
    waiting.append((start, line))
    if len(waiting) == _JOINED:
        yield from _given_up(waiting)


def _loose(line: bytes) -> Any:
    """Parse what only a lenient reader takes: lone surrogates, control characters, bytes that are no UTF-8."""
    import json

    if not line.rstrip().endswith(b"}"):
        return None
    whole = _SURROGATES.sub(lambda found: found[1] or b"\\ufffd", line)
    try:
        return json.loads(whole.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def _given_up(waiting: list[tuple[int, bytes]]) -> Iterator[Record]:
    for start, line in waiting:
        yield Record(start=start, end=start + len(line) + 1, value=None, lost=len(line))
    waiting.clear()


def shortened(line: bytes, longest: int = LONG_TEXT, kept: int = KEPT) -> bytes:
    """Return a JSON line in which very long texts keep only their two ends."""
    pieces, done, place = [], 0, 0
    while True:
        first = line.find(b'"', place)
        last = _closing(line, first + 1) if first >= 0 else -1
        if last < 0:
            break
        if last - first > longest:
            pieces += [line[done : _uncut(line, first + 1 + kept)], _note(line, first, last)]
            done = _uncut(line, last - kept)
        place = last + 1
    return b"".join([*pieces, line[done:]])


def _closing(line: bytes, place: int) -> int:
    """Return where the text that starts here ends."""
    while (place := line.find(b'"', place)) >= 0:
        if _is_escape(line, place):
            return place
        place += 1
    return -1


def _uncut(line: bytes, place: int) -> int:
    """Return a place nearby that lies in no escape, no character and no pair of surrogates."""
    for near in range(place, place - 24, -1):
        if line[near] == 0x5C:
            if _is_escape(line, near) and not _LOW.match(line, near):
                return near
        elif line[near] < 0x80 and b"\\" not in line[near - 6 : near]:
            return near
    return place


def _is_escape(line: bytes, place: int) -> bool:
    """Tell whether a character stands for itself or begins an escape: no odd backslash stands before it."""
    back = place
    while line[back - 1] == 0x5C:
        back -= 1
    return (place - back) % 2 == 0


def _note(line: bytes, first: int, last: int) -> bytes:
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
    """Tell whether one of a file's first records passes a test."""
    for line in head.split(b"\n")[:lines]:
        found = _parse(line)
        if isinstance(found, dict) and tests(found):
            return True
    return False
