"""The demo's history: four sessions of two agents in two projects, in the agents' own formats."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from engram.platform.value import value

HARBOUR, LIGHTHOUSE = "harbour", "lighthouse"
_PRICES, _REFUNDS, _UPLOAD = "src/prices.py", "src/refunds.py", "src/upload.py"


@value
class DemoSession:
    """One session: agent, project, age, and what happened."""

    flavor: str
    project: str
    days_ago: int
    acts: tuple[tuple[str, ...], ...]


DEMO_SESSIONS = (
    DemoSession("claude", HARBOUR, 6, (
        ("user", "A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why."),
        ("runs", "pytest tests/test_prices.py", "FAILED test_family - assert 35.10000000000001 == 35.1\n1 failed", "1"),
        ("agent", "The cause: prices are floats, and the child discount is added three times. Decimal, or cents?"),
        ("user", "We decided: prices are integer cents everywhere, no Decimal, because the tills send cents."),
        ("edits", _PRICES),
        ("runs", "pytest tests/test_prices.py", "4 passed in 0.21s", "0"),
        ("runs", 'git commit -qam "Prices are integer cents"', "", "0"),
        ("agent", "Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed."),
    )),
    DemoSession("codex", HARBOUR, 4, (
        ("user", "Add refunds: a ticket that is given back within a day is paid back less a fee of 10 percent."),
        ("edits", _REFUNDS),
        ("agent", "Refunds are in: refund(price) returns price * 0.9 as a float."),
        ("user", "No, that is wrong: never floats for money. Use integer cents, and round the fee up."),
        ("edits", _REFUNDS),
        ("runs", "pytest tests/test_refunds.py", "FAILED test_fee_is_rounded_up - assert 899 == 900\n1 failed", "1"),
        ("edits", _REFUNDS),
        ("runs", "pytest tests/test_refunds.py", "3 passed in 0.18s", "0"),
        ("agent", "Done: refunds work in integer cents, the fee is rounded up. 3 tests pass."),
        ("user", "Thanks, perfect."),
    )),
    DemoSession("claude", LIGHTHOUSE, 2, (
        ("user", "Deploy the sensor service to staging."),
        ("runs", "ssh quay-1 systemctl restart sensors", "ssh: connect to host quay-1: Connection refused", "255"),
        ("agent", "quay-1 refuses the connection. Shall I retry?"),
        ("user", "quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in."),
        ("runs", "ssh deploy@quay-2 systemctl restart sensors", "", "0"),
        ("agent", "Deployed: the sensor service runs on quay-2."),
    )),
    DemoSession("codex", LIGHTHOUSE, 1, (
        ("user", "Uploads from the lamp room break off on slow links. Make them retry."),
        ("edits", _UPLOAD),
        ("runs", "pytest tests/test_upload.py", "FAILED test_slow_link - TimeoutError\n1 failed, 2 passed", "1"),
        ("agent", "Uploads retry three times. The test for slow links still fails. Next step: a longer pause."),
    )),
)  # fmt: skip


def write_history(home: str, now: datetime) -> list[str]:
    """Write the transcripts and their projects below a home; return the projects' directories."""
    for story in DEMO_SESSIONS:
        folder = os.path.join(home, story.project)
        os.makedirs(os.path.join(folder, "src"), exist_ok=True)
        for path in {act[1] for act in story.acts if act[0] == "edits"}:
            _write_file(os.path.join(folder, path), "# A sample of `engram demo`.\n")
        began = now - timedelta(days=story.days_ago)
        records = (_build_claude_records if story.flavor == "claude" else _build_codex_records)(story, folder, began)
        path = _build_transcript_path(home, story, folder, began)
        _write_file(path, "".join(json.dumps(record) + "\n" for record in records))
    return [os.path.join(home, name) for name in (HARBOUR, LIGHTHOUSE)]


def _write_file(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _build_session_id(story: DemoSession) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"engram demo {story.flavor} {story.project}"))


def _build_transcript_path(home: str, story: DemoSession, folder: str, began: datetime) -> str:
    if story.flavor == "claude":
        slug = re.sub(r"[^A-Za-z0-9]", "-", folder)
        return os.path.join(home, ".claude", "projects", slug, f"{_build_session_id(story)}.jsonl")
    name = f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{_build_session_id(story)}.jsonl"
    return os.path.join(home, ".codex", "sessions", f"{began:%Y}", f"{began:%m}", f"{began:%d}", name)


def _format_timestamp(began: datetime, act: int) -> str:
    return (began + timedelta(minutes=2 * act)).astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


# ---- Claude Code's format


