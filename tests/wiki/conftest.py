"""Stores with a model chosen by the test, and conversations to flush."""

from __future__ import annotations

from tests.models.conftest import opened

__all__ = ["opened"]
