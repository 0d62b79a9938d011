"""Embedders turn text into vectors: the protocol, and which one is configured."""

from __future__ import annotations

from engram.errors import MissingExtra, SettingsInvalid
from engram.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    import numpy as np

    class Embedder(Protocol):
        """An embedding model."""

        model: str  # unique; distinguishes its vectors from those of other models

        def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
            """Return one unit vector for each text."""


STATIC, MINILM, AUTO, OFF = "static", "minilm", "auto", "none"
_MODELS = {STATIC: "engram-static-1", MINILM: "all-minilm-l6-v2-int8"}  # known without loading them


def get_embedder_name(settings: Settings) -> str:
    """Return the embedder in use; by default the bundled one, which is fast."""
    return STATIC if settings.embedder == AUTO else settings.embedder


def get_model_name(name: str, settings: Settings) -> str:
    """Return the model of an embedder; "none" has none."""
    return _MODELS.get(name) or ("" if name == OFF else load_embedder(name, settings).model)


def get_baseline(model: Embedder) -> tuple[float, float, float]:
    """Return the measured similarity baseline of a model, or typical values if it has none.

    These are the mean similarity of two unrelated texts, its standard deviation, and the factor by which a text must be
    more similar to answer a question it shares no word with.
    """
    baseline: tuple[float, float, float] = getattr(model, "usual", (0.3, 0.12, 4.5))
    return baseline


def find_embedder(model_name: str, settings: Settings) -> Embedder | None:
    """Return the embedder that made the vectors of a model, if it is still available."""
    for candidate in (STATIC, MINILM, get_embedder_name(settings)):
        try:
            if get_model_name(candidate, settings) == model_name:
                return load_embedder(candidate, settings)
        except MissingExtra:
            continue
    return _load_earlier(model_name, settings)


def _load_earlier(model_name: str, settings: Settings) -> Embedder | None:
    """Load the embedder of a model used before: its name says where it came from."""
    embedder_name, _, variant = model_name.partition(":")
    if embedder_name not in _OURS or not variant:
        return None
    return load_embedder(embedder_name, Settings(**{**vars(settings), "embedder_model": variant}))


_kept: dict[tuple[str, ...], Embedder] = {}  # loading a model is slow


def load_embedder(name: str, settings: Settings) -> Embedder:
    """Return an embedder by name, ready to use."""
    key = (name, settings.embedder_model, settings.embedder_url, settings.embedder_key_variable)
    if key not in _kept:
        _kept[key] = _find_factory(name)(settings)
    return _kept[key]


def _find_factory(name: str) -> Callable[[Settings], Embedder]:
    if name in _OURS:
        return _OURS[name]
    from importlib.metadata import entry_points

    for entry_point in entry_points(group="engram.embedders", name=name):
        factory: Callable[[Settings], Embedder] = entry_point.load()
        return factory
    choices = ", ".join([AUTO, *_OURS, OFF])
    raise SettingsInvalid(source="embedder", reason=f"Unknown embedder {name}. Choose one of: {choices}.")


def _make_static(_: Settings) -> Embedder:
    from engram.models.embed_static import StaticEmbedder

    return StaticEmbedder()


def _make_minilm(_: Settings) -> Embedder:
    from engram.models.embed_minilm import MiniLM

    return MiniLM()


def _make_openai(settings: Settings) -> Embedder:
    from engram.models.embed_http import OpenAIEmbedder

    return OpenAIEmbedder(settings)


def _make_ollama(settings: Settings) -> Embedder:
    from engram.models.embed_http import OllamaEmbedder

    return OllamaEmbedder(settings)


def _make_sentence_transformers(settings: Settings) -> Embedder:
    from engram.models.embed_sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(settings)


def register_embedder(name: str, make: Callable[[Settings], Embedder]) -> None:
    """Register an embedder that no package provides."""
    _OURS[name] = make


_OURS: dict[str, Callable[[Settings], Embedder]] = {
    STATIC: _make_static,
    MINILM: _make_minilm,
    "openai": _make_openai,
    "ollama": _make_ollama,
    "sentence-transformers": _make_sentence_transformers,
}
