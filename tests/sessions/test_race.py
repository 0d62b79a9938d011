"""Concurrent real processes: one holder, no lost update, no message twice, nothing acknowledged lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import race
from benchmarks.race import WISHES
from engram import Engram, Held

# ---- The race itself


def test_racing_killed_and_stopped_processes_break_no_rule(store: str, tmp_path: Path) -> None:
    summary = race.hold_race(tmp_path / "race", store, processes=4, rounds=25, kills=3, stops=3)
    assert summary.violations == []
    assert (summary.kills, summary.stops) == (3, 3)
    assert summary.asks >= 4 * 25 - 3
    assert min(summary.grants, summary.refusals, summary.snapshots) > 0


@pytest.mark.parametrize("one", WISHES, ids=lambda wish: wish.spelling)
def test_the_race_knows_all_overlaps_of_its_wishes(one: race.Wish, tree: tuple[Engram, race.Race]) -> None:
    engram, course = tree
    holder = engram.register("racer", "holds one", cwd=course.root)
    engram.lock_resource(holder, course.path(one.spelling), cwd=course.path(one.at))
    for other in WISHES:
        locks = engram.check_locks(course.path(other.spelling), holder, cwd=course.path(other.at))
        assert bool(locks) == bool(race.truth(one.covers) & race.truth(other.covers)), other
    engram.complete(holder, "done")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engram, race.Race]]:
    home = tmp_path_factory.mktemp("course").resolve()
    race.build(home / "main", home / "second")
    with Engram(home / "home") as engram:
        yield engram, race.Race(str(home), "", str(home / "main"), str(home / "second"), 1, 1, 1)


HOLD = """
import os, sys
from engram import Engram, Fenced
store, directory, minutes = sys.argv[1:4]
with Engram(store=store) as engram:
    session = engram.register("claude", "holds", cwd=directory, pid=os.getpid())
    token = engram.lock_resource(session, "src/app.py", minutes=float(minutes)).token
    print(session, flush=True)
    sys.stdin.readline()
    for act in (
        lambda: engram.release_resource(session, "src/app.py", token=token),
        lambda: engram.check_edit(session, "src/app.py", token=token),
        lambda: engram.set_world_state("all is mine", session, token=token),
        lambda: engram.complete(session, "done", token=token),
    ):
        try:
            act()
            print("passed")
        except Fenced as refusal:
            print("fenced")
"""


def test_a_stopped_holder_that_wakes_up_is_refused_at_every_gate(engram: Engram, store: str, repository: Path) -> None:
    second = engram.register("codex", "takes over", cwd=str(repository))
    with processes(HOLD, 1, store, repository, 0.005) as [holder]:
        assert holder.stdout
        first = holder.stdout.readline().strip()
        holder.send_signal(signal.SIGSTOP)
        time.sleep(0.4)
        engram.lock_resource(second, "src/app.py")
        holder.send_signal(signal.SIGCONT)
        assert holder.communicate("go on\n", timeout=30)[0].split() == ["fenced"] * 4
    assert engram.get_session(first).status == "active"
    assert engram.get_world_state() == ""
    assert [lock.session_id for lock in engram.list_locks()] == [second]


def test_a_stopped_holder_keeps_unexpired_locks(engram: Engram, store: str, repository: Path) -> None:
    second = engram.register("codex", "must wait", cwd=str(repository))
    with processes(HOLD, 1, store, repository, 30) as [holder]:
        assert holder.stdout
        holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        with pytest.raises(Held):
            engram.lock_resource(second, "src/app.py", wait=0.2)
        holder.send_signal(signal.SIGCONT)
        assert holder.communicate("go on\n", timeout=30)[0].split()[:2] == ["passed", "fenced"]


def test_a_killed_holder_frees_its_lock_at_once(engram: Engram, store: str, repository: Path) -> None:
    second = engram.register("codex", "takes over", cwd=str(repository))
    with processes(HOLD, 1, store, repository, 30) as [holder]:
        assert holder.stdout
        holder.stdout.readline()
        with pytest.raises(Held):
            engram.lock_resource(second, "src/app.py")
        holder.kill()
        engram.lock_resource(second, "src/app.py", wait=5)
    assert engram.activity("takeover")[0].detail["reason"] == race.GONE


# ---- Bugs that the race found, in few lines each


def test_a_lost_lock_that_blocked_two_resources_is_reported_once(engram: Engram, repository: Path) -> None:
    first = engram.register("claude", "reads", cwd=str(repository))
    second = engram.register("codex", "writes", cwd=str(repository))
    engram.lock_resource(first, "src", minutes=0.001)
    time.sleep(0.1)
    engram.lock_resources(second, ["src/app.py", "src/other.py"])
    assert len(engram.inbox(first)) == len(engram.activity("takeover")) == 1


def test_a_change_of_mode_is_a_new_grant_with_a_higher_token(engram: Engram, repository: Path) -> None:
    first = engram.register("claude", "reads", cwd=str(repository))
    second = engram.register("codex", "writes", cwd=str(repository))
    announced = engram.lock_resource(first, "src/app.py", mode="announce")
    written = engram.lock_resource(second, "src/app.py")
    engram.release_resource(second, "src/app.py")
    held = engram.lock_resource(first, "src/app.py")
    assert announced.token < written.token < held.token
    assert [lock.token for lock in engram.list_locks()] == [held.token]


def test_a_new_directory_and_a_new_file_of_one_name_are_two_wishes(engram: Engram, repository: Path) -> None:
    first = engram.register("claude", "creates", cwd=str(repository))
    second = engram.register("codex", "creates too", cwd=str(repository))
    engram.lock_resources(first, ["fresh/", "fresh"])
    with pytest.raises(Held):
        engram.lock_resource(second, "fresh/app.py")


# ---- World state, messages, migrations, crashes


@contextmanager
def processes(script: str, count: int, *words: object) -> Iterator[list[subprocess.Popen[str]]]:
    """Run a script in several processes at once, each with its number."""
    command = [sys.executable, "-c", script, *map(str, words)]
    pipe = subprocess.PIPE
    running = [subprocess.Popen([*command, str(n)], stdin=pipe, stdout=pipe, text=True) for n in range(count)]
    try:
        yield running
    finally:
        for process in running:
            process.kill()
            process.communicate()


def outputs(running: list[subprocess.Popen[str]]) -> list[list[str]]:
    found = [process.communicate(timeout=60)[0].split() for process in running]
    assert [process.returncode for process in running] == [0] * len(running)
    return found


COUNT = """
import sys
from engram import Conflict, Engram
with Engram(store=sys.argv[1]) as engram:
    for _ in range(25):
        while True:
            now = engram.world_state()
            try:
                engram.set_world_state(str(int(now.content) + 1), expected_version=now.version)
                break
            except Conflict:
                pass
