"""Eras follow the user's calendar, and documents know when they are stale."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engram import Engram, InvalidInput
from engram.errors import SettingsInvalid
from engram.store import documents
from engram.summaries.eras import run_integration
from tests.models.conftest import Opened
from tests.models.speaking import chat, speaking
from tests.summaries.talking import passages, said

EVENING = "2026-03-31T22:30:00+00:00"  # in Berlin it is April already, in New York still March


def told(engram: Engram) -> None:
    """Add two months with a session each."""
    said(engram, "march", "2026-03-10T10:00:00+00:00", "Let's write the importer in Rust because of its speed.")
    said(engram, "april", "2026-04-10T10:00:00+00:00", "Let's drop the Rust importer because nobody can build it.")
    engram.summarize()


def test_a_month_is_told_by_the_quotes_of_its_sessions(engram: Engram) -> None:
    told(engram)
    done = engram.integrate()
    assert (done.eras, done.profile, done.narrative) == (("2026-03", "2026-04"), "none", "made")
    march, april = engram.list_eras()
    assert (march.month, march.session_count, march.made_by) == ("2026-03", 1, "extract/1")
    assert "importer in Rust because of its speed" in march.content
    assert "nobody can build it" in april.content
    assert "because of its speed" in passages(engram, "era")["2026-03"]


@pytest.mark.parametrize(
    ("zone", "month"), [("Europe/Berlin", "2026-04"), ("America/New_York", "2026-03"), ("Asia/Tokyo", "2026-04")]
)
def test_an_evening_at_the_end_of_a_month_falls_into_the_month_of_the_user(
    store: str, tmp_path: Path, zone: str, month: str
) -> None:
    with Engram(store=store, home=str(tmp_path / "home"), timezone=zone) as engram:
        said(engram, "evening", EVENING, "Let's end the month with a quiet evening of work.")
        engram.summarize()
        assert list(engram.summaries_by_month()) == [month]
        assert engram.integrate().eras == (month,)


def test_moving_to_another_zone_moves_the_session_and_removes_the_empty_month(store: str, tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    with Engram(store=store, home=home, timezone="Europe/Berlin") as engram:
        said(engram, "evening", EVENING, "Let's end the month with a quiet evening of work.")
        engram.summarize()
        engram.integrate()
    with Engram(store=store, home=home, timezone="America/New_York") as engram:
        done = engram.integrate()
        assert (done.eras, done.removed) == (("2026-03",), ("2026-04",))
        assert [era.month for era in engram.list_eras()] == ["2026-03"]
        assert list(passages(engram, "era")) == ["2026-03"]
        assert len(documents.list_versions(engram.engine, "era", "2026-04", 10)) == 2  # the old text is history


def test_an_unknown_zone_is_refused(store: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="Mars/Olympus"):
        Engram(store=store, home=str(tmp_path / "home"), timezone="Mars/Olympus")


def test_a_long_session_is_told_in_every_month_it_went_on(engram: Engram) -> None:
    said(engram, "long", "2026-03-10T10:00:00+00:00", "Let's begin the rewrite because the old code is slow.")
    said(engram, "long", "2026-05-10T10:00:00+00:00", "Let's stop the rewrite because it is not faster.")
    engram.summarize()
    assert list(engram.summaries_by_month()) == ["2026-03"]
    engram.integrate()
    assert {era.month: era.session_count for era in engram.list_eras()} == {"2026-03": 1, "2026-05": 0}
    march, may = engram.list_eras()
    assert "begin the rewrite" in march.content
    assert "stop the rewrite" not in march.content
    assert "stop the rewrite" in may.content


def test_only_what_changed_is_made_again(engram: Engram) -> None:
    told(engram)
    engram.integrate()
    assert engram.integrate().fresh == 2
    engram.store_summary("march", "They chose Rust for the importer.")
    done = engram.integrate()
    assert (done.eras, done.fresh) == (("2026-03",), 1)
    assert "They chose Rust for the importer." in engram.list_eras()[0].content


def test_one_deleted_and_one_added_is_a_change_though_the_count_is_the_same(engram: Engram) -> None:
    told(engram)
    engram.integrate()
    engram.delete_session("march")
    said(engram, "other", "2026-03-11T10:00:00+00:00", "Let's write the importer in Go because it builds anywhere.")
    engram.summarize()
    assert engram.integrate().eras == ("2026-03",)
    assert "importer in Go" in engram.list_eras()[0].content


def test_forgetting_a_session_forgets_what_was_made_of_it(engram: Engram) -> None:
    told(engram)
    said(
        engram,
        "secret",
        "2026-03-12T10:00:00+00:00",
        "I live in Zanzibar. Let's call the project Moonfish because I like it.",
    )
    engram.summarize()
    engram.integrate()
    engram.delete_session("secret")
    result = engram.engine.run("select content, sources from documents")
    assert [row for row in result if "Moonfish" in row["content"] or "Zanzibar" in row["content"]] == []
    assert [row for row in result if "secret" in (row["sources"] or "")] == []
    assert (
        engram.engine.run("select id from passages where content like '%Moonfish%' or content like '%Zanzibar%'") == []
    )
    march = engram.list_eras()[0]
    assert (march.month, march.session_count) == ("2026-03", 1)
    assert "importer in Rust" in march.content
    assert "importer in Rust" in passages(engram, "era")["2026-03"]


def test_the_last_session_of_a_month_takes_its_era_with_it(engram: Engram) -> None:
    told(engram)
    engram.integrate()
    engram.delete_session("march")
    assert [era.month for era in engram.list_eras()] == ["2026-04"]
    assert list(passages(engram, "era")) == ["2026-04"]
    engram.delete_session("april")
    assert (engram.list_eras(), engram.get_profile(), engram.get_narrative()) == ([], None, None)


def test_what_somebody_gave_is_not_replaced_by_quotes(engram: Engram) -> None:
    told(engram)
    era = engram.store_era("2026-03", "A month of Rust.", 7)
    assert (era.session_count, era.made_by) == (7, "given")
    engram.store_summary("march", "They chose Rust for the importer.")
    done = engram.integrate()
    assert (done.kept, done.eras) == (("2026-03",), ("2026-04",))
    assert engram.list_eras()[0].content == "A month of Rust."
    assert engram.integrate(rebuild=True).eras == ("2026-04",)
    assert engram.list_eras()[0].content == "A month of Rust."


def test_what_somebody_gave_goes_with_the_session_it_is_made_of_and_no_other(engram: Engram) -> None:
    told(engram)
    engram.store_era("2026-03", "A month of Rust.")
    engram.set_profile("Likes Rust.")
    engram.set_narrative("Rust is over.", made_of=["april"])
    engram.delete_session("march")
    assert engram.get_profile() == "Likes Rust."
    assert engram.get_narrative() == "Rust is over."
    assert [era.content for era in engram.list_eras() if era.month == "2026-03"] == []


def test_a_rebuild_makes_gists_of_quotes_again_and_leaves_given_ones(engram: Engram) -> None:
    told(engram)
    engram.store_summary("april", "They dropped Rust.")
    engram.integrate()
    with engram.engine.transaction():
        engram.engine.run("delete from passages")
        engram.engine.run("delete from documents where kind = 'extract'")
    done = engram.integrate(rebuild=True)
    assert done.failed == {}
    assert passages(engram, "gist")["april"] == "They dropped Rust."
    assert "importer in Rust" in passages(engram, "gist")["march"]
    assert "importer in Rust" in engram.list_eras()[0].content


def test_a_month_must_be_one(engram: Engram) -> None:
    for month in ("2026-13", "May", "2026-5", ""):
        with pytest.raises(InvalidInput, match="month"):
            engram.store_era(month, "words")


def test_a_model_writes_the_tiers_and_is_not_asked_for_what_is_fresh(opened: Opened) -> None:
    replies = [json.dumps({"summary": "They chose Rust.", "decisions": [], "open": []})] * 2
    replies += [json.dumps({"era": f"A month of {each}."}) for each in ("Rust", "builds")]
    replies += [json.dumps({"narrative": "The Rust importer came and went.", "threads": ["Measure it."]})]
    with speaking(*map(chat, replies)) as api:
        hub = opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")
        told(hub)
        done = hub.integrate()
        asked = len(api.asked)
        hub.integrate()
        assert len(api.asked) == asked
    assert (done.by, done.fallbacks, done.failed) == ({"model:openai/gpt-4o-mini": 3}, {}, {})
    assert [era.content for era in hub.list_eras()] == ["A month of Rust.", "A month of builds."]
    assert hub.get_narrative() == "The Rust importer came and went.\nOpen:\n- Measure it."


def test_without_thinking_no_model_is_asked(opened: Opened) -> None:
    with speaking(chat("garbage")) as api:
        hub = opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")
        said(hub, "one", "2026-03-10T10:00:00+00:00", "Let's write the importer in Rust because of its speed.")
        hub.store_summary("one", "They chose Rust.")
        done = run_integration(hub, think=False)
        assert api.asked == []
    assert done.eras == ("2026-03",)


def test_quotes_give_way_once_a_model_is_here_but_a_useless_one_is_not_asked_again(opened: Opened) -> None:
    said(
        plain := opened(), "one", "2026-03-10T10:00:00+00:00", "Let's write the importer in Rust because of its speed."
    )
    plain.store_summary("one", "They chose Rust.")
    plain.integrate()
    with speaking(chat("garbage")) as api:
        hub = opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")
        assert hub.integrate().fallbacks == {"model_invalid": 2}
        asked = len(api.asked)
        assert hub.integrate().fresh == 1
        assert len(api.asked) == asked
        hub.store_summary("one", "They chose Rust, and then Go.")
        api.acts = [chat(json.dumps({"era": "A month of Go."})), chat(json.dumps({"narrative": "On.", "threads": []}))]
        assert hub.integrate().eras == ("2026-03",)
    assert hub.list_eras()[0].content == "A month of Go."
