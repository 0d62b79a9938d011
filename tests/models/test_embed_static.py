"""The bundled embedder, and the better one beside it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.errors import MissingExtra
from engram.models.embed_static import StaticEmbedder

np = pytest.importorskip("numpy", reason="the bundled embedder is not tested: numpy is missing")

# A question, a text that answers it, and one that does not.
CLEAR = [
    (
        "How do I water my plants?",
        "Give the flowers in the garden some water every day.",
        "The invoice was paid by card.",
    ),
    ("the database is slow", "Our SQL queries take many seconds.", "We hiked in the mountains with the dog."),
    ("What pet did they adopt?", "They took a small dog home from the shelter.", "The build failed on the server."),
    ("flight to Paris", "She travelled to France by plane.", "He cooks soup with onions."),
]


@pytest.fixture(scope="module")
def static() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def minilm() -> Any:
    try:
        from engram.models.embed_minilm import MiniLM
    except MissingExtra as missing:
        pytest.skip(f"MiniLM is not tested: {missing}")
    return MiniLM()


@given(st.lists(st.text(st.characters(codec=None), max_size=200), max_size=4))
def test_every_text_has_a_vector_of_length_one_or_none_at_all(static: StaticEmbedder, texts: list[str]) -> None:
    result = static.embed(texts)
    assert result.dtype == np.float32
    assert result.shape == (len(texts), result.shape[1])
    assert np.isfinite(result).all()
    for length in np.linalg.norm(result, axis=1):
        assert length in (0.0, pytest.approx(1.0, abs=1e-5))


@pytest.mark.parametrize("text", ["", " \n", "\u200b", "\ue000", "x" * 100_000])
def test_a_text_without_words_has_no_direction(static: StaticEmbedder, text: str) -> None:
    assert not static.embed([text]).any()


def test_a_text_has_one_vector_whoever_stands_beside_it(static: StaticEmbedder) -> None:
    texts = [text for row in CLEAR for text in row]
    together = static.embed(texts)
    for n, text in enumerate(texts):
        assert (StaticEmbedder().embed([text])[0] == together[n]).all()


def test_words_matter_and_their_case_does_not(static: StaticEmbedder) -> None:
    one, other, third = static.embed(["The Database is SLOW", "the database is slow", "the garden is green"])
    assert (one == other).all()
    assert one @ third < 0.9


@pytest.mark.parametrize(("asked", "answer", "other"), CLEAR)
def test_what_answers_is_nearer_than_what_does_not(static: StaticEmbedder, asked: str, answer: str, other: str) -> None:
    question, near, far = static.embed([asked, answer, other])
    assert question @ near > question @ far + 0.05


@pytest.mark.parametrize("text", ["word " * 50_000, "中" * 10_000, "!" * 10_000, "a\0b \ud800"])
def test_odd_texts_are_no_trouble(static: StaticEmbedder, text: str) -> None:
    assert np.linalg.norm(static.embed([text])[0]) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_have_no_vectors_of_the_same_dimension(static: StaticEmbedder) -> None:
    assert static.embed([]).shape == (0, static.embed(["a"]).shape[1])


@pytest.mark.parametrize(("asked", "answer", "other"), CLEAR)
def test_the_better_model_agrees_on_what_is_clear(minilm: Any, asked: str, answer: str, other: str) -> None:
    question, near, far = minilm.embed([asked, answer, other])
    assert question @ near > question @ far + 0.05


def test_the_better_model_gives_one_vector_to_one_text_in_the_order_asked(minilm: Any) -> None:
    texts = [text for row in CLEAR for text in row] + ["word " * 300, "x"]
    together = minilm.embed(texts)
    assert together.shape == (len(texts), 384)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0, abs=1e-4)
    for n in (0, 5, len(texts) - 2, len(texts) - 1):
        assert minilm.embed([texts[n]])[0] @ together[n] > 0.98


@pytest.mark.parametrize("text", ["", " ", "\u200b", "x" * 50_000, "数" * 3000, "a\0b \ud800"])
def test_odd_texts_are_no_trouble_for_the_better_model(minilm: Any, text: str) -> None:
    assert np.linalg.norm(minilm.embed([text])[0]) == pytest.approx(1.0, abs=1e-4)


def test_the_better_model_gives_nothing_for_nothing(minilm: Any) -> None:
    assert minilm.embed([]).shape == (0, 384)
