"""The real agent programs, offline against a scripted model, each in a home of its own.

`python3 dev.py check` runs claude and codex, `python3 dev.py live` all seven. They come from npm (tools/clients.py);
the runner and the scripted model are in ../shared/realclients. What is not there is skipped by name.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from engram import Engram
from tests.capture.transcripts import SHARED
from tools import clients

USUAL = list(clients.USUAL)
ALL = ["claude", "codex", "gemini", "grok", "qwen", "copilot", "opencode"]
AGENTS = ALL if os.environ.get("ENGRAM_LIVE") == "all" else USUAL
COMMAND = str(Path(sys.executable).parent / "engram")


def folder(name: str) -> Path:
    """Return where a real program is installed, or skip by name."""
    if not clients.installed(name):
        pytest.skip(f"the real {name} is not asked: `python3 tools/clients.py {name}` did not install it")
    return clients.cache() / name


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The shared runner of real clients."""
    place = SHARED / "realclients"
    if not place.exists():
        pytest.skip("the real agents are not asked: their runner is not here (../shared)")
    monkeypatch.syspath_prepend(str(place))
    yield importlib.import_module("run_agent")
    for name in ("run_agent", "model_api"):
        sys.modules.pop(name, None)


class Live:
    """One real agent with Engram wired in by `engram init`, and the store they share."""

    def __init__(self, agent: str, client: Any, store: Path) -> None:
        self.agent, self.client, self.store = agent, client, store
        self.home, self.project, self.api = client.home, client.project, client.api

    def engram(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run our command as the user of this home would."""
        facts = {**self.client.environment(), "ENGRAM_HOME": str(self.store), **env}
        return subprocess.run(
            [COMMAND, *words], cwd=self.project, env=facts, capture_output=True, text=True, check=False, timeout=120
        )

    def open(self) -> Engram:
        """Open the store that the agent's hooks write to."""
        return Engram(self.store)

    def run(self, prompt: str, **facts: Any) -> Any:
        """Let the agent answer a prompt, to the end, with nothing asked of the world outside."""
        done = self.client.run(prompt, **facts)
        assert self.api.outside() == []
        return done

    def wired(self) -> Live:
        """Wire Engram in, as a person does."""
        done = self.engram("init", "--yes", "--no-history", "--agent", self.agent)
        assert done.returncode == 0, done.stdout + done.stderr
        return self

    def told(self, words: str) -> bool:
        """Tell whether words reached the model in a request of the agent's own loop."""
        return any(words in json.dumps(each.get("body"), ensure_ascii=False) for each in self.api.requests)

    def log(self) -> str:
        """Return what the hooks wrote down."""
        path = self.store / "hook.log"
        return path.read_text() if path.exists() else ""


@pytest.fixture
def live(runner: ModuleType, tmp_path: Path) -> Iterator[Callable[..., Live]]:
    """Make real agents: `live("claude", scenario)`; several may share one project and one store."""
    opened: list[Any] = []

    def make(agent: str, scenario: dict[str, Any], name: str = "one", **facts: Any) -> Live:
        store = tmp_path / "store"
        env = {"ENGRAM_HOME": str(store), **facts.pop("env", {})}
        project = tmp_path / "project"
        client = runner.Client(
            agent, tmp_path / f"user-{name}", project, scenario, cli_dirs=[str(folder(agent))], env=env, **facts
        )
        opened.append(client)
        return Live(agent, client, store)

    yield make
    for client in opened:
        client.close()
