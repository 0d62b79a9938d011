"""Extracts quote, and only quote."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.platform.sentences import extract_sentences
from engram.platform.text import count_tokens
from engram.summaries.extract import Quote, extract_lines, extract_statements, render_lines, select_best_lines

MINUTE = 60_000_000

TALK = [
    (
        "user",
        (
            "Hi! I want to migrate our billing service from MySQL to PostgreSQL. I'm a backend engineer at Acme and we"
            " use Python 3.11. Please don't touch the migrations folder."
        ),
    ),
    (
        "assistant",
        (
            "Sure, happy to help. I looked at `src/billing/models.py`.\n\n```python\nclass Secret: pass\n```\n"
            "| a | b |\n|---|---|\nThe root cause of the slow queries is a missing index on invoices."
        ),
    ),
    (
        "user",
        (
            "Let's use text columns with check constraints because enums are painful to alter. I prefer small commits."
            " My budget for this is 3 days, and the release is on 2026-05-12."
        ),
    ),
    (
        "assistant",
        (
            "I converted the enums and all 42 tests pass. Run `pytest -q tests/billing` to verify. Next step: the"
            " reporting queries in reports/monthly.sql still need to be ported."
        ),
    ),
    ("user", "What about the rounding of decimals in the invoice totals?"),
]


def rows(talk: list[tuple[str, str]]) -> list[dict[str, Any]]:
    return [
        {"id": n, "role": role, "content": content, "at": n * MINUTE, "session_id": "s"}
        for n, (role, content) in enumerate(talk, 1)
    ]


def kinds(lines: list[Quote]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault(line.kind, []).append(line.text)
    return found


def folded(text: str) -> str:
    return " ".join(text.split())


def test_a_conversation_is_told_by_what_was_asked_decided_done_and_left_open() -> None:
    result = kinds(extract_lines(rows(TALK), 600))
    assert result["asked"] == ["I want to migrate our billing service from MySQL to PostgreSQL."]
    assert result["decided"] == [
        "Let's use text columns with check constraints because enums are painful to alter.",
    ]
    assert result["wished"] == ["Please don't touch the migrations folder.", "I prefer small commits."]
    assert "My budget for this is 3 days, and the release is on 2026-05-12." in result["fact"]
    assert any("still need to be ported" in line for line in result["open"])
    assert "What about the rounding of decimals in the invoice totals?" in result["open"]
    assert any("root cause" in line for line in result["done"])
    assert "src/billing/models.py" in result["file"]
    assert result["command"] == ["pytest -q tests/billing"]
    assert "PostgreSQL" in result["name"]


def test_every_line_names_the_exchange_it_comes_from() -> None:
    given = rows(TALK)
    said = {row["id"]: (row["role"], row["at"]) for row in given}
    result = extract_lines(given, 600)
    assert result
    assert [(line.role, line.at) for line in result] == [said[line.exchange] for line in result]
    assert "(#3)" in render_lines(result)


def test_code_and_tables_are_no_sentences() -> None:
    text = "\n".join(line.text for line in extract_lines(rows(TALK), 600))
    assert "class Secret" not in text
    assert "|" not in text


def test_the_users_own_words_weigh_more() -> None:
    talk = [("assistant", "The cache of the parser holds every token it has seen."),
            ("user", "The cache of the parser must never hold a secret token.")]  # fmt: skip
    (line,) = [each for each in extract_lines(rows(talk), 32) if each.kind != "name"]
    assert line.role == "user"


def test_a_pasted_document_does_not_speak_for_the_user() -> None:
    document = "\n".join(f"- Always use option number {n} of the tool, I prefer it." for n in range(40))
    talk = [("user", f"Please read this manual of the tool.\n\n{document}"), ("assistant", "I read the manual.")]
    assert len(extract_statements(rows(talk))) < 4
    assert kinds(extract_lines(rows(talk), 400))["asked"] == ["Please read this manual of the tool."]


def test_what_is_said_twice_is_kept_once() -> None:
    talk = [("assistant", f"The deployment to the staging cluster failed with a timeout{'!' * n}") for n in range(1, 9)]
    assert len(extract_lines(rows(talk), 600)) == 1


def test_the_order_of_the_text_is_kept() -> None:
    exchanges = [
        line.exchange for line in extract_lines(rows(TALK * 3), 400) if line.kind not in ("file", "command", "name")
    ]
    assert exchanges == sorted(exchanges)


def test_a_question_that_was_answered_is_not_open() -> None:
    talk = [
        ("user", "Which port does the server use by default?"),
        ("assistant", "It listens on port 8080 by default."),
    ]
    assert "open" not in kinds(extract_lines(rows(talk), 300))


def test_statements_are_the_users_and_nobody_elses() -> None:
    talk = [*TALK, ("assistant", "I prefer tabs over spaces."), ("tool", "I live in Berlin and I use vim.")]
    assert {line.role for line in extract_statements(rows(talk))} == {"user"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use e.g. version 3.11 of it here. It works well enough.", 2),
        ("Dr. Smith called the office about it today.", 1),
        ("One line that is\nwrapped by hand in the middle.", 1),
        ("- first item of the list\n- second item of the list", 2),
        ("```\nnever closed, so all of it is code", 0),
        ("> somebody else said all of this", 0),
        ("これは最初の文です。これは二番目の文です。", 2),
        ("." * 50_000 + " a " + "!" * 50_000, 0),
    ],
)
def test_sentences_are_told_apart(text: str, expected: int) -> None:
    assert len(extract_sentences(text)) == expected


WORDS = st.sampled_from(
    "I we prefer decided let's use the parser because TODO cache never ```` ``` | > - 1. # e.g. 3.11 don't still need "
    "next 。 ？ tests pass src/app.py `git commit` ??? … !".split()
)
TEXT = st.lists(st.one_of(WORDS, st.text(max_size=8), st.sampled_from(["\n", "\n\n", ". ", "? "])), max_size=40)
CONVERSATION = st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), TEXT.map(" ".join)), max_size=12)


@settings(max_examples=150, deadline=None)
@given(CONVERSATION, st.integers(0, 300))
def test_nothing_is_made_up_and_the_limit_holds(talk: list[tuple[str, str]], budget: int) -> None:
    given_rows = rows(talk)
    sources = {row["id"]: folded(row["content"]) for row in given_rows}
    result = extract_lines(given_rows, budget)
    for line in [*result, *extract_statements(given_rows)]:
        assert folded(line.text.removesuffix("…")) in sources[line.exchange]
    assert count_tokens(render_lines(result)) <= budget
    assert extract_lines(rows(talk), budget) == result


@settings(max_examples=50, deadline=None)
@given(CONVERSATION, st.integers(0, 200))
def test_the_best_lines_are_lines_that_were_given(talk: list[tuple[str, str]], budget: int) -> None:
    lines = extract_lines(rows(talk), 1000)
    assert [line for line in select_best_lines(lines, budget) if line not in lines] == []


def test_a_long_conversation_is_told_as_briefly_as_a_short_one() -> None:
    talk = [
        (role, f"{text} Item {n} is about module{n % 97} of the system.") for n in range(400) for role, text in TALK
    ]
    result = extract_lines(rows(talk), 600)
    assert count_tokens(render_lines(result)) <= 600
    assert {"asked", "decided", "wished", "fact", "open", "said"} <= set(kinds(result))
