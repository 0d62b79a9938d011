"""Opening a file that is no store of ours: it says what the file is and leaves it as it is."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import apsw
import pytest

from engram import Engram
from engram.errors import Error
from tests.sessions.test_import_engram import DDL
from tests.summaries.test_import_lyra import SCHEMA as LYRA
from tests.surfaces.conftest import Run, run

__all__ = ["run"]

FORGE = "create table sessions (session_uid text); create table digests (session_uid text, body text);"
OTHERS = "create table recipes (name text);"
FILES = {
    "engram": (DDL, "engram import engram"),
    "lyra": (LYRA, "engram import lyra"),
    "forge": (FORGE, "engram import session-memory"),
    "others": (OTHERS, "another program"),
}


def made(path: Path, schema: str, *, log: str = "wal", crashed: bool = False) -> dict[str, bytes]:
    """Make a database as another program leaves it, and return every file of it."""
    db = apsw.Connection(str(path))
    db.execute(f"pragma journal_mode = {log}").fetchall()
    db.execute(schema)
    if not crashed:
        db.close()
        return files(path)
    left = files(path)
    db.close()
    for name, content in left.items():
        (path.parent / name).write_bytes(content)
    (path.parent / f"{path.name}-shm").unlink(missing_ok=True)
    return files(path)


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def refusal(path: Path) -> str:
    with pytest.raises(Error) as caught:
        Engram(path)
    return str(caught.value)


@pytest.mark.parametrize("log", ["wal", "delete"])
@pytest.mark.parametrize("kind", FILES)
def test_another_programs_database_is_named_and_stays_byte_for_byte(tmp_path: Path, kind: str, log: str) -> None:
    schema, advice = FILES[kind]
    path = tmp_path / "files" / "engram.db"
    path.parent.mkdir()
    before = made(path, schema, log=log)
    said = refusal(path)
    assert str(path) in said
    assert advice in said
    assert files(path) == before


def test_what_a_killed_program_left_in_its_log_is_seen_and_not_written_back(tmp_path: Path) -> None:
    path = tmp_path / "files" / "engram.db"
    path.parent.mkdir()
    before = made(path, DDL, crashed=True)
    assert before["engram.db-wal"]
    assert "engram import engram" in refusal(path)
    assert files(path) == before


def test_a_program_at_work_in_its_database_is_not_disturbed(tmp_path: Path) -> None:
    path = tmp_path / "engram.db"
    db = apsw.Connection(str(path))
    db.execute("pragma journal_mode = wal").fetchall()
    db.execute(DDL)
    db.execute("begin immediate; insert into world_state values (1, 'now', null, 'said')")
    assert "engram import engram" in refusal(path)
    db.execute("commit")
    assert db.execute("select content from world_state").get == "said"


@pytest.mark.parametrize(
    "content", [b"these are notes\n", b"\x1f\x8b" + struct.pack("<200f", *range(200)), b"\0" * 5000]
)
def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(content)
    assert "is not a SQLite database" in refusal(path)
    assert files(path) == {"notes.db": content}


def test_the_command_line_says_so_too_and_the_import_it_names_works(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "old" / "engram.db"
    path.parent.mkdir()
    before = made(path, DDL)
    for words in (("sitrep",), ("register", "work")):
        told = run(*words, status=1, ENGRAM_STORE=str(path)).stderr
        assert f"engram import engram {path}" in told
        assert "Traceback" not in told
    assert files(path) == before
    assert "0 sessions" in run("import", "engram", str(path)).stdout
    assert files(path) == before


def test_a_database_that_is_not_there_yet_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "data" / "symbiont" / "engram.db"
    with Engram(path) as engram:
        session = engram.register("cowork", "first")
    assert path.is_file()
    with Engram(path) as again:
        assert again.get_session(session).summary == "first"


def test_an_empty_file_becomes_a_store_as_sqlite_itself_would_have_it(tmp_path: Path) -> None:
    path = tmp_path / "engram.db"
    path.touch()
    with Engram(path) as engram:
        assert engram.get_active_sessions() == []


def test_a_store_opens_whoever_else_has_it_open(tmp_path: Path) -> None:
    path = tmp_path / "engram.db"
    with Engram(path) as first, Engram(path) as second:
        session = first.register("cowork", "first")
        assert second.get_session(session).id == session
    assert sorted(os.listdir(tmp_path)) == ["engram.db"]
