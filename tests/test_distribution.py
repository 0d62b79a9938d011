"""Install instructions name this program, never another package of the same name."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from engram import distribution
from engram.errors import MissingExtra

ROOT = Path(__file__).parents[1]
# `engram` alone is another project's name on PyPI.
STRANGER = re.compile(
    r"(?:pip3?|pipx|uv tool|uv pip|uvx)(?: --?\S+)*(?: install| run)?(?: --?\S+)* [\"']?engram(?![-\w/.])"
)


def test_no_text_tells_a_user_to_install_another_package() -> None:
    places = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "dev.py"]
    for folder, ending in (("src", "py"), ("docs", "md"), ("packages", "*"), ("tools", "*")):
        places += [path for path in (ROOT / folder).rglob(f"*.{ending}") if path.suffix in (".py", ".md", ".json")]
    found = [f"{path}: {match[0]}" for path in places for match in STRANGER.finditer(path.read_text("utf-8"))]
    assert found == []


def test_the_name_of_the_distribution_is_defined_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == distribution.NAME
    asked = [each for extra in project["optional-dependencies"].values() for each in extra if each.startswith("engram")]
    assert all(each.startswith(f"{distribution.NAME}[") for each in asked)
    assert project["scripts"] == {"engram": "engram.__main__:main"}


def test_a_missing_extra_is_installed_from_where_engram_came_from() -> None:
    said = str(MissingExtra(feature="The server", extra="serve"))
    assert "[serve]" in said
    assert str(ROOT) in said  # the tests run from a checkout
    assert sys.executable in said


def test_once_published_the_published_name_is_shown() -> None:
    assert "'engram-agents[serve]'" in distribution.format_install_command("serve", source="")


def test_the_readmes_install_brings_no_model_runtime() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = re.search(r'def install\(.*?prepare\("\.\[([\w,]+)\]"\)', (ROOT / "dev.py").read_text(), re.DOTALL)
    assert wanted is not None
    brought = {package for extra in wanted[1].split(",") for package in extras[extra]}
    assert wanted[1].split(",") == ["serve", "watch"]
    assert not any("onnx" in package or "minilm" in package for package in brought)
