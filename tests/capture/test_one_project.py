"""Sessions of one repository come together, also those stored before and those whose directory is gone."""

from __future__ import annotations

import json
import shutil
import uuid
from pathlib import Path

import pytest

from engram import Engram
from tests.capture.transcripts import Claude
from tests.conftest import git
from tests.sessions.test_checkouts import REMOTE, make_clone, make_repository, start


@pytest.fixture
def clones(repository: Path, tmp_path: Path) -> tuple[Path, Path]:
    return make_clone(repository, tmp_path / "one" / "app"), make_clone(repository, tmp_path / "two" / "app")


def forget_checkouts(engram: Engram) -> None:
    """Make a store as an older release left it: sessions without known checkouts."""
    engram.engine.run("delete from checkouts")


def split(engram: Engram, first: Path, second: Path) -> tuple[str, str]:
    """Register a session in each of two clones that an older release took for two projects."""
    sessions = (start(engram, first, "first"), engram.register("codex", "second", cwd=str(second), project=str(second)))
    forget_checkouts(engram)
    return sessions


def project_of(engram: Engram, session: str) -> str:
    return engram.get_session(session).project


def test_two_projects_that_are_clones_are_joined_with_all_they_have(engram: Engram, clones: tuple[Path, Path]) -> None:
    one, two = map(str, clones)
    first, second = split(engram, *clones)
    third = start(engram, clones[0], "the clone with more sessions keeps its name")
    forget_checkouts(engram)
    engram.set_world_state("Deploys are frozen.", project=two)
    engram.log(second, "Found the cause of the flaky zebra test")
    engram.lock_resource(second, str(clones[1] / "src" / "app.py"), "rename")
    engram.send(None, "next", "Remember the migration", two)
    engram.ingest()
    assert [project_of(engram, session) for session in (first, second, third)] == [one] * 3
    assert [entry.project for entry in engram.list_projects()] == [one]
    assert engram.world_state(one).content == "Deploys are frozen."
    assert [lock.project for lock in engram.list_locks(one)] == [one]
    assert "flaky zebra" in engram.recall("flaky zebra test", project=one)[0].snippet
    assert [message.body for message in engram.inbox(start(engram, clones[1]))] == ["Remember the migration"]
    entry = engram.activity("joined")[0]
    assert (entry.subject, entry.project, entry.detail["sessions"]) == (two, one, 1)
    assert engram.get_session_logs(second)[0].entry.endswith("zebra test")


def test_joining_happens_once(engram: Engram, clones: tuple[Path, Path]) -> None:
    split(engram, *clones)
    for _ in range(3):
        engram.ingest()
    assert len(engram.activity("joined")) == 1


def test_of_two_world_states_the_second_is_given_to_the_next_session(engram: Engram, clones: tuple[Path, Path]) -> None:
    one, two = map(str, clones)
    split(engram, *clones)
    start(engram, clones[0])
    forget_checkouts(engram)
    engram.set_world_state("One is red.", project=one)
    engram.set_world_state("Two is blue.", project=two)
    engram.ingest()
    assert engram.world_state(one).content == "One is red."
    assert engram.world_state(two).content == "Two is blue."
    [message] = engram.inbox(start(engram, clones[0]))
    assert "Two is blue." in message.body
    assert "engram world set" in message.body


def test_projects_are_not_joined_while_a_name_is_locked(engram: Engram, clones: tuple[Path, Path]) -> None:
    one, two = map(str, clones)
    first, second = split(engram, *clones)
    start(engram, clones[0])
    forget_checkouts(engram)
    engram.lock_resource(second, "db:migrations")
    engram.ingest()
    assert project_of(engram, second) == two
    engram.release_all(second)
    engram.ingest()
    assert project_of(engram, second) == project_of(engram, first) == one


def test_a_clone_with_another_history_leaves_the_project_it_was_taken_for(engram: Engram, tmp_path: Path) -> None:
    old, new = make_repository(tmp_path / "old", REMOTE), make_repository(tmp_path / "new", REMOTE)
    sessions = [start(engram, old), start(engram, new)]
    assert {project_of(engram, session) for session in sessions} == {str(old)}
    engram.ingest()
    assert [project_of(engram, session) for session in sessions] == [str(old), str(new)]
    assert engram.activity("separated")[0].detail["previous"] == str(old)


