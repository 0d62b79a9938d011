"""Find secrets in a buffer of many texts: one pass for every anchor at once, then one short look at each.

Linear by construction: a look reads a bounded pattern and hardly ever goes back, and begins only
where the character before could not belong to what it reads, so looks hardly ever overlap.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from engram.redaction import looks
from engram.redaction.rules import HIDDEN, LABELS, RULES, Rule, encodings, quoted, spellings, split
from engram.redaction.span import Scan, Span

_SUFFIX = 16  # a known value is found by its end, the beginning is often what all keys of a provider share
_MAX_KNOWN = 2_000
_LARGE = 256 * 1024  # from here on the faster automaton is worth the sixteen milliseconds it takes to build
_LINE, _FAR = 400, 4_000  # how far a folded value is looked at, before and after its anchor
_TOKEN = rb"A-Za-z0-9+/=_.%\-"
# What terminals put inside a value: colours, and a line break where the screen ended.
_BROKEN = rb"\n(?<=[^\n\x00]{60}\n)(?<=[%b]{2}\n)(?=[%b]{2})(?:(?<=[%b]{12}\n)|(?=[%b]{12}))" % ((_TOKEN,) * 4)
_FOLD = re.compile(rb"\x1b\[[0-9;?]{0,16}+[A-Za-z]|" + _BROKEN)
_INSIDE = re.compile(
    rb"(?<=[%b:@#]{2}\x1b\[)[0-9;]{0,12}+[mK](?:\x1b\[[0-9;]{0,12}+[mK]){0,3}[%b:@#]{3}" % (_TOKEN, _TOKEN)
)

Look = Callable[[Scan, int, int], None]


class Scanner:
    """Finds secrets by their looks, and again those it has learnt."""

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}
        self._search: Known | None = None
        self.learnt = 0
        self.attempts = 0  # how many looks were taken, for tests that count work

    def learn(self, values: Iterable[bytes]) -> list[bytes]:
        """Remember values to be found wherever they stand, and return those that are new."""
        new = [value for value in dict.fromkeys(values) if value not in self._known]
        if new:
            self._known.update(dict.fromkeys(new))
            for old in list(self._known)[:-_MAX_KNOWN]:
                del self._known[old]
            self._search = Known(self._known)
            self.learnt += len(new)
        return new

    def spans(self, buffer: bytes, *, deep: bool = True) -> list[Span]:
        """Return where the secrets are, unordered; deep also looks through folds and base64."""
        scan = Scan(buffer, self.spans if deep else None)
        hits = _automaton(len(buffer) > _LARGE).find_matches_as_indexes(buffer, overlapping=True)
        self.attempts += len(hits)
        done = line = 0  # up to where folds were looked through, and where the line ends
        broken = False
        for index, start, end in hits:
            for look in _LOOKS[index]:
                look(scan, start, end)
            if not deep or start < done:
                continue
            if end > line:
                line = buffer.find(b"\n", start, end + _LINE)
                broken = line >= 0 and _FOLD.match(buffer, line) is not None
                line = line if line >= 0 else end + _LINE
            if broken or (index == _COLOUR and _INSIDE.match(buffer, end)):
                done = self._unfold(scan, start)
        if self._search:
            self._search.into(scan)
        return scan.spans

    def _unfold(self, scan: Scan, at: int) -> int:
        """Look once more as it was before a terminal coloured and broke it; return from where to do so again."""
        first = max(scan.buffer.rfind(b"\n", max(0, at - _LINE), at) + 1, at - _LINE, 0)
        text, places = unfold(scan.buffer[first : scan.end_of_text(at, at + _FAR)])
        if len(places) > 1:
            plain = {span.start: span for span in scan.spans if span.start >= first}
            for span in self.spans(text, deep=False):
                start, end = first + origin(places, span.start), first + origin(places, span.end - 1) + 1
                _place(scan, plain, span.moved(start, end))
        return at + _FAR // 2


def _place(scan: Scan, plain: dict[int, Span], span: Span) -> None:
    """Keep a span that goes over a fold, unless its second half is the beginning of the next line."""
    before = plain.get(span.start)
    if span.end - span.start == len(span.value):
        return
    if before is None or looks.continues(before.value, span.value):
        scan.spans.append(span)


def unfold(text: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text without its folds, and for each remaining piece where it begins now and began before."""
    pieces, places = [], []
    at = size = 0
    for fold in _FOLD.finditer(text):
        places.append((size, at))
        pieces.append(text[at : fold.start()])
        size += fold.start() - at
        at = fold.end()
    return b"".join((*pieces, text[at:])), [*places, (size, at)]


