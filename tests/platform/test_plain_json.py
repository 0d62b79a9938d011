"""The JSON parser for hooks agrees with `json`."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.platform import plain_json

THINGS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(THINGS)
def test_what_is_written_is_read_back(thing: object) -> None:
    text = plain_json.dumps(thing)
    assert json.loads(text) == thing
    assert plain_json.loads(text) == thing
    assert plain_json.loads(json.dumps(thing, indent=1).encode()) == thing


@given(st.text() | THINGS.map(json.dumps).flatmap(lambda text: st.integers(0, len(text)).map(lambda at: text[:at])))
def test_what_json_refuses_is_refused(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  the words are each library's own
            plain_json.loads(text)
    else:
        assert plain_json.loads(text) == expected or (isinstance(expected, float) and math.isnan(expected))


@pytest.mark.parametrize("thing", [math.nan, math.inf, object(), {1, 2}])
def test_values_json_cannot_hold_are_refused(thing: object) -> None:
    with pytest.raises(ValueError, match="is not JSON"):
        plain_json.dumps(thing)


def test_it_loads_nothing_of_what_it_spares() -> None:
    code = "import sys; sys.modules.pop('re', None); from engram.platform import plain_json; plain_json.loads('[1]'); "
    code += "print('json' in sys.modules or 're' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("text", ['"abc', '{"a": "b', '{"a": 1', "{", '"\\x"', '"a\nb"', '{"a":1,}', "[1 2]", "[1,"])
def test_invalid_json_is_a_value_error_even_if_json_is_not_loaded(text: str) -> None:
    code = (
        "import sys; from engram.platform import plain_json\nassert 'json' not in sys.modules\n"
        "try: plain_json.loads(sys.argv[1])\nexcept ValueError: print('refused')"
    )
    told = subprocess.run([sys.executable, "-c", code, text], capture_output=True, text=True, check=True)
    assert told.stdout == "refused\n"
