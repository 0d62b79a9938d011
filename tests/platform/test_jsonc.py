"""Settings are edited in place: what is not ours keeps its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.platform import jsonc

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
GAPS = st.sampled_from(["", " ", "\n", "\n  ", "\t", " // note\n", "/* a, b: {} */", "\r\n\t"])


def drawn(draw: st.DrawFn, given: Any, trailing: bool) -> str:
    """Write a value as a person might: any spacing, comments, trailing commas."""

    def gap() -> str:
        return draw(GAPS)

    if isinstance(given, dict):
        parts = [f"{gap()}{json.dumps(k)}{gap()}:{gap()}{drawn(draw, v, trailing)}{gap()}" for k, v in given.items()]
    elif isinstance(given, list):
        parts = [f"{gap()}{drawn(draw, item, trailing)}{gap()}" for item in given]
    else:
        return json.dumps(given)
    opened, closed = "{}" if isinstance(given, dict) else "[]"
    comma = f",{gap()}" if trailing and parts else ""
    return f"{opened}{','.join(parts)}{comma}{closed}"


@st.composite
def files(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    held = draw(st.dictionaries(st.text(max_size=5).filter(lambda key: key != "ours"), VALUES, min_size=1, max_size=4))
    return drawn(draw, held, draw(st.booleans())) + draw(st.sampled_from(["", "\n", "\r\n"])), held


@given(files(), VALUES)
def test_what_is_added_is_removed_byte_for_byte(file: tuple[str, dict[str, Any]], new: Any) -> None:
    text, held = file
    put = jsonc.put(text, ("ours",), new)
    assert jsonc.data(put) == {**held, "ours": new}
    assert jsonc.remove(put, ("ours",)) == text


@given(files(), VALUES)
def test_an_element_added_after_others_is_removed_byte_for_byte(file: tuple[str, dict[str, Any]], new: Any) -> None:
    text, held = file
    for key, each in held.items():
        if isinstance(each, list) and each:
            put = jsonc.put(text, (key, len(each)), new)
            assert jsonc.data(put) == {**held, key: [*each, new]}
            assert jsonc.remove(put, (key, len(each))) == text


@given(files(), VALUES)
def test_a_replaced_value_leaves_the_rest_alone(file: tuple[str, dict[str, Any]], new: Any) -> None:
    text, held = file
    key = next(iter(held))
    put = jsonc.put(text, (key,), new)
    assert jsonc.data(put) == {**held, key: new}
    node = jsonc.at(jsonc.parse(text, (key,)), (key,))
    assert node is not None
    assert put.startswith(text[: node.start])
    assert put.endswith(text[node.end :])


@given(files())
def test_any_member_can_go_and_the_rest_stays_readable(file: tuple[str, dict[str, Any]]) -> None:
    text, held = file
    for key in held:
        assert jsonc.data(jsonc.remove(text, (key,))) == {k: v for k, v in held.items() if k != key}


@given(st.text(alphabet='{}[],:"\\/*\n a1-', max_size=30))
def test_whatever_json_reads_is_read_alike(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        return
    assert jsonc.data(text) == expected


def test_the_files_own_style_is_kept() -> None:
    text = '{\r\n\t"a": 1, // one\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{"x": 1}\r\n\t\t]\r\n\t}\r\n}\r\n'
    put = jsonc.put(jsonc.put(text, ("hooks", "Stop", 1), {"y": 2}), ("hooks", "Start", 0), {"z": 3})
    assert put == (
        '{\r\n\t"a": 1, // one\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{"x": 1},\r\n\t\t\t{"y": 2}\r\n\t\t],'
        '\r\n\t\t"Start": [{"z": 3}]\r\n\t}\r\n}\r\n'
    )


def test_a_comment_behind_the_last_member_stays_with_it() -> None:
    put = jsonc.put('{\n    "a": 1 // mine\n}', ("b",), 2)
    assert put == '{\n    "a": 1, // mine\n    "b": 2\n}'


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "  \r\n"])
def test_an_empty_file_is_filled(text: str) -> None:
    assert jsonc.data(jsonc.put(text, ("hooks", "Stop", 0), 1)) == {"hooks": {"Stop": [1]}}


@pytest.mark.parametrize(("text", "expected"), [("{}", '{\n  "a": 1\n}'), ("{ }\n", '{\n  "a": 1\n}\n')])
def test_an_empty_object_is_opened(text: str, expected: str) -> None:
    put = jsonc.put(text, ("a",), 1)
    assert put == expected
    assert jsonc.remove(put, ("a",)) == text.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{\n"a": 1,,\n}', 2), ('{\n"a": [1, 2\n', 3), ("{'a': 1}", 1), ('{"a": 01}', 1), ('{"a" 1}', 1),
        ("{}\n{}", 2), ('{"a": "un', 1), ("[" * 5000, 1), ('{"a": /* never ends }', 1),
    ],
)  # fmt: skip
def test_damage_is_reported_with_its_line(text: str, line: int) -> None:
    with pytest.raises(jsonc.Damaged) as told:
        jsonc.put(text, ("b",), 1)
    assert told.value.line == line


def test_a_list_where_an_object_must_be_is_refused() -> None:
    with pytest.raises(jsonc.Damaged, match="hooks is not an object"):
        jsonc.put('{"hooks": []}', ("hooks", "Stop", 0), 1)


def test_of_a_key_given_twice_the_last_is_edited() -> None:
    put = jsonc.put('{"hooks": {}, "hooks": {"Stop": [1]}}', ("hooks", "Stop", 1), 2)
    assert json.loads(put) == {"hooks": {"Stop": [1, 2]}}
