"""This machine's processes: who runs us, and which are alive."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from engram.agents.running import match_command
from engram.platform import host
from engram.platform.host import Process


def test_a_process_is_alive_until_it_ends() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = host.find_process(child.pid)
    assert known is not None
    assert host.is_alive(known) is True
    child.kill()
    child.wait()
    assert host.is_alive(known) is False
    assert host.find_process(child.pid) is None


def known(**facts: object) -> Process:
    here = host.find_process(os.getpid())
    assert here is not None
    return Process(**({"host": here.host, "pid": here.pid, "start": here.start} | facts))  # type: ignore[arg-type]


def test_another_process_with_the_same_pid_is_not_the_one_we_knew() -> None:
    assert host.is_alive(known(start=known().start + "1")) is False


def test_a_process_elsewhere_is_unknown_not_dead() -> None:
    machine, boot, namespace, start = known().start.split("/")
    assert host.is_alive(known(host="another-machine")) is None
    assert host.is_alive(known(start=f"{machine}/{boot}/pid:[1]/{start}")) is None
    assert host.is_alive(known(start=f"another/other-boot/{namespace}/{start}")) is None
    assert host.is_alive(known(start="nonsense")) is None


def test_a_restart_of_this_machine_ended_everything_before_it() -> None:
    machine, _, namespace, start = known().start.split("/")
    if not machine:
        pytest.skip("a restart is not tested: this machine has no machine id")
    assert host.is_alive(known(start=f"{machine}/an-earlier-boot/{namespace}/{start}")) is False


@pytest.mark.parametrize(
    ("command", "flavor"),
    [
        (["claude"], "claude"),
        (["/usr/local/bin/codex", "--yolo"], "codex"),
        (["node", "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js"], "claude"),
        (["node", "/opt/node_modules/@google/gemini-cli/dist/index.js"], "gemini"),
        (["C:\\Programs\\opencode.exe"], "opencode"),
        (["cursor-agent"], "cursor"),
        (["bash", "-c", "claude"], None),
        (["vim", "claude.md"], None),
        (["bash", "/home/me/codex/run.sh"], None),
        (["node", "--max-old-space-size=8192", "/opt/node_modules/@google/gemini-cli/index.js"], "gemini"),
        (["python3.11", "/usr/bin/aider"], "aider"),
        (["python3", "/home/me/codex/run.py"], None),
        ([""], None),
    ],
)
def test_an_agent_is_known_by_its_program_or_its_package(command: list[str], flavor: str | None) -> None:
    assert match_command(command) == flavor
