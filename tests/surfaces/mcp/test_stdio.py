"""`engram mcp` as agents run it: a real process on pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.surfaces.mcp import protocol
from engram.surfaces.mcp.instructions import TEXT
from tests.surfaces.mcp.talking import HELLO, META, Talk

LISTED = {"recall", "get", "remember", "sitrep", "lock", "unlock", "log", "message", "patterns"}


def other(engram: Engram, talk: Talk, directory: Path) -> str:
    """Register another session in the same project, run by a process that is not a parent of the server."""
    return engram.register("codex", "rename it", cwd=str(directory), pid=talk.process.pid)


def test_a_client_of_either_era_gets_the_same_tools(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        hello = talk.result("initialize", **HELLO)
        assert (hello["protocolVersion"], hello["instructions"]) == ("2025-06-18", TEXT)
        talk.notify("notifications/initialized")
        older = talk.result("tools/list")["tools"]
        result = talk.result("server/discover", _meta=META)
        assert (result["supportedVersions"], result["instructions"]) == (["2026-07-28"], TEXT)
        assert talk.result("tools/list", _meta=META)["tools"] == older
        assert {tool["name"] for tool in older} == LISTED


def test_nothing_heavy_is_loaded_before_the_tools_are_listed(tmp_path: Path) -> None:
    ask = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}]
    ask += [{"jsonrpc": "2.0", "id": 2 + n, "method": m} for n, m in enumerate(["tools/list", "prompts/list", "ping"])]
    code = "import sys; from engram.surfaces.mcp import stdio; stdio.main(); print(*sys.modules, file=sys.stderr)"
    lines = "".join(json.dumps(each) + "\n" for each in ask)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, input=lines, capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == len(ask)
    loaded = set(done.stderr.split())
    before = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    heavy = {
        "apsw", "click", "asyncio", "dataclasses", "datetime", "inspect", "logging", "numpy", "orjson", "pathlib",
        "socket", "starlette", "subprocess", "threading", "typing", "urllib", "engram.api", "engram.hub", "mcp",
    }  # fmt: skip
    assert heavy & loaded - set(before.stdout.split()) == set()


def test_listing_touches_no_store(tmp_path: Path) -> None:
    home = tmp_path / "untouched"
    with Talk(tmp_path, ENGRAM_HOME=str(home)) as talk:
        talk.result("initialize", **HELLO)
        talk.result("tools/list")
        assert not home.exists()
        talk.call("sitrep")
        assert home.exists()


def test_a_broken_line_is_answered_and_the_next_one_too(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        for line in (b"{", b"\xff\xfe", b'{"jsonrpc": "2.0", "id": NaN}', b"[" * 100_000):
            talk.say(line)
            assert talk.hear()["error"]["code"] == protocol.UNREADABLE
        talk.say(b"")
        talk.say(b"[]")
        assert talk.hear()["error"]["code"] == protocol.INVALID
        assert talk.result("ping") == {}


def test_a_call_with_a_lone_surrogate_gets_a_refusal(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.say(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\\ud800"}}')
        assert (talk.hear() | {"error": None})["id"] == 7
        assert talk.result("ping") == {}


def test_a_line_beyond_all_measure_is_refused_and_skipped(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        talk.say(b'"' + b"x" * (9 * 1024 * 1024) + b'"')
        assert talk.hear()["error"]["code"] == protocol.INVALID
        assert talk.result("ping") == {}


@pytest.mark.parametrize("method", ["no/such", "logging/setLevel", "subscriptions/listen"])
def test_a_method_we_do_not_know_is_refused(tmp_path: Path, method: str) -> None:
    with Talk(tmp_path) as talk:
        assert talk.reply(talk.ask(method))["error"]["code"] == protocol.UNKNOWN_METHOD


def batch(*calls: tuple[int, str, dict[str, Any]]) -> bytes:
    """Return requests as the batch that 2025-03-26 knows."""
    return json.dumps(
        [{"jsonrpc": "2.0", "id": id_, "method": method, "params": params} for id_, method, params in calls]
    ).encode()


def test_a_batch_is_answered_together_and_a_cancelled_part_left_out(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram, Talk(tmp_path) as talk:
        engram.lock_resource(other(engram, talk, tmp_path), "db:users")
        log = {"name": "log", "arguments": {"entry": "in a batch"}}
        talk.say(batch((101, "ping", {}), (102, "tools/call", log)))
        replies: Any = talk.hear()
        assert [(reply["id"], "error" in reply) for reply in replies] == [(101, False), (102, False)]
        waiting = {"name": "lock", "arguments": {"resources": ["db:users"], "wait": 50}}
        talk.say(batch((103, "tools/call", waiting), (104, "tools/call", log)))
        while not any(lock.waiters for lock in engram.list_locks()):
            talk.result("ping")
        talk.say(
            json.dumps([{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 103}}]).encode()
        )
        replies = talk.hear()
        assert [reply["id"] for reply in replies] == [104]


def test_a_waiting_call_does_not_block_others_and_gets_its_lock(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram, Talk(tmp_path) as talk:
        you = other(engram, talk, tmp_path)
        engram.lock_resource(you, "db:users")
        waiting = talk.ask("tools/call", name="lock", arguments={"resources": ["db:users"], "wait": 50})
        while not any(lock.waiters for lock in engram.list_locks()):
            assert len(talk.result("tools/list")["tools"]) == len(LISTED)
        assert talk.call("log", entry="meanwhile")["isError"] is False
        engram.release_resource(you, "db:users")
        assert talk.reply(waiting)["result"]["isError"] is False


def test_a_cancelled_call_stops_waiting_and_is_not_answered(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram, Talk(tmp_path) as talk:
        you = other(engram, talk, tmp_path)
        engram.lock_resource(you, "db:users")
        waiting = talk.ask("tools/call", name="lock", arguments={"resources": ["db:users"], "wait": 50})
        while not any(lock.waiters for lock in engram.list_locks()):
            talk.result("ping")
        talk.notify("notifications/cancelled", requestId=waiting)
        while any(lock.waiters for lock in engram.list_locks()):
            talk.result("ping")
        talk.call("sitrep")
        assert waiting not in talk.early


def test_the_end_of_input_ends_it_after_running_calls(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram, Talk(tmp_path) as talk:
        you = other(engram, talk, tmp_path)
        engram.lock_resource(you, "db:users")
        entry = talk.ask("tools/call", name="log", arguments={"entry": "the last word"})
        waiting = talk.ask("tools/call", name="lock", arguments={"resources": ["db:users"], "wait": 50})
        status, said = talk.leave()
        replies = {reply["id"]: reply for reply in map(json.loads, said.splitlines())}
        assert status == 0
        assert replies[entry]["result"]["isError"] is False
        assert "cancelled" in replies[waiting]["result"]["content"][0]["text"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    with Engram(tmp_path / "home") as engram, Talk(tmp_path) as talk:
        engram.lock_resource(other(engram, talk, tmp_path), "db:users")
        waiting = talk.ask("tools/call", name="lock", arguments={"resources": ["db:users"], "wait": 50})
        while not any(lock.waiters for lock in engram.list_locks()):
            talk.result("ping")
        talk.process.send_signal(number)
        status, said = talk.leave()
        reply = json.loads(said)
        assert (status, reply["id"]) == (0, waiting)
        assert "cancelled" in reply["result"]["content"][0]["text"]


def test_a_reader_that_left_does_not_leave_a_server_behind(tmp_path: Path) -> None:
    with Talk(tmp_path) as talk:
        assert talk.process.stdout is not None
        talk.process.stdout.close()
        talk.ask("ping")
        assert talk.process.wait(60) == 0


def test_only_the_protocol_reaches_standard_output(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom engram.surfaces.mcp import server, stdio\n"
        "real = server.McpServer.answer\n"
        "def loud(*words):\n    print('noise'); os.write(1, b'noise'); os.system('echo noise')\n"
        "    return real(*words)\n"
        "server.McpServer.answer = loud\nsys.exit(stdio.main())"
    )
    with Talk(tmp_path, [sys.executable, "-c", code]) as talk:
        number = talk.ask("ping")
        status, said = talk.leave()
        assert (status, json.loads(said)) == (0, {"jsonrpc": "2.0", "id": number, "result": {}})


def test_an_agent_that_thinks_for_us_is_offered_nothing(tmp_path: Path) -> None:
    with Talk(tmp_path, ENGRAM_INSIDE="1") as talk:
        hello = talk.result("initialize", **HELLO)
        assert (hello["capabilities"], "instructions" in hello) == ({}, False)
        assert talk.result("tools/list")["tools"] == []
        assert talk.result("resources/list")["resources"] == []
        assert talk.result("prompts/list")["prompts"] == []
        assert "error" in talk.reply(talk.ask("tools/call", name="sitrep", arguments={}))


def test_a_store_that_cannot_be_opened_is_a_refusal_not_an_end(tmp_path: Path) -> None:
    with Talk(tmp_path, ENGRAM_LOCK_MINUTES="many") as talk:
        refusal = talk.call("sitrep")
        assert refusal["isError"] is True
        assert "lock_minutes" in refusal["content"][0]["text"]
        assert talk.reply(talk.ask("resources/list"))["error"]["data"] == {"error": "settings_invalid"}
        assert talk.result("ping") == {}


def test_grok_is_briefed_with_the_instructions(tmp_path: Path) -> None:
    with Engram(tmp_path / "home") as engram:
        engram.set_world_state("# All quiet")
    hello = {**HELLO, "clientInfo": {"name": "grok-shell", "version": "1"}}
    with Talk(tmp_path) as talk:
        assert "# All quiet" in talk.result("initialize", **hello)["instructions"]
    with Talk(tmp_path, ENGRAM_LOCK_MINUTES="many") as talk:
        assert talk.result("initialize", **hello)["instructions"] == TEXT


def test_the_command_explains_itself(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "engram", "mcp", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path, env={**os.environ})
    assert "Agents start this themselves" in done.stdout
