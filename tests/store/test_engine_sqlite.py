"""The SQLite engine: patient, private, and clear about what it cannot do."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engram import (
    Engram,
    NetworkFilesystem,
    NotAStore,
    SchemaTooNew,
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from engram.store import filesystem
from engram.store.engine_sqlite import SqliteEngine


def test_only_its_owner_can_read_the_store(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        engram.register("codex", "secret work")
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "home").iterdir()}
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700
    assert {"engram.db", "engram.db-wal", "engram.db-shm"} <= set(modes)
    assert set(modes.values()) == {0o600}


def test_a_failed_block_leaves_nothing_behind(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        with pytest.raises(ZeroDivisionError), engram.engine.transaction():
            engram.register("codex", "never happened")
            raise ZeroDivisionError
        assert engram.get_active_sessions() == []


def test_a_store_that_stays_busy_is_an_error_not_a_hang(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        holder = SqliteEngine(engram.settings.store)
        waiter = SqliteEngine(engram.settings.store, busy_seconds=0.1)
        with holder.transaction(), pytest.raises(StoreBusy, match="Try again"), waiter.transaction():
            pass
        waiter.close()
        holder.close()


def test_threads_share_a_hub_without_mixing_transactions(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        session_id = engram.register("codex", "many hands")

        def work() -> None:
            for _ in range(20):
                engram.log(session_id, "entry")

        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert engram.stats().total_logs == 120


def test_a_forked_child_opens_its_own_connection(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        session_id = engram.register("codex", "parent")
        child = os.fork()
        if child == 0:
            engram.log(session_id, "from the child")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        engram.log(session_id, "from the parent")
        assert {log.entry for log in engram.get_session_logs(session_id)} == {"from the child", "from the parent"}


def test_a_file_that_is_not_a_database_is_not_changed(tmp_path: Path) -> None:
    place = tmp_path / "engram.db"
    place.write_text("these are my notes, not a database " * 100)
    with pytest.raises(NotAStore, match="not changed"):
        Engram(place)
    assert place.read_text().startswith("these are my notes")


def test_a_newer_schema_is_refused_and_not_touched(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        engram.engine.run("insert into schema_migrations values (9999, 'from the future', '', 0)")
    with pytest.raises(SchemaTooNew, match="Upgrade"):
        Engram(tmp_path / "home")


def test_a_directory_where_a_file_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home" / "engram.db").mkdir(parents=True)
    with pytest.raises(StoreUnavailable, match="ENGRAM_HOME"):
        Engram(tmp_path / "home")


def test_a_home_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="ENGRAM_HOME"):
        Engram(tmp_path / "file" / "home")


def _mounted(directory: Path, options: str) -> bool:
    directory.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(directory)], capture_output=True, check=False
    )
    return done.returncode == 0


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    if sys.platform != "linux" or not _mounted(disk, "size=1m"):
        pytest.skip("a full disk is not tested: mounting a small one needs root")
    try:
        with Engram(disk / "home") as engram:
            session_id = engram.register("codex", "fill it up")
            acknowledged = 0
            with pytest.raises(StoreFull, match="Free some disk space"):
                for _ in range(1000):
                    engram.log(session_id, "x" * 4000)
                    acknowledged += 1
            assert engram.stats().total_logs == acknowledged > 0
            ours = ("engram.db", "engram.db-wal", "engram.db-shm", "redaction.key")
            filler = [p for p in disk.rglob("*") if p.name not in ours]
            assert filler == [disk / "home"]
        subprocess.run(["mount", "-o", "remount,size=8m", str(disk)], check=True)
        with Engram(disk / "home") as engram:
            engram.log(session_id, "goes on")
            assert engram.stats().total_logs == acknowledged + 1
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def test_a_read_only_home_is_reported(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    if sys.platform != "linux" or not _mounted(disk, "size=4m"):
        pytest.skip("a read-only home is not tested: mounting one needs root")
    try:
        with Engram(disk / "home") as engram:
            engram.set_world_state("kept")
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with Engram(disk / "home") as engram:
            assert engram.world_state().content == "kept"
            with pytest.raises(StoreReadOnly, match="nothing was saved"):
                engram.register("codex", "x")
        with pytest.raises(StoreUnavailable, match="ENGRAM_HOME"):
            Engram(disk / "other").register("codex", "x")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/me/local\\040disk ext4 rw 0 0
//nas/share /mnt/share cifs rw 0 0
host:/x /mnt/x fuse.sshfs rw 0 0
/dev/sdc1 /mnt/x ext4 rw 0 0
"""


@pytest.mark.parametrize(
    ("directory", "kind"),
    [
        ("/var/lib", None),
        ("/home/me", "nfs4"),
        ("/home", "nfs4"),
        ("/homely", None),
        ("/home/me/local disk/engram", None),
        ("/mnt/share/deep/er", "cifs"),
        ("/mnt/x", None),
    ],
)
def test_the_mount_table_gives_the_filesystem_of_a_path(tmp_path: Path, directory: str, kind: str | None) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS)
    assert filesystem.find_network_filesystem(directory, str(table)) == kind


def test_a_network_filesystem_is_refused_unless_the_user_insists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = filesystem._find_filesystem_type(str(tmp_path), "/proc/self/mounts")
    if here is None:
        pytest.skip("the refusal of a network filesystem is not tested: the mount table does not show this place")
    monkeypatch.setattr(filesystem, "_NETWORK", frozenset({here}))
    with pytest.raises(NetworkFilesystem, match="ENGRAM_HOME"):
        Engram(tmp_path / "home")
    assert not (tmp_path / "home" / "engram.db").exists()
    Engram(tmp_path / "home", allow_network_filesystem=True).close()
