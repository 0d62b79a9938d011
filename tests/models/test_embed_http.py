"""Embedders over HTTP: vectors of length 1, or an error with the reason."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engram.errors import ModelInvalid, ModelRefused, ModelUnavailable
from engram.models.embed_http import OllamaEmbedder, OpenAIEmbedder
from engram.models.embed_sentence_transformers import SentenceTransformersEmbedder
from engram.settings import Settings, load_settings
from tests.models.conftest import KEY
from tests.models.speaking import Api, says, speaking

np = pytest.importorskip("numpy", reason="embedders over HTTP are not tested: numpy is missing")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TEST_KEY", KEY)

    def made(api: Api | None = None, **choices: Any) -> Settings:
        url = api.url if api else ""
        return load_settings(home=str(tmp_path), **{"embedder_url": url, "embedder_model": "m", **choices})

    return made


def openai(*rows: Any) -> Any:
    return says({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)][::-1]})


def test_openai_gives_vectors_in_the_order_of_the_texts(settings: Any) -> None:
    with speaking(openai([3, 4], [0, 2])) as api:
        embedder = OpenAIEmbedder(settings(api, embedder_key_variable="TEST_KEY"))
        result = embedder.embed(["a", "b"])
    assert (embedder.model, result.dtype) == ("openai:m", np.float32)
    assert result.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 1.0]]
    (asked,) = api.asked
    assert (asked["path"], asked["body"]) == ("/embeddings", {"model": "m", "input": ["a", "b"]})
    assert asked["headers"]["Authorization"] == f"Bearer {KEY}"


def test_ollama_gives_vectors(settings: Any) -> None:
    with speaking(says({"embeddings": [[0, 5]]})) as api:
        embedder = OllamaEmbedder(settings(api))
        assert embedder.embed(["a"]).tolist() == [[0.0, 1.0]]
    assert (embedder.model, api.asked[0]["path"]) == ("ollama:m", "/api/embed")


def test_many_texts_go_in_pieces_and_none_asks_nobody(settings: Any) -> None:
    def each(handler: BaseHTTPRequestHandler) -> None:
        texts = api.asked[-1]["body"]["input"]
        says({"embeddings": [[float(text), 1.0] for text in texts]})(handler)

    with speaking(each) as api:
        result = OllamaEmbedder(settings(api)).embed([str(n) for n in range(150)])
        assert OllamaEmbedder(settings(api)).embed([]).shape[0] == 0
    assert (len(api.asked), result.shape) == (3, (150, 2))
    assert result[149, 0] / result[149, 1] == pytest.approx(149)
    assert np.linalg.norm(result, axis=1) == pytest.approx(np.ones(150))


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [1]], [[1, 2]], [[0, 0], [1, 1]], [[], []], [["a", "b"], ["c", "d"]], [None, None], "ab",
        [[1e308, 1e308], [1, 1]], [[[1]], [[2]]], [[1, 2], [1, 2], [1, 2]], 3, None,
    ],
)  # fmt: skip
def test_vectors_that_are_none_are_refused(settings: Any, rows: Any) -> None:
    with speaking(says({"embeddings": rows})) as api, pytest.raises(ModelInvalid):
        OllamaEmbedder(settings(api)).embed(["a", "b"])


def test_not_a_number_is_refused(settings: Any) -> None:
    with speaking(says(b'{"embeddings": [[NaN, 1], [Infinity, 1]]}')) as api, pytest.raises(ModelInvalid):
        OllamaEmbedder(settings(api)).embed(["a", "b"])


def test_failures_are_those_of_models(settings: Any) -> None:
    with speaking(says({}, 503), openai([1, 0])) as api:
        assert OpenAIEmbedder(settings(api)).embed(["a"]).tolist() == [[1.0, 0.0]]
    with speaking(says({"error": KEY}, 401)) as api, pytest.raises(ModelRefused) as refused:
        OpenAIEmbedder(settings(api, embedder_key_variable="TEST_KEY")).embed(["a"])
    assert KEY not in str(refused.value)
    with pytest.raises(ModelUnavailable):
        OllamaEmbedder(settings(api)).embed(["a"])
    with pytest.raises(ModelRefused, match="embedder_model"):
        OpenAIEmbedder(settings(embedder_model=""))


def test_a_package_that_is_missing_is_named(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sentence_transformers", None)
    embedder = SentenceTransformersEmbedder(settings())
    assert embedder.model == "sentence-transformers:m"
    with pytest.raises(ModelRefused, match="Install sentence-transformers"):
        embedder.embed(["a"])
