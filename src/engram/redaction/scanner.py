"""Find secrets in a buffer of many texts: one pass for all anchors, then one short check at each.

Linear by construction: a check reads a bounded pattern, hardly ever backtracks, and starts only
where the character before cannot belong to what it reads, so checks hardly ever overlap.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable

from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

from engram.redaction import assignments, command_lines, detectors
from engram.redaction.rules import (
    BASE64_ANCHORS,
    LABELS,
    RULES,
    SecretRule,
    list_base64_forms,
    list_spellings,
    list_url_spellings,
    split_shape,
)
from engram.redaction.span import BufferScan, SecretSpan

_SUFFIX = 16  # a known value is searched by its end, because all keys of a provider often share the start
_MAX_KNOWN = 2_000
_LARGE = 256 * 1024  # from here on the faster automaton is worth the sixteen milliseconds it takes to build
_LINE, _FAR = 400, 4_000  # how far a folded value is scanned before and after its anchor
_TOKEN = rb"A-Za-z0-9+/=_.%\-"
# What terminals insert into a value: color codes, and a line break at the screen's edge.
_BROKEN = rb"\n(?<=[^\n\x00]{60}\n)(?<=[%b]{2}\n)(?=[%b]{2})(?:(?<=[%b]{12}\n)|(?=[%b]{12}))" % ((_TOKEN,) * 4)
_FOLD = re.compile(rb"\x1b\[[0-9;?]{0,16}+[A-Za-z]|" + _BROKEN)
_INSIDE = re.compile(
    rb"(?<=[%b:@#]{2}\x1b\[)[0-9;]{0,12}+[mK](?:\x1b\[[0-9;]{0,12}+[mK]){0,3}[%b:@#]{3}" % (_TOKEN, _TOKEN)
)

Detector = Callable[[BufferScan, int, int], None]


class Scanner:
    """Finds secrets by their shape, and values it has learned."""

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}
        self._search: KnownSecrets | None = None
        self.learned_count = 0
        self.attempts = 0  # number of checks, for tests that measure work

    def learn_values(self, values: Iterable[bytes]) -> list[bytes]:
        """Remember values to find them anywhere, and return the new ones."""
        new_values = [value for value in dict.fromkeys(values) if value not in self._known]
        if new_values:
            self._known.update(dict.fromkeys(new_values))
            for old in list(self._known)[:-_MAX_KNOWN]:
                del self._known[old]
            self._search = KnownSecrets(self._known)
            self.learned_count += len(new_values)
        return new_values

    def find_spans(self, buffer: bytes, *, deep: bool = True) -> list[SecretSpan]:
        """Return the spans of secrets, unordered; `deep` also scans folds and base64."""
        scan = BufferScan(buffer, self.find_spans if deep else None)
        hits = _build_automaton(len(buffer) > _LARGE).find_matches_as_indexes(buffer, overlapping=True)
        self.attempts += len(hits)
        unfolded_end = line_end = 0  # folds are scanned up to here, and where the line ends
        broken = False
        for index, start, end in hits:
            for look in _DETECTORS[index]:
                look(scan, start, end)
            if not deep or start < unfolded_end:
                continue
            if end > line_end:
                line_end = buffer.find(b"\n", start, end + _LINE)
                broken = line_end >= 0 and _FOLD.match(buffer, line_end) is not None
                line_end = line_end if line_end >= 0 else end + _LINE
            if broken or (index == _COLOUR and _INSIDE.match(buffer, end)):
                unfolded_end = self._scan_unfolded(scan, start)
        if self._search:
            self._search.add_spans_to(scan)
        return scan.spans

    def _scan_unfolded(self, scan: BufferScan, at: int) -> int:
        """Scan again without the terminal's color codes and line breaks; return where to do so next."""
        first = max(scan.buffer.rfind(b"\n", max(0, at - _LINE), at) + 1, at - _LINE, 0)
        text, positions = unfold_text(scan.buffer[first : scan.find_text_end(at, at + _FAR)])
        if len(positions) > 1:
            plain = {span.start: span for span in scan.spans if span.start >= first}
            for span in self.find_spans(text, deep=False):
                start, end = (
                    first + find_original_position(positions, span.start),
                    first + find_original_position(positions, span.end - 1) + 1,
                )
                _add_folded_span(scan, plain, span.move_to(start, end))
        return at + _FAR // 2


def _add_folded_span(scan: BufferScan, plain: dict[int, SecretSpan], span: SecretSpan) -> None:
    """Add a span that crosses a fold, unless its second half is the start of the next line."""
    plain_span = plain.get(span.start)
    if span.end - span.start == len(span.value):
        return
    if plain_span is None or detectors.is_continuation(plain_span.value, span.value):
        scan.spans.append(span)


