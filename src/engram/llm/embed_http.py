"""Embedders behind HTTP: OpenAI-compatible APIs and Ollama."""

from __future__ import annotations

from functools import partial
from typing import Any

from engram.clock import Clock
from engram.errors import ModelInvalid, ModelRefused
from engram.llm import openai, wire
from engram.llm.attempts import persist
from engram.llm.endpoint import endpoint
from engram.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Vectors = np.ndarray[Any, np.dtype[np.float32]]

_AT_ONCE = 64  # texts of one request
_LARGEST = 32_000_000  # bytes of an answer
_OLLAMA = ("http://127.0.0.1:11434", "")


class _HttpEmbedder:
    """What both have in common: a name, a place, and vectors that are checked."""

    name = ""
    path = ""
    own = ("", "")

    def __init__(self, settings: Settings) -> None:
        if not settings.embedder_model:
            raise ModelRefused(provider=self.name, reason="no model is named.", hint="Set embedder_model.")
        self.wanted = settings.embedder_model
        self.model = f"{self.name}:{self.wanted}"
        variable = settings.embedder_key_variable
        self.endpoint = endpoint(self.name, "embedder_url", settings.embedder_url, variable, self.own)
        self.seconds = settings.model_seconds
        self.clock = Clock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text."""
        rows: list[Any] = []
        for first in range(0, len(texts), _AT_ONCE):
            piece = list(texts[first : first + _AT_ONCE])
            rows += persist(partial(self._once, piece), self.seconds, self.clock)
        return unit(self.name, rows)

    def _once(self, texts: list[str], seconds: float) -> list[Any]:
        key = self.endpoint.key()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        answer = wire.ask(
            self.endpoint, self.path, {"model": self.wanted, "input": texts}, headers, seconds, _LARGEST
        )  # fmt: skip
        try:
            found = self._vectors(answer)
        except (KeyError, TypeError, AttributeError) as problem:
            raise _invalid(self.name, "it is not of the form we know.") from problem
        if len(found) != len(texts):
            raise _invalid(self.name, f"{len(found)} vectors came for {len(texts)} texts.")
        return found

    def _vectors(self, answer: Any) -> list[Any]:
        raise NotImplementedError


class OpenAIEmbedder(_HttpEmbedder):
    """The embeddings of an OpenAI-compatible API."""

    name, path, own = "openai", "/embeddings", openai.OWN

    def _vectors(self, answer: Any) -> list[Any]:
        return [each["embedding"] for each in sorted(answer["data"], key=lambda each: int(each["index"]))]


class OllamaEmbedder(_HttpEmbedder):
    """The embeddings of Ollama."""

    name, path, own = "ollama", "/api/embed", _OLLAMA

    def _vectors(self, answer: Any) -> list[Any]:
        return list(answer["embeddings"])


def unit(provider: str, rows: Sequence[Any]) -> Vectors:
    """Return vectors of length 1, or refuse what is none: uneven, empty, not finite or zero."""
    import numpy as np

    try:
        found = np.asarray(rows, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as problem:
        raise _invalid(provider, "its vectors are uneven, or not numbers.") from problem
    if not len(rows):
        return np.zeros((0, 0), dtype=np.float32)
    if found.ndim != 2 or not found.shape[1] or not np.isfinite(found).all():
        raise _invalid(provider, "its vectors are empty, uneven or not finite.")
    with np.errstate(over="ignore"):  # infinite lengths are refused below
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not lengths.all() or not np.isfinite(lengths).all():
        raise _invalid(provider, "a vector of it has no direction.")
    return np.ascontiguousarray(found / lengths, dtype=np.float32)


def _invalid(provider: str, reason: str) -> ModelInvalid:
    return ModelInvalid(provider=provider, reason=reason, reply_text="")
