"""Transcripts with one JSON record per line, read from any offset, even if damaged.

A record ends at the byte `\\n` only: U+2028 and similar characters occur raw inside records. A last line
without `\\n` is not damaged, just not complete yet. A bad line costs only itself: complete records joined to each
other or to a truncated one are found, commas and NUL padding between them are skipped, and a raw newline inside a
text is repaired.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import orjson

from engram.agents.transcripts.adapter import Item, Mark, to_text
from engram.agents.transcripts.formats.bounded_file import Bytes, FileLine, read_lines
from engram.agents.transcripts.formats.json_prefix import parse_beginning
from engram.agents.transcripts.formats.salvage import RecordSpan, find_whole_records
from engram.agents.transcripts.formats.zstd_frames import CHUNK
from engram.types import Event

LONG_LINE = 4 << 20  # from this size on, long texts are shortened before parsing
LONG_TEXT = 256 << 10
KEPT_BYTES = 32 << 10  # bytes kept at each end of a shortened text
_MAX_JOINED_LINES = 16  # maximum lines that raw newlines may split one record into
_SURROGATES = re.compile(rb"(\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
_LOW_SURROGATE = re.compile(rb"\\u[dD][c-fC-F]")
_BLANK = b"\0 \t\r\n,"  # characters between records that carry no data
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


RecordReader: TypeAlias = Callable[["TranscriptRecord", dict[str, Any], dict[str, Any]], Iterator[Item]]


class TranscriptRecord(NamedTuple):
    """One record and its offset; without a value it could not be read."""

    start: int
    end: int
    value: Any
    lost: int = 0  # bytes before or in it that could not be read
    reason: str = ""  # why they could not be read, if known


def iter_records(path: str, offset: int = 0, skip: Callable[[Bytes], bool] | None = None) -> Iterator[TranscriptRecord]:
    """Yield every record after an offset; lines matching `skip` are not parsed."""
    waiting: list[FileLine] = []
    for line in read_lines(path, offset, skip_blank=True):
        if skip is not None and skip(line.text):
            continue
        yield from _read_ended_line(line, waiting) if line.is_ended else _read_unended_line(line, waiting)
    # The next line may complete the waiting ones and is not written yet: no mark passes them, and they are read again.


def _read_ended_line(line: FileLine, waiting: list[FileLine]) -> Iterator[TranscriptRecord]:
    """Yield the records of a line; an incomplete one may complete the waiting lines, or wait with them."""
    parsed_value = _parse_line(line.text) if line.size < LONG_LINE else None
    if parsed_value is None and line.size >= LONG_LINE:
        yield from _give_up_lines(waiting)
        yield from _read_long_line(line)
    elif parsed_value is None and line.text.strip(b"\0 \t\r"):
        yield from _join_lines(line, waiting) or _salvage_line(line, waiting)
    else:
        yield from _give_up_lines(waiting)
        if parsed_value is not None:
            yield TranscriptRecord(start=line.start, end=line.start + line.size + 1, value=parsed_value)


def _join_lines(line: FileLine, waiting: list[FileLine]) -> list[TranscriptRecord]:
    """Return the record that raw newlines split into the waiting lines and this one."""
    parsed_value = (
        _parse_line(b"\\n".join([waiting_line.text for waiting_line in (*waiting, line)])) if waiting else None
    )
    if parsed_value is None:
        return []
    start = waiting[0].start
    waiting.clear()
    return [TranscriptRecord(start=start, end=line.start + line.size + 1, value=parsed_value)]


def follow_records(
    path: str,
    offset: int,
    state: dict[str, Any],
    read_record: RecordReader,
    get_session: Callable[[dict[str, Any]], str],
    skip: Callable[[Bytes], bool] | None = None,
) -> Iterator[Item]:
    """Yield the items of each record after an offset, with a mark about every megabyte and at the end."""
    end = last_mark = offset
    for record in iter_records(path, offset, skip):
        if record.end == record.start:  # it is read again: the state must not include it yet
            before = deepcopy(state)
            yield from _read_safely(record, state, read_record, get_session)
            state = before
            continue
        yield from _read_safely(record, state, read_record, get_session)
        end = record.end
        if end - last_mark > CHUNK:
            yield Mark(offset=end, state=deepcopy(state))
            last_mark = end
    yield Mark(offset=end, state=deepcopy(state))


def _read_safely(
    record: TranscriptRecord,
    state: dict[str, Any],
    read_record: RecordReader,
    get_session: Callable[[dict[str, Any]], str],
) -> Iterator[Item]:
    """Yield the items of one record; a field of an unexpected type costs its record, not the transcript."""
    if not isinstance(record.value, dict):
        yield build_damage_event(get_session(state), record)
        return
    try:
        yield from read_record(record, record.value, state)
    except Exception:
        yield build_opaque_event(get_session(state), record, None, "unexpected")


def _read_unended_line(line: FileLine, waiting: list[FileLine]) -> Iterator[TranscriptRecord]:
    """Yield the records of the incomplete last line; the last one is read again when the line is complete."""
    if line.is_lost:
        yield TranscriptRecord(start=line.start, end=line.start, value=None, lost=line.size, reason=line.reason)
        return
    text = _shorten_to_fit(line.text)
    parsed_value = _parse_line(text) if text is not None and text.endswith(b"}") else None
    if parsed_value is not None:
        yield TranscriptRecord(start=line.start, end=line.start, value=parsed_value)
    elif not waiting and line.size < LONG_LINE:
        yield from _read_leading_records(line)


def _read_leading_records(line: FileLine) -> Iterator[TranscriptRecord]:
    """Yield the complete records at the start of a line; only the last one can still change."""
    position = 0
    for piece in find_whole_records(line.text):
        if _has_content(line.text[position : piece.start]):
            return
        position, start = piece.end, line.start + piece.start
        value = _read_piece(line.text, piece)
        yield TranscriptRecord(start=start, end=start if position == line.size else line.start + position, value=value)


def _has_content(gap: Bytes) -> bool:
    """Return whether the text between records is more than blanks, commas, NUL bytes and byte order marks."""
    return bool(gap.replace(_BYTE_ORDER_MARK, b"").strip(_BLANK))


def _read_long_line(line: FileLine) -> Iterator[TranscriptRecord]:
    """Yield the record of a very long line with its texts shortened; offsets inside refer to the shortened line."""
    text = None if line.is_lost else _shorten_to_fit(line.text)
    parsed_value = None if text is None else _parse_line(text)
    if parsed_value is not None:
        yield TranscriptRecord(start=line.start, end=line.start + line.size + 1, value=parsed_value)
    elif text is not None and len(text) <= LONG_LINE and (pieces := _find_pieces(text)):
        yield from _cut_out_records(line, text, pieces)
    else:
        yield from _give_up_lines([line])


def _shorten_to_fit(line: Bytes) -> Bytes | None:
    """Return a line short enough to parse within bounded memory; a line with too many short texts is given up."""
    if len(line) < LONG_LINE:
        return line
    short = shorten_texts(line, max_bytes=LONG_LINE) or shorten_texts(
        line, LONG_TEXT // 64, KEPT_BYTES // 64, max_bytes=4 * LONG_LINE
    )
    return short if short and not is_dense(short) else None


def is_dense(text: Bytes, max_values: int = 1_500_000) -> bool:
    """Return whether a JSON text would become more objects than memory should hold."""
    return sum(map(text.count, (b",", b"{", b"["))) > max_values


def _parse_line(line: Bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return None


def _salvage_line(line: FileLine, waiting: list[FileLine]) -> Iterator[TranscriptRecord]:
    """Yield the complete records of a damaged line, or keep the line for the next one to complete."""
    pieces = _find_pieces(line.text)
    if pieces:
        yield from _give_up_lines(waiting)
        yield from _cut_out_records(line, line.text, pieces)
        return
    parsed_value = _parse_line(line.text.replace(b"\0", b""))
    if parsed_value is not None:
        yield from _give_up_lines(waiting)
        end = line.start + line.size + 1
        yield TranscriptRecord(start=line.start, end=end, value=parsed_value, lost=line.text.count(b"\0"))
        return
    waiting.append(line)
    if len(waiting) == _MAX_JOINED_LINES or sum(waiting_line.size for waiting_line in waiting) > LONG_LINE:
        yield from _give_up_lines(waiting)


def _find_pieces(text: Bytes) -> Iterator[RecordSpan] | None:
    """Return the complete records of a line, or None if there are none."""
    pieces = find_whole_records(text)
    first = next(pieces, None)
    return None if first is None else chain([first], pieces)


def _cut_out_records(line: FileLine, text: Bytes, pieces: Iterator[RecordSpan]) -> Iterator[TranscriptRecord]:
    """Yield the complete records of a line, with the text between them as lost; the last ends with the line."""
    parts = _split_pieces(line, text, pieces)
    last = next(parts)
    for part in parts:
        yield last
        last = part
    yield last._replace(end=line.start + line.size + 1)


def _split_pieces(line: FileLine, text: Bytes, pieces: Iterator[RecordSpan]) -> Iterator[TranscriptRecord]:
    position = 0
    for piece in pieces:
        yield from _report_gap(line, text, position, piece.start)
        value = _read_piece(text, piece)
        lost = piece.end - piece.start if value is None else 0
        yield TranscriptRecord(start=line.start + piece.start, end=line.start + piece.end, value=value, lost=lost)
        position = piece.end
    yield from _report_gap(line, text, position, len(text))


def _report_gap(line: FileLine, text: Bytes, start: int, end: int) -> Iterator[TranscriptRecord]:
    if _has_content(text[start:end]):
        yield TranscriptRecord(start=line.start + start, end=line.start + end, value=None, lost=end - start)


def _read_piece(text: Bytes, piece: RecordSpan) -> Any:
    """Parse one record of a line, leniently if needed: lone surrogates, control characters, broken UTF-8."""
    import json

    part = bytes(text[piece.start : piece.end])
    parsed_value = _parse_line(part)
    if parsed_value is not None:
        return parsed_value
    cleaned = _SURROGATES.sub(lambda pair: pair[1] or b"\\ufffd", part)
    try:
        return json.loads(cleaned.decode("utf-8", "replace"), strict=False, parse_int=_whole_number)
    except RecursionError:
        return None


def _whole_number(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more digits than Python accepts
        return float(digits)


def _give_up_lines(waiting: list[FileLine]) -> Iterator[TranscriptRecord]:
    for line in waiting:
        yield TranscriptRecord(start=line.start, end=line.start + line.size + 1, value=None, lost=line.size)
    waiting.clear()


def shorten_texts(
    line: Bytes, max_text: int = LONG_TEXT, kept_bytes: int = KEPT_BYTES, max_bytes: int = sys.maxsize
) -> Bytes:
    """Return a JSON line in which very long texts keep only their ends; empty if it stays too long."""
    pieces: list[Bytes] = []
    copied = position = size = 0
    while True:
        first = line.find(b'"', position)
        last = _find_closing_quote(line, first + 1) if first >= 0 else -1
        if last < 0:
            break
        if last - first > max_text:
            pieces += [line[copied : _find_safe_cut(line, first + 1 + kept_bytes)], _format_omission(line, first, last)]
            size += len(pieces[-1]) + len(pieces[-2])
            copied = _find_safe_cut(line, last - kept_bytes)
        position = last + 1
        if size + position - copied > max_bytes:
            return b""
    if size + len(line) - copied > max_bytes:
        return b""
    return b"".join([*pieces, line[copied:]]) if pieces else line


def _find_closing_quote(line: Bytes, position: int) -> int:
    """Return where the text that starts here ends."""
    while (position := line.find(b'"', position)) >= 0:
        if _is_escape(line, position):
            return position
        position += 1
    return -1


def _find_safe_cut(line: Bytes, position: int) -> int:
    """Return a position nearby that does not split an escape, a character or a surrogate pair."""
    for candidate in range(position, position - 24, -1):
        if line[candidate] == 0x5C:
            if _is_escape(line, candidate) and not _LOW_SURROGATE.match(line, candidate):
                return candidate
        elif line[candidate] < 0x80 and b"\\" not in line[candidate - 6 : candidate]:
            return candidate
    return position


def _is_escape(line: Bytes, position: int) -> bool:
    """Return whether an even number of backslashes precedes a character, so that it is not itself escaped."""
    run_start = position
    while line[run_start - 1] == 0x5C:
        run_start -= 1
    return (position - run_start) % 2 == 0


def _format_omission(line: Bytes, first: int, last: int) -> bytes:
    omitted = memoryview(line)[first + 1 : last]
    return b" [%d bytes left out, blake2 %s] " % (len(omitted), blake2b(omitted, digest_size=8).hexdigest().encode())


def build_damage_event(session: str, record: TranscriptRecord) -> Event:
    """Return the event for what could not be read."""
    reason = {"reason": record.reason} if record.reason else {}
    return Event(
        session=session, key=f"damage:{record.start}", kind="damage", order=record.start << 8,
        name="unreadable", data={"offset": record.start, "bytes": record.lost, **reason},
    )  # fmt: skip


def hash_record(value: Any) -> str:
    """Return a key for a record that has no id of its own."""
    return blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str), digest_size=12).hexdigest()


def build_record_key(record: TranscriptRecord) -> str:
    """Return a key for a record without an id; identical records differ by time or position."""
    key = hash_record(record.value)
    timed = isinstance(record.value, dict) and record.value.get("timestamp")
    return key if timed else f"{key}:{record.start}"


def build_opaque_event(session: str, record: TranscriptRecord, at: int | None, name: str | None) -> Event:
    """Return the event that keeps a record of an unknown type."""
    text = to_text(record.value)
    return Event(
        session=session, key=build_record_key(record), kind="opaque", order=record.start << 8, at=at, name=name,
        text=text if len(text) <= KEPT_BYTES else f"{text[:KEPT_BYTES]}…",
    )  # fmt: skip


def any_record_matches(head: bytes, is_match: Callable[[dict[str, Any]], bool], max_lines: int = 40) -> bool:
    """Return whether one of a file's first records passes a test; a truncated one is judged by its start."""
    for line in head.split(b"\n")[:max_lines]:
        first_record = _parse_line(line) or parse_beginning(line)
        if isinstance(first_record, dict) and is_match(first_record):
            return True
    return False
