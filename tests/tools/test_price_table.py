"""The price table that comes with Engram, and how it is made from a public list."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from engram.models.prices import load_shipped_table
from engram.store.token_usage import BANDS
from tools import price_table

TOKEN = 1e-6  # a dollar per million


def listed(provider: str, input_price: float, output_price: float, **more: Any) -> dict[str, Any]:
    prices = {"input_cost_per_token": input_price * TOKEN, "output_cost_per_token": output_price * TOKEN}
    return {"mode": "chat", "litellm_provider": provider, **prices, **more}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that makes the table of a list."""
    monkeypatch.setattr(price_table, "TARGET", tmp_path / "made.json")

    def make(**entries: dict[str, Any]) -> dict[str, Any]:
        source = tmp_path / "list.json"
        source.write_text(json.dumps({name.replace("__", "/"): entry for name, entry in entries.items()}))
        price_table.main([str(source), "2026-11-18"])
        models: dict[str, Any] = json.loads((tmp_path / "made.json").read_text())["models"]
        return models

    return make


@pytest.fixture(autouse=True)
def no_aliases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price_table, "ALIASES", {})


def test_a_reseller_is_left_out_unless_it_has_another_price(made: Any) -> None:
    models = made(
        pony1=listed("openai", 1, 2), azure__pony1=listed("azure", 1, 2), groq__pony1=listed("groq", 3, 4),
        free1=listed("openai", 0, 0), drawing=listed("openai", 1, 2, mode="image_generation"),
    )  # fmt: skip
    assert models == {"pony1": [1, 2], "groq/pony1": [3, 4]}


def test_bands_and_fast_mode_are_lists_of_their_own(made: Any) -> None:
    bands = {"input_cost_per_token_above_200k_tokens": 2 * TOKEN, "output_cost_per_token_above_200k_tokens": 3 * TOKEN}
    fast = {"provider_specific_entry": {"fast": 6.0}}
    assert made(pony1=listed("openai", 1, 2, **bands, **fast)) == {
        "pony1": {"prices": [1, 2], "above_200k": [2, 3], "fast": [6, 12]}
    }


def test_a_band_that_sums_do_not_know_stops_it(made: Any) -> None:
    with pytest.raises(SystemExit, match="above_7k"):
        made(pony1=listed("openai", 1, 2, input_cost_per_token_above_7k_tokens=TOKEN))


def test_a_date_behind_the_name_is_left_out_if_it_does_not_matter(made: Any) -> None:
    old, new = listed("openai", 5, 6), listed("openai", 1, 2)
    assert made(**{"pony1-2025-01-01": old, "pony1-2026-01-01": new}) == {"pony1": [1, 2], "pony1-2025-01-01": [5, 6]}


def test_the_shipped_table_is_wide_dated_and_fits_the_sums() -> None:
    table = load_shipped_table()
    assert len(table["models"]) > 2000
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", table["dated"])
    keys = {key for entry in table["models"].values() if isinstance(entry, dict) for key in entry}
    assert {int(limit) * 1000 for key in keys for limit in re.findall(r"above_(\d+)k", key)} == set(BANDS)
    lists = [
        prices
        for entry in table["models"].values()
        for prices in (entry.values() if isinstance(entry, dict) else [entry])
    ]
    assert all(2 <= len(prices) <= 5 and prices[0] > 0 and prices[1] > 0 for prices in lists)
