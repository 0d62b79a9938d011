"""`engram hook`: what an agent's event means for its session.

Runs at every agent event, so it imports only what its event needs, waits briefly, and never breaks the agent: whatever
goes wrong is written to hook.log and the agent goes on. Payloads are those of Claude Code
(`hook_event_name`, `session_id`, `cwd`, `tool_name`, `tool_input`), which Codex, Qwen and Grok share.
"""

from __future__ import annotations

import json
import os
import sys
import time

from engram import host
from engram.coordination import sessions
from engram.errors import Error, Fenced, Held
from engram.hub import Hub
from engram.llm import guard
from engram.settings import load
from engram.store import messages as message_store
from engram.store import sessions as session_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_PATIENCE = 2  # seconds a hook may wait for a busy store
_LONGEST = 9000  # characters an agent takes in from a hook
_EDITS = ("Edit", "MultiEdit", "Write", "NotebookEdit", "write_file", "replace", "edit", "write")
_EVENTS = {
    "sessionstart": "start", "start": "start",
    "userpromptsubmit": "prompt", "beforeagent": "prompt", "userpromptsubmitted": "prompt", "prompt": "prompt",
    "pretooluse": "tool", "beforetool": "tool", "tool": "tool",
    "sessionend": "end", "end": "end",
}  # fmt: skip


def main(words: list[str]) -> NoReturn:
    """Answer one event and end the process; always succeed."""
    if guard.inside():
        os._exit(0)  # an agent that thinks for us is nobody's session
    guard.enter_hook()
    started = time.time()
    os.umask(0o077)
    try:
        payload = json.loads(sys.stdin.buffer.read() or b"{}")
        flavor = words[0] if words else "claude"
        name = words[1] if len(words) > 1 else payload.get("hook_event_name", "")
        answer = handle(flavor, name, payload)
        if answer:
            sys.stdout.write(json.dumps(answer))
            sys.stdout.flush()
    except Exception as problem:  # the agent must not be broken by its memory
        _note(f"{problem.__class__.__name__}: {problem}", words, time.time() - started)
    # Nothing is left to tidy: commits are done, and closing the last connection would checkpoint the
    # store while the agent waits.
    os._exit(0)


def handle(flavor: str, name: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    """Carry an event into the store and return what the agent should be told."""
    hub = Hub(busy_seconds=_PATIENCE)
    event = _EVENTS.get(name.lower(), "other")
    flavor = host.flavor_of([flavor]) or flavor
    session_id = _session(hub, flavor, event, payload)
    if session_id is None:
        return None
    if event == "start":
        return _context(name, _welcome(hub, session_id))
    if event == "prompt":
        return _context(name, _news(hub, session_id))
    if event == "tool":
        return _gate(hub, session_id, payload)
    if event == "end":
        _end(hub, session_id, payload)
    return None


def _session(hub: Hub, flavor: str, event: str, payload: dict[str, Any]) -> str | None:
    """Find the agent's session, or announce it."""
    native = payload.get("session_id")
    if not native:
        return None
    known = session_store.by_native_id(hub.engine, flavor, native)
    prompt = str(payload.get("prompt") or "").strip()[:1000]
    if known is None or event == "start":
        if known is None and event == "end":
            return None
        summary = prompt or (known["summary"] if known else f"{flavor} session, just started")
        cwd = payload.get("cwd") or host.directory()
        return sessions.register(hub, flavor, summary, None, flavor, native, cwd, model=payload.get("model"))
    if event != "end":
        with hub.engine.transaction():
            sessions.touch(hub, known["id"], prompt or None)
    return str(known["id"])


def _welcome(hub: Hub, session_id: str) -> str:
    from engram.coordination import sitrep

    head = f"You are session `{session_id}` in Engram, the memory shared by every coding agent here."
    return f"{head}\n\n{sitrep.get_situation_report(hub, session_id)}"


def _news(hub: Hub, session_id: str) -> str:
    if not message_store.unread_count(hub.engine, session_id):
        return ""
    from engram.coordination import messages

    return "\n\n".join(messages.quoted(message) for message in messages.inbox(hub, session_id))


def _gate(hub: Hub, session_id: str, payload: dict[str, Any]) -> dict[str, Any] | None:
    """Refuse an edit of what another session holds."""
    given = payload.get("tool_input") or {}
    path = given.get("file_path") or given.get("notebook_path")
    if payload.get("tool_name") not in _EDITS or not path:
        return None
    from engram.coordination import locks

    try:
        locks.check_edit(hub, session_id, path, cwd=payload.get("cwd"))
    except (Held, Fenced) as refusal:
        decision = {"permissionDecision": "deny", "permissionDecisionReason": str(refusal)}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}
    return None


def _end(hub: Hub, session_id: str, payload: dict[str, Any]) -> None:
    row = sessions.require(hub, session_id)
    if row["status"] == "completed":
        return
    said = f"Ended ({payload.get('reason') or 'no reason given'}). Last on: {row['summary']}"
    try:
        sessions.complete(hub, session_id, said)
    except Fenced:  # nobody is left to be told
        sessions.complete(hub, session_id, said)


def _context(name: str, words: str) -> dict[str, Any] | None:
    if not words:
        return None
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": words[:_LONGEST]}}


def _note(problem: str, words: list[str], seconds: float) -> None:
    """Write down why a hook did nothing; if even that fails, stay silent."""
    try:
        home = load().home
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(os.path.join(home, "hook.log"), "a", encoding="utf-8", errors="replace") as file:
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
            file.write(f"{stamp} hook {' '.join(words)} after {seconds:.3f} s: {' '.join(problem.split())}\n")
    except (OSError, Error):
        pass