def unfold_text(text: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a text without its folds, and for each remaining piece its new and old start."""
    pieces, positions = [], []
    at = size = 0
    for fold in _FOLD.finditer(text):
        positions.append((size, at))
        pieces.append(text[at : fold.start()])
        size += fold.start() - at
        at = fold.end()
    return b"".join((*pieces, text[at:])), [*positions, (size, at)]


def find_original_position(positions: list[tuple[int, int]], position: int) -> int:
    """Return the original position of a character of the unfolded text."""
    size, at = positions[bisect_right(positions, (position, 1 << 62)) - 1]
    return at + position - size


class KnownSecrets:
    """Values seen before, to be found anywhere."""

    def __init__(self, values: Iterable[bytes]) -> None:
        ends: dict[bytes, list[bytes]] = {}
        for value in values:
            ends.setdefault(value[-_SUFFIX:], []).append(value)
        self._values = list(ends.values())
        # Leftmost and non-overlapping: only then can it skip ahead, and of two ends in one place the longer counts.
        self._automaton = BytesAhoCorasick(list(ends), matchkind=MatchKind.LeftmostLongest)

    def add_spans_to(self, scan: BufferScan) -> list[SecretSpan]:
        """Add the known values to the spans found, and return all."""
        for index, _, end in self._automaton.find_matches_as_indexes(scan.buffer):
            detectors.detect_known_value(self._values[index], scan, 0, end)
        return scan.spans


def _build_detector_table() -> dict[bytes, tuple[Detector, ...]]:
    """Return the detectors to run at each anchor."""
    table: dict[bytes, tuple[Detector, ...]] = {}

    def add(anchor: str, look: Detector) -> None:
        table[anchor.encode()] = (*table.get(anchor.encode(), ()), look)

    for rule in RULES:
        for anchor, look in _list_rule_detectors(rule):
            add(anchor, look)
    for label in LABELS:
        for word in list_spellings(label):
            add(word, functools.partial(assignments.detect_labelled_value, label.startswith("pass") or label == "pwd"))
    for anchors, look in _FIXED_ANCHORS:
        for anchor in anchors:
            add(anchor, look)
    for word in [word.decode() for word in table if len(word) > 3] + list(BASE64_ANCHORS):
        for phase, coded in list_base64_forms(word):
            add(coded, functools.partial(detectors.detect_in_base64, phase))
    for word in list_spellings("pass"):  # too short to search for in base64
        add(word, assignments.detect_pass_label)
    for program, flag in command_lines.FLAGS.items():
        add(program, functools.partial(command_lines.detect_flag_password, command_lines.compile_flag_pattern(flag)))
    for anchor in [
        anchor for rule in RULES if not rule.words for shape in rule.shapes for anchor in split_shape(shape)[1]
    ]:
        for size in range(3, len(anchor)):
            add(f"{anchor[:size]}\n", detectors.detect_nothing)  # an anchor broken at the edge of the screen
    add("\x1b[", detectors.detect_nothing)  # a color code inside a word; must be last
    return table


_FIXED_ANCHORS: tuple[tuple[Iterable[str], Detector], ...] = (
    (list_url_spellings("://"), detectors.detect_url_password),
    (list_spellings("bearer"), detectors.detect_bearer),
    (list_spellings("authorization"), detectors.detect_authorization),
    (list_spellings("cookie"), detectors.detect_cookie),
    ((" -u ", " --user "), command_lines.detect_login),
    (("-----BEGIN ",), detectors.detect_private_key),
    (("<private>",), detectors.detect_private_block),
)


def _list_rule_detectors(rule: SecretRule) -> Iterable[tuple[str, Detector]]:
    if rule.words:
        look = functools.partial(detectors.detect_near_word, rule.id, rule.shapes)
        return [(spelling, look) for word in rule.words for spelling in list_spellings(word)]
    return [
        (anchor, functools.partial(detectors.detect_shape, rule.id, shape, split_shape(shape)[0]))
        for shape in rule.shapes
        for anchor in split_shape(shape)[1]
    ]


_DETECTOR_TABLE = _build_detector_table()
_DETECTORS = list(_DETECTOR_TABLE.values())
_COLOUR = len(_DETECTORS) - 1


@functools.cache
def _build_automaton(large: bool) -> BytesAhoCorasick:
    kind = Implementation.DFA if large else Implementation.ContiguousNFA
    return BytesAhoCorasick(list(_DETECTOR_TABLE), implementation=kind)
