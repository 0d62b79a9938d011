"""Log entries, completions and the world state are found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from tests.store.test_migrate import MIGRATIONS


@pytest.fixture
def session(engram: Engram, tmp_path: Path) -> str:
    return engram.register("codex", "Mending", flavor="codex", cwd=str(tmp_path), project=str(tmp_path))


def found(engram: Engram, query: str, **wanted: Any) -> list[tuple[str, str | None]]:
    return [(hit.tier, hit.session_id) for hit in engram.recall(query, **wanted)]


def test_a_log_entry_is_found(engram: Engram, session: str, tmp_path: Path) -> None:
    engram.log(session, "The heron migration needs the advisory lock 7405291")
    assert found(engram, "which advisory lock does the heron migration need") == [("log", session)]
    (hit,) = engram.recall("heron migration", tiers=["log"], project=str(tmp_path))
    assert (hit.project, hit.flavor) == (str(tmp_path), "codex")
    assert "7405291" in engram.get(hit.id).content


def test_a_completion_is_found_and_an_older_one_as_a_log(engram: Engram, session: str) -> None:
    engram.complete(session, "The kestrel parser now reads tabs")
    assert found(engram, "kestrel parser tabs") == [("completion", session)]
    engram.heartbeat(session)
    assert found(engram, "kestrel parser tabs") == [("log", session)]
    engram.complete(session, "The otter cache is cleared nightly")
    assert found(engram, "otter cache") == [("completion", session)]


def test_the_world_state_is_found_as_it_stands(engram: Engram, session: str, tmp_path: Path) -> None:
    engram.set_world_state("# Deploy\nThe heron cluster is frozen.\n\n# Tests\nUse the kestrel runner.", session)
    (hit,) = engram.recall("heron cluster")
    assert hit.tier == "world"
    assert "kestrel" not in hit.snippet
    engram.set_world_state("# Deploy\nNothing is frozen.", session)
    assert found(engram, "heron cluster") == []
    engram.set_world_state("The otter branch is the release.", session, project=str(tmp_path))
    assert found(engram, "otter branch", project=str(tmp_path)) == [("world", None)]
    assert found(engram, "otter branch", project="/elsewhere") == []


def test_a_deleted_session_takes_its_entries_along(engram: Engram, session: str) -> None:
    engram.log(session, "The heron migration needs an advisory lock")
    engram.complete(session, "The heron migration is done")
    assert len(found(engram, "heron migration")) == 2
    engram.delete_session(session)
    assert found(engram, "heron migration") == []


def test_what_was_noted_before_an_upgrade_is_found(engram: Engram, session: str) -> None:
    engram.log(session, "The heron migration needs an advisory lock")
    engram.complete(session, "The kestrel parser now reads tabs")
    engram.set_world_state("The otter cluster is frozen.")
    with engram.engine.transaction():
        engram.engine.script("delete from unindexed; delete from passages")
        engram.engine.script(next(MIGRATIONS.glob("*_notes_found.sql")).read_text())
    assert [found(engram, query) for query in ("heron migration", "kestrel parser", "otter cluster")] == [
        [("log", session)], [("completion", session)], [("world", None)]
    ]  # fmt: skip
