"""The agent's own state survives broken data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram import Engram, InvalidInput
from engram.store import documents
from engram.summaries import self_state

WORDS = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=12)  # control characters are never stored
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=10,
)


def test_a_state_is_given_back_and_every_version_is_kept(engram: Engram) -> None:
    assert engram.get_self_state() is None
    engram.set_self_state({"mood": "calm", "drives": {"curiosity": 0.4}})
    assert engram.set_self_state({"mood": "curious"}) == {"mood": "curious"}
    assert engram.get_self_state() == {"mood": "curious"}
    assert len(documents.list_versions(engram.engine, "self", "self", 10)) == 2


def test_several_selves_can_be_kept(engram: Engram) -> None:
    engram.set_self_state({"mood": "calm"}, "lyra")
    assert (engram.get_self_state(), engram.get_self_state("lyra")) == (None, {"mood": "calm"})


@pytest.mark.parametrize("broken", ["{", '{"mood": "ca', "", "[1, 2]", "null", "\u2400", "[" * 100_000])
def test_a_broken_version_is_passed_over_and_not_lost(engram: Engram, broken: str) -> None:
    engram.set_self_state({"mood": "calm"})
    self_state.save_state(engram, "self", broken, "test")
    assert engram.get_self_state() == {"mood": "calm"}
    assert documents.list_versions(engram.engine, "self", "self", 10)[0]["content"] == broken
    assert engram.set_self_state({"mood": "well again"}) == {"mood": "well again"}


def test_nothing_but_broken_versions_is_no_state(engram: Engram) -> None:
    self_state.save_state(engram, "self", "{", "test")
    assert engram.get_self_state() is None


@pytest.mark.parametrize("state", [[], 3, "words", {"x": float("nan")}, {"x": {1, 2}}, None])
def test_what_is_no_json_object_is_refused(engram: Engram, state: Any) -> None:
    with pytest.raises(InvalidInput):
        engram.set_self_state(state)
    assert engram.get_self_state() is None


def test_too_deep_a_state_is_refused(engram: Engram) -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"x": deep}
    with pytest.raises(InvalidInput):
        engram.set_self_state(deep)


def test_secrets_inside_are_removed(engram: Engram) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert secret not in str(engram.set_self_state({"reflections": [f"I saw {secret} today."]}))


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(WORDS, JSON, max_size=4))
def test_any_json_object_is_given_back(timed: Engram, state: dict[str, Any]) -> None:
    assert timed.set_self_state(state) == state
    assert timed.get_self_state() == state
