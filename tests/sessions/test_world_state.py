"""World state: versioned, compared before it is replaced, small enough to be read."""

from __future__ import annotations

import pytest

from engram import Conflict, Engram, InvalidInput, NotFound, TooLarge


def test_it_is_empty_until_set_and_then_the_newest_version(engram: Engram) -> None:
    assert engram.get_world_state() == ""
    engram.set_world_state("# One")
    state = engram.set_world_state("# Two", "me")
    assert engram.get_world_state() == "# Two"
    assert (state.version, state.updated_by) == (2, "me")


def test_every_project_has_its_own_beside_the_global_one(engram: Engram) -> None:
    engram.set_world_state("everything")
    engram.set_world_state("just this", project="/p")
    assert engram.get_world_state() == "everything"
    assert engram.get_world_state("/p") == "just this"
    assert engram.get_world_state("/q") == ""


def test_a_write_that_expects_another_version_is_refused_with_the_facts(engram: Engram) -> None:
    engram.set_world_state("one", expected_version=0)
    engram.set_world_state("two", "ada", expected_version=1)
    with pytest.raises(Conflict) as refused:
        engram.set_world_state("lost?", expected_version=1)
    assert (refused.value.version, refused.value.expected, refused.value.by) == (2, 1, "ada")
    assert engram.get_world_state() == "two"


def test_history_and_diff_show_how_it_changed(engram: Engram) -> None:
    engram.set_world_state("same\nold")
    engram.set_world_state("same\nnew")
    assert [state.version for state in engram.world_history()] == [2, 1]
    assert engram.world_state(version=1).content == "same\nold"
    assert engram.world_diff(1).splitlines()[-2:] == ["-old", "+new"]


def test_writing_the_same_text_again_makes_no_version(engram: Engram) -> None:
    engram.set_world_state("one")
    assert engram.set_world_state("one").version == 1


def test_a_text_too_long_to_be_read_at_every_start_is_refused_and_nothing_changes(engram: Engram) -> None:
    engram.set_world_state("short")
    with pytest.raises(TooLarge, match="world_state_tokens"):
        engram.set_world_state("word " * 10_000)
    assert engram.get_world_state() == "short"


def test_a_missing_world_state_or_version_is_refused(engram: Engram) -> None:
    with pytest.raises(NotFound):
        engram.world_state()
    engram.set_world_state("x")
    with pytest.raises(NotFound):
        engram.world_diff(7)
    with pytest.raises(InvalidInput):
        engram.set_world_state("y", expected_version=-1)


def test_writing_is_a_sign_of_life_of_the_session_that_writes(engram: Engram) -> None:
    session_id = engram.register("codex", "work")
    engram.complete(session_id, "done")
    engram.set_world_state("news", session_id)
    assert engram.get_session(session_id).status == "active"


def test_all_world_states_are_listed_the_one_changed_last_first(engram: Engram) -> None:
    assert engram.list_world_states() == []
    engram.set_world_state("of all")
    engram.set_world_state("of p", project="/p")
    engram.set_world_state("of q", project="/q")
    engram.set_world_state("of p, again", project="/p")
    states = [(state.project, state.version, state.content) for state in engram.list_world_states()]
    assert states == [("/p", 2, "of p, again"), ("/q", 1, "of q"), ("", 1, "of all")]
