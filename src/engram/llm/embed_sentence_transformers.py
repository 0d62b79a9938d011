"""Any model of the package sentence-transformers, on this machine, where that package is installed."""

from __future__ import annotations

from typing import Any

from engram.errors import ModelRefused, ModelUnavailable
from engram.llm.embed_http import unit
from engram.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Vectors = np.ndarray[Any, np.dtype[np.float32]]

_NAME = "sentence-transformers"


class SentenceTransformersEmbedder:
    """A model of meaning that runs here; loaded when it is first used."""

    def __init__(self, settings: Settings) -> None:
        if not settings.embedder_model:
            raise ModelRefused(provider=_NAME, reason="no model is named.", hint="Set embedder_model.")
        self.wanted = settings.embedder_model
        self.model = f"{_NAME}:{self.wanted}"
        self._loaded: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text."""
        if not texts:
            return unit(_NAME, [])
        return unit(_NAME, self._encoder().encode(list(texts), show_progress_bar=False))

    def _encoder(self) -> Any:
        if self._loaded is None:
            self._loaded = _load(self.wanted)
        return self._loaded


def _load(name: str) -> Any:
    from importlib import import_module

    try:
        package = import_module("sentence_transformers")
    except ImportError as missing:
        hint = "pip install sentence-transformers, or choose another embedder."
        raise ModelRefused(provider=_NAME, reason="the package is not installed.", hint=hint) from missing
    try:
        return package.SentenceTransformer(name)
    except (OSError, ValueError) as problem:
        reason = f"the model {name!r} cannot be loaded ({type(problem).__name__})."
        raise ModelUnavailable(provider=_NAME, reason=reason, after=None, billed=False) from problem
