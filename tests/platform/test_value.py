"""Values: frozen, comparable, and usable as dataclasses."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from engram.errors import Held, InvalidInput
from engram.platform.host import Process
from engram.types import Resource


def test_a_value_is_built_by_position_or_name_and_compared_by_content() -> None:
    assert Process("host", 1, "then") == Process(host="host", pid=1, start="then")
    assert hash(Process("host", 1, "then")) == hash(Process("host", 1, "then"))
    assert repr(Process("h", 1, "s")) == "Process(host='h', pid=1, start='s')"


def test_a_value_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="frozen"):
        Process("host", 1, "then").pid = 2  # type: ignore[misc]


def test_dataclasses_takes_values_for_its_own() -> None:
    value = Resource("file", "a", "b", "c")
    assert dataclasses.is_dataclass(value)
    assert dataclasses.asdict(value) == {"kind": "file", "name": "a", "base": "b", "pattern": "c"}
    assert dataclasses.replace(value, kind="glob").kind == "glob"
    assert [field.name for field in dataclasses.fields(Resource)] == ["kind", "name", "base", "pattern"]
    match value:
        case Resource(kind="file", name=name):
            assert name == "a"


@pytest.mark.parametrize(
    ("given", "facts", "complaint"),
    [((), {}, "missing"), (("h", 1, "s", 4), {}, "fields"), (("h",), {"host": "x", "pid": 1, "start": "s"}, "repeated"),
     (("h", 1, "s"), {"colour": "red"}, "unknown")],
)  # fmt: skip
def test_a_wrong_call_explains_what_is_wrong(
    given: tuple[object, ...], facts: dict[str, object], complaint: str
) -> None:
    with pytest.raises(TypeError, match=complaint):
        Process(*given, **facts)  # type: ignore[arg-type]


def test_errors_survive_a_trip_between_processes() -> None:
    error = InvalidInput(field="x", reason="broken {braces} stay.")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.field) == (str(error), "x")
    assert issubclass(Held, Exception)
    assert Held.exit == 3