def test_a_shallow_clone_belongs_to_its_repository(engram: Engram, repository: Path, tmp_path: Path) -> None:
    (repository / "more.txt").write_text("more")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "second")
    full = make_clone(repository, tmp_path / "full")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repository}", "shallow")
    git(tmp_path / "shallow", "remote", "set-url", "origin", REMOTE)
    sessions = [start(engram, full), start(engram, tmp_path / "shallow")]
    engram.ingest()
    assert [project_of(engram, session) for session in sessions] == [str(full)] * 2


def test_a_checkout_that_is_gone_stays_known(engram: Engram, clones: tuple[Path, Path], home: Path) -> None:
    start(engram, clones[0])
    start(engram, clones[1])
    shutil.rmtree(clones[1])
    transcript = Claude(home, cwd=str(clones[1]))
    transcript.says("Read later")
    engram.ingest()
    assert project_of(engram, transcript.session) == str(clones[0])


def test_a_remote_in_a_transcript_names_the_project_of_a_directory_that_is_gone(
    engram: Engram, clones: tuple[Path, Path], home: Path
) -> None:
    start(engram, clones[0])
    session = str(uuid.uuid4())
    stamp, remote = "2026-11-01T10:00:00.000Z", "git@example.org:acme/app.git"
    payload = {
        "id": session, "timestamp": stamp, "cwd": "/scratch/run-7/checkout", "cli_version": "0.60.0",
        "git": {"branch": "main", "repository_url": remote},
    }  # fmt: skip
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix the build"}]}
    records = [("session_meta", payload), ("response_item", said)]
    path = home / ".codex" / "sessions" / "2026" / "11" / "01" / f"rollout-2026-11-01T10-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True)
    lines = [json.dumps({"timestamp": stamp, "type": kind, "payload": body}) + "\n" for kind, body in records]
    path.write_text("".join(lines))
    engram.ingest()
    assert project_of(engram, session) == str(clones[0])


def test_files_name_the_project_of_a_directory_that_is_gone(
    engram: Engram, repository: Path, home: Path, tmp_path: Path
) -> None:
    for name in ("api", "core", "web"):
        (repository / "src" / f"{name}.py").write_text(name)
    other = make_repository(tmp_path / "other")
    start(engram, repository)
    start(engram, other)
    gone, foreign = Claude(home, cwd="/scratch/7/checkout"), Claude(home, cwd="/scratch/8/checkout")
    for transcript, folder in ((gone, "src"), (foreign, "lib")):
        transcript.says("Change these files")
        for name in ("api", "core", "web"):
            transcript.edits(f"{transcript.cwd}/{folder}/{name}.py")
    engram.ingest()
    assert project_of(engram, gone.session) == str(repository)
    assert project_of(engram, foreign.session) == "/scratch/8/checkout"


@pytest.mark.parametrize("where", ["~/.cursor/worktrees/repository/x1", "~/.codex/worktrees/ab12/repository/src"])
def test_a_worktree_in_an_agents_own_folder_belongs_to_the_project_it_names(
    engram: Engram, repository: Path, home: Path, where: str
) -> None:
    start(engram, repository)
    transcript = Claude(home, cwd=where.replace("~", str(home)))
    transcript.says("Work apart")
    engram.ingest()
    assert project_of(engram, transcript.session) == str(repository)


def test_windows_paths_are_one_however_they_are_written(engram: Engram, home: Path) -> None:
    transcripts = [Claude(home, cwd=cwd) for cwd in (r"c:\Code\App", "C:/Code/App", "C:\\Code\\App\\.worktrees\\2")]
    for transcript in transcripts:
        transcript.says("On Windows")
    engram.ingest()
    assert {project_of(engram, transcript.session) for transcript in transcripts} == {r"C:\Code\App"}


def test_a_project_named_by_a_directory_that_is_gone_takes_the_path_of_one_that_is_there(
    engram: Engram, clones: tuple[Path, Path]
) -> None:
    session = start(engram, clones[0])
    start(engram, clones[1])
    shutil.rmtree(clones[0])
    engram.ingest()
    assert project_of(engram, session) == str(clones[1])