"""


def test_no_update_of_the_world_state_is_lost(engram: Engram, store: str) -> None:
    engram.set_world_state("0")
    with processes(COUNT, 4, store) as running:
        outputs(running)
    now = engram.world_state()
    assert (now.content, now.version) == ("100", 101)
    assert [state.content for state in engram.world_history(limit=200)] == [str(n) for n in range(100, -1, -1)]


READ = """
import os, sys
from engram import Engram
store, session, over = sys.argv[1:4]
with Engram(store=store) as engram:
    while True:
        last = os.path.exists(over)
        found = [message.body for message in engram.inbox(session)]
        print(*found, sep="\\n")
        if last and not found:
            break
"""


def test_several_readers_of_one_inbox_get_every_message_once(engram: Engram, store: str, tmp_path: Path) -> None:
    reader, writer = engram.register("codex", "reads"), engram.register("claude", "writes")
    with processes(READ, 4, store, reader, tmp_path / "over") as running:
        for n in range(80):
            engram.send(writer, reader, f"message-{n}")
        (tmp_path / "over").touch()
        heard = Counter(body for lines in outputs(running) for body in lines)
    assert heard == {f"message-{n}": 1 for n in range(80)}


OPEN = """
import sys, time
from engram import Engram
start, number, stores = float(sys.argv[1]), int(sys.argv[-1]), sys.argv[2:-1]
for n, store in enumerate(stores):
    while time.clock_gettime(time.CLOCK_BOOTTIME) < start + n * 0.2:
        pass
    with Engram(store=store) as engram:
        print(engram.register("codex", f"process {number}"))
"""


def test_eight_processes_open_a_new_store_at_once(unmade: str, tmp_path: Path) -> None:
    stores = [unmade] if "://" in unmade else [str(tmp_path / f"new-{n}" / "engram.db") for n in range(6)]
    start = time.clock_gettime(time.CLOCK_BOOTTIME) + 1
    with processes(OPEN, 8, start, *stores) as running:
        registered = outputs(running)
    for n, opened in enumerate(stores):
        with Engram(store=opened) as engram:
            assert {session.id for session in engram.get_active_sessions()} == {ids[n] for ids in registered}


WRITE = """
import os, sys
from engram import Engram
store, reader, acknowledged = sys.argv[1:4]
file = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
with Engram(store=store) as engram:
    session = engram.register("codex", "writes until it is killed", pid=os.getpid())
    number = 0
    while True:
        number += 1
        word = f"{session}/{number}"
        for kind, act in (
            ("log", lambda: engram.log(session, word)),
            ("world", lambda: engram.set_world_state(word, session, project=session)),
            ("message", lambda: engram.send(session, reader, word)),
        ):
            act()
            os.write(file, f"{kind} {word}\\n".encode())
"""


def test_nothing_acknowledged_is_lost_when_writers_are_killed(engram: Engram, store: str, tmp_path: Path) -> None:
    reader, chance = engram.register("claude", "reads"), random.Random(1)
    for batch in range(2 if "://" in store else 5):
        acknowledged = tmp_path / f"acknowledged-{batch}"
        with processes(WRITE, 4, store, reader, acknowledged) as running:
            wait_for_lines(acknowledged, 12)
            for process in running:
                time.sleep(chance.uniform(0, 0.1))
                process.kill()
    promised = {tuple(line.split()) for path in tmp_path.glob("acknowledged-*") for line in path.open()}
    assert len(promised) > 20
    assert promised - stored(engram, reader, {word.partition("/")[0] for _, word in promised}) == set()
    if engram.engine.dialect == "sqlite":
        assert engram.engine.run("pragma integrity_check") == [{"integrity_check": "ok"}]


def stored(engram: Engram, reader: str, sessions: set[str]) -> set[tuple[str, ...]]:
    """Return everything the killed writers left behind."""
    logs = [log.entry for session in sessions for log in engram.get_session_logs(session, 100_000)]
    states = [state.content for session in sessions for state in engram.world_history(session, 100_000)]
    letters = [message.body for message in engram.inbox(reader, everything=True, limit=100_000)]
    kinds = (("log", logs), ("world", states), ("message", letters))
    return {(kind, word) for kind, words in kinds for word in words}


def wait_for_lines(path: Path, count: int) -> None:
    """Wait for written lines, not for a time: a loaded machine may need seconds for the first."""
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < count:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_racers_do_not_see_a_developers_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_LOCK_MINUTES", "nonsense")
    assert [name for name in race.environment() if name.startswith("ENGRAM_")] == []
