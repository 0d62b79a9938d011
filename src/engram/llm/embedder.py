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


STATIC, MINILM, AUTO, OFF = "static", "minilm", "auto", "none"
_MODELS = {STATIC: "engram-static-1", MINILM: "all-minilm-l6-v2-int8"}  # known without loading them


def name(settings: Settings) -> str:
    """Return the embedder in use: left to itself, the bundled one, which costs a prompt next to nothing."""
    return STATIC if settings.embedder == AUTO else settings.embedder


def model(name: str, settings: Settings) -> str:
    """Return the model of an embedder; none has none."""
    return _MODELS.get(name) or ("" if name == OFF else load(name, settings).model)


def usual(model: Embedder) -> tuple[float, float, float]:
    """Return what a model takes for near, measured; of one that does not tell by an attribute, what most have.

    It is how near two texts are that have nothing to do with each other, how much that varies, and how many times as
    much nearer a text must be to answer a question it shares no word with.
    """
    found: tuple[float, float, float] = getattr(model, "usual", (0.3, 0.12, 4.5))
    return found


def of_model(wanted: str, settings: Settings) -> Embedder | None:
    """Return the embedder that made the vectors of a model, if it is still to be had."""
    for each in (STATIC, MINILM, name(settings)):
        try:
            if model(each, settings) == wanted:
                return load(each, settings)
        except MissingExtra:
            continue
    return _earlier(wanted, settings)


def _earlier(wanted: str, settings: Settings) -> Embedder | None:
    """Return the embedder of a model that was chosen before: its name tells where it came from."""
    made_by, _, called = wanted.partition(":")
    if made_by not in _OURS or not called:
        return None
    return load(made_by, Settings(**{**vars(settings), "embedder_model": called}))


_kept: dict[tuple[str, ...], Embedder] = {}  # a model takes long to load


def load(name: str, settings: Settings) -> Embedder:
    """Return an embedder by its name, ready to work."""
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
    known = ", ".join([AUTO, *_OURS, OFF])
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


def offer(name: str, make: Callable[[Settings], Embedder]) -> None:
    """Let a program bring an embedder of its own that no package does."""
    _OURS[name] = make


_OURS: dict[str, Callable[[Settings], Embedder]] = {
    STATIC: _static,
    MINILM: _minilm,
    "openai": _openai,
    "ollama": _ollama,
    "sentence-transformers": _sentence_transformers,
}
