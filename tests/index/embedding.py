"""Embedders for tests, offered by a name as an installed one is."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from engram.index.words import words
from engram.llm import embedder


class Tiny:
    """Sets the number a word falls on: small, its own kind of right, and of any dimension."""

    def __init__(self, dim: int, model: str | None = None) -> None:
        self.dim, self.model = dim, model or f"tiny-{dim}"
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.read += texts
        found = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            for word in words(text):
                found[row, zlib.crc32(word.encode()) % self.dim] += 1.0
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0, lengths, 1)


def _given(made: Any, _: object) -> Any:
    return made


def offer(monkeypatch: pytest.MonkeyPatch, **offered: Any) -> None:
    """Offer embedders by name, until the test is over."""
    for name, made in offered.items():
        monkeypatch.setitem(embedder._OURS, name, partial(_given, made))
    monkeypatch.setattr(embedder, "_kept", {})
