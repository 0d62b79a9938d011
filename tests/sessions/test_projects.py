"""Projects: the same from every worktree, found by reading files alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from engram.sessions import projects
from engram.sessions.projects import NOWHERE, GitLocation
from tests.conftest import git


def head(directory: Path) -> str:
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=directory, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_project_is_its_git_root(repository: Path) -> None:
    for directory in (repository, repository / "src", repository / "src" / "not" / "there" / "yet"):
        location = projects.find_git_location(str(directory))
        assert location == GitLocation(project=str(repository), checkout=str(repository), branch="main")


def test_a_link_to_a_project_is_the_project(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository)
    assert projects.find_project(str(tmp_path / "link" / "src")) == str(repository)


@pytest.mark.parametrize("where", ["beside", "inside"])
def test_a_worktree_belongs_to_the_main_checkout(repository: Path, tmp_path: Path, where: str) -> None:
    tree = tmp_path / "second" if where == "beside" else repository / ".worktrees" / "second"
    git(repository, "worktree", "add", "-q", "-b", "feature/x", str(tree))
    location = projects.find_git_location(str(tree / "src"))
    assert location == GitLocation(project=str(repository), checkout=str(tree), branch="feature/x")


def test_a_worktree_with_relative_pointers_is_followed(repository: Path, tmp_path: Path) -> None:
    tree = tmp_path / "second"
    git(repository, "worktree", "add", "-q", str(tree))
    (tree / ".git").write_text("gitdir: ../repository/.git/worktrees/second\n")
    assert projects.find_git_location(str(tree)).project == str(repository)


def test_worktrees_of_a_bare_repository_share_a_project(repository: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    for name in ("one", "two"):
        git(bare, "worktree", "add", "-q", "-b", name, str(tmp_path / name))
    found = [projects.find_git_location(str(tmp_path / name)) for name in ("one", "two")]
    assert [place.project for place in found] == [str(bare), str(bare)]
    assert [place.branch for place in found] == ["one", "two"]


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "inner")
    assert (outer / "inner" / ".git").is_file()
    assert projects.find_git_location(str(outer / "inner" / "src")).project == str(outer / "inner")
    assert projects.find_git_location(str(outer)).project == str(outer)


def test_a_detached_head_is_named_by_its_commit(repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    assert projects.find_git_location(str(repository)).branch == head(repository)[:12]


def test_a_repository_without_commits_has_a_branch_already(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk")
    assert projects.find_git_location(str(tmp_path)).branch == "trunk"


def test_a_nested_repository_is_a_project_of_its_own(repository: Path) -> None:
    inner = repository / "vendor" / "inner"
    inner.mkdir(parents=True)
    git(inner, "init", "-q", "-b", "side")
    assert projects.find_git_location(str(inner)) == GitLocation(project=str(inner), checkout=str(inner), branch="side")
    assert projects.find_git_location(str(repository / "vendor")).project == str(repository)


def test_without_git_a_directory_is_its_own_project(tmp_path: Path) -> None:
    assert projects.find_git_location(str(tmp_path)) == NOWHERE
    assert projects.find_project(str(tmp_path)) == str(tmp_path)
    assert projects.find_project(None) == projects.find_project("") == ""


@pytest.mark.parametrize(
    "content",
    ["", "nonsense", "gitdir:", "gitdir: /nowhere/at/all", "\0\0\0", "gitdir: " + "x" * 20_000],
    ids=["empty", "nonsense", "no path", "pruned", "binary", "endless"],
)
def test_a_broken_git_file_still_marks_a_project(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content)
    location = projects.find_git_location(str(tmp_path))
    assert (location.project, location.checkout) == (str(tmp_path), str(tmp_path))


@pytest.mark.parametrize("victim", ["HEAD", "commondir"])
def test_a_damaged_worktree_is_still_a_project(repository: Path, tmp_path: Path, victim: str) -> None:
    tree = tmp_path / "second"
    git(repository, "worktree", "add", "-q", str(tree))
    (repository / ".git" / "worktrees" / "second" / victim).unlink()
    expected = str(repository) if victim == "HEAD" else str(tree)
    assert projects.find_git_location(str(tree)).project == expected


def test_a_removed_worktree_falls_back_to_its_own_directory(repository: Path, tmp_path: Path) -> None:
    tree = tmp_path / "second"
    git(repository, "worktree", "add", "-q", str(tree))
    shutil.rmtree(repository / ".git" / "worktrees" / "second")
    assert projects.find_git_location(str(tree)) == GitLocation(project=str(tree), checkout=str(tree))
