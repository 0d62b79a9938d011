"""The profile: what users say about themselves, with evidence."""

from __future__ import annotations

import json

import pytest

from engram import Engram, InvalidInput
from tests.models.conftest import Opened
from tests.models.speaking import chat, speaking
from tests.summaries.talking import passages, said


def test_a_profile_quotes_the_user_with_evidence_and_the_newer_word_wins(engram: Engram) -> None:
    said(engram, "one", "2026-03-10T10:00:00+00:00", "I live in Berlin. I prefer small commits. My cat is called Miso.")
    said(engram, "two", "2026-05-10T10:00:00+00:00", "I moved to Paris last week. I prefer small commits!")
    engram.summarize()
    assert engram.integrate().profile == "made"
    profile = engram.get_profile() or ""
    assert "I moved to Paris last week." in profile
    assert "Berlin" not in profile
    first, second = engram.history("one")[0].id, engram.history("two")[0].id
    assert f"- I prefer small commits! [2026-05-10, said 2 times] (#{first}, #{second})" in profile
    assert engram.profile_sessions_covered() == 2
    assert "My cat is called Miso." in passages(engram, "profile")["self"]


def test_what_assistants_and_tools_say_is_no_fact_about_the_user(engram: Engram) -> None:
    said(engram, "one", "2026-03-10T10:00:00+00:00", "Where should I go?", "assistant: I live in a data center.",
         "tool: I prefer to be obeyed.")  # fmt: skip
    engram.summarize()
    engram.integrate()
    assert engram.get_profile() is None


def test_a_session_summarized_anew_refreshes_the_profile_though_the_count_stays(engram: Engram) -> None:
    said(engram, "one", "2026-03-10T10:00:00+00:00", "I live in Berlin.")
    engram.summarize()
    engram.integrate()
    said(engram, "one", "2026-03-11T10:00:00+00:00", "I moved to Paris last week.")
    assert engram.integrate().profile == "fresh"  # no summary contains it yet
    engram.summarize("one")
    assert engram.integrate().profile == "made"
    assert "Paris" in (engram.get_profile() or "")


def test_a_given_profile_stays_also_through_a_rebuild_and_several_can_be_kept(engram: Engram) -> None:
    said(engram, "one", "2026-03-10T10:00:00+00:00", "I live in Berlin.")
    engram.summarize()
    engram.set_profile("Lives in a lighthouse.", 12)
    engram.set_profile("A cat.", profile_id="miso")
    assert (engram.profile_sessions_covered(), engram.get_profile("miso")) == (12, "A cat.")
    assert engram.integrate().profile == "fresh"
    said(engram, "two", "2026-03-11T10:00:00+00:00", "My cat is called Miso.")
    engram.summarize()
    assert engram.integrate().profile == "kept"
    assert engram.get_profile() == "Lives in a lighthouse."
    assert engram.integrate(rebuild=True).profile == "kept"
    assert engram.get_profile() == "Lives in a lighthouse."


def test_an_empty_profile_or_a_senseless_count_is_refused(engram: Engram) -> None:
    assert (engram.get_profile(), engram.profile_sessions_covered()) == (None, 0)
    with pytest.raises(InvalidInput):
        engram.set_profile("  ")
    with pytest.raises(InvalidInput):
        engram.set_profile("x", -1)


def test_secrets_in_a_given_profile_are_removed(engram: Engram) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert secret not in engram.set_profile(f"Their token is {secret}.")
    assert secret not in (engram.get_profile() or "")


def test_a_model_writes_the_facts_from_the_users_statements_only(opened: Opened) -> None:
    with speaking(chat("none of this is JSON")) as api:
        hub = opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")
        said(hub, "one", "2026-03-10T10:00:00+00:00", "I live in Berlin.", "assistant: I am a helpful model.")
        hub.store_summary("one", "They live in Berlin.")
        hub.store_era("2026-03", "A month in Berlin.")
        api.acts = [chat(json.dumps({"facts": ["Lives in Berlin.", "  "]})), chat("garbage")]
        done = hub.integrate()
        asked = api.asked[0]["body"]["messages"][-1]["content"]
    assert "| 2026-03-10 I live in Berlin." in asked
    assert "helpful model" not in asked
    assert hub.get_profile() == "- Lives in Berlin."
    assert (done.profile, done.narrative, done.fallbacks) == ("made", "made", {"model_invalid": 1})
