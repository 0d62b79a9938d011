"""Vectors are made after storing and can be continued; a change of the model never leaves a gap."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram
from engram.errors import ModelUnavailable
from engram.index import dense, embedding, maintenance
from engram.index.snapshot import load_snapshot
from tests.index import holding
from tests.index.embedding import Tiny, offer

Opened = Callable[..., Engram]
BIRDS = ["The kestrel nests above the garage.", "A heron stands in the pond.", "The wagtail runs along the bridge."]


@pytest.fixture
def opened(store: str, tmp_path: Path) -> Iterator[Opened]:
    """Open a store on each engine with a chosen embedder."""
    hubs: list[Engram] = []

    def open_one(embedder: str, **choices: Any) -> Engram:
        hubs.append(Engram(store=store, home=str(tmp_path / "home"), embedder=embedder, **choices))
        return hubs[-1]

    yield open_one
    for hub in hubs:
        hub.close()


def models(engram: Engram) -> dict[str, int]:
    """Return the number of docs with vectors, by model."""
    names = [row["model"] for row in engram.engine.run("select model from spaces")]
    return {name: len(found) for name in names if (found := set(holding.embedded(engram, name)))}


def birds(engram: Engram, texts: list[str] = BIRDS) -> None:
    for n, text in enumerate(texts):
        engram.remember(f"s{n}", "user", text)


# ---- Without a model, and with one that is down


def test_without_an_embedder_keywords_answer_and_nothing_is_embedded(opened: Opened) -> None:
    engram = opened("none")
    birds(engram)
    assert engram.index().embedded == 0
    assert [hit.snippet for hit in engram.recall("heron pond")] == [BIRDS[1]]
    assert models(engram) == {}
    assert engram.recall("submarine") == []


def down(opened: Opened) -> Engram:
    return opened("openai", embedder_model="m", embedder_url="http://127.0.0.1:9", model_seconds=1)


def test_storing_and_recall_do_not_need_an_embedder_that_answers(opened: Opened) -> None:
    """LY-B01: the turn is stored even if the embedder is down."""
    engram = down(opened)
    birds(engram)
    assert next(hit.snippet for hit in engram.recall("heron pond")) == BIRDS[1]
    with pytest.raises(ModelUnavailable):
        engram.index()
    assert models(engram) == {"engram-static-1": 3}
    assert engram.recall("kestrel")[0].snippet == BIRDS[0]


def test_recall_answers_by_keywords_when_the_model_of_all_vectors_is_down(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, openai=Tiny(16, "openai:m"))
    engram = down(opened)
    birds(engram)
    engram.index()
    assert models(engram) == {"openai:m": 3}
    monkeypatch.undo()
    monkeypatch.setattr("engram.models.embedder._kept", {})
    assert engram.recall("heron pond")[0].snippet == BIRDS[1]


# ---- Changing the model


def test_the_old_vectors_serve_until_the_new_ones_are_there(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_AT_ONCE", 2)
    offer(monkeypatch, one=Tiny(8, "one:8"), other=Tiny(16, "other:16"))
    engram = opened("one")
    birds(engram)
    engram.index()
    assert models(engram) == {"one:8": 3}
    changed = opened("other")
    assert changed.recall("heron pond")[0].why["near"] > 0
    embedding.embed_next_docs(changed, Tiny(16, "other:16"))
    assert models(changed) == {"one:8": 3, "other:16": 2}
    for text in BIRDS:
        hit = changed.recall(text, k=1)[0]
        assert hit.snippet == text
        assert hit.why["near"] > 0.5
    changed.index()
    assert models(changed) == {"other:16": 3}
    assert 8 not in [row["dim"] for row in changed.engine.run("select dim from spaces")]


def test_a_model_that_has_another_dimension_all_at_once_never_crashes(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LY-B03: the same name, another vector size."""
    offer(monkeypatch, one=Tiny(8, "same"))
    engram = opened("one")
    birds(engram)
    engram.index()
    offer(monkeypatch, one=Tiny(12, "same"))
    assert engram.recall("heron pond")[0].snippet == BIRDS[1]
    engram.remember("s9", "user", "A hoopoe sat on the fence.")
    engram.index()
    assert engram.recall("hoopoe fence")[0].snippet == "A hoopoe sat on the fence."
    assert [row["dim"] for row in engram.engine.run("select dim from spaces where model = 'same'")] == [12]
    assert set(holding.embedded(engram, "same")) == set(holding.exchanges(engram))


def test_a_model_that_no_longer_exists_is_ignored(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, one=Tiny(8, "sentence-transformers:gone"))
    engram = opened("one")
    birds(engram)
    engram.index()
    monkeypatch.undo()
    monkeypatch.setattr("engram.models.embedder._kept", {})
    other = opened("static")
    assert other.recall("heron pond")[0].snippet == BIRDS[1]
    other.index()
    assert models(other) == {"engram-static-1": 3}


# ---- In steps


