"""Any local model of the package sentence-transformers, if it is installed."""

from __future__ import annotations

from typing import Any

from engram.errors import ModelRefused, ModelUnavailable
from engram.models.embed_http import normalize_vectors
from engram.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Vectors = np.ndarray[Any, np.dtype[np.float32]]

_NAME = "sentence-transformers"


class SentenceTransformersEmbedder:
    """A local embedding model, loaded on first use."""

    def __init__(self, settings: Settings) -> None:
        if not settings.embedder_model:
            raise ModelRefused(provider=_NAME, reason="no model name is set.", hint="Set embedder_model.")
        self.wanted = settings.embedder_model
        self.model = f"{_NAME}:{self.wanted}"
        self._loaded: Any = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector for each text."""
        if not texts:
            return normalize_vectors(_NAME, [])
        return normalize_vectors(_NAME, self._get_encoder().encode(list(texts), show_progress_bar=False))

    def _get_encoder(self) -> Any:
        if self._loaded is None:
            self._loaded = _load_model(self.wanted)
        return self._loaded


def _load_model(name: str) -> Any:
    from importlib import import_module

    try:
        package = import_module("sentence_transformers")
    except ImportError as missing:
        hint = "Install sentence-transformers, or choose another embedder."
        raise ModelRefused(provider=_NAME, reason="the package is not installed.", hint=hint) from missing
    try:
        return package.SentenceTransformer(name)
    except (OSError, ValueError) as problem:
        reason = f"the model {name!r} cannot be loaded ({type(problem).__name__})."
        raise ModelUnavailable(provider=_NAME, reason=reason, after=None, billed=False) from problem
