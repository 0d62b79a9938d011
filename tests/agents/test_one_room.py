"""What is specific to one agent is in `agents/`, so that adding an agent changes that package only."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from engram.agents.registry import list_agents

SOURCE = Path(__file__).parents[2] / "src" / "engram"
NAMES = [agent.name for agent in list_agents() if agent.name != "cursor"]  # also a word for a position in a file
WORDS = re.compile(rf"(?<![\w-])(?:{'|'.join(NAMES)})(?![\w-])", re.IGNORECASE)

# Where a name does not mean the agent: a model's provider, a service whose export is read, an example.
ALLOWED = {
    "models/claude_cli.py": "the provider that asks Claude Code's model",
    "models/codex_cli.py": "the provider that asks Codex' model",
    "models/offers.py": "the providers that are on this machine",
    "models/registry.py": "the names of providers",
    "models/prices.py": "the names of models",
    "errors.py": "the names of providers, in advice",
    "importers/memoria_context.py": "memoria served one agent only",
    "importers/web_exports.py": "the exports of chat services",
    "surfaces/cli/command_table.py": "the commands that import them",
    "surfaces/cli/demo.py": "the demo's story",
    "surfaces/cli/demo_story.py": "the demo's story",
    "settings.py": "the names of providers",
}


def list_other_files() -> list[str]:
    names = (str(path.relative_to(SOURCE)) for path in sorted(SOURCE.rglob("*.py")))
    return [name for name in names if not name.startswith(("agents/", "compat/")) and name not in ALLOWED]


@pytest.mark.parametrize("name", list_other_files())
def test_no_agent_is_named_outside_its_room(name: str) -> None:
    tree = ast.parse((SOURCE / name).read_text())
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    named = [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in documentation
        and WORDS.search(node.value)
    ]
    assert named == []


@pytest.mark.parametrize("agent", [agent.name for agent in list_agents() if agent.hooks and agent.transcript_readers])
def test_an_agent_is_named_in_three_files_at_most(agent: str) -> None:
    """Its own file, its transcript reader and the registry."""
    naming = []
    for path in sorted((SOURCE / "agents").rglob("*.py")):
        constants = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        if agent in constants:
            naming.append(path.name)
    assert len(naming) <= 3, naming
