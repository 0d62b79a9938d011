"""The stream of the live board: real servers, real listeners."""

from __future__ import annotations

import asyncio
import json
import signal
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import httpx
import pytest

from engram import Engram
from engram.surfaces.dashboard.pages import stream
from engram.surfaces.dashboard.pages.live_board import PARTS
from engram.surfaces.dashboard.pages.stream import MAX_LISTENERS, BoardWatcher
from engram.surfaces.errors import TooManyListeners
from tests.surfaces.http.running import Running


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="eg-") as directory:
        yield Path(directory) / "home"


@pytest.fixture
def server(home: Path, store: str) -> Iterator[Running]:
    running = Running(home, "0", store=store).ready()
    yield running
    running.process.kill()
    running.process.communicate()


class Page:
    """An open page that listens."""

    def __init__(self, server: Running) -> None:
        self.heard: Queue[dict[str, Any] | None] = Queue()
        self.torn = False  # the response was cut off instead of ending
        self._thread = threading.Thread(target=self._listen, args=(server,), daemon=True)
        self._thread.start()

    def _listen(self, server: Running) -> None:
        try:
            with entered(server) as client, client.stream("GET", "/now/stream") as answer:
                assert answer.headers["content-type"].startswith("text/event-stream")
                for line in answer.iter_lines():
                    if line.startswith("data: "):
                        self.heard.put(json.loads(line.removeprefix("data: ")))
        except httpx.TransportError:
            self.torn = True
        self.heard.put(None)

    def until(self, words: str) -> set[str]:
        """Wait for a part with this text; return the parts received until then."""
        came = set()
        while True:
            event = self.heard.get(timeout=60)
            assert event is not None
            came.add(event["id"])
            if words in event["html"]:
                return came

    def ended(self) -> bool:
        """Return whether the stream ended normally."""
        while self.heard.get(timeout=60) is not None:
            pass
        return not self.torn


@contextmanager
def entered(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        token = {"Authorization": f"Bearer {server.credentials['token']}"}
        client.get(client.post("/enter", headers=token).json()["path"])
        yield client


def test_two_pages_hear_of_what_another_process_does(server: Running, home: Path, store: str) -> None:
    pages = [Page(server), Page(server)]
    for page in pages:
        page.until("No locks")
    with Engram(home=str(home), store=store) as elsewhere:
        me = elsewhere.register("codex", "arrived just now", project="/p")
        for page in pages:
            page.until("arrived just now")
        elsewhere.send(None, me, "welcome")
        for page in pages:
            came = page.until("welcome")
            assert "world" not in came  # which did not change


def test_a_browser_that_is_not_signed_in_gets_no_stream(server: Running) -> None:
    with server.client() as stranger:
        assert stranger.get("/now/stream").status_code == 401


def test_pages_that_were_closed_leave_room_for_others(server: Running) -> None:
    with entered(server) as client:
        for _ in range(MAX_LISTENERS + 5):
            with client.stream("GET", "/now/stream") as answer:
                assert answer.status_code == 200
                assert next(answer.iter_lines()) == "event: part"


def test_a_server_stops_with_pages_open(server: Running, home: Path) -> None:
    pages = [Page(server), Page(server)]
    for page in pages:
        page.until("No agents are running")
    assert server.end(signal.SIGTERM) == 0
    assert all(page.ended() for page in pages)
    assert server.process.communicate()[1] == ""


class Counting:
    """An engine that counts its queries."""

    def __init__(self, engram: Engram) -> None:
        self.asked, self._run = 0, engram.engine.run
        engram.engine.run = self  # type: ignore[method-assign]

    def __call__(self, *words: Any, **facts: Any) -> Any:
        self.asked += 1
        return self._run(*words, **facts)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_LOOK_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
def test_nothing_is_polled_without_listeners(engram: Engram) -> None:
    engine = Counting(engram)

    async def act() -> None:
        watcher = BoardWatcher(engram, bool)
        assert not watcher.is_watching
        with watcher.register_listener() as listener:
            assert set(await listener.wait_for_parts(60)) == set(PARTS)
            assert engine.asked > 0
        while watcher.is_watching:
            await asyncio.sleep(0.01)
        asked = engine.asked
        await asyncio.sleep(0.2)
        assert engine.asked == asked
        with watcher.register_listener() as listener:
            assert set(await listener.wait_for_parts(60)) == set(PARTS)

    asyncio.run(act())


@pytest.mark.usefixtures("quick")
def test_only_what_changed_is_sent_and_time_alone_changes_nothing(engram: Engram) -> None:
    me = engram.register("codex", "work", project="/p")
    engram.lock_resource(me, "db:schema")

    async def act() -> None:
        with BoardWatcher(engram, bool).register_listener() as listener:
            assert set(await listener.wait_for_parts(60)) == set(PARTS)
            assert await listener.wait_for_parts(1.5) == {}
            engram.set_world_state("new words")
            assert set(await listener.wait_for_parts(60)) == {"world"}

    asyncio.run(act())


@pytest.mark.usefixtures("quick")
def test_all_listeners_share_one_poll(engram: Engram) -> None:
    async def act() -> None:
        watcher = BoardWatcher(engram, bool)
        with watcher.register_listener() as first, watcher.register_listener() as second:
            assert await first.wait_for_parts(60) == await second.wait_for_parts(60)
            with watcher.register_listener() as late:
                assert set(await late.wait_for_parts(60)) == set(PARTS)  # without querying again what did not change

    asyncio.run(act())


@pytest.mark.usefixtures("quick")
def test_a_slow_page_is_sent_each_part_as_it_is_now(engram: Engram) -> None:
    async def act() -> None:
        watcher = BoardWatcher(engram, bool)
        with watcher.register_listener() as quick, watcher.register_listener() as slow:
            await quick.wait_for_parts(60)
            for n in range(3):
                engram.set_world_state(f"state {n}")
                assert f"state {n}" in (await quick.wait_for_parts(60))["world"]
            assert "state 2" in (await slow.wait_for_parts(60))["world"]
            assert await slow.wait_for_parts(0.1) == {}

    asyncio.run(act())


@pytest.mark.usefixtures("quick")
def test_a_look_that_fails_is_made_again(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    run, broken = engram.engine.run, [True]

    def failing(*words: Any, **facts: Any) -> Any:
        if broken:
            raise OSError("the disk is away")
        return run(*words, **facts)

    monkeypatch.setattr(engram.engine, "run", failing)

    async def act() -> None:
        with BoardWatcher(engram, bool).register_listener() as listener:
            assert await listener.wait_for_parts(0.2) == {}
            broken.clear()
            assert await listener.wait_for_parts(60)

    asyncio.run(act())


def test_too_many_listeners_are_refused(engram: Engram) -> None:
    async def act() -> None:
        watcher = BoardWatcher(engram, lambda: True)
        entered = [watcher.register_listener() for _ in range(MAX_LISTENERS)]
        for each in entered:
            each.__enter__()
        assert watcher.is_full
        entered[0].__exit__(None, None, None)
        assert not watcher.is_full

    asyncio.run(act())
    assert TooManyListeners(most=MAX_LISTENERS).status == 503


def test_a_keepalive_is_sent_during_silence(engram: Engram, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(stream, "_SILENT_SECONDS", 0.05)

    async def act() -> None:
        result = stream._format_events(stream.StreamListener(), bool)
        assert await anext(result) == ": keep-alive\n\n"

    asyncio.run(act())
