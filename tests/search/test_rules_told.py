"""Approved rules in the briefing of a session."""

from __future__ import annotations

from engram import Engram
from engram.store import rule_placements
from tests.patterns.planting import pattern, session


def approved(engram: Engram, name: str, rule: str, scope: str = "global") -> str:
    id_ = pattern(engram, name, seen=[session(engram, f"{name}-1")])
    engram.approve_pattern(id_, rule, scope=scope)
    return id_


def rules_for(engram: Engram, project: str = "", agent: str = "claude", budget: int = 400) -> str:
    me = engram.register(agent, "work", flavor=agent, project=project or None)
    return engram.context(session_id=me, budget=budget).text


def test_a_session_that_starts_is_told_the_rules_and_that_is_kept(engram: Engram) -> None:
    id_ = approved(engram, "one", "Run the migrations first.")
    me = engram.register("claude", "work")
    text = engram.context(session_id=me).text
    assert f"- [{id_}] Run the migrations first." in text
    assert rule_placements.list_exposed_sessions(engram.engine, id_) == {me}


def test_only_rules_for_this_agent_and_project_are_told(engram: Engram) -> None:
    approved(engram, "one", "For codex.", "flavor:codex")
    approved(engram, "two", "For there.", "project:/there")
    assert "For " not in rules_for(engram, "/here", "claude")
    assert "For codex." in rules_for(engram, "/here", "codex")
    assert "For there." in rules_for(engram, "/there", "claude")


def test_what_nobody_approved_or_somebody_took_back_is_not_told(engram: Engram) -> None:
    pattern(engram, "candidate", title="Obey the candidate.", seen=[session(engram, "s")], rule="Obey it.")
    id_ = approved(engram, "one", "First.")
    engram.edit_pattern(id_, "Second.")
    result = rules_for(engram)
    assert "Second." in result
    assert "First." not in result
    assert "Obey" not in result
    engram.retire_pattern(id_)
    assert "Second." not in rules_for(engram)


def test_rules_keep_to_their_budget_heaviest_first(engram: Engram) -> None:
    for n in range(6):
        approved(engram, f"r{n}", f"Rule {n} " + "word " * 30)
    heavy = pattern(engram, "heavy", seen=[session(engram, f"h{n}") for n in range(30)])
    engram.approve_pattern(heavy, "The heavy one.")
    result = rules_for(engram, budget=300)
    assert "The heavy one." in result
    assert 1 < result.count("- [p") < 7


def test_a_rule_that_is_not_told_for_want_of_room_counts_as_untold(engram: Engram) -> None:
    id_ = approved(engram, "one", "word " * 100)
    me = engram.register("claude", "work")
    engram.context(session_id=me, budget=60)
    assert rule_placements.list_exposed_sessions(engram.engine, id_) == set()
