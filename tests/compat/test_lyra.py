"""Code written for `lyra.memory`, run against the module that stands in for it."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram.models import embedder
from tests.summaries.test_import_lyra import NOON, SCHEMA, VECTOR, Lyra

NONE = inspect.Parameter.empty
# Every function of the seed: its parameters in order, each with its default.
SIGNATURES: dict[str, list[tuple[str, Any]]] = {
    "remember": [("session_id", NONE), ("role", NONE), ("content", NONE)],
    "add_exchanges_bulk": [("session_id", NONE), ("rows", NONE)],
    "recent": [("session_id", NONE), ("n", 10)],
    "ensure_session": [("session_id", NONE), ("name", None)],
    "list_sessions": [],
    "history": [("session_id", NONE)],
    "delete_session": [("session_id", NONE)],
    "recall": [("query", NONE), ("k", 5), ("session_id", None)],
    "store_summary": [("session_id", NONE), ("content", NONE), ("last_exchange_id", NONE)],
    "get_summary": [("session_id", NONE)],
    "unsummarized_count": [("session_id", NONE)],
    "list_summaries": [],
    "set_profile": [("content", NONE), ("sessions_covered", NONE), ("profile_id", "self")],
    "get_profile": [("profile_id", "self")],
    "profile_sessions_covered": [("profile_id", "self")],
    "backlog_stats": [("ripe_threshold", 20)],
    "summaries_by_month": [],
    "store_era": [("month", NONE), ("content", NONE), ("session_count", NONE)],
    "list_eras": [],
    "set_narrative": [("content", NONE), ("narrative_id", "current")],
    "get_narrative": [("narrative_id", "current")],
    "get_self_state": [("state_id", "lyra")],
    "set_self_state": [("state", NONE), ("state_id", "lyra")],
    "recall_eras": [("query", NONE), ("k", 2)],
    "recall_summaries": [("query", NONE), ("k", 3), ("exclude_session", None)],
}
FIELDS = {
    "Exchange": ["id", "session_id", "role", "content", "created_at", "score"],
    "Summary": ["session_id", "content", "last_exchange_id", "created_at", "score"],
    "Era": ["month", "content", "session_count", "created_at", "score"],
}
EMPTY = {"sessions": 0, "dirty": 0, "ripe": 0, "unsummarized_total": 0, "max_exchange_id": 0}
MARCH, APRIL = "2026-03-10T12:00:00+00:00", "2026-04-10T12:00:00+00:00"


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("LYRA_DB_PATH", str(tmp_path / "lyra" / "lyra.db"))
    monkeypatch.setenv("HOME", str(tmp_path))  # a forced dream takes the transcripts in that lie there
    module = importlib.import_module("engram.compat.lyra")
    yield module
    module.close()


@pytest.mark.parametrize("name", SIGNATURES)
def test_every_function_takes_exactly_what_it_took(memory: Any, name: str) -> None:
    mine = inspect.signature(getattr(memory, name)).parameters.values()
    assert [(each.name, each.default) for each in mine] == SIGNATURES[name]


@pytest.mark.parametrize("name", FIELDS)
def test_what_comes_back_is_made_as_it_was(memory: Any, name: str) -> None:
    fields = dataclasses.fields(getattr(memory, name))
    assert [each.name for each in fields] == FIELDS[name]
    assert [each.default for each in fields if each.name == "score"] == [None]


def test_an_empty_memory_answers_with_nothing_and_raises_nothing(memory: Any) -> None:
    assert memory.recent("nobody") == memory.history("nobody") == []
    assert memory.list_sessions() == memory.list_summaries() == memory.list_eras() == []
    assert memory.recall("anything") == memory.recall_eras("anything") == memory.recall_summaries("anything") == []
    assert memory.recall("anything", session_id="nobody") == []
    assert memory.get_summary("nobody") is memory.get_profile() is memory.get_narrative() is None
    assert memory.get_self_state() is None
    assert memory.unsummarized_count("nobody") == memory.profile_sessions_covered() == 0
    assert memory.summaries_by_month() == {}
    assert memory.backlog_stats() == EMPTY
    assert memory.delete_session("nobody") is None


def test_a_conversation_is_kept_and_given_back_oldest_first(memory: Any) -> None:
    ids = [memory.remember("s1", role, f"turn {n}") for n, role in enumerate(["user", "assistant", "user"])]
    assert ids == sorted(ids)
    found = memory.recent("s1", n=2)
    assert [(each.id, each.role, each.content) for each in found] == [
        (ids[1], "assistant", "turn 1"), (ids[2], "user", "turn 2")
    ]  # fmt: skip
    assert isinstance(found[0].created_at, str)
    assert found[0].created_at.endswith("+00:00")
    assert (found[0].session_id, found[0].score) == ("s1", None)
    assert [each.content for each in memory.history("s1")] == ["turn 0", "turn 1", "turn 2"]
    assert memory.history("s") == memory.recent("s") == []  # only the whole id is one
    assert (memory.recent("s1", 0), memory.recent("s1", -1)) == ([], memory.history("s1"))
    assert memory.remember("s1", "user", "turn 2") > ids[2]  # the same words again are another message
    memory.delete_session("s1")
    assert memory.history("s1") == memory.list_sessions() == []


def test_sessions_are_listed_as_dicts_newest_first_also_empty_ones(memory: Any) -> None:
    memory.ensure_session("first")
    memory.ensure_session("second", name="About the garden")
    memory.remember("third", "user", "hello")
    assert memory.list_sessions() == [
        {"id": "third", "name": None}, {"id": "second", "name": "About the garden"}, {"id": "first", "name": None}
    ]  # fmt: skip
    memory.ensure_session("first", "Named later")
    memory.ensure_session("second")
    assert [each["name"] for each in memory.list_sessions()] == [None, "About the garden", "Named later"]


def test_rows_with_their_dates_and_vectors_come_in_at_once(memory: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="engram")
    rows = [("user", "What is the capital of France?", [0.1] * 8, MARCH), ("assistant", "Paris.", [0.2] * 8, APRIL)]
    assert memory.add_exchanges_bulk("old", rows) == 2
    assert [(each.role, each.created_at) for each in memory.history("old")] == [("user", MARCH), ("assistant", APRIL)]
    assert memory.recall("capital of France", k=1)[0].content == "What is the capital of France?"
    assert any("vectors" in record.getMessage() for record in caplog.records)
    assert memory.add_exchanges_bulk("none", []) == 0


def test_vectors_of_the_model_in_use_are_kept_and_not_made_again(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = embedder.load_embedder("static", memory._get_engram().settings)
    texts = [f"The {name} gateway was moved to another port" for name in ("zeppelin", "airship", "balloon")]
    vectors = [[float(number) for number in vector] for vector in model.embed(texts)]
    asked: list[str] = []
    embed = type(model).embed

    def counted(self: Any, given: Any) -> Any:
        asked.extend(given)
        return embed(self, given)

    monkeypatch.setattr(type(model), "embed", counted)
    memory.add_exchanges_bulk("s", [("user", text, vector, MARCH) for text, vector in zip(texts, vectors, strict=True)])
    memory.recall("which gateway was moved")
    assert [text for text in texts if text in asked] == texts[
        :1
    ]  # one is made again, to see that the model is the same
    assert memory.recall("airship gateway", k=1)[0].content == texts[1]


def test_recall_brings_whole_messages_with_a_score_best_first(memory: Any) -> None:
    memory.remember("food", "user", "I love carbonara with guanciale and pecorino, that is my favourite pasta.")
    memory.remember("code", "user", "The flaky test in the parser is caused by dictionary order.")
    memory.remember("code", "assistant", "Then sort the keys before you compare.")
    hits = memory.recall("what pasta do I like", k=2)
    assert hits[0].content == "I love carbonara with guanciale and pecorino, that is my favourite pasta."
    assert (type(hits[0]).__name__, hits[0].session_id, hits[0].role) == ("Exchange", "food", "user")
    assert isinstance(hits[0].score, float)
    assert hits == sorted(hits, key=lambda hit: -hit.score)
    assert {hit.session_id for hit in memory.recall("pasta", k=5, session_id="code")} == {"code"}
    assert len(memory.recall("anything at all", k=3)) == 3  # as many as there are, near or not
    assert len(memory.recall("", k=2)) == 2
    assert len({hit.id for hit in memory.recall("pasta", k=9)}) == 3


def test_summaries_cover_what_they_were_told(memory: Any) -> None:
    first = memory.remember("s", "user", "The garden needs water.")
    memory.remember("s", "assistant", "I will remember to water it.")
    memory.store_summary("s", "They talk about the garden.", first)
    found = memory.get_summary("s")
    assert (found.session_id, found.content, found.last_exchange_id) == ("s", "They talk about the garden.", first)
    assert isinstance(found.created_at, str)
    assert memory.unsummarized_count("s") == 1
    memory.store_summary("s", "A new gist of the garden.", first + 1)
    assert memory.get_summary("s").content == "A new gist of the garden."
    assert memory.unsummarized_count("s") == 0
    memory.store_summary("lone", "A session nobody kept.", 42)
    assert memory.get_summary("lone").last_exchange_id == 42
    assert [each.session_id for each in memory.list_summaries()] == ["s", "lone"]
    assert [each.session_id for each in memory.recall_summaries("garden", k=1)] == ["s"]
    best = memory.recall_summaries("garden", k=3, exclude_session="s")
    assert [(each.session_id, each.content) for each in best] == [("lone", "A session nobody kept.")]
    assert isinstance(best[0].score, float)


def test_the_backlog_is_counted_as_it_was(memory: Any) -> None:
    for number in range(3):
        memory.remember("new", "user", f"words {number}")
    last = memory.remember("old", "user", "summarized")
    memory.store_summary("old", "A gist.", last)
    assert memory.backlog_stats() == {
        "sessions": 2, "dirty": 1, "ripe": 1, "unsummarized_total": 3, "max_exchange_id": last
    }  # fmt: skip
    last = memory.remember("old", "user", "one more")
    assert memory.backlog_stats()["ripe"] == 1
    found = memory.backlog_stats(ripe_threshold=1)
    assert (type(found), found["dirty"], found["ripe"], found["max_exchange_id"]) == (dict, 2, 2, last)


def test_months_eras_profile_narrative_and_self_state_are_kept(memory: Any) -> None:
    memory.add_exchanges_bulk("s", [("user", "In March we planted trees.", [], MARCH)])
    memory.store_summary("s", "Trees were planted.", memory.history("s")[-1].id)
    assert memory.summaries_by_month() == {"2026-03": ["Trees were planted."]}
    memory.store_era("2026-04", "A quiet April of reading.", 2)
    memory.store_era("2026-03", "March: planting trees.", 1)
    assert [(each.month, each.content, each.session_count) for each in memory.list_eras()] == [
        ("2026-03", "March: planting trees.", 1), ("2026-04", "A quiet April of reading.", 2)
    ]  # fmt: skip
    hit = memory.recall_eras("planting trees", k=1)[0]
    assert (hit.month, hit.content, hit.session_count) == ("2026-03", "March: planting trees.", 1)
    assert isinstance(hit.score, float)
    assert [each.month for each in memory.recall_eras("planting trees", k=5)] == ["2026-03", "2026-04"]
    memory.set_profile("Likes trees.", 7)
    memory.set_profile("Likes cats.", 1, profile_id="other")
    assert (memory.get_profile(), memory.get_profile("other")) == ("Likes trees.", "Likes cats.")
    assert (memory.profile_sessions_covered(), memory.profile_sessions_covered("other")) == (7, 1)
    memory.set_narrative("Spring.")
    assert (memory.get_narrative(), memory.get_narrative("past")) == ("Spring.", None)
    state = {"mood": "calm", "energy": 0.5, "drives": {"curiosity": 0.2}, "reflections": ["one"]}
    memory.set_self_state(state)
    memory.set_self_state({"mood": "shy"}, "twin")
    assert (memory.get_self_state(), memory.get_self_state("lyra")) == (state, state)
    assert memory.get_self_state("twin") == {"mood": "shy"}


def test_the_dream_cycle_takes_care_of_the_backlog(memory: Any) -> None:
    for number in range(4):
        memory.remember("s", "user", f"We decided to plant tree number {number} in the garden behind the house.")
    memory.dream_cycle(force=True)
    assert memory.backlog_stats()["dirty"] == 0
    assert memory.get_summary("s").content
    assert memory.get_self_state() is not None


def test_the_store_lies_beside_the_old_database_and_begins_with_what_that_holds(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    old.mkdir()
    lyra = Lyra(old / "lyra.db")
    assert "exchanges" in SCHEMA
    lyra.add("exchanges", "chat", "user", "The roses bloom.", VECTOR, NOON)
    lyra.db.close()
    before = (old / "lyra.db").read_bytes()
    monkeypatch.setenv("LYRA_DB_PATH", str(old / "lyra.db"))
    assert [each.content for each in memory.history("chat")] == ["The roses bloom."]
    memory.remember("chat", "user", "And now they fade.")
    assert (old / "lyra.db").read_bytes() == before
    assert sorted(each.name for each in old.iterdir()) == ["lyra.db", "lyra.db.engram"]
    memory.close()
    assert len(memory.history("chat")) == 2
    monkeypatch.delenv("LYRA_DB_PATH")
    assert memory.history("chat") == []
    assert (tmp_path / "home" / "engram.db").exists()
