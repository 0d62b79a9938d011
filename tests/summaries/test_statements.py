"""Statements of users about themselves, reduced to the current ones."""

from __future__ import annotations

import pytest

from engram.summaries.extract import extract_statements
from engram.summaries.profile_statements import Statement, StatementSet


def fold(*texts: str) -> list[Statement]:
    rows = [
        {"id": n, "role": "user", "content": text, "at": n, "session_id": f"s{n}"} for n, text in enumerate(texts, 1)
    ]
    held = StatementSet()
    held.add_lines(extract_statements(rows))
    return held.list_standing()


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Berlin.", "I moved to Paris last week."),
        ("My cat is called Miso.", "My cat is called Nori."),
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        ("I work at Acme as an engineer.", "I just joined Globex as a manager."),
        ("I use vim for writing mail.", "I use emacs for writing mail."),
        ("Always run the slow tests before a commit.", "Never run the slow tests before a commit."),
        ("I use the vim editor every day.", "I switched from vim to emacs."),
        ("I have a red bicycle.", "I no longer have the red bicycle."),
    ],
)
def test_a_newer_statement_on_the_same_subject_replaces_the_older(older: str, newer: str) -> None:
    assert [(each.line.text, each.evidence) for each in fold(older, newer)] == [(newer, [2])]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I use Python for scripts at work.", "I use Postgres for storage at home."),
        ("My cat is called Miso.", "My dog is called Rex."),
        ("I prefer small commits.", "I prefer short functions."),
        ("I have a red bicycle.", "I have a small garden."),
    ],
)
def test_statements_on_other_subjects_stand_beside_each_other(one: str, other: str) -> None:
    assert len(fold(one, other)) == 2


def test_what_is_said_again_counts_once_with_all_its_evidence() -> None:
    (only,) = fold("I prefer small commits.", "I prefer small commits!", "Really, I prefer small commits.")
    assert (only.evidence, only.sessions) == ([1, 2, 3], {"s1", "s2", "s3"})


def test_an_order_for_one_task_stands_only_once_it_was_given_in_three_sessions() -> None:
    assert fold("Use the blue button in this dialog here.") == []
    assert fold(*["Use the blue button in this dialog here."] * 2) == []
    assert len(fold(*["Use the blue button in this dialog here."] * 3)) == 1
