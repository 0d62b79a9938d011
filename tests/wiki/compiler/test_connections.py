"""Connections without a model: pages that logs of several days name in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.wiki.vault import article
from engram.wiki.vault.vault import open_vault
from tests.wiki.logs import entry, log, page

DAYS = ("2026-11-09", "2026-11-10", "2026-11-11")
SAID = (
    "Supabase auth only works once row-level security is switched on.",
    "We turned row level security off to debug Supabase Auth, and everybody saw every row.",
    "Row-level security reads the id that Supabase auth puts into the token.",
)
TARGET = "connections/row-level-security-supabase-auth"


@pytest.fixture
def wiki(engram: Engram) -> Path:
    """A wiki with two hand-written pages."""
    root = Path(open_vault(engram).root)
    (root / "concepts").mkdir(parents=True)
    (root / "concepts" / "supabase-auth.md").write_text("# Supabase Auth\n\nHow people sign in.\n")
    (root / "concepts" / "row-level-security.md").write_text("# Row-Level Security\n\nWho sees which row.\n")
    return root


def days(hub: Engram, *lessons: str) -> None:
    for number, said in enumerate(lessons):
        log(hub, DAYS[number % 3], entry(number, lessons=[said]))


def test_pages_named_together_on_several_days_are_connected_by_those_sentences(engram: Engram, wiki: Path) -> None:
    days(engram, *SAID)
    assert TARGET in engram.compile().created
    result = article.parse_article(page(engram, TARGET))
    assert result.get_list("connects") == ("concepts/row-level-security", "concepts/supabase-auth")
    assert result.get_list("sources") == tuple(f"daily/{day}" for day in reversed(DAYS))
    assert "[[concepts/supabase-auth|Supabase Auth]]" in result.get_section("The Connection")
    for said in SAID:
        assert said in result.get_section("Evidence")
    assert (wiki / "concepts" / "supabase-auth.md").read_text() == "# Supabase Auth\n\nHow people sign in.\n"


@pytest.mark.parametrize(
    "lessons",
    [
        SAID[:2],
        (SAID[0],) * 3,
        tuple(each.replace("Supabase", "Some").replace("Row", "Each") for each in SAID),
        ("Supabase auth is slow.", "Row-level security is fine.", "Supabase auth needs a key."),
    ],
)
def test_most_pairs_are_not_connected(engram: Engram, wiki: Path, lessons: tuple[str, ...]) -> None:
    days(engram, *lessons)
    engram.compile()
    assert page(engram, TARGET) == ""


def test_one_day_connects_nothing(engram: Engram, wiki: Path) -> None:
    log(engram, DAYS[0], *(entry(number, lessons=[said]) for number, said in enumerate(SAID)))
    engram.compile()
    assert page(engram, TARGET) == ""


def test_pages_that_are_mostly_named_apart_are_not_connected(engram: Engram, wiki: Path) -> None:
    days(engram, *SAID)
    apart = [entry(20 + n, lessons=[f"Supabase auth, case {n}, took an hour."]) for n in range(8)]
    apart += [entry(40 + n, lessons=[f"Row-level security, case {n}, was forgotten."]) for n in range(8)]
    log(engram, "2026-11-08", *apart)
    engram.compile()
    assert page(engram, TARGET) == ""


def test_a_page_that_is_named_everywhere_is_connected_with_nothing(engram: Engram, wiki: Path) -> None:
    days(engram, *SAID)
    log(engram, "2026-11-08", *(entry(20 + n, lessons=[f"Supabase auth, case {n}, took an hour."]) for n in range(10)))
    engram.compile()
    assert page(engram, TARGET) == ""


def test_a_connection_goes_when_its_pages_go_apart(engram: Engram, wiki: Path) -> None:
    days(engram, *SAID)
    engram.compile()
    assert page(engram, TARGET)
    log(engram, "2026-11-12", *(entry(20 + n, lessons=[f"Supabase auth, case {n}, took an hour."]) for n in range(10)))
    assert TARGET in engram.compile().removed


def test_two_parts_of_one_name_are_not_connected(engram: Engram, wiki: Path) -> None:
    for name in ("hyde", "park"):
        (wiki / "concepts" / f"{name}.md").write_text(f"# {name.capitalize()}\n\nA word.\n")
    days(engram, *(f"On day {number} we met in Hyde Park and talked." for number in range(3)))
    engram.compile()
    assert list(open_vault(engram).iter_pages("connections")) == []


def test_a_connection_goes_with_what_it_was_made_of(engram: Engram, wiki: Path) -> None:
    days(engram, *SAID)
    engram.compile()
    log(engram, DAYS[1], entry(1, lessons=["Nothing of note."]))
    assert TARGET in engram.compile().removed
    assert "everybody saw every row" not in page(engram, TARGET)


def test_compiling_everything_again_makes_the_same_page(engram: Engram, wiki: Path) -> None:
    days(engram, *SAID)
    engram.compile()
    before = page(engram, TARGET)
    assert before
    engram.compile(everything=True)
    assert page(engram, TARGET) == before


def test_files_and_errors_of_one_day_are_not_connected(engram: Engram) -> None:
    failed = ["AssertionError: 19.99 != 20.0 [pytest -q] → changed cart.py"]
    made = [entry(n, goal="Create the cart with totals", changed=["`src/cart.py`"], failed=failed) for n in range(4)]
    log(engram, DAYS[0], *made)
    engram.compile()
    assert list(open_vault(engram).iter_pages("connections")) == []
