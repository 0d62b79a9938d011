"""`engram demo`: Engram at work on a made-up history, in a temporary home."""

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

from engram.agents.registry import list_agents
from engram.platform.value import value
from engram.surfaces.cli import demo_story
from engram.surfaces.cli.output import show_result

_MAX_LINES = 16  # lines shown of every step
_MAX_WIDTH = 110
_MARGIN = 4  # columns before the output of a command
_TIMEOUT_SECONDS = 60  # seconds for one command
# Variables that could lead a command to the user's own store, agents or session.
_USER_VARIABLE_PREFIXES = (
    "ENGRAM", "XDG_", "APPDATA", "LOCALAPPDATA", "HOME", "USERPROFILE",
    *(prefix for agent in list_agents() for prefix in agent.variable_prefixes),
)  # fmt: skip


@value
class DemoStep:
    """One command of the demo and its output."""

    title: str
    command: str
    shows: str  # the output
    seconds: float


@value
class DemoResult:
    """The whole demo."""

    home: str | None  # the temporary home, if it was kept
    steps: tuple[DemoStep, ...]


class DemoHome:
    """A temporary home in which the real commands run."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.harbour, self.lighthouse = demo_story.write_history(home, datetime.now(timezone.utc))

    def build_environment(self) -> dict[str, str]:
        """Return an environment in which nothing leads to the user's own files."""
        kept_variables = {
            name: variable_value
            for name, variable_value in os.environ.items()
            if not name.upper().startswith(_USER_VARIABLE_PREFIXES)
        }
        moved_variables = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), self.home)
        agents = {"CLAUDE_CONFIG_DIR": ".claude", "CODEX_HOME": ".codex", "ENGRAM_HOME": ".engram"}
        return {
            **kept_variables,
            **moved_variables,
            **{name: os.path.join(self.home, folder) for name, folder in agents.items()},
            "NO_COLOR": "1",
            "COLUMNS": str(_get_text_width()),
            "PYTHONUTF8": "1",
        }

    def run_command(
        self,
        title: str,
        arguments: list[str],
        cwd: str,
        shown_command: str = "",
        hook_input: dict[str, Any] | None = None,
    ) -> DemoStep:
        """Run a command and return its output."""
        started_at = time.monotonic()
        process = subprocess.run(
            [sys.executable, "-m", "engram", *arguments],
            cwd=cwd,
            env=self.build_environment(),
            timeout=_TIMEOUT_SECONDS,
            input=json.dumps(hook_input) if hook_input else "",
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        output = (_read_hook_response(process.stdout) if hook_input else process.stdout).strip(
            "\n"
        ) or process.stderr.strip()
        return DemoStep(
            title=title,
            command=shown_command or f"engram {' '.join(arguments)}",
            shows=self._shorten_home_path(output),
            seconds=round(time.monotonic() - started_at, 2),
        )

    def send_hook_event(self, title: str, event: str, flavor: str, session: str, **facts: Any) -> DemoStep:
        """Send a hook event as an agent does."""
        hook_input = {"flavor": flavor, "hook_event_name": event, "session_id": session, "cwd": self.harbour, **facts}
        return self.run_command(title, ["hook"], self.harbour, f"engram hook   # {flavor}: {event}", hook_input)

    def _shorten_home_path(self, output: str) -> str:
        return output.replace(os.path.realpath(self.home), "~").replace(self.home, "~")


def _read_hook_response(raw: str) -> str:
    """Return the text of a hook's response in any agent's format."""
    try:
        answer = json.loads(raw)
    except ValueError:
        return raw
    inner = answer.get("hookSpecificOutput") or answer
    return str(inner.get("permissionDecisionReason") or inner.get("additionalContext") or answer.get("reason") or raw)


def run_steps(stage: DemoHome) -> Iterator[DemoStep]:
    """Yield the steps of the demo as they happen."""
    yield stage.run_command(
        "Two agents worked here for a week. Engram reads their transcripts and removes secrets.", ["ingest"], stage.home
    )
    yield stage.run_command("Their sessions: how they ended and what they cost.", ["sessions"], stage.harbour)
    question = "how do we store prices, and why"
    yield stage.run_command(
        "You told Claude how to store prices. Now every agent can find it:", ["recall", question, "-k", "2"],
        stage.harbour, f'engram recall "{question}" -k 2',
    )  # fmt: skip
    stage.send_hook_event("", "SessionStart", "claude", "demo-one", source="startup")
    stage.send_hook_event(
        "", "UserPromptSubmit", "claude", "demo-one", prompt="Put the prices of season tickets into src/prices.py"
    )
    edit = {"file_path": os.path.join(stage.harbour, "src", "prices.py"), "old_string": "a", "new_string": "b"}
    stage.send_hook_event("", "PreToolUse", "claude", "demo-one", tool_name="Edit", tool_input=edit, tool_use_id="1")
    yield stage.send_hook_event(
        "Claude edits src/prices.py again. A Codex session starts and gets this context:", "SessionStart", "codex",
        "demo-two", source="startup",
    )  # fmt: skip
    patch = "*** Begin Patch\n*** Update File: src/prices.py\n@@\n-a\n+b\n*** End Patch\n"
    yield stage.send_hook_event(
        "Codex tries to edit the same file and is stopped:", "PreToolUse", "codex", "demo-two",
        tool_name="apply_patch", tool_input={"command": patch}, tool_use_id="2",
    )  # fmt: skip
    yield stage.send_hook_event(
        "A prompt that past sessions can answer gets the answer with it:", "UserPromptSubmit", "codex",
        "demo-two", prompt="A refund of a season ticket in src/refunds.py pays back a cent too much: round the fee.",
    )  # fmt: skip
    yield stage.run_command("You see who is doing what.", ["sitrep"], stage.harbour)
    yield stage.run_command("And what it cost.", ["cost", "--days", "30"], stage.home)


def play_demo(keep: bool, as_json: bool) -> None:
    """Play the demo, step by step."""
    home = tempfile.mkdtemp(prefix="engram-demo-")
    finished_steps: list[DemoStep] = []
    try:
        if not as_json:
            click.echo(f"{_wrap_text('Four made-up sessions of two agents in two projects, in a temporary home.')}\n")
        for step in run_steps(DemoHome(home)):
            finished_steps.append(step)
            if not as_json:
                click.echo(_format_step(len(finished_steps), step))
    finally:
        if not keep:
            shutil.rmtree(home, ignore_errors=True)
    if as_json:
        show_result(DemoResult(home=home if keep else None, steps=tuple(finished_steps)), True)
    else:
        click.echo(_format_closing(home if keep else None))


def _get_text_width() -> int:
    """Return how many columns the output of a command may take."""
    return min(_MAX_WIDTH, max(shutil.get_terminal_size().columns - _MARGIN, 20))


def _wrap_text(text: str) -> str:
    return "\n".join(wrap(text, _get_text_width() + _MARGIN, subsequent_indent="   "))


def _format_step(number: int, step: DemoStep) -> str:
    lines = [
        part
        for line in step.shows.splitlines()
        for part in wrap(line, _get_text_width(), subsequent_indent="  ") or [""]
    ]
    cut_notice = [f"… {len(lines) - _MAX_LINES} more lines"] if len(lines) > _MAX_LINES else []
    output_lines = [click.style(f"  │ {line}", dim=True) for line in (*lines[:_MAX_LINES], *cut_notice)]
    head = click.style(_wrap_text(f"{number}. {step.title}"), bold=True)
    return "\n".join([head, click.style(f"  $ {step.command}", fg="cyan"), *output_lines, ""])


def _format_closing(home: str | None) -> str:
    kept_notice = (
        f"The home is kept in {home}: ENGRAM_HOME={os.path.join(home, '.engram')} engram sitrep\n" if home else ""
    )
    return (
        f"{kept_notice}That was the demo. To use your own agents and history: {click.style('engram init', bold=True)}"
    )
