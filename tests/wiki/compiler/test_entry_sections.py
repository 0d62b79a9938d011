"""Sections of log entries: rules and models write the same parts, and a goal says something."""

from __future__ import annotations

from engram.wiki.compiler.entry_sections import find_goal, parse_sections


def test_labels_of_rules_and_of_models_are_read_alike() -> None:
    ruled = parse_sections(
        "**Goal:** sell tea\n\n**Decided:**\n- by weight\n- in tins\n- … 3 more\n\n**Open:**\n- price?"
    )
    thought = parse_sections(
        "**Context:** sell tea\n\n#### Decisions Made\n1. by weight\n2. in tins\n\n**Action Items**\n- [ ] price?"
    )
    assert ruled == thought == {"goal": ["sell tea"], "decided": ["by weight", "in tins"], "open": ["price?"]}


def test_a_goal_that_says_nothing_gives_way_to_what_came_of_it() -> None:
    assert find_goal(
        parse_sections("**Goal:** do both\n\n**Ended:** The cart rounds half up and the tests pass.")
    ).startswith("The cart")
    assert find_goal(parse_sections("**Goal:** ok")) == "ok"
