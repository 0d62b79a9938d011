"""Sessions: announced, alive, stale, gone, done, and opened again."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engram import Engram, Held, InvalidInput, NotFound, TooLarge
from tests.conftest import ManualClock


def test_a_session_knows_its_flavor_project_branch_and_host(engram: Engram, repository: Path) -> None:
    new = engram.register("claude-code", "look around", {"ticket": 7}, cwd=str(repository / "src"), model="opus")
    session = engram.get_session(new)
    assert re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{8}", new)
    assert (session.flavor, session.session_type, session.model) == ("claude", "claude-code", "opus")
    assert (session.project, session.branch) == (str(repository), "main")
    assert (session.status, session.presence, session.metadata) == ("active", "here", {"ticket": 7})
    assert session.host == os.uname().nodename
    assert session.started_at == session.last_heartbeat


def test_an_agent_that_registers_again_under_its_own_id_resumes_its_session(engram: Engram) -> None:
    first = engram.register("claude", "start", native_id="abc", flavor="claude")
    engram.complete(first, "done for today")
    again = engram.register("claude", "back again", native_id="abc", flavor="claude")
    other = engram.register("codex", "someone else", native_id="abc", flavor="codex")
    assert again == first != other
    assert engram.get_session(first).summary == "back again"
    assert engram.get_session(first).status == "active"


def test_a_heartbeat_reopens_a_completed_session_and_keeps_its_summary(engram: Engram) -> None:
    session_id = engram.register("codex", "port the tests")
    engram.complete(session_id, "ported half of them")
    revived = engram.heartbeat(session_id)
    assert (revived.status, revived.completed_at, revived.completion_summary) == ("active", None, None)
    assert "ported half of them" in engram.get_session_logs(session_id)[0].entry
    assert engram.get_recent_sessions() == []
    assert [entry.kind for entry in engram.activity()] == ["reopened"]


@pytest.mark.parametrize(("given", "kept"), [(None, "first"), ("", "first"), ("  ", "first"), ("second", "second")])
def test_a_heartbeat_changes_the_summary_only_when_it_says_something(
    engram: Engram, given: str | None, kept: str
) -> None:
    session_id = engram.register("codex", "first")
    assert engram.heartbeat(session_id, given).summary == kept


def test_a_session_is_stale_just_past_thirty_minutes_and_any_act_revives_it(timed: Engram, clock: ManualClock) -> None:
    session_id = timed.register("codex", "thinking")
    clock.pass_(30 * 60)
    assert timed.get_session(session_id).presence == "here"
    clock.pass_(1)
    assert timed.get_session(session_id).presence == "stale"
    timed.log(session_id, "still thinking")
    assert timed.get_session(session_id).presence == "here"


def test_a_dead_process_is_noticed_at_once_and_its_locks_are_free(engram: Engram, tmp_path: Path) -> None:
    agent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dying = engram.register("codex", "about to crash", cwd=str(tmp_path), pid=agent.pid)
    other = engram.register("claude", "next door", cwd=str(tmp_path))
    engram.lock_resource(dying, "a.py")
    assert engram.get_session(dying).presence == "here"
    agent.kill()
    agent.wait()
    assert engram.get_session(dying).presence == "gone"
    assert engram.check_locks("a.py", other) == []
    assert engram.lock_resource(other, "a.py").session_id == other
    assert "process was gone" in engram.activity("takeover")[0].detail["reason"]


def test_a_zombie_counts_as_gone(engram: Engram) -> None:
    agent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    session_id = engram.register("codex", "about to crash", pid=agent.pid)
    agent.kill()
    os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)
    assert engram.get_session(session_id).presence == "gone"
    agent.wait()


def test_a_session_whose_process_ended_lives_on_when_another_acts_for_it(engram: Engram) -> None:
    agent = subprocess.Popen([sys.executable, "-c", "pass"], stdin=subprocess.PIPE)
    os.waitid(os.P_PID, agent.pid, os.WEXITED | os.WNOWAIT)
    with pytest.raises(InvalidInput, match="No process"):
        engram.register("codex", "too late", pid=agent.pid)
    agent.wait()
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    session_id = engram.register("codex", "resumed elsewhere", pid=living.pid)
    living.kill()
    living.wait()
    assert engram.heartbeat(session_id).presence == "here"


def test_a_restarted_agent_that_acts_at_once_is_not_taken_for_dead(engram: Engram, tmp_path: Path) -> None:
    old = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    restarted = engram.register("codex", "goes on", cwd=str(tmp_path), pid=old.pid)
    other = engram.register("claude", "next door", cwd=str(tmp_path))
    old.kill()
    old.wait()
    engram.lock_resource(restarted, "a.py")
    with pytest.raises(Held):
        engram.lock_resource(other, "a.py")


def test_completing_again_keeps_the_first_summary(engram: Engram) -> None:
    session_id = engram.register("codex", "work")
    engram.complete(session_id, "first, precious")
    assert engram.complete(session_id, "second").completion_summary == "second"
    assert "first, precious" in engram.get_session_logs(session_id)[0].entry


def test_a_sign_of_life_beside_the_completion_loses_no_hand_over(engram: Engram) -> None:
    for number in range(15):
        session_id = engram.register("codex", "work")
        engram.engine.run("update sessions set last_heartbeat = last_heartbeat - 60000000 where id = :i", i=session_id)
        acts = [
            threading.Thread(target=engram.complete, args=(session_id, f"precious {number}")),
            threading.Thread(target=engram.heartbeat, args=(session_id,)),
        ]
        for act in acts:
            act.start()
        for act in acts:
            act.join()
        told = [engram.get_session(session_id).completion_summary or ""]
        told += [log.entry for log in engram.get_session_logs(session_id)]
        assert any(f"precious {number}" in words for words in told)


def test_one_agent_announced_by_several_processes_at_once_is_one_session(engram: Engram) -> None:
    for number in range(10):
        with ThreadPoolExecutor(4) as pool:
            ids = list(pool.map(lambda _, n=number: engram.register("codex", "x", native_id=f"n{n}"), range(4)))
        assert len(set(ids)) == 1
        assert engram.get_session(ids[0]).native_id == f"n{number}"


def test_logs_come_newest_first_by_order_of_writing_whatever_the_clock_does(timed: Engram, clock: ManualClock) -> None:
    session_id = timed.register("codex", "count")
    for number in range(25):
        timed.log(session_id, str(number))
        clock.step(-3600)
    assert [log.entry for log in timed.get_session_logs(session_id)] == [str(n) for n in range(24, 4, -1)]


def test_active_sessions_are_sorted_by_last_heartbeat(timed: Engram, clock: ManualClock) -> None:
    first = timed.register("codex", "one")
    clock.pass_(1)
    second = timed.register("codex", "two")
    clock.pass_(1)
    timed.heartbeat(first)
    assert [session.id for session in timed.get_active_sessions()] == [first, second]


def test_recent_sessions_are_those_completed_within_the_hours(timed: Engram, clock: ManualClock) -> None:
    old = timed.register("codex", "one")
    timed.complete(old, "done")
    clock.pass_(25 * 3600)
    new = timed.register("codex", "two")
    timed.complete(new, "done too")
    assert [session.id for session in timed.get_recent_sessions()] == [new]
    assert [session.id for session in timed.get_recent_sessions(hours=26)] == [new, old]


def test_the_beginning_of_an_id_is_enough_when_it_is_the_only_one(timed: Engram, clock: ManualClock) -> None:
    first = timed.register("codex", "one")
    assert timed.get_session(first[:10]).id == first
    timed.register("codex", "two")
    with pytest.raises(InvalidInput, match="several"):
        timed.get_session(first[:10])


def test_stats_count_only_what_is_live(engram: Engram, tmp_path: Path) -> None:
    first = engram.register("codex", "one", cwd=str(tmp_path))
    second = engram.register("codex", "two", cwd=str(tmp_path))
    engram.log(first, "entry")
    engram.lock_resources(first, ["a", "b"])
    engram.lock_resource(second, "c")
    engram.complete(second, "done")
    stats = engram.stats()
    assert (stats.total_sessions, stats.active_sessions, stats.completed_sessions) == (2, 1, 1)
    assert (stats.total_logs, stats.active_locks) == (1, 2)


@pytest.mark.parametrize("act", ["heartbeat", "get_session", "get_session_logs", "release_all", "inbox"])
def test_an_unknown_session_is_reported(engram: Engram, act: str) -> None:
    with pytest.raises(NotFound, match="nobody"):
        getattr(engram, act)("nobody")


@pytest.mark.parametrize(
    ("summary", "error"),
    [("", InvalidInput), (" \n ", InvalidInput), (None, InvalidInput), (7, InvalidInput), ("x" * 10_000_000, TooLarge)],
)
def test_an_empty_or_oversized_summary_is_refused(engram: Engram, summary: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        engram.register("codex", summary)  # type: ignore[arg-type]
    assert engram.get_active_sessions() == []


def test_lone_surrogates_and_nul_are_replaced_not_fatal(engram: Engram) -> None:
    session_id = engram.register("codex", "bad \ud800 and \0 and \x1b[31mred")
    assert engram.get_session(session_id).summary == "bad \ufffd and ␀ and [31mred"
    assert engram.log(session_id, "é\udfff").entry == "é\ufffd"


@pytest.mark.parametrize("bad", ["a\0b", "\ud800", "", "x" * 5000])
def test_an_id_no_session_can_have_is_refused(engram: Engram, bad: str) -> None:
    with pytest.raises((InvalidInput, NotFound)):
        engram.heartbeat(bad)


def test_metadata_must_be_json(engram: Engram) -> None:
    with pytest.raises(InvalidInput, match="JSON"):
        engram.register("codex", "x", object())
    plain = engram.register("codex", "x", "free text")
    assert engram.get_session(plain).metadata == "free text"
