"""Embedders over HTTP: OpenAI-compatible APIs and Ollama."""

from __future__ import annotations

from functools import partial
from typing import Any

from engram.clock import Clock
from engram.errors import ModelInvalid, ModelRefused
from engram.models import http_json, openai
from engram.models.endpoint import build_endpoint
from engram.models.retries import call_with_retries
from engram.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Vectors = np.ndarray[Any, np.dtype[np.float32]]

_AT_ONCE = 64  # texts per request
_LARGEST = 32_000_000  # bytes of an answer
_OLLAMA = ("http://127.0.0.1:11434", "")


class _HttpEmbedder:
    """The common part of both: name, endpoint, and checked vectors."""

    name = ""
    path = ""
    own = ("", "")

    def __init__(self, settings: Settings) -> None:
        if not settings.embedder_model:
            raise ModelRefused(provider=self.name, reason="no model name is set.", hint="Set embedder_model.")
        self.wanted = settings.embedder_model
        self.model = f"{self.name}:{self.wanted}"
        variable = settings.embedder_key_variable
        self.endpoint = build_endpoint(self.name, "embedder_url", settings.embedder_url, variable, self.own)
        self.seconds = settings.model_seconds
        self.clock = Clock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text."""
        rows: list[Any] = []
        for first in range(0, len(texts), _AT_ONCE):
            batch = list(texts[first : first + _AT_ONCE])
            rows += call_with_retries(partial(self._embed_batch, batch), self.seconds, self.clock)
        return normalize_vectors(self.name, rows)

    def _embed_batch(self, texts: list[str], seconds: float) -> list[Any]:
        key = self.endpoint.read_key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = http_json.request_json(
            self.endpoint, self.path, {"model": self.wanted, "input": texts}, headers, seconds, _LARGEST
        )  # fmt: skip
        try:
            vectors = self._extract_vectors(answer)
        except (KeyError, TypeError, AttributeError) as problem:
            raise _build_invalid(self.name, "the answer has an unknown format.") from problem
        if len(vectors) != len(texts):
            raise _build_invalid(self.name, f"got {len(vectors)} vectors for {len(texts)} texts.")
        return vectors

    def _extract_vectors(self, answer: Any) -> list[Any]:
        raise NotImplementedError


class OpenAIEmbedder(_HttpEmbedder):
    """The embeddings of an OpenAI-compatible API."""

    name, path, own = "openai", "/embeddings", openai.OWN

    def _extract_vectors(self, answer: Any) -> list[Any]:
        return [item["embedding"] for item in sorted(answer["data"], key=lambda item: int(item["index"]))]


class OllamaEmbedder(_HttpEmbedder):
    """The embeddings of Ollama."""

    name, path, own = "ollama", "/api/embed", _OLLAMA

    def _extract_vectors(self, answer: Any) -> list[Any]:
        return list(answer["embeddings"])


def normalize_vectors(provider: str, rows: Sequence[Any]) -> Vectors:
    """Return unit vectors; refuse vectors that are uneven, empty, not finite or zero."""
    import numpy as np

    try:
        vectors = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as problem:
        raise _build_invalid(provider, "the vectors differ in length, or are not numbers.") from problem
    if not len(rows):
        return np.zeros((0, 0), dtype=np.float32)
    if vectors.ndim != 2 or not vectors.shape[1] or not np.isfinite(vectors).all():
        raise _build_invalid(provider, "the vectors are empty, differ in length or are not finite.")
    with np.errstate(over="ignore"):  # infinite lengths are refused below
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not lengths.all() or not np.isfinite(lengths).all():
        raise _build_invalid(provider, "a vector is zero.")
    return np.ascontiguousarray(vectors / lengths, dtype=np.float32)


def _build_invalid(provider: str, reason: str) -> ModelInvalid:
    return ModelInvalid(provider=provider, reason=reason, reply_text="")
