"""One project per repository: clones share it, unrelated repositories never do."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from engram import Engram
from engram.sessions.git_remotes import normalize_remote
from tests.conftest import git

REMOTE = "https://example.org/acme/app.git"


def make_clone(repository: Path, path: Path, remote: str = REMOTE) -> Path:
    """Clone a repository, and say that it came from a remote."""
    path.parent.mkdir(parents=True, exist_ok=True)
    git(repository, "clone", "-q", str(repository), str(path))
    git(path, "remote", "set-url", "origin", remote)
    return path


def make_repository(path: Path, remote: str = "") -> Path:
    """Make a repository with a first commit of its own."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    (path / "name.txt").write_text(str(path))
    git(path, "add", ".")
    git(path, "commit", "-qm", f"first in {path.name} {os.urandom(4).hex()}")
    if remote:
        git(path, "remote", "add", "origin", remote)
    return path


def start(engram: Engram, directory: Path, summary: str = "work") -> str:
    return engram.register("claude-code", summary, cwd=str(directory))


def project_of(engram: Engram, session: str) -> str:
    return engram.get_session(session).project


def work_on(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    """Be another machine from now on."""
    names = os.uname()
    facts = {name: getattr(names, name) for name in ("sysname", "release", "version", "machine")}
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(nodename=machine, **facts))


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/Acme/App.git", "https://ada:secret@github.com/acme/app", "git@github.com:acme/app.git",
        "ssh://git@github.com:22/acme/app.git/", "ssh://git@ssh.github.com:443/acme/app.git",
        "git://github.com/acme/app", "github.com:acme/app", "git+ssh://git@GitHub.com/acme/app.git",
    ],
)  # fmt: skip
def test_a_remote_is_named_the_same_however_it_is_written(address: str) -> None:
    assert normalize_remote(address) == "github.com/acme/app"


@pytest.mark.parametrize("address", ["", "/srv/app.git", "../app", "file:///srv/app.git", r"C:\srv\app", "C:/srv/app"])
def test_a_path_on_this_machine_is_no_remote(address: str) -> None:
    assert normalize_remote(address) == ""


def test_two_clones_of_a_remote_are_one_project(engram: Engram, repository: Path, tmp_path: Path) -> None:
    first = make_clone(repository, tmp_path / "one" / "app")
    second = make_clone(repository, tmp_path / "two" / "renamed", "git@example.org:acme/app.git")
    sessions = [start(engram, first), start(engram, second / "src")]
    assert [project_of(engram, session) for session in sessions] == [str(first)] * 2
    assert {session.id for session in engram.get_active_sessions(project=str(first))} == set(sessions)


def test_clones_of_a_directory_belong_to_its_project(engram: Engram, repository: Path, tmp_path: Path) -> None:
    once, twice = tmp_path / "once", tmp_path / "twice"
    git(tmp_path, "clone", "-q", str(repository), str(once))
    git(tmp_path, "clone", "-q", f"file://{once}", str(twice))
    assert project_of(engram, start(engram, repository)) == str(repository)
    assert project_of(engram, start(engram, twice)) == str(repository)


def test_clones_of_a_bare_repository_are_one_project(engram: Engram, repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "shared.git")
    for name in ("one", "two"):
        git(tmp_path, "clone", "-q", str(tmp_path / "shared.git"), name)
    projects = {project_of(engram, start(engram, tmp_path / name)) for name in ("one", "two")}
    assert projects == {str(tmp_path / "one")}


def test_a_fork_and_a_copy_without_remote_are_projects_of_their_own(
    engram: Engram, repository: Path, tmp_path: Path
) -> None:
    first = make_clone(repository, tmp_path / "app")
    fork = make_clone(repository, tmp_path / "fork", "https://example.org/ada/app.git")
    shutil.copytree(repository, tmp_path / "copy")
    directories = (first, fork, repository, tmp_path / "copy")
    assert [project_of(engram, start(engram, path)) for path in directories] == [str(path) for path in directories]
    engram.ingest()
    assert [project_of(engram, start(engram, path)) for path in directories] == [str(path) for path in directories]


def test_another_repository_at_the_same_path_is_another_project(
    engram: Engram, repository: Path, tmp_path: Path
) -> None:
    checkout = make_clone(repository, tmp_path / "work" / "checkout")
    first = start(engram, checkout)
    engram.ingest()
    shutil.rmtree(checkout)
    make_repository(checkout, "https://example.org/acme/other.git")
    second = start(engram, checkout)
    engram.ingest()
    assert project_of(engram, first) == str(checkout)
    assert project_of(engram, second) == f"{checkout}@example.org/acme/other"


def test_a_repository_that_gets_a_remote_stays_the_same_project(engram: Engram, tmp_path: Path) -> None:
    checkout = make_repository(tmp_path / "app")
    first = start(engram, checkout)
    git(checkout, "remote", "add", "origin", REMOTE)
    assert project_of(engram, start(engram, checkout)) == project_of(engram, first) == str(checkout)
    clone = make_clone(checkout, tmp_path / "clone")
    assert project_of(engram, start(engram, clone)) == str(checkout)


def test_a_password_in_the_address_of_a_remote_is_not_stored(repository: Path, tmp_path: Path) -> None:
    secret = "correct-horse-battery"
    clone = make_clone(repository, tmp_path / "app", f"https://ada:{secret}@example.org/acme/app.git")
    with Engram(tmp_path / "home") as engram:
        start(engram, clone)
        engram.ingest()
    written = b"".join(path.read_bytes() for path in (tmp_path / "home").rglob("*") if path.is_file())
    assert secret.encode() not in written


def test_machines_share_a_project_by_its_remote(
    postgres_store: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (make_clone(repository, tmp_path / name / "app") for name in ("alice", "bob"))
    with Engram(postgres_store, home=str(tmp_path / "home")) as engram:
        work_on(monkeypatch, "alice")
        start(engram, first)
        work_on(monkeypatch, "bob")
        assert project_of(engram, start(engram, second)) == str(first)


def test_unrelated_repositories_at_one_path_on_two_machines_never_meet(
    postgres_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout = tmp_path / "dev" / "app"
    with Engram(postgres_store, home=str(tmp_path / "home")) as engram:
        sessions = []
        for machine, remote in (("alice", ""), ("bob", ""), ("carol", REMOTE), ("dave", REMOTE)):
            work_on(monkeypatch, machine)
            make_repository(checkout, remote)
            sessions.append(start(engram, checkout))
            engram.ingest()
            shutil.rmtree(checkout)
        projects = [project_of(engram, session) for session in sessions]
        assert projects[0] == str(checkout)
        assert len(set(projects)) == 4
