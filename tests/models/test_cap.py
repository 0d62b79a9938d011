"""The daily cap: reserved before a call, shared by several processes, and reset at midnight."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.errors import BudgetSpent
from engram.models.complete import complete
from engram.models.prices import Prices
from engram.models.provider import Budget
from engram.store import model_calls
from tests.conftest import ManualClock
from tests.models.conftest import KEY, Opened, calls
from tests.models.speaking import Api, chat, message, speaking
from tests.models.standing_in import heard, install, printing

ASK = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
import sys
from engram import Engram
from engram.errors import Error
from engram.models.complete import complete
with Engram() as hub:
    print("open", flush=True)
    sys.stdin.readline()
    try:
        complete(hub, "say hi", purpose="race")
        print("answered")
    except Error as problem:
        print(problem.code)
"""


def asking(**env: str) -> subprocess.Popen[str]:
    """Start a process that calls the model on a signal."""
    child = subprocess.Popen(
        [sys.executable, "-c", ASK], env={**os.environ, **env}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "open\n"
    return child


def test_two_processes_do_not_both_take_the_last_cents(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = install(tmp_path / "bin", "claude", "time.sleep(1)\n" + printing(total_cost_usd=0.02), monkeypatch)
    # One call may cost 2.5 cents at the highest price of `haiku`, so three cents are enough for one call.
    racers = [asking(ENGRAM_STORE=store, ENGRAM_MODEL="claude", ENGRAM_MODEL_DAILY_CENTS="3") for _ in range(4)]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    assert sorted(each.communicate()[0].strip() for each in racers) == ["answered", *["budget_spent"] * 3]
    assert len(heard(log)) == 1


def test_an_interrupted_call_keeps_what_was_reserved_for_it(store: str, tmp_path: Path) -> None:
    def hang(handler: BaseHTTPRequestHandler) -> None:
        api.done.wait(30)

    with speaking(hang) as api:
        env = {"ENGRAM_MODEL": "openai", "ENGRAM_MODEL_NAME": "m", "ENGRAM_MODEL_URL": api.url, "ENGRAM_STORE": store}
        child = asking(**env)
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
        while not api.asked:
            time.sleep(0.01)
        child.send_signal(signal.SIGINT)
        child.wait()
    with Engram(store=store, home=str(tmp_path / "home")) as hub:
        (row,) = calls(hub)
        assert (row["state"], row["error"], row["output"]) == ("failed", "KeyboardInterrupt", 4096)


def openai(opened: Opened, api: Api, **choices: Any) -> Engram:
    return opened(model="openai", model_name="local", model_url=api.url, **choices)


def test_tokens_without_a_price_have_a_cap_of_their_own(opened: Opened) -> None:
    with speaking(chat("hi")) as api:
        hub = openai(opened, api, model_daily_tokens=5000)
        complete(hub, "say hi", purpose="test")
        with pytest.raises(BudgetSpent, match=r"1,100 of today.*model_daily_tokens") as spent:
            complete(hub, "say hi", purpose="test")
        assert complete(hub, "say hi", purpose="test", budget=Budget(max_tokens=100)).text == "hi"
    assert spent.value.free_at is not None
    assert len(api.asked) == 2


def test_the_cap_is_whole_again_at_midnight_and_says_so(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        clock.wall = 1_800_000_000_000_000  # 2027-01-15 17:00 in Tokyo
        with speaking(chat("hi")) as api:
            choices: dict[str, Any] = {
                "model": "openai",
                "model_name": "m",
                "model_url": api.url,
                "model_daily_tokens": 5000,
            }
            with Engram(tmp_path / "home", clock=clock, **choices) as hub:
                complete(hub, "say hi", purpose="test")
                with pytest.raises(BudgetSpent, match="2027-01-16 00:00") as spent:
                    complete(hub, "say hi", purpose="test")
                assert spent.value.free_at is not None
                clock.pass_(spent.value.free_at.timestamp() - clock.wall / 1e6 - 1)
                with pytest.raises(BudgetSpent):
                    complete(hub, "say hi", purpose="test")
                clock.pass_(1)
                assert complete(hub, "say hi", purpose="test").text == "hi"
                assert [cost.place for cost in hub.cost(own=True)] == ["2027-01-15 test", "2027-01-16 test"]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_reservation_of_a_dead_process_lapses(tmp_path: Path, clock: ManualClock) -> None:
    facts = {"host": "h", "purpose": "p", "provider": "openai", "model": "m", "cost": None}
    with speaking(chat("hi")) as api:
        choices: dict[str, Any] = {
            "model": "openai",
            "model_name": "m",
            "model_url": api.url,
            "model_daily_tokens": 5000,
        }
        with Engram(tmp_path / "home", clock=clock, model_seconds=10, **choices) as hub:
            lapses = clock.wall + 40_000_000
            model_calls.reserve(hub.engine, at=clock.wall, input=900, output=100, lapses_at=lapses, **facts)
            with pytest.raises(BudgetSpent):
                complete(hub, "say hi", purpose="test")
            assert hub.model_status().tokens == 1000
            clock.pass_(40)
            assert complete(hub, "say hi", purpose="test").text == "hi"
            assert hub.model_status().tokens == 1100


def test_a_call_is_shortened_to_what_its_caller_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = install(tmp_path / "bin", "claude", printing(), monkeypatch)
    with Engram(tmp_path / "home", model="claude", model_name="claude-haiku-4-5") as hub:
        complete(hub, "say hi", purpose="test", budget=Budget(max_dollars=0.005))
        with pytest.raises(BudgetSpent, match="The prompt alone"):
            complete(hub, "say hi", purpose="test", budget=Budget(max_dollars=0.001))
    (given,) = heard(log)
    limit = int(given["env"]["CLAUDE_CODE_MAX_OUTPUT_TOKENS"])
    assert 150 < limit < 250  # 4,000 tokens of input at $1 leave a tenth of a cent, at $5 per million


def test_an_alias_is_reserved_for_at_the_dearest_it_may_stand_for(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text('[models]\n"claude-haiku-9" = [7.0, 35.0]\n')
    prices = Prices(str(tmp_path))
    assert prices.guess_prices("haiku") == [7.0, 35.0]
    assert prices.guess_prices("claude-haiku-4-5") == prices.find_prices("claude-haiku-4-5")
    assert prices.guess_prices("") is None
    assert prices.guess_prices("unheard-of") is None


def test_own_spending_is_told_by_day_and_purpose(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(tmp_path / "bin", "claude", printing(), monkeypatch)
    hub = opened(model="claude")
    complete(hub, "one", purpose="distill")
    complete(hub, "two", purpose="distill")
    complete(hub, "three", purpose="judge")
    first, second = hub.cost(own=True)
    assert (first.place[11:], first.answers, first.input) == ("distill", 2, 1800)
    assert first.money == pytest.approx(0.0022)
    assert (second.place[11:], second.answers, second.basis) == ("judge", 1, "exact")
    assert hub.model_status().spent == pytest.approx(0.0033)


def test_what_runs_here_costs_nothing_even_under_a_vendors_name(opened: Opened) -> None:
    with speaking(message("hi")) as api:
        hub = opened(model="anthropic", model_name="claude-haiku-4-5", model_url=api.url)
        assert complete(hub, "hi", purpose="test").cost is None
    (cost,) = hub.cost(own=True)
    assert (cost.money, cost.basis, cost.output) == (0.0, "floor", 100)
    assert KEY not in str(calls(hub))
