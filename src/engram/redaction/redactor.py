"""Redaction: remove secrets from text before it is stored.

A removed value leaves its kind and four digits of a keyed hash, so that equal values stay equal
but cannot be recovered. Values are kept in memory only, never stored and never logged.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote_to_bytes

from engram.redaction.scanner import KnownSecrets, Scanner
from engram.redaction.secret_shape import is_distinctive, is_placeholder
from engram.redaction.span import SEPARATOR, BufferScan, SecretSpan

_GAP = len(SEPARATOR)
_ROUNDS = 6  # removing one value may reveal another beside it
_MARK = re.compile(rb"\[REDACTED:[a-z0-9-]{1,40}:[0-9a-f]{4}\]")
_SECRET_NAME = re.compile(
    r"token|secret|passw|pwd|key|auth|credential|dsn|cookie|private|_pat$|database_url", re.IGNORECASE
)
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$", re.MULTILINE)
_WORD = re.compile(rb"[^\s\"'`<>()\[\]{},;=:]{8,200}+")
_LARGEST = 64 * 1024  # of a .env file


class Redactor:
    """Removes secrets from texts, and remembers them while it exists."""

    def __init__(self, key: bytes, known_values: Iterable[str] = (), remembered_hashes: Iterable[str] = ()) -> None:
        self.rule_counts: Counter[str] = Counter()
        self.learned_hashes: list[str] = []  # hashes of values seen after a label, to be saved
        self._remembered = set(remembered_hashes)
        self._lengths = {
            int(fingerprint.partition(":")[0])
            for fingerprint in self._remembered
            if fingerprint.partition(":")[0].isdigit()
        }
        self._key = hashlib.sha256(key).digest()
        self._scanner = Scanner()
        self._scanner.learn_values(value for value in map(_encode_text, known_values) if is_distinctive(value))

    @property
    def attempts(self) -> int:
        """The number of places checked so far; grows no faster than the text."""
        return self._scanner.attempts

    def redact(self, text: str) -> str:
        """Return a text without secrets."""
        return self.redact_many([text])[0]

    def redact_many(self, texts: list[str]) -> list[str]:
        """Return texts without secrets; texts without any are returned as the same objects."""
        cleaned = list(texts)
        positions: Sequence[int] = range(len(texts))
        current = texts
        for attempt in range(_ROUNDS):
            before = self._scanner.learned_count
            changed = self._redact_once(current)
            if not changed:
                break
            for index, text in changed.items():
                cleaned[positions[index]] = text
            # The first round searched every text for what it learned; what a later round learns needs another search.
            everywhere = attempt > 0 and self._scanner.learned_count > before
            positions = range(len(texts)) if everywhere else [positions[index] for index in changed]
            current = [cleaned[position] for position in positions]
        return cleaned

    def _redact_once(self, texts: list[str]) -> dict[int, str]:
        """Return the changed texts, by their index."""
        buffer = _encode_text(SEPARATOR.join(texts))
        if self._remembered:
            self._scanner.learn_values(self._find_remembered(buffer))
        spans = self._scanner.find_spans(buffer)
        if not spans:
            return {}
        new_values = self._scanner.learn_values(
            value for value in {span.value for span in spans if span.rank < 4} if is_distinctive(value)
        )
        self.learned_hashes += map(self._hash_secret, new_values)
        if new_values:
            spans += KnownSecrets(new_values).add_spans_to(BufferScan(buffer, None))
        return self._replace_spans(buffer, merge_spans(_drop_spans_in_marks(buffer, spans)), _compute_starts(texts))

    def _find_remembered(self, buffer: bytes) -> list[bytes]:
        """Return the words that were secrets in an earlier ingest, by length and hash."""
        words_found = set(_WORD.findall(buffer))
        words_found |= {word.rstrip(b".!?") for word in words_found}
        words = {word for word in words_found if len(word) in self._lengths}
        return [word for word in words if self._hash_secret(word) in self._remembered]

    def _hash_secret(self, value: bytes) -> str:
        return f"{len(value)}:{hashlib.blake2b(value, key=self._key, digest_size=12).hexdigest()}"

    def _replace_spans(self, buffer: bytes, spans: list[SecretSpan], starts: list[int]) -> dict[int, str]:
        pieces: dict[int, list[bytes]] = {}
        at = 0
        for span in spans:
            index = bisect_right(starts, span.start) - 1
            if index not in pieces:
                _finish_text(pieces, buffer, at, starts)
                pieces[index], at = [], starts[index]
            pieces[index] += (buffer[at : span.start], self._format_mark(span))
            at = span.end
        _finish_text(pieces, buffer, at, starts)
        return {index: b"".join(parts).decode("utf-8", "surrogatepass") for index, parts in pieces.items()}

    def _format_mark(self, span: SecretSpan) -> bytes:
        self.rule_counts[span.rule] += 1
        value = unquote_to_bytes(span.value)
        digest = hashlib.blake2b(value, key=self._key, digest_size=2).hexdigest()
        return f"[REDACTED:{span.rule}:{digest}]".encode()


def _finish_text(pieces: dict[int, list[bytes]], buffer: bytes, at: int, starts: list[int]) -> None:
    if pieces:
        index = next(reversed(pieces))
        pieces[index].append(buffer[at : starts[index + 1] - _GAP])


def _encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a lone surrogate is not a character, but it can occur in input


def _compute_starts(texts: list[str]) -> list[int]:
    sizes = (len(text) if text.isascii() else len(_encode_text(text)) for text in texts)
    return list(accumulate((size + _GAP for size in sizes), initial=0))


def _drop_spans_in_marks(buffer: bytes, spans: list[SecretSpan]) -> list[SecretSpan]:
    """Return the spans that do not cut into our own marks; otherwise a clean text would change again."""
    marks = [mark.span() for mark in _MARK.finditer(buffer)]
    widened = (_widen_to_characters(buffer, span) for span in spans if span.end > span.start)
    return [span for span in widened if not _cuts_into_mark(marks, span, buffer)]


def _widen_to_characters(buffer: bytes, span: SecretSpan) -> SecretSpan:
    """Return a span that does not split a character; limits count bytes."""
    start, end = span.start, span.end
    while start > 0 and buffer[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(buffer) and buffer[end] & 0xC0 == 0x80:
        end += 1
    return span if (start, end) == (span.start, span.end) else span.move_to(start, end)


def _cuts_into_mark(marks: list[tuple[int, int]], span: SecretSpan, buffer: bytes) -> bool:
    """Return whether a span is a mark or part of one; a whole mark inside a larger span may go with it."""
    nearby = marks[max(0, bisect_right(marks, (span.start, 0)) - 1) : bisect_right(marks, (span.end, 0))]
    if _MARK.fullmatch(buffer[span.start : span.end].strip()):
        return True
    return any(
        start < span.end and span.start < end and not (span.start <= start and end <= span.end)
        for start, end in (*nearby[:2], *nearby[-1:])
    )


def merge_spans(spans: list[SecretSpan]) -> list[SecretSpan]:
    """Return spans in order, with overlapping ones merged and named by the most certain of them."""
    merged_spans: list[SecretSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, span.rank)):
        if merged_spans and span.start < merged_spans[-1].end:
            last = merged_spans[-1]
            surest = min(last, span, key=lambda candidate: candidate.rank)
            merged_spans[-1] = surest.move_to(last.start, max(last.end, span.end))
        else:
            merged_spans.append(span)
    return merged_spans


def find_known_secrets(environ: Mapping[str, str], directory: str | None = None) -> list[str]:
    """Return secret values from the environment and a .env file, to be kept in memory only."""
    pairs = [*environ.items(), *(_read_dotenv(Path(directory) / ".env") if directory else ())]
    values = (value for name, value in pairs if _SECRET_NAME.search(name) and _is_worth_removing(value))
    return list(dict.fromkeys(values))


def _is_worth_removing(value: str) -> bool:
    coded = _encode_text(value)
    return len(coded) <= 4096 and is_distinctive(coded) and not is_placeholder(coded)


def _read_dotenv(path: Path) -> list[tuple[str, str]]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return []
    return [(name, value.strip("\"'")) for name, value in _ASSIGNMENT.findall(text)]
