"""Locks on files count in one checkout; other clones are warned, and names are locked for the whole project."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram, Held
from tests.sessions.test_checkouts import REMOTE, make_clone, make_repository, start, work_on


@pytest.fixture
def clones(repository: Path, tmp_path: Path) -> tuple[Path, Path]:
    return make_clone(repository, tmp_path / "one"), make_clone(repository, tmp_path / "two")


def test_a_lock_in_another_clone_blocks_nobody_but_is_told(engram: Engram, clones: tuple[Path, Path]) -> None:
    one, two = clones
    first, second = start(engram, one, "rename things"), start(engram, two)
    assert engram.lock_resource(first, "src/app.py", "rename").clones == ()
    lock = engram.lock_resource(second, "src/app.py")
    assert [(other.session_id, other.resource, other.note) for other in lock.clones] == [
        (first, str(one / "src" / "app.py"), "rename")
    ]
    assert engram.lock_resource(second, "README").clones == ()
    assert engram.check_edit(second, "src/app.py")


@pytest.mark.parametrize("held", ["src/", "src/*.py", "**/*.py"])
def test_a_folder_or_glob_in_another_clone_is_told_as_well(
    engram: Engram, clones: tuple[Path, Path], held: str
) -> None:
    first, second = start(engram, clones[0]), start(engram, clones[1])
    engram.lock_resource(first, held)
    assert [other.session_id for other in engram.lock_resource(second, "src/app.py").clones] == [first]
    engram.release_all(second)
    engram.release_all(first)
    engram.lock_resource(first, "src/app.py")
    assert [other.session_id for other in engram.lock_resource(second, held).clones] == [first]


def test_a_name_is_locked_for_all_clones(engram: Engram, clones: tuple[Path, Path]) -> None:
    first, second = start(engram, clones[0]), start(engram, clones[1])
    engram.lock_resource(first, "db:migrations")
    with pytest.raises(Held):
        engram.lock_resource(second, "db:migrations")


def test_an_expired_lock_in_another_clone_is_not_told(engram: Engram, clones: tuple[Path, Path]) -> None:
    first, second = start(engram, clones[0]), start(engram, clones[1])
    engram.lock_resource(first, "src/app.py")
    engram.complete(first, "done")
    assert engram.lock_resource(second, "src/app.py").clones == ()


@pytest.mark.parametrize(("remote", "told"), [(REMOTE, 1), ("https://example.org/bob/app", 0)])
def test_a_lock_at_the_same_path_on_another_machine_blocks_nobody(
    postgres_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remote: str, told: int
) -> None:
    checkout = make_repository(tmp_path / "dev" / "app", REMOTE)
    with Engram(postgres_store, home=str(tmp_path / "home")) as engram:
        work_on(monkeypatch, "alice")
        engram.lock_resource(start(engram, checkout), "name.txt")
        work_on(monkeypatch, "bob")
        (checkout / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {remote}\n')
        lock = engram.lock_resource(start(engram, checkout), "name.txt")
        assert (len(lock.clones), lock.overlaps) == (told, ())
