"""Stores with a model chosen by the test."""

from __future__ import annotations

from tests.models.conftest import opened

__all__ = ["opened"]
