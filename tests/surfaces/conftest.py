"""Run the installed command like a person or a script does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the installed command in its own directory."""
    directory = tmp_path / "work"
    directory.mkdir()

    def call(*words: str, text: str | None = None, status: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "engram", *words], cwd=directory, env={**os.environ, **env},
            input=text or "", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return call
