"""Reading other programs' databases without leaving a trace."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import apsw
import pytest

from engram.errors import StoreBusy, StoreDamaged, StoreUnavailable
from engram.store.foreign_database import ForeignDatabase, fetch_rows, list_tables, read_stamp


def database(path: Path, mode: str = "wal") -> apsw.Connection:
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", mode)
    db.execute("create table t (id integer primary key, body text); insert into t (body) values ('one'), ('two')")
    return db


def beside(path: Path) -> dict[str, bytes]:
    return {item.name: item.read_bytes() for item in sorted(path.parent.iterdir())}


def abandoned(path: Path, elsewhere: Path) -> Path:
    """Copy a live database with its log, as a crash or a copy leaves them: without the -shm."""
    db = database(path)
    elsewhere.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(f"{path}{ending}", elsewhere / f"{path.name}{ending}")
    db.close()
    return elsewhere / path.name


def test_rows_are_returned_by_column_name(tmp_path: Path) -> None:
    database(tmp_path / "a.db").close()
    rows = fetch_rows(str(tmp_path / "a.db"), "select id, body as said from t where id > ?", 1)
    assert rows == [{"id": 2, "said": "two"}]
    assert list_tables(str(tmp_path / "a.db")) == {"t"}


def test_a_live_log_is_read(tmp_path: Path) -> None:
    path = tmp_path / "live.db"
    db = database(path)
    db.execute("insert into t (body) values ('three')")
    assert os.path.getsize(f"{path}-wal") > 0
    assert [row["body"] for row in fetch_rows(str(path), "select body from t order by id")] == ["one", "two", "three"]
    db.execute("insert into t (body) values ('four')")
    assert len(fetch_rows(str(path), "select * from t")) == 4
    db.close()


def test_one_opening_sees_one_moment(tmp_path: Path) -> None:
    db = database(tmp_path / "a.db")
    with ForeignDatabase(str(tmp_path / "a.db")) as foreign:
        db.execute("insert into t (body) values ('later')")
        assert len(foreign.fetch_rows("select * from t")) == 2
    db.close()


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_nothing_is_left_beside_a_closed_database(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "a.db"
    database(path, mode).close()
    before = beside(path)
    assert len(fetch_rows(str(path), "select * from t")) == 2
    assert beside(path) == before


def test_an_abandoned_log_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    path = abandoned(tmp_path / "a.db", tmp_path / "copy")
    before = beside(path)
    assert sorted(before) == ["a.db", "a.db-wal"]
    assert len(fetch_rows(str(path), "select * from t")) == 2
    assert beside(path) == before


def test_a_read_only_directory_can_be_read(tmp_path: Path) -> None:
    path = abandoned(tmp_path / "a.db", tmp_path / "copy")
    for item in path.parent.iterdir():
        item.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert len(fetch_rows(str(path), "select * from t")) == 2
    finally:
        path.parent.chmod(0o700)


def test_it_cannot_write(tmp_path: Path) -> None:
    database(tmp_path / "a.db").close()
    with pytest.raises(StoreUnavailable):
        fetch_rows(str(tmp_path / "a.db"), "insert into t (body) values ('no')")


def test_a_file_that_is_not_a_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    database(path).close()
    whole = path.read_bytes()
    for spoilt in (b"", b"SQLite", whole[:60], whole[: len(whole) // 2], whole[:100] + b"\xff" * (len(whole) - 100)):
        path.write_bytes(spoilt)
        with pytest.raises(StoreDamaged):
            fetch_rows(str(path), "select * from t")
        assert list_tables(str(path)) in ({"t"}, set())


def test_invalid_utf8_is_damage(tmp_path: Path) -> None:
    db = database(tmp_path / "a.db")
    db.execute("insert into t (body) values (cast(x'ff' as text))")
    with pytest.raises(StoreDamaged):
        fetch_rows(str(tmp_path / "a.db"), "select body from t")
    assert fetch_rows(str(tmp_path / "a.db"), "select cast(body as blob) as body from t")[2] == {"body": b"\xff"}
    db.close()


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        fetch_rows(str(tmp_path / "none.db"), "select 1")
    assert list_tables(str(tmp_path / "none.db")) == set()
    assert list(tmp_path.iterdir()) == []


def test_a_locked_database_is_busy(tmp_path: Path) -> None:
    db = database(tmp_path / "a.db", "delete")
    db.execute("begin exclusive")
    with pytest.raises(StoreBusy):
        ForeignDatabase(str(tmp_path / "a.db"), busy_seconds=0.05)
    db.close()


def test_odd_names_are_opened(tmp_path: Path) -> None:
    path = tmp_path / "a b?c#d%.db"
    database(path).close()
    assert len(fetch_rows(str(path), "select * from t")) == 2


def test_a_stamp_tells_states_apart_once_they_have_settled(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    db = database(path)
    assert read_stamp(str(path)) is None
    for ending in ("", "-wal"):
        os.utime(f"{path}{ending}", (time.time() - 50, time.time() - 50))
    before = read_stamp(str(path))
    assert before is not None
    db.execute("insert into t (body) values ('more')")
    assert read_stamp(str(path)) is None
    os.utime(f"{path}-wal", (time.time() - 40, time.time() - 40))
    assert read_stamp(str(path)) not in (None, before)
    db.close()
