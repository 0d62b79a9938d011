"""Stores with a model of the test's choice."""

from __future__ import annotations

from tests.llm.conftest import opened

__all__ = ["opened"]