def _build_claude_records(story: DemoSession, folder: str, began: datetime) -> Iterator[dict[str, Any]]:
    last_uuid = None
    for position, (kind, body) in enumerate(_build_claude_messages(story, folder)):
        record_uuid = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{_build_session_id(story)} {position}"))
        location = {"sessionId": _build_session_id(story), "cwd": folder, "gitBranch": "main", "version": "2.1.325"}
        yield {
            "type": kind,
            "uuid": record_uuid,
            "parentUuid": last_uuid,
            "timestamp": _format_timestamp(began, position),
            "message": body,
            **location,
        }
        last_uuid = record_uuid


def _build_claude_messages(story: DemoSession, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for position, (act, *words) in enumerate(story.acts):
        call_id = f"toolu_{story.project}_{position}"
        if act == "user":
            yield "user", {"role": "user", "content": words[0]}
        elif act == "agent":
            yield "assistant", _build_claude_answer(call_id, {"type": "text", "text": words[0]})
        else:
            name, arguments = (
                ("Bash", {"command": words[0]}) if act == "runs" else ("Edit", _build_edit_arguments(folder, words[0]))
            )
            yield (
                "assistant",
                _build_claude_answer(call_id, {"type": "tool_use", "id": call_id, "name": name, "input": arguments}),
            )
            yield "user", {"role": "user", "content": [_build_claude_tool_result(call_id, act, words)]}


def _build_edit_arguments(folder: str, path: str) -> dict[str, str]:
    return {"file_path": os.path.join(folder, path), "old_string": "float", "new_string": "int"}


def _build_claude_answer(call_id: str, block: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 900, "output_tokens": 350, "cache_read_input_tokens": 21_000}
    return {
        "id": f"msg_{call_id}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": usage,
        "content": [block],
    }


def _build_claude_tool_result(call_id: str, act: str, words: list[str]) -> dict[str, Any]:
    failed = act == "runs" and words[2] != "0"
    output = words[1] if act == "runs" else "The file was updated."
    text = f"Exit code {words[2]}\n{output}" if failed else output
    return {"type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": failed}


# ---- Codex's format


def _build_codex_records(story: DemoSession, folder: str, began: datetime) -> Iterator[dict[str, Any]]:
    for position, (kind, payload) in enumerate(_build_codex_payloads(story, folder, began)):
        yield {"timestamp": _format_timestamp(began, position), "type": kind, "payload": payload}


def _build_codex_payloads(story: DemoSession, folder: str, began: datetime) -> Iterator[tuple[str, dict[str, Any]]]:
    identity = {
        "id": _build_session_id(story),
        "timestamp": _format_timestamp(began, 0),
        "cwd": folder,
        "cli_version": "0.166.0",
    }
    yield "session_meta", {**identity, "originator": "codex_cli", "git": {"branch": "main"}}
    yield "turn_context", {"cwd": folder, "model": "gpt-5-codex"}
    for position, (act, *words) in enumerate(story.acts):
        call_id = f"call_{story.project}_{position}"
        if act in ("user", "agent"):
            role, part = ("user", "input_text") if act == "user" else ("assistant", "output_text")
            yield "response_item", {"type": "message", "role": role, "content": [{"type": part, "text": words[0]}]}
        else:
            yield from (("response_item", payload) for payload in _build_codex_call(call_id, act, words))
        if act != "user":
            yield "event_msg", _build_codex_usage(position)


def _build_codex_call(call_id: str, act: str, words: list[str]) -> Iterator[dict[str, Any]]:
    if act == "runs":
        arguments, output = json.dumps({"cmd": words[0]}), f"Process exited with code {words[2]}\nOutput:\n{words[1]}\n"
        yield {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call_id}
        yield {"type": "function_call_output", "call_id": call_id, "output": output}
        return
    patch = f"*** Begin Patch\n*** Update File: {words[0]}\n@@\n-float\n+int\n*** End Patch\n"
    yield {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call_id}
    yield {
        "type": "custom_tool_call_output",
        "call_id": call_id,
        "output": "Success. Updated the following files:\nM src",
    }


def _build_codex_usage(position: int) -> dict[str, Any]:
    def build_usage(times: int) -> dict[str, int]:
        return {"input_tokens": 8_000 * times, "cached_input_tokens": 6_000 * times, "output_tokens": 300 * times,
                "reasoning_output_tokens": 100 * times, "total_tokens": 8_300 * times}  # fmt: skip

    return {
        "type": "token_count",
        "info": {"total_token_usage": build_usage(position + 1), "last_token_usage": build_usage(1)},
    }
