"""Deleting a session changes only what was made from it, and reports that before and after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.summaries import self_state, versions
from tests.summaries.talking import passages, said
from tests.summaries.test_import_lyra import NOON, VECTOR, Lyra

MODEL = "model:openai/m, prompt era@1"
STATE = {
    "mood": "calm", "energy": 0.4, "self_narrative": "I have learnt to listen.",
    "reflections": ["They were proud of the trees.", "I talked too much."], "drives": {"curiosity": 0.3},
}  # fmt: skip


@pytest.fixture
def several(tmp_path: Path) -> Lyra:
    """A Lyra database of three sessions in two months, with all its documents."""
    lyra = Lyra(tmp_path / "lyra.db")
    talks = {
        "garden": ("2026-03-10", "I have a garden with nine apple trees.", "How lovely, nine trees!"),
        "code": ("2026-03-20", "The parser fails on nested lists.", "Then the stack is popped too early."),
        "music": ("2026-04-02", "I bought a cello yesterday.", "A cello! Which maker?"),
    }
    for name, (day, asked, answer) in talks.items():
        lyra.add("sessions", name, f"About {name}", f"{day}T12:00:00+00:00")
        lyra.add("exchanges", name, "user", asked, VECTOR, f"{day}T12:00:00+00:00")
        last = lyra.add("exchanges", name, "assistant", answer, VECTOR, f"{day}T12:01:00+00:00")
        lyra.add("summaries", name, f"They talk about {name}.", VECTOR, last, NOON)
    lyra.add("eras", "2026-03", "They grew apples. A bug was hunted down.", VECTOR, 2, NOON)
    lyra.add("profile", "self", "Grows apples. Works with software.", 3, NOON)
    lyra.add("narrative", "current", "Spring is busy: trees first, everything else later.", NOON)
    lyra.add("self_state", "lyra", json.dumps(STATE), NOON)
    return lyra


def all_documents(engram: Engram, *without: str) -> list[dict[str, Any]]:
    rows = engram.engine.run("select kind, key, version, content, made_by from documents order by kind, key, version")
    return [row for row in rows if row["key"] not in without and row["kind"] != "standing"]


def written(engram: Engram, kind: str, key: str, content: str, *sessions: str, made_by: str = MODEL) -> None:
    versions.save_version(engram, kind, key, content, {"sessions": sorted(sessions), "hash": "x"}, made_by)


def test_deleting_an_imported_session_leaves_what_lyra_made_of_the_others(engram: Engram, several: Lyra) -> None:
    """LY-B05, LY-B09."""
    engram.import_lyra(several.path)
    before = all_documents(engram, "music")
    gone = engram.delete_session("music")
    assert all_documents(engram) == before
    assert engram.get_self_state() == STATE
    assert (gone.remade, gone.changed) == ((), ())
    engram.delete_session("code")
    assert all_documents(engram) == [row for row in before if row["key"] != "code"]
    assert engram.get_profile() == "Grows apples. Works with software."


def test_an_era_loses_the_sentences_that_only_the_deleted_session_can_have_given(
    engram: Engram, several: Lyra
) -> None:  # fmt: skip
    engram.import_lyra(several.path)
    written(
        engram, "era", "2026-03", "They grew apples. The parser was mended. It was a quiet month.", "garden", "code"
    )
    gone = engram.delete_session("code")
    assert [era.content for era in engram.list_eras()] == ["They grew apples. It was a quiet month."]
    assert passages(engram, "era") == {"2026-03": "They grew apples. It was a quiet month."}
    assert gone.changed == ("era 2026-03 (model): 1 of 3 sentences removed",)


def test_the_last_session_an_import_can_be_made_of_takes_it_along(engram: Engram, several: Lyra) -> None:
    engram.import_lyra(several.path)
    for session in ("garden", "code"):
        engram.delete_session(session)
    assert engram.get_profile() is not None
    gone = engram.delete_session("music")
    assert {"profile", "narrative"} <= set(gone.remade)
    assert (engram.get_profile(), engram.get_narrative(), engram.list_eras()) == (None, None, [])
    assert engram.get_self_state() == STATE


def test_a_document_by_a_model_keeps_what_the_others_said_in_every_version(engram: Engram) -> None:
    said(engram, "a", NOON, "I live in Zanzibar.", "Noted.")
    said(engram, "b", NOON, "My cat is called Miso.", "What a name.")
    engram.summarize()
    written(engram, "profile", "self", "- Lives in Zanzibar.", "a")
    written(engram, "profile", "self", "- Lives in Zanzibar.\n- Has a cat, Miso.", "a", "b")
    written(engram, "profile", "self", "Facts:\n- Has a cat, Miso. Loves it in Zanzibar.\n- Is kind.", "a", "b")
    gone = engram.delete_session("a")
    assert engram.get_profile() == "Facts:\n- Has a cat, Miso.\n- Is kind."
    rows = [row for row in all_documents(engram) if row["kind"] == "profile"]
    assert [(row["version"], row["content"]) for row in rows] == [
        (2, "- Has a cat, Miso."), (3, "Facts:\n- Has a cat, Miso.\n- Is kind.")
    ]  # fmt: skip
    assert {row["made_by"] for row in rows} == {MODEL}
    assert gone.changed == ("profile (model): 1 of 4 sentences removed",)
    assert '"a"' not in str(engram.engine.run("select sources from documents"))
    assert "Zanzibar" not in str(engram.engine.run("select content from documents"))


def test_what_a_person_wrote_of_no_session_in_particular_stays_and_is_told(engram: Engram) -> None:
    said(engram, "a", NOON, "The kookaburrax plan is secret.", "I see.")
    said(engram, "b", NOON, "My cat is called Miso.", "What a name.")
    engram.set_profile("Ada likes the kookaburrax. She has a cat.")
    engram.set_self_state({"mood": "calm", "of": "kookaburrax"})
    engram.set_narrative("The cat sleeps.")
    gone = engram.delete_session("a")
    assert engram.get_profile() == "Ada likes the kookaburrax. She has a cat."
    assert engram.get_self_state() == {"mood": "calm", "of": "kookaburrax"}
    assert gone.mentions == ("profile (kookaburrax)", "self state (kookaburrax)")


def test_a_reflection_loses_what_the_deleted_session_gave_in_every_version(engram: Engram) -> None:
    said(engram, "a", NOON, "The moonfish test is red.", "I see.")
    said(engram, "b", NOON, "The heron test is red.", "I see.")
    engram.set_self_state({"mood": "calm", "reflections": ["I like herons."]})
    thought = {
        "sessions": ["a", "b"], "narrative": "I looked at 2 sessions. What keeps failing: the moonfish. The heron too.",
        "keeps_failing": [{"text": "moonfish", "sessions": ["a"]}, {"text": "heron", "sessions": ["b"]}],
        "made_by": "rules/1",
    }  # fmt: skip
    self_state.update_state(engram, {"reflection": thought}, "rules/1", ["a", "b"])
    self_state.update_state(engram, {"drives": {"curiosity": 0.1}}, "rules/1", [])
    gone = engram.delete_session("a")
    state = engram.get_self_state()
    assert (state["mood"], state["reflections"], state["drives"]) == ("calm", ["I like herons."], {"curiosity": 0.1})
    assert state["reflection"]["sessions"] == ["b"]
    assert state["reflection"]["narrative"] == "I looked at 2 sessions. The heron too."
    assert state["reflection"]["keeps_failing"] == [{"text": "heron", "sessions": ["b"]}]
    assert "moonfish" not in str(engram.engine.run("select content from documents"))
    assert gone.changed == ("self state: removed from its reflection",)
    engram.delete_session("b")
    assert engram.get_self_state() == {"mood": "calm", "reflections": ["I like herons."], "drives": {"curiosity": 0.1}}


def test_a_dry_run_says_what_would_change_and_changes_nothing(engram: Engram, several: Lyra) -> None:
    engram.import_lyra(several.path)
    written(engram, "era", "2026-03", "They grew apples. The parser was mended.", "garden", "code")
    before = engram.engine.run("select * from documents order by kind, key, version")
    result = engram.delete_session("code", dry_run=True)
    assert result.dry_run
    assert (result.sessions, result.exchanges) == (("code",), 2)
    assert result.changed == ("era 2026-03 (model): 1 of 2 sentences removed",)
    assert engram.engine.run("select * from documents order by kind, key, version") == before
    assert len(engram.history("code")) == 2
    done = engram.delete_session("code")
    assert (done.changed, done.remade, done.mentions) == (result.changed, result.remade, result.mentions)


@pytest.fixture
def fruit(tmp_path: Path) -> Lyra:
    """A Lyra database whose era is one sentence about two sessions."""
    lyra = Lyra(tmp_path / "lyra.db")
    talks = {"garden": "I have a garden with nine apple trees.", "other": "I saw some boats in the harbour."}
    for name, asked in talks.items():
        lyra.add("sessions", name, f"About {name}", "2026-03-10T12:00:00+00:00")
        last = lyra.add("exchanges", name, "user", asked, VECTOR, "2026-03-10T12:00:00+00:00")
        lyra.add("summaries", name, asked, VECTOR, last, NOON)
    lyra.add("eras", "2026-03", "A month of apples and boats.", VECTOR, 2, NOON)
    return lyra


def test_an_imported_era_stays_with_its_history_and_is_named(engram: Engram, fruit: Lyra) -> None:
    engram.import_lyra(fruit.path)
    fruit.db.execute("update eras set content = 'A month of boats and apples.'")
    engram.import_lyra(fruit.path)
    before = engram.list_versions("era", "2026-03")
    gone = engram.delete_session("other")
    assert (gone.remade, gone.changed) == ((), ())
    assert gone.mentions == ("era 2026-03 (boats)",)
    engram.integrate()
    assert [era.content for era in engram.list_eras()] == ["A month of boats and apples."]
    assert engram.list_versions("era", "2026-03") == before
    assert [each.author for each in before] == ["import", "import"]


@pytest.mark.parametrize("made_by", [MODEL, versions.GIVEN])
def test_an_era_that_would_lose_every_sentence_stays_and_is_named(engram: Engram, made_by: str) -> None:
    said(engram, "garden", "2026-03-10T12:00:00+00:00", "I have nine apple trees.", "How lovely.")
    said(engram, "other", "2026-03-11T12:00:00+00:00", "I saw some boats.", "Which ones?")
    engram.summarize()
    written(engram, "era", "2026-03", "A month of boats.", "garden", "other", made_by=made_by)
    written(engram, "era", "2026-03", "A month of apples and boats.", "garden", "other", made_by=made_by)
    gone = engram.delete_session("other")
    assert (gone.remade, gone.changed, gone.mentions) == ((), (), ("era 2026-03 (boats)",))
    engram.integrate()
    assert [era.content for era in engram.list_eras()] == ["A month of apples and boats."]
    assert len(engram.list_versions("era", "2026-03")) == 2


def test_an_older_version_that_may_mention_the_session_is_named(engram: Engram) -> None:
    said(engram, "a", NOON, "The kookaburrax plan is secret.", "I see.")
    engram.set_profile("Ada likes the kookaburrax.")
    engram.set_profile("Ada has a cat.")
    assert engram.delete_session("a").mentions == ("profile, older versions (kookaburrax)",)