def test_each_text_is_read_once_by_the_chosen_model(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_AT_ONCE", 2)
    tiny = Tiny(8)
    offer(monkeypatch, one=tiny)
    engram = opened("one")
    birds(engram)
    assert engram.index().embedded >= 3
    assert sorted(tiny.read) == sorted(BIRDS)
    assert engram.index().embedded == 0
    assert len(tiny.read) == 3


def test_a_deleted_session_leaves_nothing_to_embed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = Tiny(8)
    offer(monkeypatch, one=tiny)
    engram = opened("one")
    birds(engram)
    engram.index(embed=False)
    for n in range(3):
        engram.delete_session(f"s{n}")
    engram.index()
    assert not {*tiny.read} & {*BIRDS}
    birds(engram, ["A hoopoe sat on the fence."])
    engram.index()
    assert set(holding.embedded(engram, "tiny-8")) == set(holding.exchanges(engram))
    assert engram.recall("hoopoe fence")[0].snippet == "A hoopoe sat on the fence."


def test_a_scrubbed_half_embedded_segment_continues(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_AT_ONCE", 2)
    offer(monkeypatch, one=Tiny(8))
    engram = opened("one")
    birds(engram, [*BIRDS, "A hoopoe sat on the fence.", "The bittern booms."])
    engram.index(embed=False)
    embedding.embed_next_docs(engram, Tiny(8))
    engram.delete_session("s0")
    engram.index()
    assert holding.embedded(engram, "tiny-8") == holding.exchanges(engram)


SLOW = """
import sys, time
from engram import Engram
from engram.index import embedding as embed
from engram.models import embedder
from tests.index.embedding import Tiny

class Slow(Tiny):
    def embed(self, texts):
        if len(self.read) >= 6:
            print("working", flush=True)
            time.sleep(60)
        return super().embed(texts)

embed._AT_ONCE = 3
embedder._OURS["one"] = lambda _: Slow(8)
with Engram(store=sys.argv[1], home=sys.argv[2], embedder="one") as engram:
    engram.index()
"""


def test_killed_embedding_continues_where_it_stopped(
    opened: Opened, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = Tiny(8)
    offer(monkeypatch, one=tiny)
    engram = opened("one")
    birds(engram, [f"Bird {n} is called kestrel{n}." for n in range(14)])
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, store, str(tmp_path / "home")], stdout=subprocess.PIPE, text=True, cwd=root
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "working\n"
    process.kill()
    process.wait()
    process.stdout.close()
    assert models(engram)["tiny-8"] == 6
    engram.index()
    assert len(tiny.read) == 8
    assert holding.embedded(engram) == holding.exchanges(engram)


# ---- Pieces


@given(st.text(st.sampled_from("ab .\n"), max_size=300).map(lambda text: text * 40))
def test_the_pieces_of_a_text_are_the_text_and_only_so_many(text: str) -> None:
    pieces = embedding.split_text(text)
    assert 1 <= len(pieces) <= 8
    assert text.startswith("".join(pieces))
    assert all(len(piece) <= 2000 for piece in pieces)
    assert "".join(pieces) == text or len(pieces) == 8


def test_a_text_is_cut_where_a_sentence_ends() -> None:
    pieces = embedding.split_text("A sentence of some length. " * 200)
    assert all(piece.endswith(". ") for piece in pieces[:-1])


def test_the_end_of_a_long_message_is_found_by_meaning(opened: Opened) -> None:
    engram = opened("static")
    engram.remember("s", "user", f"{'The agenda of the meeting. ' * 74}{'We adopted a small dog. ' * 20}")
    engram.index()
    held = load_snapshot(engram)
    (row,) = engram.engine.run("select * from spaces")
    asked = read("They have a puppy from the shelter.")
    _, near = dense.load_space(held, row["id"], row["dim"]).score_docs(asked, held.alive)
    assert near[0] > 0.4


def read(text: str) -> Any:
    from engram.models.embed_static import StaticEmbedder

    return StaticEmbedder().embed([text])[0]


# ---- Exact and by sketch


def test_a_sketch_finds_what_the_exact_way_finds(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    engram = opened("static")
    texts = [f"Notes on {what} number {n}." for n in range(30) for what in ("gardening", "databases", "sailing boats")]
    birds(engram, [*texts, "We adopted a small dog from the shelter."])
    maintenance.update_index(engram, embed="fast")
    held = load_snapshot(engram)
    (row,) = engram.engine.run("select * from spaces")
    space = dense.load_space(held, row["id"], row["dim"])
    monkeypatch.setattr(dense, "_RESCORED", 10)
    for query in ("a dog from the shelter", "sailing boats", "gardening"):
        asked = read(query)
        exact_docs, exact = space.score_docs(asked, held.alive)
        monkeypatch.setattr(dense, "EXACT", 0)
        docs, near = space.score_docs(asked, held.alive)
        monkeypatch.setattr(dense, "EXACT", 100_000)
        assert len(docs) <= 10 < len(exact_docs)
        assert near.max() == pytest.approx(exact.max(), abs=0.02)
        if "dog" in query:
            assert docs[np.argmax(near)] == exact_docs[np.argmax(exact)] == held.count - 1


def test_a_sketch_brings_only_what_is_allowed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    engram = opened("static")
    birds(engram, [f"We adopted dog number {n}." for n in range(30)])
    maintenance.update_index(engram, embed="fast")
    held = load_snapshot(engram)
    (row,) = engram.engine.run("select * from spaces")
    monkeypatch.setattr(dense, "EXACT", 0)
    monkeypatch.setattr(dense, "_RESCORED", 10)
    allowed = np.arange(held.count) % 10 == 3
    docs, _ = dense.load_space(held, row["id"], row["dim"]).score_docs(read("a dog"), allowed)
    assert docs.tolist() == [3, 13, 23]


@given(st.lists(st.lists(st.floats(-1, 1, width=32), min_size=5, max_size=5), max_size=6))
def test_stored_vectors_point_where_they_pointed(rows: list[list[float]]) -> None:
    vectors = np.array(rows, np.float32).reshape(-1, 5)
    codes = dense.quantize_vectors(vectors)
    assert codes.dtype == np.int8
    assert codes.shape == vectors.shape
    for before, after in zip(vectors, codes.astype(np.float32), strict=True):
        if np.linalg.norm(before) > 1e-20:
            assert before @ after / np.linalg.norm(before) / np.linalg.norm(after) > 0.99
