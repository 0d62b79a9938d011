"""Real processes at once: one holder, no lost update, no message twice, nothing acknowledged lost."""

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
from typing import Any

import pytest
from benchmarks import race
from benchmarks.race import SECOND, WISHES, Call, Life, Story, Takeover

from engram import Engram, Held

MAIN = next(n for n, wish in enumerate(WISHES) if wish.spelling == "entry.py")
SOURCE = next(n for n, wish in enumerate(WISHES) if wish.spelling == "{tree}/src")
README = next(n for n, wish in enumerate(WISHES) if wish.spelling == "README.md")
LAPSED = "it had lapsed without a sign of life"


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
        found = engram.check_locks(course.path(other.spelling), holder, cwd=course.path(other.at))
        assert bool(found) == bool(race.truth(one.covers) & race.truth(other.covers)), other
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


def test_a_stopped_holder_keeps_what_has_not_lapsed(engram: Engram, store: str, repository: Path) -> None:
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


# ---- The checker: what it must see


def lock(start: float, end: float, token: int, wish: int = MAIN, mode: str = "exclusive", **facts: Any) -> Call:
    seen = {"wishes": [wish], "mode": mode, "tokens": [token], "until": [end + 10], "overlaps": [[]], "wait": 0}
    return call("lock", start, end, "ok", **(seen | facts))


def call(op: str, start: float, end: float, outcome: str, **facts: Any) -> Call:
    if "until" in facts:
        facts["until"] = [moment * SECOND for moment in facts["until"]]
    return Call(op, int(start * SECOND), facts, end * SECOND, outcome)


def release(start: float, end: float, token: int, outcome: str = "ok", **facts: Any) -> Call:
    return call("release", start, end, outcome, token=token, tokens=[token], mode="exclusive", **facts)


def life(name: str, *calls: Call, killed: float = race.ENDLESS) -> Life:
    return Life(name, name, 10 * SECOND, list(calls), (killed * SECOND, (killed + 0.1) * SECOND))


def takeover(old: int, new: int, reason: str = LAPSED) -> Takeover:
    return Takeover(old_token=old, token=new, holder="a", taker="b", reason=reason)


def broken(*lives: Life, takeovers: tuple[Takeover, ...] = (), snapshots: tuple[list[int], ...] = ()) -> set[str]:
    """Return the names of the rules a story breaks."""
    found = race.check(Story(list(lives), list(takeovers), list(snapshots)))
    return {breach.partition(":")[0] for breach in found}


def test_the_checker_accepts_one_after_the_other() -> None:
    assert broken(life("a", lock(1, 2, 1), release(3, 4, 1)), life("b", lock(3.5, 5, 2), release(6, 7, 2))) == set()


def test_the_checker_accepts_a_grant_that_may_have_come_before_or_after_a_release() -> None:
    assert broken(life("a", lock(1, 2, 1), release(3, 9, 1)), life("b", lock(2.5, 3.1, 2))) == set()


@pytest.mark.parametrize("modes", [("exclusive", "exclusive"), ("shared", "exclusive"), ("exclusive", "shared")])
def test_the_checker_sees_a_double_grant(modes: tuple[str, str]) -> None:
    first = life("a", lock(1, 2, 1, MAIN, modes[0]), release(5, 6, 1))
    assert broken(first, life("b", lock(3, 4, 2, SOURCE, modes[1]))) == {"double_grants"}
    assert broken(first, life("b", lock(3, 4, 2, README, modes[1]))) == set()


def test_the_checker_sees_a_double_grant_in_the_table_of_locks() -> None:
    first, second = life("a", lock(1, 2, 1), release(3, 9, 1)), life("b", lock(2.5, 4, 2))
    assert broken(first, second, snapshots=([1], [2, 1])) == {"snapshots"}


@pytest.mark.parametrize("modes", [("shared", "shared"), ("announce", "exclusive"), ("exclusive", "announce")])
def test_the_checker_sees_an_overlap_nobody_was_warned_of(modes: tuple[str, str]) -> None:
    first = life("a", lock(1, 2, 1, MAIN, modes[0]), release(5, 6, 1))
    assert broken(first, life("b", lock(3, 4, 2, SOURCE, modes[1]))) == {"double_grants"}
    assert broken(first, life("b", lock(3, 4, 2, SOURCE, modes[1], overlaps=[[1]]))) == set()


def test_the_checker_sees_a_warning_of_what_is_not_there() -> None:
    first = life("a", lock(1, 2, 1, MAIN, "announce"), release(3, 4, 1))
    assert broken(first, life("b", lock(5, 6, 2, SOURCE, overlaps=[[1]]))) == {"false_warnings"}
    assert broken(first, life("b", lock(2.1, 2.2, 2, README, overlaps=[[1]]))) == {"false_warnings"}


