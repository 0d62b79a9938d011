"""The installed command for the usage examples of the systems Engram takes over."""

from __future__ import annotations

from tests.surfaces.conftest import run

__all__ = ["run"]
