"""The installed command, for tests of stores that older releases wrote."""

from __future__ import annotations

from tests.surfaces.conftest import run

__all__ = ["run"]
