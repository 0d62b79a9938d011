"""JSON lines, whatever happened to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.agents.transcripts.formats.json_lines import iter_records, shorten_texts


def values(tmp_path: Path, content: bytes) -> list[Any]:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    return [record.value for record in iter_records(str(path))]


def test_only_a_newline_ends_a_record(tmp_path: Path) -> None:
    content = '{"a":"x\u2028y\u2029z\x85"}\n'.encode()
    assert values(tmp_path, content) == [{"a": "x\u2028y\u2029z\x85"}]


def test_the_last_line_without_its_end_is_not_there_yet(tmp_path: Path) -> None:
    assert values(tmp_path, b'{"a":1}\n{"a":2') == [{"a": 1}]


def test_a_complete_last_line_is_read_now_and_again_later(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"a":1}\n{"a":2}')
    assert [(record.value, record.end) for record in iter_records(str(path))] == [({"a": 1}, 8), ({"a": 2}, 8)]


def test_a_whole_record_glued_to_a_cut_one_is_found(tmp_path: Path) -> None:
    assert values(tmp_path, b'{"type":"user","te{"type":"user","n":2}\n') == [None, {"type": "user", "n": 2}]


def test_padding_of_zeros_is_skipped(tmp_path: Path) -> None:
    assert values(tmp_path, b'{"a":1}\n\0\0\0\0{"a":2}\n{"a":3}\n')[-1] == {"a": 3}
    assert {"a": 2} in values(tmp_path, b'{"a":1}\n\0\0\0\0{"a":2}\n{"a":3}\n')


def test_a_raw_newline_inside_a_text_is_repaired(tmp_path: Path) -> None:
    assert values(tmp_path, b'{"a":"one\ntwo"}\n{"b":1}\n') == [{"a": "one\ntwo"}, {"b": 1}]


def test_lone_surrogates_and_bad_bytes_cost_a_character(tmp_path: Path) -> None:
    assert values(tmp_path, b'{"a":"\\ud800x \\ud83d\\ude00 \xff"}\n') == [{"a": "\ufffdx \U0001f600 \ufffd"}]


def test_a_line_long_by_countless_short_texts_is_given_up_whole(tmp_path: Path) -> None:
    long = b'{"a":[' + b",".join([b'"' + b"x" * 40 + b'"'] * 450_000) + b"]}\n"
    assert values(tmp_path, b'{"a":1}\n' + long + b'{"a":2}\n') == [{"a": 1}, None, {"a": 2}]


def test_a_long_text_keeps_its_ends_and_marks_what_is_missing() -> None:
    line = json.dumps({"a": "first " + "x" * 600_000 + " last", "b": 'q"\\'}).encode()
    found = json.loads(shorten_texts(line))
    assert found["a"].startswith("first")
    assert found["a"].endswith("last")
    assert "bytes left out" in found["a"]
    assert found["b"] == 'q"\\'
    assert len(shorten_texts(line)) < 70_000


@settings(max_examples=150, deadline=None)
@given(text=st.text(max_size=200), times=st.integers(2000, 4000))
def test_shortened_lines_are_still_json(text: str, times: int) -> None:
    line = json.dumps({"a": text * times, "b": [1, {"c": text}]}).encode()
    assert json.loads(shorten_texts(line))["b"] == [1, {"c": text}]


@settings(max_examples=100, deadline=None)
@given(content=st.binary(max_size=400))
def test_no_bytes_raise(tmp_path_factory: Any, content: bytes) -> None:
    texts = values(tmp_path_factory.mktemp("r"), content)
    assert len(texts) <= content.count(b"\n") * 2 + 1
