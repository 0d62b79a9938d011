"""The docs say what is true: commands exist, operations are offered, links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from engram import Engram
from engram.operation import list_operations
from engram.surfaces.cli.command_table import COMMANDS, GROUPS, MODULES
from engram.surfaces.cli.root_group import build_command_line
from engram.surfaces.http.application import list_offered
from tools import references

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / f"{name}.md" for name in ("README", "AGENTS", "CONTRIBUTING", "CHANGELOG", "SECURITY")]
PAGES += [*sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "reference").glob("*.md"))]
PAGES.append(ROOT / "tools" / "skill" / "SKILL.md")


def commands_in(page: Path) -> list[str]:
    text = page.read_text()
    blocks = re.findall(r"```(?:sh|console)\n(.*?)```", text, re.DOTALL)
    lines = [line.removeprefix("$ ") for block in blocks for line in block.splitlines()]
    spans = re.findall(r"`(engram [a-z][^`|…<]*)`", text)
    inner = [found for line in lines for found in re.findall(r"\$\((engram [^)]*)\)", line)]
    return [line for line in [*lines, *inner, *spans] if re.match(r"engram [a-z]", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_shown_exists_with_the_options_shown(page: Path) -> None:
    for line in commands_in(page):
        words = shlex.split(line.split(" &")[0], comments=True)[1:]
        if words[:1] == ["hook"]:
            continue
        command: click.Command | None = build_command_line()
        with click.Context(command or click.Command("x")) as context:
            while isinstance(command, click.Group) and words and not words[0].startswith("-"):
                command = command.get_command(context, words.pop(0))
            assert command is not None, line
            known = {name for parameter in command.params for name in parameter.opts}
        assert [word for word in words if word.startswith("-") and word not in known] == [], line


@pytest.mark.parametrize("path", references.build_pages())
def test_a_generated_reference_is_up_to_date(path: str) -> None:
    page = ROOT / path
    fresh = page.exists() and page.read_text(encoding="utf-8") == references.build_pages()[path]
    assert fresh, f"{path} is stale: run `python3 dev.py docs`"


def test_the_references_leave_nothing_out() -> None:
    pages = {Path(path).stem: text for path, text in references.build_pages().items()}
    paths = [spec.path for spec in COMMANDS] + [*MODULES, *GROUPS]
    assert [path for path in paths if not re.search(rf"^#+ engram {path}$", pages["commands"], re.MULTILINE)] == []
    names = [operation.name for operation in list_operations()]
    assert [name for name in names if f"\n### {name}\n" not in pages["operations"]] == []
    offered = [operation.name for operation in list_offered()]
    assert [name for name in offered if f" /api/{name}\n" not in pages["http"]] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_anchor_within_the_references_exists(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", page.read_text()):
        headings = re.findall(
            r"^#+ (.+)$", (page.parent / target).read_text() if target else page.read_text(), re.MULTILINE
        )
        slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
        assert slugs.count(anchor) == 1, f"{target}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_the_readme_has_its_two_commands_early_and_stays_short() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    assert lines.index("python3 dev.py install") < lines.index("python3 dev.py check") < 45
    assert "exec python3 dev.py check" in (ROOT / ".ci" / "run").read_text()


def test_the_library_offers_every_operation_as_a_method() -> None:
    assert [each.name for each in list_operations() if getattr(Engram, each.name, None) is not each.call] == []


def test_the_requirements_of_the_older_systems_are_all_accounted_for() -> None:
    text = (ROOT / "docs" / "lineage.md").read_text()
    named = set()
    for prefix, ids in re.findall(r"\b(E[PX]|HF|LY|M[FC])-((?:B?\d+(?:[–, ]+(?=B?\d))?)+)", text):
        for first, last in re.findall(r"(B?\d+)(?:–(B?\d+))?", ids):
            mark = "B" if first.startswith("B") else ""
            start, end = int(first.lstrip("B")), int((last or first).lstrip("B"))
            named |= {f"{prefix}-{mark}{number:0{2 if mark else 3}}" for number in range(start, end + 1)}
    wanted = {f"EP-{n:03}" for n in range(1, 69)} | {f"EX-{n:03}" for n in range(1, 41)}
    wanted |= {f"HF-{n:03}" for n in range(1, 60)} | {f"HF-B{n:02}" for n in range(1, 15)}
    wanted |= {f"LY-{n:03}" for n in range(1, 74)} | {f"LY-B{n:02}" for n in range(1, 19)}
    wanted |= {f"MF-{n:03}" for n in range(1, 56)} | {f"MC-{n:03}" for n in range(1, 28)}
    wanted |= {f"MF-B{n:02}" for n in range(1, 29)}
    wanted |= {f"EP-B{n:02}" for n in range(1, 21)} | {f"EX-B{n:02}" for n in range(1, 13)}
    assert sorted(wanted - named) == []
