"""Tokens only increase, even after a power failure."""

from __future__ import annotations

from pathlib import Path

from engram import Engram


def test_tokens_never_fall_after_a_power_cut_lost_the_latest_commits(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        session_id = engram.register("codex", "count", cwd=str(tmp_path))
        token = max(engram.lock_resource(session_id, f"file{n}").token for n in range(10))
        # The effect of a power cut at NORMAL: the durable ceiling is there, the latest counter is not.
        engram.engine.run("update tokens set counter = 2")
        engram.release_all(session_id)
        engram.boot = "the next boot"
        assert engram.lock_resource(session_id, "again").token > token


def test_tokens_rise_across_the_durable_ceiling(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        session_id = engram.register("codex", "count", cwd=str(tmp_path))
        first = engram.lock_resource(session_id, "a").token
        engram.engine.run("update tokens set ceiling = counter + 1")
        tokens = [lock.token for lock in engram.lock_resources(session_id, ["b", "c", "d"])]
        assert tokens == [first + 1, first + 2, first + 3]
