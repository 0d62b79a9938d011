"""Migrations: applied once, in order, the same on both engines."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

import engram.store
from engram import Engram, StoreDamaged, UpgradeFailed
from engram.store import dream_inbox, migrate, session_gists

MIGRATIONS = Path(engram.store.__path__[0]) / "migrations"

# A released migration is never edited: a store that applied it would not notice.
RELEASED = {
    "0001_coordination.sql": "842ec18fe2a811940186d72f65d5a8d98f6e90855ff839a2c3677db0872ceabe",
    "0002_capture.sql": "65df2c9c566c4d4179055ac571925af2af9c536f7b12513420f2c56b65b1b6f7",
    "0003_event_words.sqlite.sql": "99be1c843701e9cbd2567c8e73aaefa83f81520de01b803a231bda8a0eadd71c",
    "0003_event_words.postgres.sql": "7746b6bf5ad05645eae6487cb11060aceadc65c4b995f764a66fcc26b57c1e34",
    "0004_memory.sql": "03c2761bf08fff4dac6028b093b7986e02ed68a5763f129e7e9d559d2c6c8260",
    "0005_ledger.sql": "bd4e798a46c76fb6c25e5709dfd8df21958df3f92ab80c784b147b414a8c3415",
    "0006_hooks.sql": "2820775769841f48bdd0bee0c929c1c5fdd19503c29aedb0658a79f955ac205e",
    "0007_wiki.sql": "26c18edc63f16ccdc80ebe489285209ecd0fc5db916270468667a244ab6cd945",
    "0008_dream.sql": "84fc7de034fc4bc88ad713ca3dc18478837d552fae9bbbb9dff77a236d61c812",
    "0009_patterns.sql": "d8e2101e29badc1605ddfc63e891be6996c301ddc21ae03dec14bc4712da87b0",
    "0010_dashboard.sql": "7af692894e00e803433c8fb10f5826c20bcf78f86f3c2bf8e85fc546d01c674f",
    "0011_domains.sql": "c535e49c7ddd4869764d1467b7784d6720ef6fc36c30e85fba0f660dd0da237f",
    "0012_notes_found.sql": "de684ed16a947e7e9189308c2737d64d3f8537f34617e55c0c5f086ca14ed2f9",
    "0013_unread.sql": "1575d680b079383cd95bda8fcdcdb830ee9c9d3ff3aa51d71379e08fe253d3db",
}


def test_a_released_migration_is_never_edited() -> None:
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in MIGRATIONS.glob("*.sql")}
    assert {name: found[name] for name in RELEASED} == RELEASED


def test_migrations_are_numbered_without_gaps() -> None:
    numbers = sorted({int(path.name[:4]) for path in MIGRATIONS.glob("*.sql")})
    assert numbers == list(range(1, len(numbers) + 1))


def test_both_engines_end_with_the_same_tables_and_columns(tmp_path: Path, postgres_store: str) -> None:
    # Each engine has its own index, and PostgreSQL keeps bodies in a table where SQLite uses files.
    with Engram(tmp_path / "home") as lite, Engram(postgres_store) as post:
        rows = lite.engine.run(
            "select m.name as t, c.name as c from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table'"
            " and m.name not like 'event_words%' and m.name not like 'case_words%' and m.name not like 'sqlite_%'"
        )
        columns = post.engine.run(
            "select table_name as t, column_name as c from information_schema.columns"
            " where table_schema = current_schema()"
            " and table_name not in ('event_words', 'case_words', 'blob_contents')"
        )
    assert {(r["t"], r["c"]) for r in rows} == {(r["t"], r["c"]) for r in columns}


def test_opening_again_applies_nothing(engram: Engram) -> None:
    before = engram.engine.run("select * from schema_migrations order by version")
    migrate.migrate(engram.engine, 1)
    assert engram.engine.run("select * from schema_migrations order by version") == before


def test_a_store_is_copied_aside_before_it_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engram(tmp_path / "home") as engram_:
        engram_.set_world_state("precious")
    _add_migration(tmp_path, monkeypatch, "create table extra (id integer);")
    with Engram(tmp_path / "home") as engram_:
        assert engram_.engine.run("select count(*) as n from extra") == [{"n": 0}]
    copy = tmp_path / "home" / "engram.db.before-upgrade"
    monkeypatch.undo()
    with Engram(copy) as old:
        assert old.get_world_state() == "precious"
        assert old.engine.run("select * from sqlite_master where name = 'extra'") == []


def test_a_bad_migration_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engram(tmp_path / "home") as engram_:
        engram_.set_world_state("precious")
    _add_migration(tmp_path, monkeypatch, "create table extra (id integer); create nonsense;")
    with pytest.raises(UpgradeFailed, match=r"nonsense.*engram\.db\.before-upgrade"):
        Engram(tmp_path / "home")
    monkeypatch.undo()
    with Engram(tmp_path / "home") as engram_:
        assert engram_.get_world_state() == "precious"
        assert engram_.engine.run("select * from sqlite_master where name = 'extra'") == []


def test_a_migration_that_keeps_failing_leaves_one_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Engram(tmp_path / "home") as engram_:
        engram_.set_world_state("precious")
    (tmp_path / "home" / "engram.db.before-0009-1234567890").write_text("of an earlier release")
    _add_migration(tmp_path, monkeypatch, "create nonsense;")
    kept = set()
    for _ in range(3):
        with pytest.raises(Exception, match="nonsense"):
            Engram(tmp_path / "home")
        (copy,) = (tmp_path / "home").glob("engram.db.before-*")
        kept.add(copy.stat().st_ino)
    assert len(kept) == 1


def test_the_copy_is_gone_after_the_next_good_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Engram(tmp_path / "home").close()
    _add_migration(tmp_path, monkeypatch, "create table extra (id integer);")
    Engram(tmp_path / "home").close()
    assert (tmp_path / "home" / "engram.db.before-upgrade").exists()
    Engram(tmp_path / "home").close()
    assert not (tmp_path / "home" / "engram.db.before-upgrade").exists()


def test_a_store_that_changed_between_two_tries_is_copied_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engram(tmp_path / "home") as engram_:
        engram_.set_world_state("first")
    _add_migration(tmp_path, monkeypatch, "create nonsense;")
    with pytest.raises(Exception, match="nonsense"):
        Engram(tmp_path / "home")
    monkeypatch.undo()
    copy = tmp_path / "home" / "engram.db.before-upgrade"
    copy.rename(tmp_path / "kept")
    with Engram(tmp_path / "home") as engram_:
        engram_.set_world_state("second")
    (tmp_path / "kept").rename(copy)
    monkeypatch.setattr(migrate, "_DIRECTORY", str(tmp_path / "migrations"))
    with pytest.raises(Exception, match="nonsense"):
        Engram(tmp_path / "home")
    monkeypatch.undo()
    with Engram(copy) as old:
        assert old.get_world_state() == "second"


def test_processes_that_upgrade_at_once_make_one_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Engram(tmp_path / "home").close()
    _add_migration(tmp_path, monkeypatch, "create table extra (id integer);")
    code = (
        "import sys; from engram.store import migrate; migrate._DIRECTORY = sys.argv[2];"
        "from engram import Engram; Engram(sys.argv[1]).close()"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "home"), str(tmp_path / "migrations")]
    running = [subprocess.Popen(words) for _ in range(4)]
    assert [process.wait() for process in running] == [0, 0, 0, 0]
    assert len([*(tmp_path / "home").glob("engram.db.before-*")]) <= 1


def test_a_store_that_applied_the_first_migration_before_it_was_edited_is_accepted(
    unmade: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _only_migrations(tmp_path, monkeypatch, 1)
    directory = tmp_path / "older"
    earlier = (directory / "0001_coordination.sql").read_text().replace("create table tokens", "create table fences")
    assert hashlib.sha256(earlier.encode()).hexdigest().startswith("25316bb3")
    (directory / "0001_coordination.sql").write_text(earlier)
    home = str(tmp_path / "home")
    Engram(store=unmade, home=home).close()
    monkeypatch.undo()
    with Engram(store=unmade, home=home) as engram_:
        session = engram_.register("agent", "of that time")
        assert engram_.lock_resource(session, "db:schema").token > 0
        assert engram_.check().problems == ()


def test_a_migration_that_was_edited_after_it_was_applied_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Engram(tmp_path / "home") as engram_:
        engram_.engine.run("update schema_migrations set checksum = 'other'")
    _add_migration(tmp_path, monkeypatch, "create table extra (id integer);")
    with pytest.raises(StoreDamaged, match="differs from the one"):
        Engram(tmp_path / "home")


def _add_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    """Add one more migration than the program ships."""
    directory = tmp_path / "migrations"
    directory.mkdir()
    for path in MIGRATIONS.glob("*.sql"):
        (directory / path.name).write_text(path.read_text())
    (directory / f"{len(list(directory.iterdir())) + 1:04}_extra.sql").write_text(sql)
    monkeypatch.setattr(migrate, "_DIRECTORY", str(directory))


def test_a_store_from_before_the_dream_queues_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only_migrations(tmp_path, monkeypatch, 7)
    with Engram(tmp_path / "home") as old:
        session = "20260101-000000-00000000"
        old.engine.run(
            "insert into sessions (id, flavor, session_type, summary, status, project, started_at, last_heartbeat)"
            " values (:id, 'agent', 'agent', 'before the dream', 'active', '/p', 5, 9)",
            id=session,
        )
        sources = '{"first_at": 5, "last_at": 9, "project": "/p", "trust": "user"}'
        for version, content in ((1, "older"), (2, "- newest")):
            old.engine.run(
                "insert into documents (kind, key, version, content, sources, made_by, made_at)"
                " values ('gist', :key, :version, :content, :sources, 'extract/1', 9)",
                key=session, version=version, content=content, sources=sources,
            )  # fmt: skip
        old.engine.run(
            "insert into exchanges (session_id, role, content, at, stored_at, origin)"
            " values (:key, 'user', 'x', 5, 9, 'user')",
            key=session,
        )
    monkeypatch.undo()
    with Engram(tmp_path / "home") as new:
        (row,) = session_gists.list_all(new.engine)
        assert (row["version"], row["project"], row["trust"], row["first_at"], row["last_at"]) == (
            2,
            "/p",
            "user",
            5,
            9,
        )
        assert [item["key"] for item in dream_inbox.list_waiting(new.engine, dream_inbox.FLUSH)] == [session]


def _only_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int) -> None:
    """Reduce the program to the migrations of an older release."""
    directory = tmp_path / "older"
    directory.mkdir()
    for path in MIGRATIONS.glob("*.sql"):
        if int(path.name[:4]) <= last:
            (directory / path.name).write_text(path.read_text())
    monkeypatch.setattr(migrate, "_DIRECTORY", str(directory))
