"""What sessions cost, and how certain the numbers are."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, InvalidInput, SettingsInvalid
from engram.capture.digests.cost import CLASSES
from engram.capture.digests.session_list import list_all_sessions
from engram.models.prices import Prices
from tests.capture.transcripts import Claude
from tests.conftest import ManualClock


@pytest.fixture
def work(home: Path) -> Claude:
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
def test_costs_are_grouped_by_any_place(engram: Engram, work: Claude, by: str) -> None:
    engram.ingest()
    (cost,) = engram.cost(by, days=10000)
    assert cost.answers == 1


def test_a_day_in_parts_adds_up_to_the_whole_day(engram: Engram, home: Path) -> None:
    for number, cwd in enumerate(("/home/me/app", "/home/me/site")):
        made = Claude(home, cwd=cwd)
        made.says("Add two numbers")
        made.answers("Done.", output=1000 * (number + 1))
    engram.ingest()
    (whole,) = engram.cost("day", days=10000)
    parts = engram.cost("day", days=10000, split="project")
    assert [(part.place, part.part, part.output) for part in parts] == [
        (whole.place, "/home/me/app", 1000), (whole.place, "/home/me/site", 2000),
    ]  # fmt: skip
    assert sum(part.money for part in parts) == pytest.approx(whole.money)
    assert whole.part == ""
    assert [cost.part for cost in engram.cost("flavor", days=10000, split="model")] == ["claude-sonnet-4-5"]


@pytest.mark.parametrize("wrong", [{"split": "day"}, {"split": "model", "own": True}])
def test_parts_that_there_are_not_are_refused(engram: Engram, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="split"):
        engram.cost(**wrong)


def test_replies_without_a_time_count_for_the_day_their_session_ended(engram: Engram, work: Claude) -> None:
    engram.ingest()
    (known,) = engram.cost("day", days=10000)
    engram.engine.run("update spent set slot = -1")
    assert [cost.place for cost in engram.cost("day", days=10000)] == [known.place]
    engram.engine.run("update captures set last_at = last_at - 864000000000")
    assert engram.cost("day", days=10000)[0].place < known.place


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


BANDED = 'dated = "2027-01-01"\n[models]\n"house" = {prices = [1, 2], above_128k = [10, 20], fast = [100, 200]}\n'


@pytest.mark.parametrize(
    ("counts", "money"),
    [
        ({"input_tokens": 28_000, "cache_read_input_tokens": 100_000}, 0.128),
        ({"input_tokens": 28_001, "cache_read_input_tokens": 100_000}, 1.28001),
        ({"cache_read_input_tokens": 0, "cache_creation_input_tokens": 199_995}, 2.0),
        ({"input_tokens": 1_000, "cache_read_input_tokens": 0, "speed": "fast"}, 0.1),
        ({"input_tokens": 1_000, "cache_read_input_tokens": 0, "speed": "standard"}, 0.001),
    ],
)
def test_a_long_context_and_fast_mode_have_their_own_prices(
    engram: Engram, home: Path, counts: dict[str, Any], money: float
) -> None:
    Path(engram.settings.home).mkdir(exist_ok=True)
    (Path(engram.settings.home) / "prices.toml").write_text(BANDED)
    Claude(home).answers("Done.", output=0, model="house[1m]", **counts)
    engram.ingest()
    (cost,) = engram.cost("model", days=10000)
    assert (cost.basis, cost.unpriced) == ("floor", ())
    assert cost.money == pytest.approx(money)


def test_each_reply_counts_in_its_own_band_also_when_they_come_one_by_one(engram: Engram, home: Path) -> None:
    made = Claude(home)
    money = 0.0
    for context, price in ((199_900, 0.3), (200_000, 0.6), (100, 0.3), (600_000, 0.6)):
        made.answers("Done.", output=1000, input_tokens=0, cache_read_input_tokens=context + 1)
        engram.ingest()
        money += ((context + 1) * price + 1000 * (15 if price == 0.3 else 22.5)) / 1e6
        assert [cost.money for cost in engram.cost("day", days=10000)] == [pytest.approx(money)]
        assert engram.list_sessions()[0].money == pytest.approx(money)


def test_fast_mode_without_a_known_price_is_an_estimate(engram: Engram, home: Path) -> None:
    for model in ("claude-opus-4-8", "claude-sonnet-4-5"):
        counts: dict[str, Any] = {"input_tokens": 0, "cache_read_input_tokens": 0, "speed": "fast"}
        Claude(home).answers("Done.", output=1_000_000, model=model, **counts)
    engram.ingest()
    assert [(cost.money, cost.basis) for cost in engram.cost("model", days=10000)] == [
        (50.0, "floor"), (15.0, "uncertain"),
    ]  # fmt: skip


@pytest.mark.parametrize("entry", ["{above_128k = [1, 2]}", "{prices = [1, 2], above_7k = [1, 2]}", "{prices = [1]}"])
def test_a_band_that_sums_cannot_tell_apart_is_refused(engram: Engram, entry: str) -> None:
    Path(engram.settings.home).mkdir(exist_ok=True)
    (Path(engram.settings.home) / "prices.toml").write_text(f'[models]\n"x" = {entry}\n')
    with pytest.raises(SettingsInvalid, match=r"prices\.toml.*x (has|needs)"):
        engram.cost()


def test_a_model_without_a_price_is_named_wherever_a_session_is_shown(engram: Engram, work: Claude) -> None:
    work.answers("More.", model="house-model-1")
    engram.ingest()
    (capture,), (entry,) = engram.list_sessions(), list_all_sessions(engram, limit=10)
    tokens = engram.get_digest(capture.session.id).facts["tokens"]
    assert (capture.unpriced, entry.unpriced) == (("house-model-1",), ("house-model-1",))
    assert list(tokens["unpriced"]) == ["house-model-1"]
    assert capture.money > 15


def test_the_classes_of_a_digest_add_up_to_the_tokens_of_its_session(engram: Engram, work: Claude) -> None:
    long_cache = {"ephemeral_1h_input_tokens": 700, "ephemeral_5m_input_tokens": 30}
    work.answers("More.", cache_creation_input_tokens=730, cache_creation=long_cache)
    engram.ingest()
    (capture,) = engram.list_sessions()
    tokens = engram.get_digest(capture.session.id).facts["tokens"]
    assert (tokens["cache_write"], tokens["cache_write_long"]) == (30, 700)
    assert sum(tokens[name] for name in CLASSES) == capture.tokens


def test_a_day_costs_the_same_however_many_days_are_asked_for(tmp_path: Path, home: Path, clock: ManualClock) -> None:
    with Engram(tmp_path / "home", timezone="Europe/Berlin", clock=clock) as engram:  # 2027-01-15, 09:00 there
        clock.wall = int(datetime(2026, 11, 7, 21, tzinfo=timezone.utc).timestamp() * 1e6)
        for hour in range(0, 72, 3):
            made = Claude(home)
            made.answers("Done.", output=1_000_000)
            stamp = datetime(2026, 11, 4, 22, tzinfo=timezone.utc) + timedelta(hours=hour)
            made.path.write_text(made.path.read_text().replace("2026-11-01T10:00:01", stamp.isoformat()[:19]))
        engram.ingest()
        wide = {cost.place: cost.money for cost in engram.cost("day", days=30)}
        narrow = {cost.place: cost.money for cost in engram.cost("day", days=3)}
        assert list(narrow) == ["2026-11-05", "2026-11-06", "2026-11-07"]
        assert narrow == {day: wide[day] for day in narrow}
        for by in ("session", "flavor", "model", "project"):
            assert sum(cost.money for cost in engram.cost(by, days=3)) == pytest.approx(sum(narrow.values()))


def test_a_day_ends_at_the_midnight_of_its_own_season(tmp_path: Path, home: Path, clock: ManualClock) -> None:
    with Engram(tmp_path / "home", timezone="Europe/Berlin", clock=clock) as engram:
        clock.wall = int(datetime(2026, 11, 7, 12, tzinfo=timezone.utc).timestamp() * 1e6)
        stamps = ("2026-10-24T21:50:00", "2026-10-24T22:10:00", "2026-10-25T22:50:00", "2026-10-25T23:10:00")
        for number, stamp in enumerate(stamps):
            made = Claude(home)
            made.answers("Done.", output=number + 1)
            made.path.write_text(made.path.read_text().replace("2026-11-01T10:00:01", stamp))
        engram.ingest()
        days = {cost.place: cost.output for cost in engram.cost("day", days=30)}
        assert days == {"2026-10-24": 1, "2026-10-25": 2 + 3, "2026-10-26": 4}


def test_a_broken_price_table_is_an_error_that_names_it(engram: Engram, work: Claude) -> None:
    Path(engram.settings.home).mkdir(exist_ok=True)
    (Path(engram.settings.home) / "prices.toml").write_text('[models]\n"x" = ["much"]\n')
    with pytest.raises(SettingsInvalid, match=r"prices\.toml"):
        engram.cost()


def test_the_longest_name_prices_a_model(tmp_path: Path) -> None:
    prices = Prices(str(tmp_path))
    assert prices.find_prices("claude-opus-4-20250514") == [15.0, 75.0, 1.5, 18.75, 30.0]
    assert prices.find_prices("us.anthropic/claude-opus-4-5-20251101") == [5.0, 25.0, 0.5, 6.25, 10.0]
    assert prices.find_prices("gpt-5.1-codex-mini-high") == [0.25, 2.0, 0.025]
    assert prices.find_prices("unheard-of") is None


@pytest.mark.parametrize(
    "model",
    [
        "gpt-5.7",
        "gpt-5.3-codex-spark",
        "gpt-5-codex-nano",
        "gpt-50",
        "grok-4.35",
        "claude-opus-4-9",
        "claude-opus-4-9-20270101",
        "claude-opus-4.9",
        "o33",
    ],
)
def test_another_version_is_not_priced_like_the_one_before(tmp_path: Path, model: str) -> None:
    assert Prices(str(tmp_path)).find_prices(model) is None


@pytest.mark.parametrize(
    ("model", "first"),
    [
        ("claude-opus-4-20250514", 15.0), ("claude-opus-4-0", 15.0), ("claude-opus-4-1-20250805", 15.0),
        ("claude-opus-4@20250514", 15.0), ("claude-sonnet-4-5-20250929", 3.0), ("claude-sonnet-4-6", 3.0),
        ("gpt-5.1-codex-mini-high", 0.25), ("gpt-5-2025-08-07", 1.25), ("gemini-2.5-pro-preview-05-06", 1.25),
        ("grok-4.20-0309-reasoning", 1.25), ("grok-code-fast-1", 1.0), ("claude-mythos-5", 10.0),
    ],
)  # fmt: skip
def test_a_date_a_size_or_an_effort_behind_a_name_does_not_matter(tmp_path: Path, model: str, first: float) -> None:
    assert (Prices(str(tmp_path)).find_prices(model) or [0])[0] == first


@pytest.mark.parametrize(
    ("model", "first"),
    [
        ("anthropic/claude-opus-4-5", 5.0), ("anthropic.claude-opus-4-5-20251101-v1:0", 5.0),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", 3.0), ("eu.anthropic.claude-haiku-4-5-20251001-v1:0", 1.1),
        ("global.anthropic.claude-opus-4-6-v1", 5.0), ("bedrock/us.anthropic.claude-opus-4-6-v1:0", 5.5),
        ("claude-4-sonnet-20250514", 3.0), ("claude-4.5-opus-high-thinking", 5.0), ("claude-sonnet-4.5", 3.0),
        ("claude-3-5-haiku-20241022", 0.8), ("claude-3.5-haiku", 0.8), ("models/gemini-2.5-pro", 1.25),
    ],
)  # fmt: skip
def test_a_provider_and_its_way_of_writing_a_name_do_not_matter(tmp_path: Path, model: str, first: float) -> None:
    assert (Prices(str(tmp_path)).find_prices(model) or [0])[0] == first


def rollout(home: Path, name: str, parent: str | None, output: int) -> None:
    """Write a Codex thread that another thread started."""
    folder = home / ".codex" / "sessions" / "2026" / "11" / "01"
    folder.mkdir(parents=True, exist_ok=True)
    usage = {"input_tokens": 0, "output_tokens": output, "total_tokens": output}
    info = {"last_token_usage": usage, "total_token_usage": usage}
    records: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": name, "parent_thread_id": parent, "cwd": "/home/me/app"}),
        ("turn_context", {"turn_id": f"turn-{name}", "model": "gpt-5"}),
        ("event_msg", {"type": "token_count", "info": info}),
    ]
    with (folder / f"rollout-{name}.jsonl").open("w") as file:
        for kind, payload in records:
            record = {"timestamp": "2026-11-01T10:00:00.000Z", "type": kind, "payload": payload}
            file.write(f"{json.dumps(record)}\n")


def spent(engram: Engram, native: str) -> int:
    session = next(c.session.id for c in engram.list_sessions(subagents=True) if c.session.native_id == native)
    return sum(cost.output for cost in engram.cost("model", session))


def test_a_session_costs_what_its_subagents_and_theirs_cost(engram: Engram, home: Path) -> None:
    rollout(home, "A", None, 1)
    rollout(home, "B", "A", 20)
    rollout(home, "C", "B", 300)
    rollout(home, "D", None, 4000)
    engram.ingest()
    assert [spent(engram, name) for name in "ABCD"] == [321, 320, 300, 4000]


def test_subagents_that_name_each_other_are_counted_once(engram: Engram, home: Path) -> None:
    rollout(home, "A", "B", 1)
    rollout(home, "B", "A", 20)
    engram.ingest()
    assert [spent(engram, name) for name in "AB"] == [21, 21]


def test_an_unknown_place_is_refused(engram: Engram) -> None:
    with pytest.raises(InvalidInput, match="day"):
        engram.cost("moon")


def test_json_holds_every_class(engram: Engram, work: Claude) -> None:
    from engram.surfaces.encode import to_json

    engram.ingest()
    (cost,) = json.loads(to_json(engram.cost("flavor", days=10000)))
    assert {"input", "output", "cache_read", "cache_write", "money", "basis"} <= cost.keys()
