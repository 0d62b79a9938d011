"""Whether a server is reachable: checked by many hooks, but not by all of them in turn."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from engram.settings import Settings, load_settings
from engram.store import server_probe


def settings(home: Path, port: int) -> Settings:
    return load_settings({}, home=str(home), store=f"postgresql://me@127.0.0.1:{port}/engram")


def test_many_concurrent_checks_all_find_a_reachable_server(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=200) as door:
        asked = settings(tmp_path, door.getsockname()[1])
        found: list[bool] = []
        threads = [threading.Thread(target=lambda: found.append(server_probe.is_reachable(asked))) for _ in range(60)]
        for thread in threads:
            thread.start()
        for item in threads:
            item.join()
    assert found == [True] * 60
    assert not (tmp_path / "store.away").exists()


def test_a_check_during_another_check_does_not_report_the_server_unreachable(tmp_path: Path) -> None:
    (tmp_path / "store.away").touch()  # as left by a hook that is checking right now
    with socket.create_server(("127.0.0.1", 0)) as door:
        assert server_probe.is_reachable(settings(tmp_path, door.getsockname()[1]))


@pytest.mark.parametrize("ago", [0, 1.5])
def test_a_server_that_is_away_is_not_asked_again_at_once(tmp_path: Path, ago: float) -> None:
    marker = tmp_path / "store.away"
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))  # no one listens
        asked = settings(tmp_path, door.getsockname()[1])
        if ago:  # a hook was killed while it waited
            marker.touch()
            os.utime(marker, (time.time() - ago,) * 2)
        else:
            assert not server_probe.is_reachable(asked)
        door.listen()
        assert not server_probe.is_reachable(asked)
