"""Records that lost the newline between them, and records that were cut before the next one was written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engram.adapters.records import records

NAMES = st.sampled_from(["role", "message", "content", "n", "uuid", "$set", "sessionId"])
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-9, 10**9), st.text(max_size=20))
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
# Records of one file begin with the same key, and what lies inside them with others.
RECORDS = st.dictionaries(NAMES, VALUES, max_size=4).map(lambda rest: {"type": "user", **rest})


def found_in(tmp_path: Path, content: bytes) -> tuple[list[Any], int]:
    """Return the records of a file and how many of its bytes were lost."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    everything = list(records(str(path)))
    return [each.value for each in everything if each.value is not None], sum(each.lost for each in everything)


def coded(value: Any, compact: bool = True) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else None).encode()


@pytest.mark.parametrize("count", [2, 3, 40, 2000])
def test_all_glued_records_are_kept(tmp_path: Path, count: int) -> None:
    glued = [{"type": "user", "n": number, "message": {"role": "user"}} for number in range(count)]
    assert found_in(tmp_path, b"".join(map(coded, glued)) + b'\n{"n":-1}\n') == ([*glued, {"n": -1}], 0)


@settings(max_examples=200, deadline=None)
@given(glued=st.lists(RECORDS, min_size=2, max_size=5), compact=st.booleans(), between=st.sampled_from(["", " ", "\r"]))
def test_whatever_glued_records_say_they_are_kept(
    tmp_path_factory: Any, glued: list[Any], compact: bool, between: str
) -> None:
    line = between.encode().join(coded(each, compact) for each in glued)
    assert found_in(tmp_path_factory.mktemp("g"), line + b"\n") == (glued, 0)


@settings(max_examples=300, deadline=None)
@given(
    before=st.lists(RECORDS, max_size=2),
    torn=RECORDS,
    after=st.lists(RECORDS, min_size=1, max_size=3),
    at=st.integers(1, 10**6),
)
@example(before=[{"n": 1}], torn={"a": 1}, after=[{"b": 2}], at=5)
@example(
    before=[], torn={"type": "user", "message": {"role": "a"}}, after=[{"type": "b", "message": {"role": "c"}}], at=37
)
@example(before=[], torn={"type": {"n": 1}}, after=[{"type": 2}, {"type": 3}], at=7)
def test_what_is_whole_around_a_torn_record_is_kept(
    tmp_path_factory: Any, before: list[Any], torn: Any, after: list[Any], at: int
) -> None:
    piece = coded(torn)[: 1 + at % (len(coded(torn)) - 1)]
    line = b"".join(map(coded, before)) + piece + b"".join(map(coded, after)) + b"\n"
    whole, lost = found_in(tmp_path_factory.mktemp("g"), line + b'{"n":-1}\n')
    assert whole[: len(before)] == before
    assert whole[-len(after) - 1 :] == [*after, {"n": -1}]
    assert lost == len(piece)


def test_glued_records_at_the_end_of_a_file_are_told_before_their_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}{"n":3}{"n":4')
    assert [(each.value, each.start, each.end) for each in records(str(path))] == [
        ({"n": 1}, 0, 8),
        ({"n": 2}, 8, 15),
        ({"n": 3}, 15, 22),
    ]
    path.write_bytes(b'{"n":1}\n{"n":2}{"n":3}{"n":4}\n')
    assert [each.value for each in records(str(path), 22)] == [{"n": 4}]


def test_glued_records_with_very_long_texts_are_kept(tmp_path: Path) -> None:
    line = coded({"n": 1, "text": "x" * 3_000_000}) + coded({"n": 2, "text": "y" * 3_000_000})
    assert [each["n"] for each in found_in(tmp_path, line + b"\n")[0]] == [1, 2]
