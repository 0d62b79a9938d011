"""Documents written by a person or a model, or imported, are never replaced by quotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.store import documents
from engram.summaries.eras import run_integration
from tests.dream.test_cycle import by_schema, model_of
from tests.models.conftest import Opened
from tests.models.speaking import chat, speaking
from tests.summaries.talking import passages, said
from tests.summaries.test_gist import TALK, answered, openai
from tests.summaries.test_import_lyra import NOON, Lyra

BEGAN, LATER = "2026-03-01T10:00:00+00:00", "2026-03-02T10:00:00+00:00"
MORE = [f"Now move the module number {n} over, and keep the tests of it green." for n in range(24)]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # a forced dream ingests the transcripts there


def content(engram: Engram, session: str) -> str:
    summary = engram.get_summary(session)
    assert summary is not None
    return summary.content


def test_a_gist_by_a_model_survives_a_forced_dream_without_one(opened: Opened) -> None:
    with speaking(chat(answered(summary="They fixed the parser."))) as api:
        hub = openai(opened, api)
        said(hub, "one", BEGAN, *TALK)
        hub.summarize()
    made_by = hub.get_summary("one").made_by  # type: ignore[union-attr]
    said(hub, "one", LATER, *MORE)
    plain = opened(model="none")
    plain.dream(force=True)
    summary = plain.get_summary("one")
    assert summary is not None
    assert summary.content.startswith("They fixed the parser.\n\nSince then, quoted:\nAsked:\n- ")
    assert (summary.made_by, summary.unsummarized) == (made_by, 0)
    assert "move the module number" in passages(plain, "gist")["one"]
    version = summary.version
    plain.dream(force=True)
    plain.summarize("one", force=True)
    assert plain.get_summary("one").version == version  # type: ignore[union-attr]


def test_what_is_quoted_below_a_written_gist_begins_where_the_writing_ends(engram: Engram) -> None:
    said(engram, "one", BEGAN, *TALK)
    engram.store_summary("one", "They fixed it.")
    said(engram, "one", LATER, *MORE[:20])
    engram.summarize()
    said(engram, "one", "2026-03-03T10:00:00+00:00", "Let's call the new module Heron because it is grey.", *MORE[:19])
    engram.summarize()
    result = content(engram, "one")
    assert result.count("They fixed it.") == result.count("Since then, quoted:") == 1
    assert "Heron" in result
    assert "move the module number" in result
    assert all(said not in result for said in TALK)


def test_a_model_that_fails_leaves_what_was_written(opened: Opened) -> None:
    said(plain := opened(), "one", BEGAN, *TALK)
    plain.store_summary("one", "They fixed it.")
    plain.store_era("2026-03", "A month of parsers.")
    plain.set_profile("Likes parsers.")
    plain.set_narrative("The parser is done.")
    with speaking(chat("garbage")) as api:
        hub = openai(opened, api)
        said(hub, "one", LATER, *MORE)
        hub.summarize()
        done = hub.integrate()
    assert content(hub, "one").startswith("They fixed it.\n\nSince then, quoted:\n")
    assert (done.kept, done.profile, done.narrative) == (("2026-03",), "kept", "kept")
    assert hub.get_profile() == "Likes parsers."


def test_a_rebuild_without_a_model_leaves_what_was_written(engram: Engram) -> None:
    said(engram, "one", BEGAN, *TALK, "user: I live in Berlin.")
    engram.summarize()
    engram.store_era("2026-03", "A month of parsers.")
    engram.set_profile("Likes parsers.")
    engram.set_narrative("The parser is done.")
    done = engram.integrate(rebuild=True)
    assert (done.kept, done.profile, done.narrative) == (("2026-03",), "kept", "kept")
    assert [era.content for era in engram.list_eras()] == ["A month of parsers."]


def test_tiers_by_a_model_are_not_remade_of_quotes(opened: Opened) -> None:
    said(plain := opened(), "one", BEGAN, *TALK)
    plain.summarize()
    with speaking(chat('{"era": "A month of parsers."}'), chat('{"narrative": "Done.", "threads": []}')) as api:
        openai(opened, api).integrate()
    said(plain, "one", LATER, *MORE)
    plain.summarize()
    plain.dream(force=True)
    assert [era.content for era in plain.list_eras()] == ["A month of parsers."]
    assert plain.get_narrative() == "Done."


def test_what_was_imported_without_a_session_is_not_emptied(engram: Engram, tmp_path: Path) -> None:
    lyra = Lyra(tmp_path / "lyra.db")
    lyra.add("eras", "2026-03", "A month of apples.", b"", 1, NOON)
    lyra.add("profile", "self", "Grows apples.", 1, NOON)
    lyra.add("narrative", "current", "The trees are growing.", NOON)
    engram.import_lyra(lyra.path)
    engram.integrate(rebuild=True)
    run_integration(engram, think=False)
    engram.dream(force=True)
    assert [era.content for era in engram.list_eras()] == ["A month of apples."]
    assert (engram.get_profile(), engram.get_narrative()) == ("Grows apples.", "The trees are growing.")


def test_an_import_takes_the_place_of_quotes(engram: Engram, tmp_path: Path) -> None:
    said(engram, "one", BEGAN, *TALK, "user: I live in Berlin.")
    engram.summarize()
    engram.integrate()
    lyra = Lyra(tmp_path / "lyra.db")
    lyra.add("profile", "self", "Grows apples.", 1, NOON)
    engram.import_lyra(lyra.path)
    assert engram.get_profile() == "Grows apples."
    assert "Berlin" in documents.list_versions(engram.engine, "profile", "self", 9)[-1]["content"]


def test_an_import_leaves_a_self_state_that_lived_on(engram: Engram, tmp_path: Path) -> None:
    lyra = Lyra(tmp_path / "lyra.db")
    lyra.add("self_state", "lyra", '{"mood": "calm"}', NOON)
    engram.import_lyra(lyra.path)
    said(engram, "one", BEGAN, *TALK)
    engram.dream(force=True)
    lyra.db.execute('update self_state set data = \'{"mood": "sad"}\'')
    engram.import_lyra(lyra.path)
    state = engram.get_self_state()
    assert (state["mood"], "drives" in state) == ("calm", True)


def test_an_undone_pass_gives_back_what_was_written_and_who_wrote_it(opened: Opened) -> None:
    said(plain := opened(), "one", BEGAN, *TALK, "user: I always prefer Rust.")
    plain.summarize()
    plain.set_profile("Likes parsers.")
    said(plain, "one", LATER, *MORE)
    with speaking() as api:
        api.acts.append(by_schema(api))
        done = model_of(opened, api).dream(force=True)
    assert plain.get_profile() != "Likes parsers."
    plain.undo_dream(done.id)
    said(plain, "two", "2026-03-04T10:00:00+00:00", "My cat is called Miso.", "Noted.")
    plain.summarize()
    assert plain.integrate().profile == "kept"
    assert plain.get_profile() == "Likes parsers."