def test_the_checker_sees_a_falling_and_a_repeated_token() -> None:
    first = life("a", lock(1, 2, 7), release(3, 4, 7))
    assert broken(first, life("b", lock(5, 6, 6, README))) == {"tokens"}
    assert "tokens" in broken(first, life("b", lock(5, 6, 7)))


def test_the_checker_accepts_a_takeover_of_the_lapsed_and_sees_one_that_came_too_early() -> None:
    told = call("inbox", 20, 21, "ok", told=[1])
    late = life("a", lock(1, 2, 1), told)
    assert broken(late, life("b", lock(12, 13, 2)), takeovers=(takeover(1, 2),)) == set()
    renewed = life("a", lock(1, 2, 1), call("heartbeat", 8, 9, "ok"), told)
    assert broken(renewed, life("b", lock(12, 13, 2)), takeovers=(takeover(1, 2),)) == {"double_grants"}


def test_the_checker_sees_a_false_promise() -> None:
    assert broken(life("a", lock(1, 2, 1, until=[30]))) == {"until"}
    told = call("inbox", 20, 21, "ok", told=[1])
    early = life("b", lock(11.2, 11.3, 2))
    assert broken(life("a", lock(1, 2, 1, until=[12]), told), early, takeovers=(takeover(1, 2),)) == {"until"}


def test_the_checker_accepts_a_takeover_from_the_dead_and_sees_one_from_the_living() -> None:
    gone, second = (takeover(1, 2, race.GONE),), life("b", lock(5, 6, 2))
    assert broken(life("a", lock(1, 2, 1), killed=3), second, takeovers=gone) == set()
    alive = life("a", lock(1, 2, 1), call("inbox", 8, 9, "ok", told=[1]))
    assert broken(alive, second, takeovers=gone) == {"deaths", "double_grants"}


def test_the_checker_sees_a_lock_that_outlives_its_holder() -> None:
    assert broken(life("a", lock(1, 2, 1), killed=3)) == {"deaths"}


@pytest.mark.parametrize("told", [[], [1, 1]])
def test_the_checker_sees_a_loss_told_never_or_twice(told: list[int]) -> None:
    first = life("a", lock(1, 2, 1), call("inbox", 20, 21, "ok", told=told))
    assert broken(first, life("b", lock(13, 14, 2)), takeovers=(takeover(1, 2),)) == {"told_once"}


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (call("world", 20, 21, "ok", token=1), {"gates"}),
        (call("world", 20, 21, "stale", token=1), set()),
        (call("world", 13.5, 21, "ok", token=1), set()),  # it may have come first
        (release(20, 21, 2, "stale"), {"gates"}),
        (call("edit", 20, 21, "held", token=2, mode="exclusive"), {"gates"}),
    ],
)
def test_the_checker_sees_a_gate_open_to_an_overtaken_token_and_shut_to_a_good_one(
    last: Call, expected: set[str]
) -> None:
    first = life("a", lock(1, 2, 1), last, call("inbox", 22, 23, "ok", told=[1]))
    assert broken(first, life("b", lock(13, 14, 2)), takeovers=(takeover(1, 2),)) == expected


def test_the_checker_sees_a_release_that_frees_nothing() -> None:
    assert broken(life("a", lock(1, 2, 1), call("release", 3, 4, "ok", token=1, tokens=[]))) == {"gates"}


@pytest.mark.parametrize(
    ("holder", "at", "reason"),
    [
        (life("a", lock(1, 2, 1), release(3, 4, 1)), 5, "was over"),
        (life("a", lock(1, 2, 1, README), release(9, 10, 1)), 5, "does not touch it"),
        (life("a", lock(1, 2, 1, mode="announce"), release(9, 10, 1)), 5, "excludes nothing"),
        (life("a", lock(1, 2, 1), killed=3), 5, "was a dead one's"),
        (life("a", lock(1, 2, 1)), 13, "had lapsed"),
    ],
)
def test_the_checker_sees_a_refusal_without_reason(holder: Life, at: float, reason: str) -> None:
    refused = call("lock", at, at + 0.5, "held", wishes=[MAIN], mode="exclusive", tokens=[1], wait=0)
    assert [reason in breach for breach in race.refusals(Story([holder, life("b", refused)]))] == [True]


# ---- What the race found in the product, in few lines each


def test_a_lost_lock_in_the_way_of_two_wishes_is_told_once(engram: Engram, repository: Path) -> None:
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
    """Run a script in several processes at once, each knowing its number."""
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


def test_eight_processes_open_a_new_store_at_once(store: str, tmp_path: Path) -> None:
    stores = [store] if "://" in store else [str(tmp_path / f"new-{n}" / "engram.db") for n in range(6)]
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
            wait_for(acknowledged)
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


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 20
    while not path.exists() or path.stat().st_size == 0:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_racers_do_not_see_a_developers_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_LOCK_MINUTES", "nonsense")
    assert [name for name in race.environment() if name.startswith("ENGRAM_")] == []
