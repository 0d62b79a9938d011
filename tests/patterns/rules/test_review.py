"""Decisions: each is a version, none is lost, and only people make them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from engram import Engram
from engram.errors import Conflict, Error, InvalidInput, NotFound, TooLarge, Undecidable
from engram.operation import find_operation
from tests.patterns.planting import pattern, session


def planted(engram: Engram, fingerprint: str = "no such table", seen: int = 3) -> str:
    return pattern(engram, fingerprint, seen=[session(engram, f"{fingerprint}-{n}") for n in range(seen)])


def test_an_approved_rule_keeps_who_why_where_and_the_evidence(engram: Engram) -> None:
    id_ = planted(engram)
    result = engram.approve_pattern(
        id_, "Run the migrations first.", "make migrate", "flavor:codex", "anna", "seen often"
    )
    assert (result.state, result.version, result.rule, result.scope) == (
        "approved", 1, "Run the migrations first.", "flavor:codex",
    )  # fmt: skip
    version = engram.get_pattern(id_).versions[0]
    assert (version.author, version.reason, version.fix) == ("anna", "seen often", "make migrate")
    assert {each["session"] for each in version.evidence} == {f"no such table-{n}" for n in range(3)}


def test_without_words_of_ones_own_what_is_proposed_is_approved(engram: Engram) -> None:
    id_ = pattern(engram, "x", seen=[session(engram, "s")], rule="Do it like this.")
    assert engram.approve_pattern(id_).rule == "Do it like this."
    assert engram.get_pattern(id_).versions[0].author


def test_a_pattern_is_known_by_the_beginning_of_its_id(engram: Engram) -> None:
    id_ = planted(engram)
    assert engram.get_pattern(id_[:5]).pattern.id == id_
    with pytest.raises(NotFound):
        engram.get_pattern("p%")
    planted(engram, "other")
    with pytest.raises(InvalidInput, match="longer one"):
        engram.get_pattern("p")


@pytest.mark.parametrize(
    ("first", "then"),
    [("reject", "approve"), ("reject", "retire"), ("reject", "edit"), ("", "retire"), ("approve", "reject"),
     ("", "restore")],
)  # fmt: skip
def test_a_decision_that_makes_no_sense_says_the_way_out(engram: Engram, first: str, then: str) -> None:
    id_ = planted(engram)
    verbs = {
        "approve": lambda: engram.approve_pattern(id_, "a rule"), "reject": lambda: engram.reject_pattern(id_),
        "retire": lambda: engram.retire_pattern(id_), "restore": lambda: engram.restore_pattern(id_),
        "edit": lambda: engram.edit_pattern(id_, "another"),
    }  # fmt: skip
    if first:
        verbs[first]()
    with pytest.raises(Undecidable) as refusal:
        verbs[then]()
    assert refusal.value.facts["hint"]


def test_reject_and_retire_are_taken_back_with_everything(engram: Engram) -> None:
    id_ = planted(engram)
    engram.reject_pattern(id_, "not ours", "anna")
    assert engram.restore_pattern(id_).state == "candidate"
    engram.approve_pattern(id_, "Use uv.", scope="flavor:codex")
    engram.retire_pattern(id_, "it hurts")
    back = engram.restore_pattern(id_, author="ben")
    assert (back.state, back.rule, back.scope, back.version) == ("approved", "Use uv.", "flavor:codex", 5)
    states = [version.state for version in engram.get_pattern(id_).versions]
    assert states == ["rejected", "candidate", "approved", "retired", "approved"]


def test_an_approval_is_taken_back_and_nobody_is_told_any_more(engram: Engram) -> None:
    id_ = planted(engram)
    engram.approve_pattern(id_, "Use uv.")
    engram.edit_pattern(id_, "Use uv, always.")
    back = engram.restore_pattern(id_)
    assert (back.state, back.rule) == ("candidate", "Use uv, always.")
    assert [
        placement.removed_at for placement in engram.get_pattern(id_).placements if placement.removed_at is None
    ] == []
    assert engram.reject_pattern(id_).state == "rejected"
    assert engram.restore_pattern(id_).state == "candidate"


def test_an_edit_is_refused_if_somebody_decided_meanwhile(engram: Engram) -> None:
    id_ = planted(engram)
    engram.edit_pattern(id_, "one", author="anna")
    with pytest.raises(Conflict, match="anna"):
        engram.edit_pattern(id_, "two", expected_version=0)
    assert engram.edit_pattern(id_, "two", expected_version=1).version == 2
    assert engram.get_pattern(id_).pattern.state == "candidate"


def test_of_many_who_decide_at_once_on_one_version_one_does(engram: Engram) -> None:
    id_ = planted(engram)

    def decide(n: int) -> bool:
        try:
            engram.edit_pattern(id_, f"words of {n}", expected_version=0)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(decide, range(6))) == 1
    assert len(engram.get_pattern(id_).versions) == 1


def test_merged_patterns_count_as_one_and_can_be_parted_again(engram: Engram) -> None:
    one, two = planted(engram, "first", 3), planted(engram, "second", 2)
    engram.approve_pattern(two, "the second rule")
    result = engram.merge_patterns(one, [two], "anna")
    assert (result.sessions, result.version) == (5, 1)
    gone = engram.get_pattern(two).pattern
    assert (gone.state, gone.merged_into, gone.sessions) == ("merged", one, 0)
    back = engram.restore_pattern(two)
    assert (back.state, back.rule, back.sessions) == ("approved", "the second rule", 2)
    assert engram.get_pattern(one).pattern.sessions == 3
    assert [version.state for version in engram.get_pattern(two).versions] == ["approved", "merged", "approved"]


def test_a_pattern_does_not_go_into_itself_or_into_what_is_gone(engram: Engram) -> None:
    one, two = planted(engram, "first"), planted(engram, "second")
    with pytest.raises(InvalidInput):
        engram.merge_patterns(one, [one])
    engram.merge_patterns(one, [two])
    with pytest.raises(Undecidable):
        engram.merge_patterns(two, [one])


def test_an_agent_recommends_and_a_decision_settles_it(engram: Engram) -> None:
    id_ = planted(engram)
    result = engram.recommend_pattern(id_, "approve", "It cost me an hour.", "Migrate first.", "session-7")
    assert result.recommended is not None
    assert (result.state, result.recommended.what, result.recommended.who) == ("candidate", "approve", "session-7")
    assert engram.reject_pattern(id_).recommended is None
    with pytest.raises(InvalidInput):
        engram.recommend_pattern(id_, "obey", "because")


def test_only_listing_showing_recommending_and_measuring_are_for_agents() -> None:
    deciding = "approve_pattern reject_pattern edit_pattern merge_patterns retire_pattern restore_pattern"
    for name in [*deciding.split(), "distribute", "import_catalog", "export_catalog"]:
        operation = find_operation(name)
        assert operation is not None
        assert not operation.agent


@pytest.mark.parametrize(
    "rule",
    ["", "  \n ", "a\nb\nc\nd\ne\nf", "a\n\nb", "x" * 601, "bell \x07", "hidden \u200b", "turned \u202e",
     "tag \U000e0041",
     "<!-- engram:end patterns -->", "a --> b", "```\ncode", "engram:begin"],
)  # fmt: skip
def test_a_rule_is_short_visible_and_cannot_end_its_block(engram: Engram, rule: str) -> None:
    id_ = planted(engram)
    with pytest.raises((InvalidInput, TooLarge)):
        engram.approve_pattern(id_, rule)
    assert engram.get_pattern(id_).pattern.state == "candidate"


def test_a_secret_in_a_rule_is_taken_out(engram: Engram) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = engram.approve_pattern(planted(engram), f"Use the token {token} to push.")
    assert token not in result.rule


@pytest.mark.parametrize("scope", ["everywhere", "project:", "flavor:", "project"])
def test_a_scope_is_one_of_three(engram: Engram, scope: str) -> None:
    with pytest.raises(InvalidInput, match="project:PATH"):
        engram.approve_pattern(planted(engram), "a rule", scope=scope)


def test_what_waits_is_listed_first_and_filters_hold(engram: Engram) -> None:
    one, two = planted(engram, "first", 2), planted(engram, "second", 5)
    engram.approve_pattern(one, "a rule")
    assert [each.id for each in engram.list_patterns()] == [two, one]
    assert [each.id for each in engram.list_patterns("approved")] == [one]
    assert len(engram.list_patterns(flavor="claude")) == 2
    assert engram.list_patterns(flavor="claud") == []
    assert engram.list_patterns(flavor="clau%") == []
    assert len(engram.list_patterns(limit=1)) == 1
    seldom = planted(engram, "seldom", 1)
    assert seldom not in [each.id for each in engram.list_patterns()]
    assert seldom in [each.id for each in engram.list_patterns(min_frequency=1)]
    with pytest.raises(Error):
        engram.list_patterns("loved")


def test_a_rule_is_for_the_project_of_its_evidence_unless_a_person_says_global(engram: Engram) -> None:
    id_, other, both = (planted(engram, problem) for problem in ("no table", "no column", "no index"))
    for pattern_id, projects in ((id_, '["shop"]'), (other, '["shop"]'), (both, '["shop", "wiki"]')):
        engram.engine.run("update patterns set projects = :projects where id = :id", projects=projects, id=pattern_id)
    engram.register("claude", "working", project="shop")
    assert engram.get_pattern(id_).pattern.scope == "project:shop"
    assert engram.approve_pattern(id_).scope == "project:shop"
    assert engram.approve_pattern(other, scope="global").scope == "global"
    assert engram.approve_pattern(both).scope == "global"