def origin(places: list[tuple[int, int]], position: int) -> int:
    """Return where a character of the unfolded text was."""
    size, at = places[bisect_right(places, (position, 1 << 62)) - 1]
    return at + position - size


class Known:
    """Values seen before, to be found wherever they stand."""

    def __init__(self, values: Iterable[bytes]) -> None:
        ends: dict[bytes, list[bytes]] = {}
        for value in values:
            ends.setdefault(value[-_SUFFIX:], []).append(value)
        self._values = list(ends.values())
        # Leftmost and not overlapping: only so may it skip ahead, and of two ends in one place the longer counts.
        self._automaton = BytesAhoCorasick(list(ends), matchkind=MatchKind.LeftmostLongest)

    def into(self, scan: Scan) -> list[Span]:
        """Add them to what was found, and return all."""
        for index, _, end in self._automaton.find_matches_as_indexes(scan.buffer):
            looks.known(self._values[index], scan, 0, end)
        return scan.spans


def _table() -> dict[bytes, tuple[Look, ...]]:
    """Return what to look at behind each anchor."""
    table: dict[bytes, tuple[Look, ...]] = {}

    def add(anchor: str, look: Look) -> None:
        table[anchor.encode()] = (*table.get(anchor.encode(), ()), look)

    for rule in RULES:
        for anchor, look in _of(rule):
            add(anchor, look)
    for label in LABELS:
        for word in spellings(label):
            add(word, functools.partial(looks.label, label.startswith("pass") or label == "pwd"))
    for anchors, look in _OTHERS:
        for anchor in anchors:
            add(anchor, look)
    for word in [word.decode() for word in table if len(word) > 3] + list(HIDDEN):
        for phase, coded in encodings(word):
            add(coded, functools.partial(looks.hidden, phase))
    for anchor in [anchor for rule in RULES if not rule.words for shape in rule.shapes for anchor in split(shape)[1]]:
        for size in range(3, len(anchor)):
            add(f"{anchor[:size]}\n", looks.nothing)  # an anchor broken by the end of the screen
    add("\x1b[", looks.nothing)  # a colour inside a word; it is the last one
    return table


_OTHERS: tuple[tuple[Iterable[str], Look], ...] = (
    (quoted("://"), looks.url),
    (spellings("bearer"), looks.bearer),
    (spellings("authorization"), looks.authorization),
    (spellings("cookie"), looks.cookie),
    ((" -u ", " --user "), looks.login),
    (("-----BEGIN ",), looks.private_key),
    (("<private>",), looks.private_block),
)


def _of(rule: Rule) -> Iterable[tuple[str, Look]]:
    if rule.words:
        look = functools.partial(looks.near, rule.id, rule.shapes)
        return [(spelling, look) for word in rule.words for spelling in spellings(word)]
    return [
        (anchor, functools.partial(looks.shaped, rule.id, shape, split(shape)[0]))
        for shape in rule.shapes
        for anchor in split(shape)[1]
    ]


_TABLE = _table()
_LOOKS = list(_TABLE.values())
_COLOUR = len(_LOOKS) - 1


@functools.cache
def _automaton(large: bool) -> BytesAhoCorasick:
    kind = Implementation.DFA if large else Implementation.ContiguousNFA
    return BytesAhoCorasick(list(_TABLE), implementation=kind)
