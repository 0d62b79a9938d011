"""Topics: what entries are about, by rules that entries cannot influence."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engram.wiki.compiler.entry_sections import parse_failure, parse_sections
from engram.wiki.compiler.rule_pages import build_topic_page
from engram.wiki.compiler.topic_record import (
    MAX_FULL_ENTRIES,
    add_evidence,
    count_entries,
    create_record,
    remove_evidence,
)
from engram.wiki.compiler.topics import FILE, MIN_ENTRIES, TERM, Topic, find_goal, find_topics, name_error
from engram.wiki.vault.daily_log import LogEntry
from engram.wiki.vault.links import find_links

labels = st.sampled_from(
    ["**Goal:** ", "**Decided:**\n- ", "**Changed:**\n- `", "**Failed:**\n- ", "#### Open\n- ", "\n", "- "]
)
hostile = st.sampled_from(
    ["[[../../x]]", "](", "|", "## H", "---", "`", "<!--", "“", "Error: ", "→ ", "×2", "[x]", "/../", "..."]
)
content = st.lists(st.one_of(labels, hostile, st.text(max_size=30)), max_size=25).map("".join)


def made(text: str, **facts: str) -> LogEntry:
    known = {"id": "e1", "session_id": "s", "flavor": "claude", "project": "/x/shop", "day": "2026-11-16"}
    return LogEntry(**{**known, "title": "Session (10:00) claude in shop", "content": text, **facts})


def named(text: str, kind: str) -> list[str]:
    return [topic.title for topic, _ in find_topics(made(text)) if topic.kind == kind]


def test_labels_of_rules_and_of_models_are_read_alike() -> None:
    ruled = parse_sections(
        "**Goal:** sell tea\n\n**Decided:**\n- by weight\n- in tins\n- … 3 more\n\n**Open:**\n- price?"
    )
    thought = parse_sections(
        "**Context:** sell tea\n\n#### Decisions Made\n1. by weight\n2. in tins\n\n**Action Items**\n- [ ] price?"
    )
    assert ruled == thought == {"goal": ["sell tea"], "decided": ["by weight", "in tins"], "open": ["price?"]}


def test_a_failure_is_what_where_and_what_helped() -> None:
    failure = parse_failure("TypeError: x is not a function ×3 [npm test] → changed cart.js")
    assert (failure.what, failure.command, failure.fix) == (
        "TypeError: x is not a function",
        "npm test",
        "changed cart.js",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("KeyError: 'a1b2c3d4e5' at line 12", "app.KeyError: '99aabbcc77' at line 99"),
        ("CONFLICT (content): Merge conflict in src/a.py", "CONFLICT (content): Merge conflict in lib/b/c.py"),
        ("error TS2345: Argument of type 7", "TS2345: Argument of type 12"),
        ("ConnectionRefusedError: 127.0.0.1:5432 refused", "ConnectionRefusedError: 10.0.0.8:6432 refused"),
    ],
)
def test_an_error_is_known_again_wherever_it_comes_up(one: str, other: str) -> None:
    assert name_error(one) == name_error(other) != ""


@pytest.mark.parametrize(
    "noise", ["exit 1", "", "‹tool_use_error›File has not been read yet", "Sibling tool call errored"]
)
def test_what_says_nothing_is_no_error(noise: str) -> None:
    assert named(f"**Failed:**\n- {noise}", "error") == []


def test_files_are_called_as_in_their_project_and_plans_are_none() -> None:
    text = "**Changed:**\n- `/x/shop/src/a.py`\n- `./b.ts`\n- `/home/me/.claude/plans/p.md`\n- `../out.md`\n- +3 more"
    assert named(text, FILE) == ["src/a.py", "b.ts"]


def test_a_worktree_belongs_to_its_project() -> None:
    topics = find_topics(made("**Changed:**\n- `/x/shop/.worktrees/7/src/a.py`", project="/x/shop/.worktrees/7"))
    assert {topic.key for topic, _ in topics} == {"project shop", "file shop src/a.py"}


def test_names_are_topics_and_plain_words_are_not() -> None:
    text = "**Decided:**\n- we move to PostgreSQL with `pgbouncer` because Redis lost keys\n- the Task is a task"
    assert named(text, TERM) == ["pgbouncer", "PostgreSQL", "Redis"]


def test_a_goal_that_says_nothing_gives_way_to_what_came_of_it() -> None:
    assert find_goal(
        parse_sections("**Goal:** do both\n\n**Ended:** The cart rounds half up and the tests pass.")
    ).startswith("The cart")
    assert find_goal(parse_sections("**Goal:** ok")) == "ok"


@given(content)
@example("**Changed:**\n- `[[../../x]]<!--")
def test_whatever_an_entry_says_its_pages_hold_together(text: str) -> None:
    for topic, evidence in find_topics(made(text)):
        record = create_record(topic)
        add_evidence(record, evidence)
        shown = build_topic_page(record)
        assert all(found.target.startswith(("daily/2026-11-16", "concepts/")) for found in find_links(shown.text))
        assert shown.text.count("\n---\n") == 1
        assert "<!--" not in shown.text
        assert topic.name == topic.name.strip("-/.")
        assert "/" not in topic.name


def test_evidence_is_held_to_a_bound_and_the_rest_is_counted() -> None:
    record = create_record(Topic(kind="project", key="project /x", title="x", project="x"))
    for number in range(MAX_FULL_ENTRIES + 25):
        day = f"2026-{1 + number // 28:02}-{1 + number % 28:02}"
        add_evidence(
            record,
            {"entry": f"e{number}", "day": day, "link": f"daily/{day}#S", "goal": f"goal {number}", "flavor": "c"},
        )
    assert len(record["evidence"]) == MAX_FULL_ENTRIES
    assert count_entries(record) == MAX_FULL_ENTRIES + 25
    assert record["evidence"][0]["entry"] == f"e{MAX_FULL_ENTRIES + 24}"
    shown = build_topic_page(record).text
    assert "25 entries more, in the logs of that month" in shown
    assert len(shown) < 20_000
    remove_evidence(record, "e64")
    assert count_entries(record) == MAX_FULL_ENTRIES + 24


def test_every_kind_of_topic_has_a_page_and_a_threshold() -> None:
    for kind in MIN_ENTRIES:
        record = create_record(Topic(kind=kind, key=f"{kind} x", title="x", project="p"))
        add_evidence(
            record, {"entry": "e", "day": "2026-11-16", "link": "daily/2026-11-16#S", "goal": "g", "said": ["q"]}
        )
        assert build_topic_page(record).text.startswith("---\ntitle: x\n")
