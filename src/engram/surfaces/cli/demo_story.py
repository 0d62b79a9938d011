"""The demo's history: four sessions of two agents on two projects, written as these agents write them."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

from engram.value import value

HARBOUR, LIGHTHOUSE = "harbour", "lighthouse"
_PRICES, _REFUNDS, _UPLOAD = "src/prices.py", "src/refunds.py", "src/upload.py"


@value
class Story:
    """One session: who worked where, how long ago, and what happened, act by act."""

    flavor: str
    project: str
    days_ago: int
    acts: tuple[tuple[str, ...], ...]


STORIES = (
    Story("claude", HARBOUR, 6, (
        ("user", "A family ticket for 3 children costs 0.30000000000000004 more than it should. Find out why."),
        ("runs", "pytest tests/test_prices.py", "FAILED test_family - assert 35.10000000000001 == 35.1\n1 failed", "1"),
        ("agent", "The cause: prices are floats, and the child discount is added three times. Decimal, or cents?"),
        ("user", "We decided: prices are integer cents everywhere, no Decimal, because the tills send cents."),
        ("edits", _PRICES),
        ("runs", "pytest tests/test_prices.py", "4 passed in 0.21s", "0"),
        ("runs", 'git commit -qam "Prices are integer cents"', "", "0"),
        ("agent", "Fixed: prices are integer cents from the till to the invoice. All 4 tests pass; committed."),
    )),
    Story("codex", HARBOUR, 4, (
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
    Story("claude", LIGHTHOUSE, 2, (
        ("user", "Deploy the sensor service to staging."),
        ("runs", "ssh quay-1 systemctl restart sensors", "ssh: connect to host quay-1: Connection refused", "255"),
        ("agent", "quay-1 refuses the connection. Shall I retry?"),
        ("user", "quay-1 is retired. The staging host is quay-2 now, and only the deploy user may log in."),
        ("runs", "ssh deploy@quay-2 systemctl restart sensors", "", "0"),
        ("agent", "Deployed: the sensor service runs on quay-2."),
    )),
    Story("codex", LIGHTHOUSE, 1, (
        ("user", "Uploads from the lamp room break off on slow links. Make them retry."),
        ("edits", _UPLOAD),
        ("runs", "pytest tests/test_upload.py", "FAILED test_slow_link - TimeoutError\n1 failed, 2 passed", "1"),
        ("agent", "Uploads retry three times. The test for slow links still fails. Next step: a longer pause."),
    )),
)  # fmt: skip


def write(home: str, now: datetime) -> list[str]:
    """Write the transcripts below a home, and the projects they speak of; return the projects' folders."""
    for story in STORIES:
        folder = os.path.join(home, story.project)
        os.makedirs(os.path.join(folder, "src"), exist_ok=True)
        for path in {act[1] for act in story.acts if act[0] == "edits"}:
            _put(os.path.join(folder, path), "# A sample of `engram demo`.\n")
        began = now - timedelta(days=story.days_ago)
        made = (_claude if story.flavor == "claude" else _codex)(story, folder, began)
        path = _path(home, story, folder, began)
        _put(path, "".join(json.dumps(record) + "\n" for record in made))
    return [os.path.join(home, name) for name in (HARBOUR, LIGHTHOUSE)]


def _put(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _id(story: Story) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"engram demo {story.flavor} {story.project}"))


def _path(home: str, story: Story, folder: str, began: datetime) -> str:
    if story.flavor == "claude":
        slug = re.sub(r"[^A-Za-z0-9]", "-", folder)
        return os.path.join(home, ".claude", "projects", slug, f"{_id(story)}.jsonl")
    name = f"rollout-{began:%Y-%m-%dT%H-%M-%S}-{_id(story)}.jsonl"
    return os.path.join(home, ".codex", "sessions", f"{began:%Y}", f"{began:%m}", f"{began:%d}", name)


def _stamp(began: datetime, act: int) -> str:
    return (began + timedelta(minutes=2 * act)).astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


# ---- As Claude Code writes them


