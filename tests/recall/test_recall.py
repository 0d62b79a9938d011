"""What was captured is found again, and shown where it was found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from tests.capture.conftest import home  # noqa: F401  the fixture
from tests.capture.transcripts import Claude


def call(home: Path, given: Any) -> None:  # noqa: F811
    """Let an agent call a tool."""
    work = Claude(home)
    block = {"type": "tool_use", "id": "toolu_1", "name": "Patch", "input": given}
    work.write(work.record("assistant", message={"id": "msg_1", "role": "assistant", "content": [block]}))


@pytest.mark.parametrize(
    "given",
    [
        "mend the login form",
        ["mend", "the login form"],
        {"edits": [{"path": "a.py", "change": {"to": "mend the login form"}}], "again": None, "times": 3},
    ],
)
def test_a_call_is_shown_whatever_it_was_given(engram: Engram, home: Path, given: Any) -> None:  # noqa: F811
    call(home, given)
    engram.ingest()
    (hit,) = engram.recall("login")
    assert "the login form" in hit.snippet
