"""Records without a newline between them, and records truncated before the next one was written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from engram.agents.transcripts.formats.json_lines import iter_records

NAMES = st.sampled_from(["role", "message", "content", "n", "uuid", "$set", "sessionId"])
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(-9, 10**9), st.text(max_size=20))
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
# Records of one file start with the same key, and objects inside them with others.
RECORDS = st.dictionaries(NAMES, VALUES, max_size=4).map(lambda rest: {"type": "user", **rest})


def found_in(tmp_path: Path, content: bytes) -> tuple[list[Any], int]:
    """Return the records of a file and how many of its bytes were lost."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    everything = list(iter_records(str(path)))
    return [item.value for item in everything if item.value is not None], sum(entry.lost for entry in everything)


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
    line = between.encode().join(coded(item, compact) for item in glued)
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
def test_complete_records_around_a_torn_one_are_kept(
    tmp_path_factory: Any, before: list[Any], torn: Any, after: list[Any], at: int
) -> None:
    piece = coded(torn)[: 1 + at % (len(coded(torn)) - 1)]
    line = b"".join(map(coded, before)) + piece + b"".join(map(coded, after)) + b"\n"
    whole, lost = found_in(tmp_path_factory.mktemp("g"), line + b'{"n":-1}\n')
    assert whole[: len(before)] == before
    assert whole[-len(after) - 1 :] == [*after, {"n": -1}]
    assert lost == len(piece)


def test_joined_records_at_the_end_of_a_file_are_read_before_their_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2}{"n":3}{"n":4')
    assert [(record.value, record.start, record.end) for record in iter_records(str(path))] == [
        ({"n": 1}, 0, 8),
        ({"n": 2}, 8, 15),
        ({"n": 3}, 15, 22),
    ]
    path.write_bytes(b'{"n":1}\n{"n":2}{"n":3}{"n":4}\n')
    assert [record.value for record in iter_records(str(path), 22)] == [{"n": 4}]


def test_glued_records_with_very_long_texts_are_kept(tmp_path: Path) -> None:
    line = coded({"n": 1, "text": "x" * 3_000_000}) + coded({"n": 2, "text": "y" * 3_000_000})
    assert [record["n"] for record in found_in(tmp_path, line + b"\n")[0]] == [1, 2]


ANY_KEY = st.text(max_size=8)
ANY_RECORD = st.dictionaries(ANY_KEY, VALUES, max_size=4)
GARBAGE = st.binary(max_size=12) | st.text('@,:;]}["\\\0 x1\ufeff', max_size=8).map(str.encode)


def is_json(line: bytes) -> bool:
    try:
        json.loads(line.strip(b" \t\r\0"))
    except ValueError:
        return False
    return True


LOOKS_LIKE_A_RECORD = re.compile(rb'\n|\{|:\s*\[?\s*$|[]}"]\s*,\s*$')  # so that the next record would be a value of it


@settings(max_examples=400, deadline=None)
@given(
    glued=st.lists(ANY_RECORD, min_size=2, max_size=5),
    between=st.lists(GARBAGE.filter(lambda gap: not LOOKS_LIKE_A_RECORD.search(gap)), min_size=6, max_size=6),
)
def test_records_are_kept_whatever_is_between_them(
    tmp_path_factory: Any, glued: list[Any], between: list[bytes]
) -> None:
    line = between[0] + b"".join(coded(record) + gap for record, gap in zip(glued, between[1:], strict=False))
    assume(not is_json(line))  # quotes around all of them make one string
    gaps = [between[0], *between[1 : len(glued) + 1]]
    damage = sum(len(gap) for gap in gaps if gap.replace(b"\xef\xbb\xbf", b"").strip(b" \t\r\0,"))
    assert found_in(tmp_path_factory.mktemp("g"), line + b"\n") == (glued, damage)


@pytest.mark.parametrize("between", [b",", b" , ", b"\0\0\0", b"\0,\0", b"\xef\xbb\xbf", b"\r", b",,"])
@pytest.mark.parametrize("count", [2, 3, 200])
def test_separators_between_records_are_not_damage(tmp_path: Path, between: bytes, count: int) -> None:
    glued = [{"type": "user", "n": number, "message": {"role": "user"}} for number in range(count)]
    line = b"\xef\xbb\xbf" + between.join(map(coded, glued)) + between
    assert found_in(tmp_path, line + b"\n") == (glued, 0)


def test_garbage_between_records_is_damage(tmp_path: Path) -> None:
    line = b'{"a":1}@@garbage@@{"b":2}\0\0\0{"c":3}\n'
    assert found_in(tmp_path, line) == ([{"a": 1}, {"b": 2}, {"c": 3}], len("@@garbage@@"))


@pytest.mark.parametrize(
    "torn",
    [
        b'{"type":"user","message":{"role":"a"},"te',
        b'{"type":"user","message":{"role":"a"}',
        b'{"type":"user","message":{"role":"a","content":[{"t":1},{"t":2}],"x',
        b'{"type":"user",@@"message":{"role":"a","content":[{"type":"text"},{"type":"text"}]},"n":1}',
        b'{"type":"user","content":[@@{"type":"text"},{"type":"text"}],"n":1}',
        b'lo","message":{"role":"a"},"n":1}',
        b'lo","content":[{"type":"text"},{"type":"text"}],"n":1}',
    ],
)
def test_objects_inside_a_torn_record_are_not_records(tmp_path: Path, torn: bytes) -> None:
    after = [{"type": "user", "n": 8}, {"type": "user", "n": 9}]
    line = torn + b"\n" + b"".join(map(coded, after)) + b"\n"
    assert found_in(tmp_path, line) == (after, len(torn))
    line = torn + b"".join(map(coded, after)) + b"\n"
    assert found_in(tmp_path, line) == (after, len(torn))


def test_records_separated_by_commas_at_the_end_of_a_file_are_read_once(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n":1},{"n":2} , {"n":3')
    first = list(iter_records(str(path)))
    assert [item.value for item in first] == [{"n": 1}, {"n": 2}]
    path.write_bytes(b'{"n":1},{"n":2} , {"n":3},\n{"n":4}\n')
    assert [record.value for record in iter_records(str(path), first[-1].end)] == [{"n": 3}, {"n": 4}]