def _claude(story: Story, folder: str, began: datetime) -> Iterator[dict[str, Any]]:
    last = None
    for place, (kind, body) in enumerate(_claude_bodies(story, folder)):
        identity = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{_id(story)} {place}"))
        where = {"sessionId": _id(story), "cwd": folder, "gitBranch": "main", "version": "2.1.325"}
        yield {"type": kind, "uuid": identity, "parentUuid": last, "timestamp": _stamp(began, place), "message": body,
               **where}  # fmt: skip
        last = identity


def _claude_bodies(story: Story, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, (act, *words) in enumerate(story.acts):
        call = f"toolu_{story.project}_{place}"
        if act == "user":
            yield "user", {"role": "user", "content": words[0]}
        elif act == "agent":
            yield "assistant", _claude_says(call, {"type": "text", "text": words[0]})
        else:
            name, given = ("Bash", {"command": words[0]}) if act == "runs" else ("Edit", _edit(folder, words[0]))
            yield "assistant", _claude_says(call, {"type": "tool_use", "id": call, "name": name, "input": given})
            yield "user", {"role": "user", "content": [_claude_result(call, act, words)]}


def _edit(folder: str, path: str) -> dict[str, str]:
    return {"file_path": os.path.join(folder, path), "old_string": "float", "new_string": "int"}


def _claude_says(identity: str, block: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 900, "output_tokens": 350, "cache_read_input_tokens": 21_000}
    return {
        "id": f"msg_{identity}",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "usage": usage,
        "content": [block],
    }


def _claude_result(call: str, act: str, words: list[str]) -> dict[str, Any]:
    failed = act == "runs" and words[2] != "0"
    said = words[1] if act == "runs" else "The file was updated."
    text = f"Exit code {words[2]}\n{said}" if failed else said
    return {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}


# ---- As Codex writes them


def _codex(story: Story, folder: str, began: datetime) -> Iterator[dict[str, Any]]:
    for place, (kind, payload) in enumerate(_codex_records(story, folder, began)):
        yield {"timestamp": _stamp(began, place), "type": kind, "payload": payload}


def _codex_records(story: Story, folder: str, began: datetime) -> Iterator[tuple[str, dict[str, Any]]]:
    identity = {"id": _id(story), "timestamp": _stamp(began, 0), "cwd": folder, "cli_version": "0.166.0"}
    yield "session_meta", {**identity, "originator": "codex_cli", "git": {"branch": "main"}}
    yield "turn_context", {"cwd": folder, "model": "gpt-5-codex"}
    for place, (act, *words) in enumerate(story.acts):
        call = f"call_{story.project}_{place}"
        if act in ("user", "agent"):
            role, part = ("user", "input_text") if act == "user" else ("assistant", "output_text")
            yield "response_item", {"type": "message", "role": role, "content": [{"type": part, "text": words[0]}]}
        else:
            yield from (("response_item", each) for each in _codex_call(call, act, words))
        if act != "user":
            yield "event_msg", _codex_usage(place)


def _codex_call(call: str, act: str, words: list[str]) -> Iterator[dict[str, Any]]:
    if act == "runs":
        given, said = json.dumps({"cmd": words[0]}), f"Process exited with code {words[2]}\nOutput:\n{words[1]}\n"
        yield {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call}
        yield {"type": "function_call_output", "call_id": call, "output": said}
        return
    patch = f"*** Begin Patch\n*** Update File: {words[0]}\n@@\n-float\n+int\n*** End Patch\n"
    yield {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call}
    yield {"type": "custom_tool_call_output", "call_id": call, "output": "Success. Updated the following files:\nM src"}


def _codex_usage(place: int) -> dict[str, Any]:
    def used(times: int) -> dict[str, int]:
        return {"input_tokens": 8_000 * times, "cached_input_tokens": 6_000 * times, "output_tokens": 300 * times,
                "reasoning_output_tokens": 100 * times, "total_tokens": 8_300 * times}  # fmt: skip

    return {"type": "token_count", "info": {"total_token_usage": used(place + 1), "last_token_usage": used(1)}}
