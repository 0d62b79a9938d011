"""Parse the first value of a JSON text that is truncated or damaged."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from engram.agents.transcripts.formats.bounded_file import Bytes

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(strict=False)
_DEEPEST = 100


def parse_beginning(head: Bytes) -> Any:
    """Return the first value of a JSON text as far as it is valid: open objects and lists are closed."""
    return _parse_text(bytes(head))


@lru_cache(maxsize=4)  # every adapter asks about the same file
def _parse_text(head: bytes) -> Any:
    return _PrefixReader(head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")).read_value(0)


class _PrefixReader:
    """Reads until the text ends or is invalid."""

    def __init__(self, text: str) -> None:
        self._text, self._place = text, 0
        self._is_over = False

    def read_value(self, depth: int) -> Any:
        """Return the next value, or None if there is none."""
        opening = self._peek_sign()
        if opening in ("{", "[") and depth < _DEEPEST:
            return self._read_object(depth) if opening == "{" else self._read_list(depth)
        return self._read_plain(opening)

    def _read_object(self, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        self._place += 1
        while self._peek_sign() == '"' and not self._is_over:
            name = self._read_plain('"')
            if self._expect_sign(":"):
                fields[name] = self.read_value(depth + 1)
            if self._peek_sign() != ",":
                break
            self._place += 1
        self._expect_sign("}")
        return fields

    def _read_list(self, depth: int) -> list[Any]:
        items: list[Any] = []
        self._place += 1
        while self._peek_sign() not in ("", "]") and not self._is_over:
            items.append(self.read_value(depth + 1))
            if self._peek_sign() != ",":
                break
            self._place += 1
        self._expect_sign("]")
        return items

    def _read_plain(self, opening: str) -> Any:
        try:
            parsed_value, self._place = _DECODER.raw_decode(self._text, self._place)
        except (ValueError, RecursionError):
            self._is_over = True
            return "" if opening == '"' else None
        return parsed_value

    def _peek_sign(self) -> str:
        blank = _BLANK.match(self._text, self._place)
        self._place = blank.end() if blank else self._place
        return self._text[self._place : self._place + 1]

    def _expect_sign(self, sign: str) -> bool:
        """Skip an expected character; raise if another one follows."""
        if self._is_over or self._peek_sign() != sign:
            self._is_over = True
            return False
        self._place += 1
        return True
