"""`engram demo`: the whole loop on a made-up history, in a home that is thrown away."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from textwrap import wrap
from typing import Any

import click

from engram.surfaces.cli import demo_story
from engram.surfaces.cli.commands import show
from engram.value import value

_LINES = 16  # of a step that are shown
_WIDEST = 110
_MARGIN = 4  # columns before what a command said
_PATIENCE = 60  # seconds for one command
# Whatever could lead a command to the user's own store, agents or session.
_FOREIGN = ("ENGRAM", "CLAUDE", "CODEX", "GEMINI", "GROK", "COPILOT", "QWEN", "OPENCODE", "CURSOR", "XDG_", "APPDATA",
            "LOCALAPPDATA", "HOME", "USERPROFILE", "AIDER", "CLINE")  # fmt: skip


@value
class Step:
    """One thing the demo shows."""

    title: str
    command: str
    shows: str  # what it said
    seconds: float


@value
class Shown:
    """The whole demo."""

    home: str | None  # where it lies, if it was kept
    steps: tuple[Step, ...]


class Stage:
    """A home of its own in which the real commands run."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.harbour, self.lighthouse = demo_story.write(home, datetime.now(timezone.utc))

    def environment(self) -> dict[str, str]:
        """Return an environment in which nothing leads to the user's own files."""
        kept = {name: each for name, each in os.environ.items() if not name.upper().startswith(_FOREIGN)}
        moved = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), self.home)
        agents = {"CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "ENGRAM_HOME": ".engram"}
        return {
            **kept, **moved, **{name: os.path.join(self.home, folder) for name, folder in agents.items()},
            "NO_COLOR": "1", "COLUMNS": str(_room()), "PYTHONUTF8": "1",
        }  # fmt: skip

    def run(self, title: str, words: list[str], cwd: str, shown: str = "", given: dict[str, Any] | None = None) -> Step:
        """Run a command and keep what it said."""
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "engram", *words], cwd=cwd, env=self.environment(), timeout=_PATIENCE,
            input=json.dumps(given) if given else "", capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        said = (_answered(done.stdout) if given else done.stdout).strip() or done.stderr.strip()
        return Step(
            title=title, command=shown or f"engram {' '.join(words)}", shows=self._plain(said),
            seconds=round(time.monotonic() - began, 2),
        )  # fmt: skip

    def hook(self, title: str, event: str, flavor: str, session: str, **facts: Any) -> Step:
        """Let an agent tell us of an event, as its own program would."""
        given = {"flavor": flavor, "hook_event_name": event, "session_id": session, "cwd": self.harbour, **facts}
        return self.run(title, ["hook"], self.harbour, f"engram hook   # {flavor}: {event}", given)

    def _plain(self, said: str) -> str:
        return said.replace(os.path.realpath(self.home), "~").replace(self.home, "~")


def _answered(raw: str) -> str:
    """Return the text in a hook's answer, whatever the agent's dialect."""
    try:
        answer = json.loads(raw)
    except ValueError:
        return raw
    inner = answer.get("hookSpecificOutput") or answer
    return str(inner.get("permissionDecisionReason") or inner.get("additionalContext") or answer.get("reason") or raw)


def steps(stage: Stage) -> Iterator[Step]:
    """Yield the steps of the demo as they happen."""
    yield stage.run(
        "Two agents worked here for a week. Their transcripts are taken in, without secrets.", ["ingest"], stage.home
    )
    yield stage.run(
        "What each session came to: outcome, files, tests, cost.", ["sessions", "--captured"], stage.harbour
    )
    question = "how do we store prices, and why"
    yield stage.run(
        "Codex was corrected on what Claude had been told. Now either finds it:", ["recall", question, "-k", "2"],
        stage.harbour, f'engram recall "{question}" -k 2',
    )  # fmt: skip
    stage.hook("", "SessionStart", "claude", "demo-one", source="startup")
    stage.hook(
        "", "UserPromptSubmit", "claude", "demo-one", prompt="Put the prices of season tickets into src/prices.py"
    )
    edit = {"file_path": os.path.join(stage.harbour, "src", "prices.py"), "old_string": "a", "new_string": "b"}
    stage.hook("", "PreToolUse", "claude", "demo-one", tool_name="Edit", tool_input=edit, tool_use_id="1")
    yield stage.hook(
        "Claude edits src/prices.py again. A Codex session starts beside it and is told:", "SessionStart", "codex",
        "demo-two", source="startup",
    )  # fmt: skip
    patch = "*** Begin Patch\n*** Update File: src/prices.py\n@@\n-a\n+b\n*** End Patch\n"
    yield stage.hook(
        "It reaches for the same file, and is refused before it writes:", "PreToolUse", "codex", "demo-two",
        tool_name="apply_patch", tool_input={"command": patch}, tool_use_id="2",
    )  # fmt: skip
    yield stage.hook(
        "A prompt the past can answer brings the answer with it; others bring nothing:", "UserPromptSubmit", "codex",
        "demo-two", prompt="Round the refund fee for season tickets: are integer cents right for money here?",
    )  # fmt: skip
    yield stage.run("And a person sees it all at a glance.", ["sitrep"], stage.harbour)
    yield stage.run("What it cost, by each agent's own rules.", ["cost", "--days", "30"], stage.home)


def play(keep: bool, as_json: bool) -> None:
    """Play the demo, step by step."""
    home = tempfile.mkdtemp(prefix="engram-demo-")
    told: list[Step] = []
    try:
        if not as_json:
            click.echo(
                f"{_fitted('Four sessions of two agents on two projects, all made up, in a home of their own.')}\n"
            )
        for step in steps(Stage(home)):
            told.append(step)
            if not as_json:
                click.echo(_told(len(told), step))
    finally:
        if not keep:
            shutil.rmtree(home, ignore_errors=True)
    if as_json:
        show(Shown(home=home if keep else None, steps=tuple(told)), True)
    else:
        click.echo(_farewell(home if keep else None))


def _room() -> int:
    """Return how many columns there are for what a command said."""
    return min(_WIDEST, max(shutil.get_terminal_size().columns - _MARGIN, 20))


def _fitted(words: str) -> str:
    return "\n".join(wrap(words, _room() + _MARGIN, subsequent_indent="   "))


def _told(number: int, step: Step) -> str:
    lines = [part for line in step.shows.splitlines() for part in wrap(line, _room(), subsequent_indent="  ") or [""]]
    cut = [f"… {len(lines) - _LINES} more lines"] if len(lines) > _LINES else []
    shown = [click.style(f"  │ {line}", dim=True) for line in (*lines[:_LINES], *cut)]
    head = click.style(_fitted(f"{number}. {step.title}"), bold=True)
    return "\n".join([head, click.style(f"  $ {step.command}", fg="cyan"), *shown, ""])


def _farewell(home: str | None) -> str:
    kept = f"It is all kept in {home}: ENGRAM_HOME={os.path.join(home, '.engram')} engram sitrep\n" if home else ""
    return f"{kept}That was the loop. Your own agents, your own history: {click.style('engram init', bold=True)}"
