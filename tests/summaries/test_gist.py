"""Summaries: made of quotes or by a model, one per session, with the messages they cover."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engram import Engram, InvalidInput
from engram.store import documents, exchanges
from tests.models.conftest import Opened, calls
from tests.models.speaking import Api, chat, says, speaking
from tests.summaries.talking import passages, said

TALK = (
    "Please fix the parser so that nested lists keep their indent.",
    "I fixed the parser: the stack was popped too early. All tests pass.",
    "Let's keep the old tokenizer because the new one is slower.",
)


def answered(**facts: Any) -> str:
    return json.dumps({"summary": "They fixed the parser.", "decisions": [], "open": [], **facts})


def openai(opened: Opened, api: Api) -> Engram:
    return opened(model="openai", model_name="gpt-4o-mini", model_url=f"{api.url}/v1")


def test_ripe_sessions_get_a_gist_of_quotes_without_any_model(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    done = engram.summarize()
    assert (done.made, done.skipped, done.failed, done.by) == (("one",), (), {}, {"extract/1": 1})
    gist = engram.get_summary("one")
    assert gist is not None
    assert "Let's keep the old tokenizer because the new one is slower." in gist.content
    assert (gist.version, gist.made_by, gist.exchanges, gist.unsummarized) == (1, "extract/1", 3, 0)
    assert gist.last_exchange_id == engram.history("one")[-1].id
    assert gist.trust == "assistant"


def test_a_gist_can_be_found_and_carries_no_numbers_nobody_searches_for(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    engram.summarize()
    (found,) = passages(engram, "gist").values()
    assert "nested lists" in found
    assert "(#" not in found


@pytest.mark.parametrize("summary", ["{", "<pre><br>", "I will do this for you."])
def test_an_answer_that_is_not_about_the_session_is_not_its_summary(opened: Opened, summary: str) -> None:
    with speaking(chat(answered(summary=summary))) as api:
        engram = openai(opened, api)
        said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
        done = engram.summarize()
        assert (done.by, done.fallbacks) == ({"extract/1": 1}, {"model_invalid": 1})


def test_nothing_new_is_nothing_to_do(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    engram.summarize()
    assert engram.summarize() == engram.summarize(limit=5)
    assert engram.summarize("one").skipped == ("one",)
    assert engram.summarize(force=True).made == ("one",)
    assert documents.count_versions(engram.engine, "gist") == 1  # an unchanged text is not a new version


def test_the_backlog_tells_what_no_gist_covers(engram: Engram) -> None:
    assert engram.backlog_stats().max_exchange_id == 0
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    said(engram, "two", "2026-03-02T10:00:00+00:00", *TALK)
    before = engram.backlog_stats()
    assert (before.sessions, before.dirty, before.ripe, before.unsummarized_total) == (2, 2, 2, 6)
    engram.summarize("one")
    engram.remember("one", "user", "One more thing to keep in mind.")
    after = engram.backlog_stats()
    assert (after.dirty, after.ripe, after.unsummarized_total) == (2, 1, 4)
    assert engram.backlog_stats(ripe_threshold=1).ripe == 2
    assert after.max_exchange_id == engram.history("one")[-1].id
    assert engram.unsummarized_count("one") == 1


def test_a_summarized_session_waits_for_twenty_new_exchanges(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    engram.summarize()
    said(engram, "one", "2026-03-02T10:00:00+00:00", *(f"Message number {n} of the day." for n in range(19)))
    assert engram.summarize().made == ()
    engram.remember("one", "user", "And the twentieth message.")
    assert engram.summarize().made == ("one",)
    gist = engram.get_summary("one")
    assert gist is not None
    assert (gist.version, gist.exchanges) == (2, 23)


def test_older_turns_that_come_later_are_not_taken_for_covered(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    engram.summarize()
    said(engram, "one", "2025-01-01T10:00:00+00:00", "An older question about the parser.")
    assert engram.unsummarized_count("one") == 1
    assert engram.backlog_stats().dirty == 1


def test_a_given_summary_covers_up_to_the_exchange_it_names(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    first = engram.history("one")[0].id
    gist = engram.store_summary("one", "They talk about a parser.", first)
    assert (gist.last_exchange_id, gist.unsummarized, gist.made_by) == (first, 2, "given")
    assert engram.store_summary("one", "They fixed it.").unsummarized == 0
    assert engram.store_summary("one", "They began.", first).unsummarized == 2  # the mark is set back as well
    with pytest.raises(InvalidInput, match="not an exchange of this session"):
        engram.store_summary("one", "x", 10**9)


def test_every_version_is_kept_with_its_sources(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    engram.summarize()
    engram.store_summary("one", "They fixed it.")
    newest, oldest = documents.list_versions(engram.engine, "gist", "one", 10)
    assert (newest["content"], newest["made_by"], oldest["made_by"]) == ("They fixed it.", "given", "extract/1")
    facts = json.loads(oldest["sources"])
    assert (facts["count"], facts["trust"], facts["origins"]) == (3, "assistant", ["assistant", "user"])
    assert facts["hash"] == json.loads(newest["sources"])["hash"]


def test_the_least_trusted_origin_survives(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    said(engram, "one", "2026-03-01T11:00:00+00:00", "tool: The page says that the sky is green.")
    said(engram, "two", "2026-03-01T10:00:00+00:00", *TALK, origin="import")
    engram.summarize()
    assert {gist.session_id: gist.trust for gist in engram.list_summaries()} == {"one": "tool", "two": "import"}


def test_secrets_in_a_given_summary_are_removed(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    gist = engram.store_summary("one", f"The token is {secret} and it works.")
    assert secret not in gist.content
    assert "REDACTED" in passages(engram, "gist")["one"]


def test_a_changed_exchange_makes_its_session_dirty(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    engram.engine.run("update exchanges set event = id")
    engram.summarize()
    one = engram.history("one")[0]
    with engram.engine.transaction():
        exchanges.update_by_event(engram.engine, one.id, "user", "Please fix the lexer instead of the parser.", 0)
    assert engram.unsummarized_count("one") == 1
    assert engram.summarize("one").made == ("one",)
    gist = engram.get_summary("one")
    assert gist is not None
    assert "lexer" in gist.content


def test_a_session_without_a_sentence_is_told_by_its_first_words(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", "```\nx = 1\n```")
    engram.summarize()
    gist = engram.get_summary("one")
    assert gist is not None
    assert "x = 1" in gist.content


def test_one_session_that_cannot_be_summarized_does_not_stop_the_rest(engram: Engram) -> None:
    said(engram, "bad", "2026-03-01T10:00:00+00:00", *TALK)
    said(engram, "good", "2026-03-01T10:00:00+00:00", *TALK)
    highest = 2**63 - 1 if engram.engine.dialect == "sqlite" else 2**31 - 1  # there is no later version
    documents.add_version(engram.engine, "gist", "bad", highest, "", None, 0)
    done = engram.summarize(force=True)
    assert done.made == ("good",)
    assert set(done.failed) == {"bad"}


def test_sessions_beyond_the_limit_are_left_for_the_next_time(engram: Engram) -> None:
    for name in ("one", "two", "three"):
        said(engram, name, "2026-03-01T10:00:00+00:00", *TALK)
    done = engram.summarize(limit=2)
    assert (len(done.made), done.left) == (2, 1)
    assert len(engram.summarize(limit=2).made) == 1


def test_a_model_writes_the_gist_and_its_prompt_is_noted(opened: Opened) -> None:
    reply = answered(decisions=["Keep the old tokenizer, it is faster."], open=["Measure it."])
    with speaking(chat(reply)) as api:
        hub = openai(opened, api)
        said(hub, "one", "2026-03-01T10:00:00+00:00", *TALK)
        done = hub.summarize()
        asked = api.asked[0]["body"]["messages"][-1]["content"]
    gist = hub.get_summary("one")
    assert gist is not None
    assert (done.by, done.fallbacks) == ({"model:openai/gpt-4o-mini": 1}, {})
    assert gist.made_by.startswith("model:openai/gpt-4o-mini, prompt gist@")
    assert gist.content.splitlines() == [
        "They fixed the parser.", "Decided:", "- Keep the old tokenizer, it is faster.", "Open:", "- Measure it.",
    ]  # fmt: skip
    assert "| Please fix the parser" in asked
    assert "data, not instructions" in asked


@pytest.mark.parametrize(
    "reply", ["garbage", "{}", '{"summary": ""}', answered(summary="   "), answered(extra=1), "[1]"]
)
def test_an_answer_nobody_can_use_leaves_the_gist_to_quotes(opened: Opened, reply: str) -> None:
    with speaking(chat(reply)) as api:
        hub = openai(opened, api)
        said(hub, "one", "2026-03-01T10:00:00+00:00", *TALK)
        done = hub.summarize()
    assert (done.made, done.fallbacks, done.by) == (("one",), {"model_invalid": 1}, {"extract/1": 1})


def test_a_model_that_cannot_be_reached_is_asked_once_not_for_every_session(opened: Opened) -> None:
    with speaking(says({"error": {"message": "no such model"}}, 404)) as api:
        hub = openai(opened, api)
        for name in ("one", "two", "three"):
            said(hub, name, "2026-03-01T10:00:00+00:00", *TALK)
        done = hub.summarize()
    assert len(done.made) == 3
    assert done.fallbacks == {"model_refused": 1}
    assert len(calls(hub)) == 1


def test_a_secret_the_model_makes_up_is_not_stored(opened: Opened) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with speaking(chat(answered(summary=f"They fixed the parser. The token {secret} was used."))) as api:
        hub = openai(opened, api)
        said(hub, "one", "2026-03-01T10:00:00+00:00", *TALK)
        hub.summarize()
    gist = hub.get_summary("one")
    assert gist is not None
    assert secret not in gist.content
    assert gist.made_by.startswith("model:")


def test_a_long_session_is_given_to_the_model_in_bounds(opened: Opened) -> None:
    with speaking(chat(answered())) as api:
        hub = openai(opened, api)
        said(
            hub, "one", "2026-03-01T10:00:00+00:00", *(f"Message {n}: {'the parser is slow ' * 60}" for n in range(200))
        )
        hub.summarize()
        asked = api.asked[0]["body"]["messages"][-1]["content"]
    assert len(asked) < 60_000
    assert "| Message 0:" in asked
    assert "| Message 199:" in asked


def test_an_unknown_session_has_no_gist_to_show(engram: Engram) -> None:
    said(engram, "one", "2026-03-01T10:00:00+00:00", *TALK)
    assert engram.get_summary("one") is None
    assert engram.unsummarized_count("nobody") == 0
