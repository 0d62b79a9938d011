"""Locks: one holder, exact overlap, losses reported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engram import Engram, Fenced, Held, InvalidInput, NotFound
from engram.clock import Clock
from tests.conftest import ManualClock


def two(engram: Engram, cwd: Path) -> tuple[str, str]:
    first = engram.register("claude-code", "refactor the parser", cwd=str(cwd))
    second = engram.register("codex", "write tests", cwd=str(cwd))
    return first, second


def test_a_held_resource_is_refused_with_all_the_facts(engram: Engram, repository: Path) -> None:
    first, second = two(engram, repository)
    lock = engram.lock_resource(first, "src/app.py", note="renaming")
    with pytest.raises(Held) as refused:
        engram.lock_resource(second, str(repository / "src" / ".." / "src" / "app.py"))
    error = refused.value
    assert (error.holder, error.token, error.note) == (first, lock.token, "renaming")
    assert error.flavor == "claude"
    for fact in (first, "claude", "refactor the parser", "renaming", "min", str(lock.token)):
        assert fact in str(error)


def test_locking_again_renews_and_keeps_the_token(engram: Engram, repository: Path) -> None:
    first, _ = two(engram, repository)
    lock = engram.lock_resource(first, "src/app.py", note="one")
    again = engram.lock_resource(first, "src/app.py", note="two")
    assert (again.token, again.note) == (lock.token, "two")
    assert len(engram.list_locks()) == 1


def test_tokens_rise_with_every_grant(engram: Engram, repository: Path) -> None:
    first, second = two(engram, repository)
    tokens = []
    for holder in (first, second) * 3:
        tokens.append(engram.lock_resource(holder, "src/app.py").token)
        engram.release_resource(holder, "src/app.py")
    assert tokens == sorted(set(tokens))


def test_several_resources_are_granted_all_or_none(engram: Engram, repository: Path) -> None:
    first, second = two(engram, repository)
    engram.lock_resource(first, "src/b.py")
    with pytest.raises(Held):
        engram.lock_resources(second, ["src/a.py", "src/b.py"])
    assert engram.check_locks(str(repository / "src" / "a.py")) == []


def test_shared_locks_are_compatible_with_each_other_but_not_with_an_exclusive_one(
    engram: Engram, repository: Path
) -> None:
    first, second = two(engram, repository)
    engram.lock_resource(first, "src", mode="shared")
    beside = engram.lock_resource(second, "src", mode="shared")
    assert [other.session_id for other in beside.overlaps] == [first]
    with pytest.raises(Held):
        engram.lock_resource(second, "src/app.py")


def test_an_announcement_blocks_no_one_and_warns_everyone(engram: Engram, repository: Path) -> None:
    first, second = two(engram, repository)
    engram.lock_resource(first, "src/**", mode="announce", note="reading around")
    lock = engram.lock_resource(second, "src/app.py")
    assert [other.note for other in lock.overlaps] == ["reading around"]


def test_a_lapsed_lock_can_be_taken_over_and_its_holder_is_notified(
    timed: Engram, repository: Path, clock: ManualClock
) -> None:
    first, second = two(timed, repository)
    old = timed.lock_resource(first, "src/app.py")
    clock.pass_(31 * 60)
    new = timed.lock_resource(second, "src/app.py")
    assert new.token > old.token
    told = timed.inbox(first)
    assert [message.kind for message in told] == ["loss"]
    assert second in told[0].body
    assert timed.inbox(first) == []
    assert timed.activity("takeover")[0].detail["old_token"] == old.token


def test_any_sign_of_life_keeps_a_lock(timed: Engram, repository: Path, clock: ManualClock) -> None:
    first, second = two(timed, repository)
    timed.lock_resource(first, "src/app.py")
    for _ in range(4):
        clock.pass_(20 * 60)
        timed.log(first, "still at it")
    with pytest.raises(Held):
        timed.lock_resource(second, "src/app.py")


def test_a_lapsed_lock_not_taken_over_still_belongs_to_its_holder(
    timed: Engram, repository: Path, clock: ManualClock
) -> None:
    first, second = two(timed, repository)
    lock = timed.lock_resource(first, "src/app.py")
    clock.pass_(3 * 3600)
    timed.heartbeat(first)
    with pytest.raises(Held) as refused:
        timed.lock_resource(second, "src/app.py")
    assert refused.value.token == lock.token


@pytest.mark.parametrize("hours", [-300, -1, 1, 300])
def test_a_step_of_the_wall_clock_frees_nothing(
    timed: Engram, repository: Path, clock: ManualClock, hours: int
) -> None:
    first, second = two(timed, repository)
    timed.lock_resource(first, "src/app.py")
    clock.step(hours * 3600)
    with pytest.raises(Held):
        timed.lock_resource(second, "src/app.py")


@pytest.mark.parametrize("gate", ["release", "complete", "world", "edit"])
def test_a_holder_that_lost_its_lock_unawares_is_stopped_once_at_every_gate(
    timed: Engram, repository: Path, clock: ManualClock, gate: str
) -> None:
    first, second = two(timed, repository)
    timed.lock_resource(first, "src/app.py")
    clock.pass_(31 * 60)
    timed.lock_resource(second, "src/app.py")
    acts: dict[str, Callable[[], object]] = {
        "release": lambda: timed.release_resource(first, "src/app.py"),
        "complete": lambda: timed.complete(first, "done"),
        "world": lambda: timed.set_world_state("all done", first),
        "edit": lambda: timed.check_edit(first, "src/other.py"),
    }
    with pytest.raises(Fenced, match=second):
        acts[gate]()
    acts[gate]()


@pytest.mark.parametrize("gate", ["release", "complete", "world", "edit"])
def test_an_overtaken_token_is_refused_at_every_gate_every_time(
    timed: Engram, repository: Path, clock: ManualClock, gate: str
) -> None:
    first, second = two(timed, repository)
    old = timed.lock_resource(first, "src/app.py").token
    clock.pass_(31 * 60)
    timed.lock_resource(second, "src/app.py")
    timed.inbox(first)
    acts: dict[str, Callable[[], object]] = {
        "release": lambda: timed.release_resource(first, "src/app.py", token=old),
        "complete": lambda: timed.complete(first, "done", token=old),
        "world": lambda: timed.set_world_state("all done", first, token=old),
        "edit": lambda: timed.check_edit(first, "src/app.py", token=old),
    }
    for _ in range(2):
        with pytest.raises(Fenced, match=str(old)):
            acts[gate]()
    assert timed.get_world_state() == ""
    assert timed.get_session(first).status == "active"


def test_a_path_outside_the_project_is_the_same_for_everybody(engram: Engram, repository: Path, tmp_path: Path) -> None:
    inside, _ = two(engram, repository)
    elsewhere = engram.register("gemini", "in another place", cwd=str(tmp_path))
    lock = engram.lock_resource(inside, "../shared/notes.md")
    assert lock.resource == str(tmp_path / "shared" / "notes.md")
    with pytest.raises(Held):
        engram.lock_resource(elsewhere, "shared/")


def test_waiters_are_visible_to_the_holder_and_to_others(store: str, repository: Path, tmp_path: Path) -> None:
    with Engram(store=store, home=str(tmp_path / "home")) as engram:
        first, second = two(engram, repository)
        engram.lock_resource(first, "src/app.py")
        seen: list[tuple[str, ...]] = []

        class Watching(Clock):
            def sleep(self, seconds: float) -> None:
                seen.append(engram.list_locks()[0].waiters)
                seen.append(engram.check_locks(str(repository / "src"))[0].waiters)
                engram.release_all(first)

        with Engram(store=store, home=str(tmp_path / "home"), clock=Watching()) as other:
            assert other.lock_resource(second, "src/", wait=20).session_id == second
        assert seen == [(second,), (second,)]
        assert engram.list_locks()[0].waiters == ()


def test_the_locks_of_the_dead_do_not_hide_those_of_the_living(engram: Engram, repository: Path) -> None:
    living, _ = two(engram, repository)
    engram.lock_resource(living, "src/app.py")
    agent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dying = engram.register("codex", "holds much", cwd=str(repository), pid=agent.pid)
    engram.lock_resources(dying, [f"file{n}.py" for n in range(60)])
    agent.kill()
    agent.wait()
    assert [lock.session_id for lock in engram.list_locks(limit=1)] == [living]


def test_a_name_means_the_same_without_a_session(engram: Engram, repository: Path) -> None:
    first, _ = two(engram, repository)
    engram.lock_resource(first, "db:migrations")
    assert [lock.session_id for lock in engram.check_locks("db:migrations", cwd=str(repository))] == [first]
    assert engram.check_locks("db:migrations", cwd="/") == []


def test_releasing_what_is_not_held_changes_nothing(engram: Engram, repository: Path) -> None:
    first, second = two(engram, repository)
    engram.lock_resource(first, "src/app.py")
    assert engram.release_resource(second, "src/app.py") == []
    assert len(engram.list_locks()) == 1


def test_completing_frees_everything(engram: Engram, repository: Path) -> None:
    first, second = two(engram, repository)
    engram.lock_resources(first, ["src/app.py", "db:migrations"])
    engram.complete(first, "done")
    assert len(engram.lock_resources(second, ["src/app.py", "db:migrations"])) == 2


def test_waiting_ends_with_the_lock_or_with_the_refusal(timed: Engram, repository: Path, clock: ManualClock) -> None:
    first, second = two(timed, repository)
    timed.lock_resource(first, "src/app.py", minutes=1)
    with pytest.raises(Held):
        timed.lock_resource(second, "src/app.py", wait=10)
    assert timed.lock_resource(second, "src/app.py", wait=70).session_id == second
    assert timed.list_locks()[0].waiters == ()


def test_every_refusal_is_counted(engram: Engram, repository: Path) -> None:
    first, second = two(engram, repository)
    engram.lock_resource(first, "src/app.py")
    with pytest.raises(Held):
        engram.lock_resource(second, "src")
    with pytest.raises(Held):
        engram.check_edit(second, "src/app.py")
    assert engram.stats().conflicts_prevented == 2


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ({"session_id": "nobody"}, NotFound),
        ({"resource": ""}, InvalidInput),
        ({"resource": "a\0b"}, InvalidInput),
        ({"resource": "src/*/../x"}, InvalidInput),
        ({"resource": "x\x9b31m"}, InvalidInput),
        ({"resource": "*?" * 40}, InvalidInput),
        ({"mode": "write"}, InvalidInput),
        ({"minutes": -1}, InvalidInput),
        ({"minutes": float("nan")}, InvalidInput),
        ({"wait": -1}, InvalidInput),
    ],
)
def test_nonsense_is_refused_and_changes_nothing(
    engram: Engram, repository: Path, facts: dict[str, object], error: type[Exception]
) -> None:
    first, _ = two(engram, repository)
    with pytest.raises(error):
        engram.lock_resource(**({"session_id": first, "resource": "src/app.py"} | facts))  # type: ignore[arg-type]
    assert engram.list_locks() == []


def test_lapsed_locks_are_listed_separately_until_taken_over(timed: Engram, clock: ManualClock) -> None:
    first, second = (timed.register("codex", "work", project="p") for _ in range(2))
    timed.lock_resource(first, "db:schema", minutes=1)
    timed.lock_resource(second, "db:seeds", minutes=10)
    assert timed.list_locks(lapsed=True) == []
    clock.pass_(120)
    assert [lock.resource for lock in timed.list_locks()] == ["db:seeds"]
    (lapsed,) = timed.list_locks(lapsed=True)
    assert (lapsed.resource, lapsed.session_id, lapsed.live) == ("db:schema", first, False)
    timed.lock_resource(second, "db:schema")
    assert timed.list_locks(lapsed=True) == []
