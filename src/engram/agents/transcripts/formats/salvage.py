"""Find complete records in a damaged line: records without a newline between them, records after a torn one.

Outside a torn record every complete object is a record. Where a record is torn, the parser reports where it
stops being valid: the next record starts there, just before (if it broke into a text), or after. No part is
read again except for a constant share, and everything read counts against a budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from json import JSONDecodeError, JSONDecoder
from typing import NamedTuple

_OPENING = re.compile(r'\{[ \t\r]*["}]')
_KEYED = re.compile(r'\{[ \t\r]*"([^"\\]{1,64})"[ \t\r]*:')
_BROKE_IN = re.compile(r'\{[ \t\r]*"[ \t\r]*$')  # the next record's first quote closed the torn text
_INSIDE = re.compile(r'(?::[ \t\r]*\[?|[]}"][ \t\r]*,)[ \t\r]*$')  # precedes a value of a record
_CLOSES = re.compile(r'[ \t\r]*(?:[]}]|,[ \t\r]*["\[])')  # follows one
_COMMA = re.compile(r'[ \t\r]*,[ \t\r]*(?=\{[ \t\r]*["}])')
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[][{}]', re.DOTALL)
_BLANK = " \t\r\n"
_BACK = 64  # characters checked before a position
_WINDOW = 2048  # characters parsed at first: an error costs as much as what precedes it
_UNSURE = 16  # characters before the end of a window where the window may end, not the record
_DEEPEST = 500  # levels to skip if a record is nested too deeply to parse
_EFFORT = 16  # how many times the line's length may be read in total


class RecordSpan(NamedTuple):
    """The position of a complete record in a line."""

    start: int
    end: int


def find_whole_records(line: bytes | bytearray) -> Iterator[RecordSpan]:
    """Yield the positions of complete records in a line, in order."""
    return RecordSalvage(line.decode("latin-1")).iter_whole_records()


@cache
def _get_decoder() -> JSONDecoder:
    return JSONDecoder(strict=False, parse_int=float)  # only positions are needed; int refuses very long numbers


class RecordSalvage:
    """The search of one line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.steps = 0  # characters read so far
        self._most = _EFFORT * len(text) + 65_536
        self._is_torn = False  # whether we may be inside an incomplete record
        self._chain: list[RecordSpan] = []  # records separated by commas: either all or none are values of a torn one

    def iter_whole_records(self) -> Iterator[RecordSpan]:
        """Yield complete records until the end of the line or the budget."""
        position = 0
        while self.steps < self._most and (start := self._find_start(position)) >= 0:
            end, stopped = self._find_end(start)
            if end is None:
                yield from self._flush_chain(is_nested=self._is_inside())
                yield from self._salvage_torn(start, stopped)
                position = self._find_resume_point(start, stopped)
                continue
            self._chain.append(RecordSpan(start, end))
            position = end
            if not _COMMA.match(self.text, end):
                closes = _CLOSES.match(self.text, end) is not None
                yield from self._flush_chain(is_nested=closes and (self._is_torn or self._is_inside()))
        yield from self._flush_chain(is_nested=self._is_inside())

    def _find_start(self, position: int) -> int:
        """Return where the next record may start, or -1; inside a torn one, only objects with a key count."""
        opening = (_KEYED if self._is_torn else _OPENING).search(self.text, position)
        start = opening.start() if opening else -1
        self.steps += (start if opening else len(self.text)) - position
        return start

    def _flush_chain(self, *, is_nested: bool) -> Iterator[RecordSpan]:
        """Yield the records separated by commas, unless they are values of a torn one."""
        if self._chain and not is_nested:
            self._is_torn = False
            yield from self._chain
        self._chain.clear()

    def _is_inside(self) -> bool:
        """Return whether the text before the chain makes it look like values of a record."""
        if not self._chain:
            return False
        start = self._chain[0].start
        return _INSIDE.search(self.text[max(0, start - _BACK) : start]) is not None

    def _find_end(self, start: int) -> tuple[int | None, int]:
        """Return where the record that starts here ends; for a torn one, where it stops being valid."""
        size = _WINDOW
        while True:
            part = self.text[start : start + size]
            try:
                end = start + _get_decoder().raw_decode(part)[1]
                self.steps += end - start + _UNSURE
                return end, end
            except JSONDecodeError as problem:
                stopped = _get_stop_position(problem, len(part))
                is_whole = start + size >= len(self.text)
                self.steps += min(stopped, len(part)) + _UNSURE
                if is_whole or stopped < size - _UNSURE:
                    return None, start + stopped
                deep = self._skip_levels(start, start + size)
                if deep < start + size:  # some Python versions parse far deeper than others, and each level costs again
                    return None, deep
            except RecursionError:
                return None, self._skip_levels(start, start + size)
            size *= 4

    def _skip_levels(self, start: int, last: int) -> int:
        """Return a position many levels down inside a record that is nested too deeply to parse."""
        depth = 0
        self.steps += last - start
        for token in _TOKEN.finditer(self.text, start, last):
            depth += 1 if token[0] in "[{" else -1 if token[0] in "]}" else 0
            if depth == _DEEPEST:
                return token.start()
        return last

    def _salvage_torn(self, torn: int, stopped: int) -> Iterator[RecordSpan]:
        """Yield the record that looks like a value of the torn one: it ends where that stops and starts like it."""
        self._is_torn = True
        last_object = self._find_last_object(torn, stopped)
        if last_object is None or _CLOSES.match(self.text, stopped):
            return
        key = self._read_first_key(last_object.start)
        if key is not None and key in (self._read_first_key(torn), self._read_first_key(stopped)):
            self._is_torn = False
            yield last_object

    def _find_last_object(self, torn: int, stopped: int) -> RecordSpan | None:
        """Return the object inside a torn record that ends where the record stops."""
        end = stopped
        while end > torn and self.text[end - 1] in _BLANK:
            end -= 1
        if self.text[end - 1] != "}":
            return None
        self.steps += stopped - torn
        open_starts: list[int] = []
        last_object = None
        for token in _TOKEN.finditer(self.text, torn, end):
            if token[0] in "[{":
                open_starts.append(token.start())
            elif token[0] in "]}" and open_starts:
                last_object = RecordSpan(open_starts.pop(), token.end())
        return last_object if last_object and last_object.start > torn else None

    def _find_resume_point(self, torn: int, stopped: int) -> int:
        """Return where to search for the next record after a torn one."""
        first = max(torn + 1, stopped - _BACK)
        broke_in = _BROKE_IN.search(self.text[first:stopped])
        return first + broke_in.start() if broke_in else max(torn + 1, stopped)

    def _read_first_key(self, start: int) -> str | None:
        match = _KEYED.match(self.text, start)
        return match[1] if match else None


def _get_stop_position(problem: JSONDecodeError, size: int) -> int:
    """Return where a text stops being JSON; an unterminated string is reported by its start but extends to the end."""
    return size if problem.msg.startswith("Unterminated string") else problem.pos
