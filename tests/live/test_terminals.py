"""The agents' own screens in a terminal (tmux): they start with our hooks wired, show no hook error, and exit."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live.conftest import ALL, Live


class Terminal:
    """An agent's screen in a tmux server of its own."""

    def __init__(self, live: Live, directory: Path) -> None:
        self.socket = directory / "tmux"
        env = {**live.client.environment(), "TERM": "xterm-256color"}
        env.pop("CI", None)  # with it some agents show no screen
        words = [f"{name}={value}" for name, value in env.items()]
        self._tell("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40", "-c", str(live.project),
                   "env", "-i", *words, str(live.client.cli), *live.client.args)  # fmt: skip

    def _tell(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-S", str(self.socket), *words], capture_output=True, text=True, check=False)
        return done.stdout

    def read(self) -> str:
        return self._tell("capture-pane", "-p")

    def press(self, *keys: str) -> None:
        self._tell("send-keys", *keys)

    def is_open(self) -> bool:
        return bool(self._tell("list-sessions"))

    def close(self) -> None:
        self._tell("kill-server")


SLOW_TOO = os.environ.get("ENGRAM_LIVE") == "all"  # read before tests get an environment of their own
# Questions that an agent may ask before it takes a prompt, and the keys that a person answers with.
QUESTIONS = {
    "Do you want to use this API key": ("Up", "Enter"), "Hooks need review": ("2", "Enter"),
    "Use existing model": ("2", "Enter"), "Do you trust the files": ("Enter",), "Do you trust the contents": ("Enter",),
}  # fmt: skip
# What a screen shows that takes a prompt.
READY = {
    "claude": "shift+tab to cycle", "codex": "Ask Codex", "gemini": "Type your message", "qwen": "Type your message",
    "grok": "Logged in with API key", "copilot": "/ commands", "opencode": "Ask anything",
}  # fmt: skip
HOOK_ERROR = re.compile(r"hook\w*\b[^\n]{0,60}\b(?:error|failed|failure|timed out)", re.IGNORECASE)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[[Live], Terminal]]:
    """Open agents' screens, and close what is left of them."""
    if not SLOW_TOO:
        pytest.skip("screens of agents take too long for every check: `python3 dev.py live` opens them")
    if shutil.which("tmux") is None:
        pytest.skip("the agents' screens are not opened: tmux is not installed")
    opened: list[Terminal] = []

    def make(live: Live) -> Terminal:
        opened.append(Terminal(live, tmp_path))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def wait_for(screen: Terminal, live: Live, is_reached: Callable[[str], bool], seconds: float = 60) -> str:
    """Answer the questions on a screen until it shows what is waited for."""
    deadline = time.monotonic() + seconds
    while not is_reached(text := screen.read()):
        assert time.monotonic() < deadline, f"{text}\n{live.log()}"
        for question, keys in QUESTIONS.items():
            if question in text:
                for key in keys:
                    screen.press(key)
                    time.sleep(0.3)
        time.sleep(0.5)
    return text


@pytest.mark.parametrize("agent", ALL)
def test_a_screen_starts_with_our_hooks_answers_and_exits(
    live: Callable[..., Live], terminal: Callable[[Live], Terminal], agent: str
) -> None:
    made = live(agent, {"turns": [], "default": {"text": "All done now."}}).wired()
    screen = terminal(made)
    wait_for(screen, made, lambda text: READY[agent] in text and not any(each in text for each in QUESTIONS))
    screen.press("hello there")
    wait_for(screen, made, lambda text: "hello there" in text)
    screen.press("Enter")
    text = wait_for(screen, made, lambda text: "All done now." in text)
    assert not HOOK_ERROR.search(text)
    wait_for(screen, made, lambda _: f" {agent} stop " in made.log())
    assert [line for line in made.log().splitlines() if not line.endswith(" ok")] == []
    assert made.told("Engram, the memory all coding agents here share")
    for _ in range(20):
        screen.press("C-c")
        time.sleep(0.3)
        if not screen.is_open():
            break
    assert not screen.is_open()
