"""Summaries that rules made are rewritten when a model arrives: the ones in use first, a few per pass."""

from __future__ import annotations

import json

import pytest

from engram import Engram
from engram.summaries import upgrade
from tests.dream.test_cycle import by_schema, model_of, talk
from tests.models.conftest import Opened
from tests.models.speaking import Act, Api, chat, says, speaking
from tests.summaries.talking import said

COUNT = upgrade.PER_PASS + 2


def summarize_without_model(opened: Opened) -> None:
    """Write summaries by rules, and look one of the older ones up."""
    with opened() as engram:
        for number in range(COUNT):
            talk(engram, f"s{number}", f"2026-11-{number + 1:02d}T10:00:00+00:00")
        said(engram, "s1", "2026-11-02T10:05:00+00:00", "The zeppelin hangar needs new doors.")
        engram.dream(force=True)
        assert engram.recall("zeppelin hangar doors", messages=True)[0].session_id == "s1"


def list_rewritten(engram: Engram) -> set[str]:
    return {gist.session_id for gist in engram.list_summaries() if gist.made_by.startswith("model:")}


def test_what_is_used_is_rewritten_first_and_its_history_is_kept(opened: Opened) -> None:
    summarize_without_model(opened)
    with speaking() as api:
        api.acts.append(by_schema(api))
        engram = model_of(opened, api)
        first_pass = engram.dream(force=True)
        rewritten = list_rewritten(engram)
        assert rewritten == {"s1", *(f"s{number}" for number in range(COUNT - upgrade.PER_PASS + 1, COUNT))}
        assert "rewrote 5 older summaries" in next(done.did for done in first_pass.steps if done.step == "gist")
        versions = engram.list_versions("gist", "s1")
        assert [version.author for version in versions] == ["model", "extract"]
        engram.dream(force=True)
        assert len(list_rewritten(engram)) == COUNT
        engram.dream(force=True)
        count = len(api.asked)
        assert engram.dream(force=True).calls == 0
        assert len(api.asked) == count


def test_an_undone_rewrite_is_not_done_again(opened: Opened) -> None:
    summarize_without_model(opened)
    with speaking() as api:
        api.acts.append(by_schema(api))
        engram = model_of(opened, api)
        engram.undo_dream(engram.dream(force=True).id)
        assert list_rewritten(engram) == set()
        engram.dream(force=True)
        assert "s1" not in list_rewritten(engram)


def test_without_money_for_the_dream_nothing_waits_to_be_rewritten(opened: Opened) -> None:
    summarize_without_model(opened)
    with speaking() as api:
        engram = opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")
        assert "rewrite" not in engram.get_drives()[0].why
        assert engram.dream(force=True).calls == 0
        assert "7 summaries to rewrite" in model_of(opened, api).get_drives()[0].why


def test_the_daily_limit_ends_it_for_today(opened: Opened) -> None:
    summarize_without_model(opened)
    with speaking(chat(json.dumps({"summary": "Billing.", "decisions": [], "open": []}))) as api:
        engram = model_of(opened, api, model_daily_tokens=6000)
        engram.dream(force=True)
        assert 0 < len(list_rewritten(engram)) < upgrade.PER_PASS


@pytest.mark.parametrize("act", [chat("no JSON"), says({}, 401)])
def test_a_model_that_is_no_use_leaves_the_summaries_and_is_not_asked_forever(opened: Opened, act: Act) -> None:
    summarize_without_model(opened)
    with speaking(act) as api:
        engram = model_of(opened, api)
        for _ in range(8):
            engram.dream(force=True)
        assert list_rewritten(engram) == set()
        assert _count_gist_calls(api) <= 2 * 2 * COUNT  # two tries, each with a repetition


def _count_gist_calls(api: Api) -> int:
    return sum("decisions" in json.dumps(each["body"]) and "summary" in json.dumps(each["body"]) for each in api.asked)
