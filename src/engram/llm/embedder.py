"""What turns text into vectors: the protocol, and which one the settings name."""

from __future__ import annotations

from engram.errors import MissingExtra, SettingsInvalid
from engram.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    import numpy as np

    class Embedder(Protocol):
        """A model of meaning."""

        model: str  # tells its vectors from every other model's

        def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
            """Return one vector of length 1 for each text."""


STATIC, OFF = "static", "none"


def chosen(settings: Settings) -> Embedder | None:
    """Return the embedder the settings name; None when they want none."""
    return None if settings.embedder == OFF else _loaded(settings.embedder, settings)


def bundled(settings: Settings) -> Embedder:
    """Return the embedder that comes with the install."""
    return _loaded(STATIC, settings)


def of_model(model: str, settings: Settings) -> Embedder | None:
    """Return the embedder that made the vectors of a model, if it is still to be had."""
    for name in (settings.embedder, STATIC, "minilm"):
        try:
            found = _loaded(name, settings)
        except MissingExtra:
            continue
        if found.model == model:
            return found
    return None


_kept: dict[tuple[str, ...], Embedder] = {}  # a model takes long to load


def _loaded(name: str, settings: Settings) -> Embedder:
    key = (name, settings.embedder_model, settings.embedder_url, settings.embedder_key_variable)
    if key not in _kept:
        _kept[key] = _named(name)(settings)
    return _kept[key]


def _named(name: str) -> Callable[[Settings], Embedder]:
    if name in _OURS:
        return _OURS[name]
    from importlib.metadata import entry_points

    for each in entry_points(group="engram.embedders", name=name):
        found: Callable[[Settings], Embedder] = each.load()
        return found
    known = ", ".join([*_OURS, OFF])
    raise SettingsInvalid(source="embedder", reason=f"{name} is not an embedder; there are {known}.")


def _static(_: Settings) -> Embedder:
    from engram.llm.embed_static import StaticEmbedder

    return StaticEmbedder()


def _minilm(_: Settings) -> Embedder:
    from engram.llm.embed_minilm import MiniLM

    return MiniLM()


def _openai(settings: Settings) -> Embedder:
    from engram.llm.embed_http import OpenAIEmbedder

    return OpenAIEmbedder(settings)


def _ollama(settings: Settings) -> Embedder:
    from engram.llm.embed_http import OllamaEmbedder

    return OllamaEmbedder(settings)


def _sentence_transformers(settings: Settings) -> Embedder:
    from engram.llm.embed_sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(settings)


_OURS: dict[str, Callable[[Settings], Embedder]] = {
    STATIC: _static,
    "minilm": _minilm,
    "openai": _openai,
    "ollama": _ollama,
    "sentence-transformers": _sentence_transformers,
}
