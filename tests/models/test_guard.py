"""No loops: no hook and no call from inside a model call, no call from inside a hook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.errors import ModelInside, ModelOff
from engram.models.complete import complete
from tests.models.speaking import chat, speaking
from tests.models.standing_in import install, printing

START = {"hook_event_name": "SessionStart", "session_id": "abc", "cwd": "/"}


def hook(**env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engram", "hook", "claude"], input=json.dumps(START), capture_output=True, text=True,
        env={**os.environ, **env}, check=False,
    )  # fmt: skip


def test_a_hook_inside_a_model_call_leaves_silently_and_writes_nothing(tmp_path: Path) -> None:
    done = hook(ENGRAM_INSIDE="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "home").exists()
    assert "additionalContext" in hook().stdout  # the same event is handled outside


def test_a_model_call_inside_a_model_call_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_INSIDE", "1")
    choices: dict[str, Any] = {"model": "openai", "model_name": "m"}
    with (
        speaking(chat("hi")) as api,
        Engram(tmp_path / "home", model_url=api.url, **choices) as hub,
        pytest.raises(ModelInside, match="feed on itself") as refused,
    ):
        complete(hub, "hi", purpose="test")
    assert isinstance(refused.value, ModelOff)  # operations that work without a model do
    assert api.asked == []


def test_the_hooks_of_a_program_we_ask_do_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    event = json.dumps(START)
    command = [sys.executable, "-m", "engram", "hook", "claude"]
    run = f"subprocess.run({command!r}, input={event!r}, text=True, check=True)\n"
    install(tmp_path / "bin", "claude", run + printing(), monkeypatch)
    with Engram(tmp_path / "home", model="claude") as hub:
        assert complete(hub, "hi", purpose="test").text == "hi there"
        assert hub.get_active_sessions() == []


def test_a_hook_calls_no_model_but_what_it_starts_may(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "from engram.models import reentry_guard as guard\n"
        "guard.enter_hook()\n"
        "try:\n    guard.refuse_inside()\nexcept Exception as refused:\n    print(refused.code, refused.place)\n"
        "worker = 'from engram.models import reentry_guard as guard; guard.refuse_inside(); print(1)'\n"
        "print(subprocess.run([sys.executable, '-c', worker], capture_output=True, text=True).stdout.strip())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["model_inside a hook", "1"]
