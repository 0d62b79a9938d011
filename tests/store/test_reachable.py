"""Whether a server is there: asked by many hooks at once, and not by all of them one after another."""

from __future__ import annotations

import os
import socket
import threading
import time
from pathlib import Path

import pytest

from engram.settings import Settings, load
from engram.store import reachable


def settings(home: Path, port: int) -> Settings:
    return load({}, home=str(home), store=f"postgresql://me@127.0.0.1:{port}/engram")


def test_many_who_ask_at_once_all_find_a_server_that_is_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=200) as door:
        asked = settings(tmp_path, door.getsockname()[1])
        found: list[bool] = []
        threads = [threading.Thread(target=lambda: found.append(reachable.now(asked))) for _ in range(60)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert found == [True] * 60
    assert not (tmp_path / "store.away").exists()


def test_who_asks_while_another_waits_for_the_answer_is_not_told_that_nobody_is_there(tmp_path: Path) -> None:
    (tmp_path / "store.away").touch()  # as a hook leaves it that asks this very moment
    with socket.create_server(("127.0.0.1", 0)) as door:
        assert reachable.now(settings(tmp_path, door.getsockname()[1]))


@pytest.mark.parametrize("ago", [0, 1.5])
def test_a_server_that_is_away_is_not_asked_again_at_once(tmp_path: Path, ago: float) -> None:
    marker = tmp_path / "store.away"
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))  # nobody listens
        asked = settings(tmp_path, door.getsockname()[1])
        if ago:  # a hook was killed while it waited
            marker.touch()
            os.utime(marker, (time.time() - ago,) * 2)
        else:
            assert not reachable.now(asked)
        door.listen()
        assert not reachable.now(asked)
