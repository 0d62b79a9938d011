"""Embedders for tests, registered like installed ones."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from engram.index.tokenizer import extract_terms
from engram.models import embedder


class Tiny:
    """A tiny embedder of any dimension: each word sets one number."""

    def __init__(self, dim: int, model: str | None = None) -> None:
        self.dim, self.model = dim, model or f"tiny-{dim}"
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.read += texts
        found = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in extract_terms(text):
                found[row, zlib.crc32(word.encode()) % self.dim] += 1.0
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0, lengths, 1)


def _given(made: Any, _: object) -> Any:
    return made


def offer(monkeypatch: pytest.MonkeyPatch, **offered: Any) -> None:
    """Register embedders by name until the test ends."""
    for name, made in offered.items():
        monkeypatch.setitem(embedder._OURS, name, partial(_given, made))
    monkeypatch.setattr(embedder, "_kept", {})
