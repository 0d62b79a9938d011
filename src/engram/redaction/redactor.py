"""Redaction: secrets are taken out of a text before anything of it is written.

What was removed leaves its kind and four digits of a keyed hash, so that equal values stay equal
and nothing can be turned back. Values are held in memory only, never stored and never logged.
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

from engram.redaction.scan import Known, Scanner
from engram.redaction.shape import is_distinctive, stands_in
from engram.redaction.span import SEPARATOR, Scan, Span

_GAP = len(SEPARATOR)
_ROUNDS = 6  # what stands beside a removed value may only now be seen for what it is
_MARK = re.compile(rb"\[REDACTED:[a-z0-9-]{1,40}:[0-9a-f]{4}\]")
_SECRET_NAME = re.compile(
    r"token|secret|passw|pwd|key|auth|credential|dsn|cookie|private|_pat$|database_url", re.IGNORECASE
)
_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$", re.MULTILINE)
_WORD = re.compile(rb"[^\s\"'`<>()\[\]{},;=:]{8,200}+")
_LARGEST = 64 * 1024  # of a .env file


class Redactor:
    """Takes secrets out of texts, and remembers them for as long as it lives."""

    def __init__(self, key: bytes, known: Iterable[str] = (), remembered: Iterable[str] = ()) -> None:
        self.found: Counter[str] = Counter()
        self.learnt: list[str] = []  # hashes of what was seen behind a label, to be remembered
        self._remembered = set(remembered)
        self._lengths = {int(each.partition(":")[0]) for each in self._remembered if each.partition(":")[0].isdigit()}
        self._key = hashlib.sha256(key).digest()
        self._scanner = Scanner()
        self._scanner.learn(value for value in map(_encode, known) if is_distinctive(value))

    @property
    def attempts(self) -> int:
        """How many places were looked at so far; grows no faster than the text."""
        return self._scanner.attempts

    def clean(self, text: str) -> str:
        """Return a text without its secrets."""
        return self.clean_many([text])[0]

    def clean_many(self, texts: list[str]) -> list[str]:
        """Return texts without their secrets; those that have none are the very same objects."""
        cleaned = list(texts)
        places: Sequence[int] = range(len(texts))
        given = texts
        for attempt in range(_ROUNDS):
            before = self._scanner.learnt
            changed = self._once(given)
            if not changed:
                break
            for index, text in changed.items():
                cleaned[places[index]] = text
            # The first look has searched every text for what it learnt; what a later one learns must be sought again.
            everywhere = attempt > 0 and self._scanner.learnt > before
            places = range(len(texts)) if everywhere else [places[index] for index in changed]
            given = [cleaned[place] for place in places]
        return cleaned

    def _once(self, texts: list[str]) -> dict[int, str]:
        """Return what changes, by its place in the list."""
        buffer = _encode(SEPARATOR.join(texts))
        if self._remembered:
            self._scanner.learn(self._met_again(buffer))
        spans = self._scanner.spans(buffer)
        if not spans:
            return {}
        new = self._scanner.learn(
            value for value in {span.value for span in spans if span.rank < 4} if is_distinctive(value)
        )
        self.learnt += map(self._fingerprint, new)
        if new:
            spans += Known(new).into(Scan(buffer, None))
        return self._replaced(buffer, merged(_outside_marks(buffer, spans)), _starts(texts))

    def _met_again(self, buffer: bytes) -> list[bytes]:
        """Return the words that were secrets in an earlier sweep: of their length, and of their hash."""
        met = set(_WORD.findall(buffer))
        met |= {word.rstrip(b".!?") for word in met}
        words = {word for word in met if len(word) in self._lengths}
        return [word for word in words if self._fingerprint(word) in self._remembered]

    def _fingerprint(self, value: bytes) -> str:
        return f"{len(value)}:{hashlib.blake2b(value, key=self._key, digest_size=12).hexdigest()}"

    def _replaced(self, buffer: bytes, spans: list[Span], starts: list[int]) -> dict[int, str]:
        pieces: dict[int, list[bytes]] = {}
        at = 0
        for span in spans:
            index = bisect_right(starts, span.start) - 1
            if index not in pieces:
                _finish(pieces, buffer, at, starts)
                pieces[index], at = [], starts[index]
            pieces[index] += (buffer[at : span.start], self._mark(span))
            at = span.end
        _finish(pieces, buffer, at, starts)
        return {index: b"".join(parts).decode("utf-8", "surrogatepass") for index, parts in pieces.items()}

    def _mark(self, span: Span) -> bytes:
        self.found[span.rule] += 1
        value = unquote_to_bytes(span.value)
        digest = hashlib.blake2b(value, key=self._key, digest_size=2).hexdigest()
        return f"[REDACTED:{span.rule}:{digest}]".encode()


def _finish(pieces: dict[int, list[bytes]], buffer: bytes, at: int, starts: list[int]) -> None:
    if pieces:
        index = next(reversed(pieces))
        pieces[index].append(buffer[at : starts[index + 1] - _GAP])


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a lone surrogate is no character, but it is text we were given


def _starts(texts: list[str]) -> list[int]:
    sizes = (len(text) if text.isascii() else len(_encode(text)) for text in texts)
    return list(accumulate((size + _GAP for size in sizes), initial=0))


def _outside_marks(buffer: bytes, spans: list[Span]) -> list[Span]:
    """Return the spans that do not cut into our own marks, or a clean text would change again."""
    marks = [mark.span() for mark in _MARK.finditer(buffer)]
    whole = (_whole(buffer, span) for span in spans if span.end > span.start)
    return [span for span in whole if not _cuts(marks, span, buffer)]


def _whole(buffer: bytes, span: Span) -> Span:
    """Return a span that cuts no character in two; a limit counts bytes."""
    start, end = span.start, span.end
    while start > 0 and buffer[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(buffer) and buffer[end] & 0xC0 == 0x80:
        end += 1
    return span if (start, end) == (span.start, span.end) else span.moved(start, end)


def _cuts(marks: list[tuple[int, int]], span: Span, buffer: bytes) -> bool:
    """Tell whether a span is about a mark, or about part of one; a whole mark among other text may go with it."""
    near = marks[max(0, bisect_right(marks, (span.start, 0)) - 1) : bisect_right(marks, (span.end, 0))]
    if _MARK.fullmatch(buffer[span.start : span.end].strip()):
        return True
    return any(
        start < span.end and span.start < end and not (span.start <= start and end <= span.end)
        for start, end in (*near[:2], *near[-1:])
    )


def merged(spans: list[Span]) -> list[Span]:
    """Return spans in order, those that overlap as one named by the surest of them."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.rank)):
        if kept and span.start < kept[-1].end:
            last = kept[-1]
            surest = min(last, span, key=lambda one: one.rank)
            kept[-1] = surest.moved(last.start, max(last.end, span.end))
        else:
            kept.append(span)
    return kept


def known_from(environ: Mapping[str, str], directory: str | None = None) -> list[str]:
    """Return the values of the environment and a .env file that are secrets, to be held in memory only."""
    pairs = [*environ.items(), *(_dotenv(Path(directory) / ".env") if directory else ())]
    values = (value for name, value in pairs if _SECRET_NAME.search(name) and _is_worth_removing(value))
    return list(dict.fromkeys(values))


def _is_worth_removing(value: str) -> bool:
    coded = _encode(value)
    return len(coded) <= 4096 and is_distinctive(coded) and not stands_in(coded)


def _dotenv(path: Path) -> list[tuple[str, str]]:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return []
    return [(name, value.strip("\"'")) for name, value in _ASSIGNMENT.findall(text)]
