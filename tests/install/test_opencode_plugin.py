"""The OpenCode plugin, run by Node like OpenCode does, with a command that records its input."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram.install.agents import require_agent
from engram.install.config_files import list_wired_files

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="the OpenCode plugin is not tested: there is no node")

RECORDER = """#!{python}
import json, sys
told = json.load(sys.stdin)
open({log!r}, "a").write(json.dumps(told) + "\\n")
event = told["hook_event_name"]
answer = {{"hookEventName": event, "additionalContext": f"[{{event}}]"}}
if told.get("tool_name") == "edit":
    answer = {{"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": "held by s1"}}
print(json.dumps({{"hookSpecificOutput": answer}}) if told.get("prompt") != "garbage" else "{{")
"""

DAY = """
import {{ Engram }} from {plugin!r}
const client = {{ session: {{ get: async () => ({{ data: {{ parentID: undefined }} }}) }} }}
const hooks = await Engram({{ client, directory: "/home/me/app" }})
const second = await Engram({{ client, directory: "/home/me/app" }})
const event = (type, properties) => hooks.event({{ event: {{ type, properties }} }})
const said = async (sessionID, text) => hooks["chat.message"]({{ sessionID }}, {{ parts: [{{ type: "text", text }}] }})
const system = async (sessionID) => {{
  const output = {{ system: [] }}
  await hooks["experimental.chat.system.transform"]({{ sessionID }}, output)
  return output.system
}}
const result = {{ second: Object.keys(second) }}
await event("session.created", {{ info: {{ id: "s1" }} }})
await said("s1", "fix it")
result.system = await system("s1")
await said("s1", "garbage")
result.later = await system("s1")
await hooks["tool.execute.before"]({{ tool: "bash", sessionID: "s1", callID: "c1" }}, {{ args: {{ command: "ls" }} }})
const output = {{ output: "a.txt", title: "ls" }}
await hooks["tool.execute.after"]({{ tool: "bash", sessionID: "s1", callID: "c1", args: {{ command: "ls" }} }}, output)
result.output = output.output
try {{
  await hooks["tool.execute.before"]({{ tool: "edit", sessionID: "s1", callID: "c2" }}, {{ args: {{ filePath: "a" }} }})
}} catch (error) {{ result.denied = error.message }}
await event("session.created", {{ info: {{ id: "child", parentID: "s1" }} }})
await event("session.idle", {{ sessionID: "child" }})
await event("session.idle", {{ sessionID: "s1" }})
await hooks["experimental.session.compacting"]({{ sessionID: "s1" }}, {{ context: [] }})
await said("old", "go on")
await event("session.deleted", {{ info: {{ id: "old" }} }})
await event("nothing.known", undefined)
await hooks["chat.message"]({{}}, {{}})
await hooks.dispose()
console.log(JSON.stringify(result))
"""


def play(tmp_path: Path, program: Path, log: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    (wire,) = list_wired_files(require_agent("opencode"), None, str(program))[0].entries
    plugin = tmp_path / "engram.mjs"
    plugin.write_text(wire.insert(""))
    day = tmp_path / "day.mjs"
    day.write_text(DAY.format(plugin=f"file://{plugin}"))
    assert NODE is not None
    done = subprocess.run([NODE, str(day)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def test_a_day_in_opencode_reaches_the_hook_and_comes_back(tmp_path: Path) -> None:
    program, log = tmp_path / "a place" / "engram", tmp_path / "log"
    program.parent.mkdir()
    program.write_text(RECORDER.format(python=sys.executable, log=str(log)))
    program.chmod(0o755)
    result, told = play(tmp_path, program, log)
    assert result == {
        "second": [], "system": ["[SessionStart]", "[UserPromptSubmit]"], "later": ["[SessionStart]"],
        "output": "a.txt\n\n[PostToolUse]", "denied": "held by s1",
    }  # fmt: skip
    assert [(each["hook_event_name"], each["session_id"], each.get("agent_id")) for each in told] == [
        ("SessionStart", "s1", None), ("UserPromptSubmit", "s1", None), ("UserPromptSubmit", "s1", None),
        ("PreToolUse", "s1", None), ("PostToolUse", "s1", None), ("PreToolUse", "s1", None),
        ("SessionStart", "s1", "child"), ("Stop", "s1", None), ("PreCompact", "s1", None),
        ("SessionStart", "old", None), ("UserPromptSubmit", "old", None), ("SessionEnd", "old", None),
        ("SessionEnd", "s1", None),
    ]  # fmt: skip
    assert {each["flavor"] for each in told} == {"opencode"}
    assert {each["cwd"] for each in told} == {"/home/me/app"}
    assert [each["source"] for each in told if each["hook_event_name"] == "SessionStart"][:3] == [
        "startup", "startup", "resume",
    ]  # fmt: skip


def test_without_our_command_the_agent_goes_on(tmp_path: Path) -> None:
    result, _ = play(tmp_path, tmp_path / "gone" / "engram", tmp_path / "log")
    assert result == {"second": [], "system": [], "later": [], "output": "a.txt"}
