"""What sessions cost, and how sure that is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engram import Engram, InvalidInput, SettingsInvalid
from engram.digests.cost import Prices
from tests.capture.conftest import home  # noqa: F401  the fixture
from tests.capture.transcripts import Claude


@pytest.fixture
def work(home: Path) -> Claude:  # noqa: F811
    made = Claude(home)
    made.says("Add two numbers")
    made.answers("Done.", output=1_000_000)
    return made


def test_money_comes_from_the_dated_table(engram: Engram, work: Claude) -> None:
    engram.ingest()
    (cost,) = engram.cost("model", days=10000)
    assert (cost.place, cost.output, cost.basis) == ("claude-sonnet-4-5", 1_000_000, "floor")
    assert cost.money == pytest.approx(15.0 + 5 * 3e-6 + 100 * 0.3e-6)
    assert cost.prices_dated >= "2026-01-01"


@pytest.mark.parametrize("by", ["session", "project", "day", "flavor", "model"])
def test_costs_are_told_by_any_place(engram: Engram, work: Claude, by: str) -> None:
    engram.ingest()
    (cost,) = engram.cost(by, days=10000)
    assert cost.answers == 1


def test_a_price_of_ones_own_wins(engram: Engram, work: Claude) -> None:
    own = Path(engram.settings.home) / "prices.toml"
    own.parent.mkdir(exist_ok=True)
    own.write_text('dated = "2027-01-01"\n[models]\n"claude-sonnet-4-5" = [0, 1]\n')
    engram.ingest()
    (cost,) = engram.cost("model", days=10000)
    assert (round(cost.money, 6), cost.prices_dated) == (1.0, "2027-01-01")


def test_a_model_without_a_price_is_named_not_guessed(engram: Engram, work: Claude) -> None:
    text = work.path.read_text().replace("claude-sonnet-4-5", "house-model-1")
    work.path.write_text(text)
    engram.ingest()
    (cost,) = engram.cost("model", days=10000)
    assert (cost.money, cost.unpriced) == (0, ("house-model-1",))


def test_a_broken_price_table_is_an_error_that_names_it(engram: Engram, work: Claude) -> None:
    Path(engram.settings.home).mkdir(exist_ok=True)
    (Path(engram.settings.home) / "prices.toml").write_text('[models]\n"x" = ["much"]\n')
    with pytest.raises(SettingsInvalid, match=r"prices\.toml"):
        engram.cost()


def test_the_longest_name_prices_a_model(tmp_path: Path) -> None:
    prices = Prices(str(tmp_path))
    assert prices.of("claude-opus-4-20250514") == [15.0, 75.0, 1.5, 18.75, 30.0]
    assert prices.of("us.anthropic/claude-opus-4-5-20251101") == [5.0, 25.0, 0.5, 6.25, 10.0]
    assert prices.of("gpt-5.1-codex-mini-high") == [0.25, 2.0, 0.025]
    assert prices.of("unheard-of") is None


def test_an_unknown_place_is_refused(engram: Engram) -> None:
    with pytest.raises(InvalidInput, match="day"):
        engram.cost("moon")


def test_json_holds_every_class(engram: Engram, work: Claude) -> None:
    from engram.surfaces.encode import to_json

    engram.ingest()
    (cost,) = json.loads(to_json(engram.cost("flavor", days=10000)))
    assert {"input", "output", "cache_read", "cache_write", "money", "basis"} <= cost.keys()
