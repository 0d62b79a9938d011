"""Projects are named by their repository, and told apart only where two share a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram, InvalidInput
from engram.sessions.project_names import resolve_project
from tests.sessions.test_checkouts import make_clone, make_repository, start


def names(engram: Engram) -> dict[str, str]:
    return {entry.project: entry.name for entry in engram.list_projects()}


def test_a_project_has_the_name_of_its_repository(engram: Engram, repository: Path, tmp_path: Path) -> None:
    clone = make_clone(repository, tmp_path / "work-copy", "git@example.org:acme/Billing.git")
    plain = make_repository(tmp_path / "notes")
    start(engram, clone)
    start(engram, plain)
    assert names(engram) == {str(clone): "billing", str(plain): "notes"}
    assert resolve_project(engram, "billing") == resolve_project(engram, "work-copy") == str(clone)


def test_a_name_is_written_as_its_directory_is(engram: Engram, tmp_path: Path) -> None:
    checkout = make_repository(tmp_path / "Billing", "https://example.org/acme/billing")
    start(engram, checkout)
    assert names(engram) == {str(checkout): "Billing"}


def test_only_projects_that_share_a_name_are_told_apart(engram: Engram, tmp_path: Path) -> None:
    ours = make_repository(tmp_path / "ours" / "app", "https://example.org/acme/app")
    theirs = make_repository(tmp_path / "theirs" / "app", "https://example.org/bob/app")
    local = make_repository(tmp_path / "play" / "app")
    other = make_repository(tmp_path / "other")
    for checkout in (ours, theirs, local, other):
        start(engram, checkout)
    assert names(engram) == {str(ours): "acme/app", str(theirs): "bob/app", str(local): "play/app", str(other): "other"}
    assert resolve_project(engram, "bob/app") == str(theirs)
    assert resolve_project(engram, "play/app") == str(local)
    with pytest.raises(InvalidInput, match="several projects"):
        resolve_project(engram, "app")


def test_a_clone_that_is_gone_still_names_its_project(engram: Engram, repository: Path, tmp_path: Path) -> None:
    kept, gone = make_clone(repository, tmp_path / "kept"), make_clone(repository, tmp_path / "gone")
    start(engram, kept)
    start(engram, gone)
    gone.rename(tmp_path / "elsewhere")
    assert resolve_project(engram, str(gone)) == str(kept)
