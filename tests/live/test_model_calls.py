"""Our own model calls through the real `claude` and `codex`: what we rely on is what they do."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engram import Engram
from engram.errors import ModelRefused
from engram.models.complete import complete
from engram.models.provider import Budget
from tests.live.conftest import folder
from tests.models.conftest import calls

TITLE = {
    "type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"], "additionalProperties": False,
}  # fmt: skip
ANY = {"kind": "any"}


class Real:
    """A real program in a home of its own, and the scripted model it talks to."""

    def __init__(self, name: str, tmp_path: Path, api: Any, hub: Engram) -> None:
        self.name, self.user, self.api, self.hub = name, tmp_path / "user", api, hub
        self.hook_ran = tmp_path / "hook-ran"

    def bodies(self) -> str:
        return json.dumps([each["body"] for each in self.api.requests])

    def transcripts(self) -> list[Path]:
        return [
            path for place in (".claude/projects", ".codex/sessions") for path in (self.user / place).rglob("*.jsonl")
        ]


@pytest.fixture(params=["claude", "codex"])
def real(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: ModuleType
) -> Iterator[Real]:
    scripted = importlib.import_module("model_api")
    program = runner.find_cli(request.param, _package(request.param), [str(folder(request.param))])
    with scripted.ModelAPI({"turns": []}) as api, Engram(tmp_path / "home", model=request.param) as hub:
        found = Real(request.param, tmp_path, api, hub)
        _set_up(found, program.parent, runner, monkeypatch)
        yield found
        assert api.outside() == []


def _package(name: str) -> str:
    return {"claude": "@anthropic-ai/claude-code", "codex": "@openai/codex"}[name]


def _set_up(real: Real, folder: Path, runner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the program a user's home with a hook in it, and the scripted model for its vendor."""
    hooks = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": f"touch {real.hook_ran}"}]}]}}
    codex = {"model": "gpt-5.5", "model_provider": "scripted", "check_for_update_on_startup": False,
             "analytics": {"enabled": False}, "features": {"plugins": False, "apps": False},
             "model_providers": {"scripted": {"name": "Scripted", "base_url": f"{real.api.url}/v1", "wire_api":
             "responses", "env_key": "SCRIPTED_KEY"}}}  # fmt: skip
    files = {".claude/settings.json": json.dumps(hooks), ".codex/hooks.json": json.dumps(hooks),
             ".codex/config.toml": runner.to_toml(codex)}  # fmt: skip
    for name, text in files.items():
        path = real.user / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    env = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "HOME": str(real.user), "SCRIPTED_KEY": "sk-scripted",
        "CODEX_HOME": str(real.user / ".codex"), "ANTHROPIC_BASE_URL": real.api.url, "ANTHROPIC_API_KEY": "sk-scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "HTTPS_PROXY": real.api.url,
        "HTTP_PROXY": real.api.url, "NO_PROXY": "127.0.0.1,localhost",
    }  # fmt: skip
    for name, text in env.items():
        monkeypatch.setenv(name, text)


def test_the_real_program_answers_and_leaves_nothing(real: Real) -> None:
    real.api.script.load({"turns": [{"when": ANY, "text": "hi there", "times": 0}]})
    answer = complete(real.hub, "say hi, privately", purpose="test", system="Be very brief.")
    assert (answer.text, answer.calls, answer.input > 0, answer.output > 0) == ("hi there", 1, True, True)
    assert "say hi, privately" in real.bodies()
    assert "Be very brief." in real.bodies()
    assert len(real.bodies()) < 20_000
    assert real.transcripts() == []
    assert not real.hook_ran.exists()
    assert os.listdir(os.path.join(real.hub.settings.home, "model")) == []
    if real.name == "claude":
        assert answer.cost is not None
        assert "haiku" in answer.model


def test_the_real_program_answers_in_the_form_of_a_schema(real: Real) -> None:
    call = {"tool_calls": [{"name": "StructuredOutput", "input": {"title": "short"}}]}
    turn = call if real.name == "claude" else {"text": '{"title": "short"}'}
    real.api.script.load({"turns": [{"when": ANY, "times": 0, **turn}]})
    assert complete(real.hub, "a title", purpose="test", schema=TITLE).data == {"title": "short"}


def test_the_real_program_has_nothing_to_act_with(real: Real) -> None:
    real.api.script.load({"turns": [{"when": ANY, "text": "hi", "times": 0}]})
    complete(real.hub, "say hi", purpose="test")
    offered = {tool for each in real.api.requests for tool in each["tools"]}
    assert offered <= {"request_user_input", "apply_patch", "view_image"}  # codex' last ones; its sandbox reads only


def test_a_wrong_key_is_refused_and_not_tried_for_minutes(real: Real) -> None:
    real.api.script.load({"turns": [{"when": ANY, "fault": {"status": 401, "message": "bad key"}, "times": 0}]})
    with pytest.raises(ModelRefused):
        complete(real.hub, "say hi", purpose="test", budget=Budget(seconds=60))
    assert [(row["state"], row["cost"]) for row in calls(real.hub)] == [("failed", 0.0)]
