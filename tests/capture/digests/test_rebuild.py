"""After the rules of digests changed, older sessions are read again a few at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.capture.digests import rebuild
from engram.capture.digests.fold import VERSION
from tests.capture.test_check import replace
from tests.capture.transcripts import Claude


@pytest.fixture
def older(engram: Engram, home: Path) -> Engram:
    """A store with ten sessions whose digests were made by earlier rules."""
    for number in range(10):
        claude = Claude(home)
        claude.clock = 100 * number
        claude.says(f"Repair mill number {number}")
    engram.ingest()
    engram.engine.run("update digests set version = 1")
    return engram


def outdated(engram: Engram) -> int:
    return int(engram.engine.run(f"select count(*) as count from digests where version < {VERSION}")[0]["count"])


def test_an_ingest_rebuilds_a_bounded_part(older: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuild, "PASS_BYTES", 1)
    monkeypatch.setattr("engram.capture.ingest_run.PASS_BYTES", 4 * rebuild._EACH)
    left = [older.ingest().outdated for _ in range(4)]
    assert left[0] in range(5, 9)
    assert left == sorted(left, reverse=True)
    assert left[-1] == outdated(older) == 0


def test_the_latest_sessions_come_first(older: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engram.capture.ingest_run.PASS_BYTES", 1)
    older.ingest()
    (latest,) = older.engine.run(
        f"select c.last_at from digests d join captures c on c.num = d.capture where d.version = {VERSION}"
    )
    assert latest["last_at"] == older.engine.run("select max(last_at) as at from captures")[0]["at"]


def test_all_are_rebuilt_on_request(older: Engram) -> None:
    assert older.rebuild_digests().rebuilt == 10
    assert (outdated(older), older.rebuild_digests().rebuilt) == (0, 0)


def test_a_rebuild_that_is_interrupted_goes_on_where_it_stopped(older: Engram) -> None:
    def stop(_label: str, done: int, _total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild.rebuild_all(older, stop)
    assert outdated(older) == 6
    seen: list[tuple[int, int]] = []
    assert rebuild.rebuild_all(older, lambda _, done, total: seen.append((done, total))).rebuilt == 6
    assert seen == [(number, 6) for number in range(1, 7)]
    assert older.list_sessions(limit=20)[0].outcome


def test_sessions_that_cannot_be_read_are_counted_and_do_not_hold_up_the_others(older: Engram) -> None:
    (row,) = older.engine.run("select max(capture) as last from digests")
    for blob in older.engine.run("select sha256 from blobs where capture = :last", last=row["last"]):
        replace(older, blob["sha256"], None)
    report = older.rebuild_digests()
    assert (report.rebuilt, report.left) == (9, 1)
