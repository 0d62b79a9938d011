"""Codex rollouts: envelopes and bare items, calls, repeated usage, forks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engram.agents.transcripts.codex import adapter
from engram.platform.zstd import zstd
from engram.types import Usage
from tests.agents.trials import about, events, ours, read, shared


def rollout(tmp_path: Path, *records: tuple[str, dict[str, Any]]) -> Path:
    path = tmp_path / "rollout-2026-11-01T10-00-00-01a1e087-62b3-7333-87b1-61cce52c0cd6.jsonl"
    stamp = "2026-11-01T10:00:00.000Z"
    path.write_text("".join(json.dumps({"timestamp": stamp, "type": k, "payload": p}) + "\n" for k, p in records))
    return path


META = ("session_meta", {"id": "t1", "cwd": "/w", "cli_version": "0.166.0", "git": {"branch": "main"}})


def count(total: int, last: int) -> tuple[str, dict[str, Any]]:
    usage = {"input_tokens": last, "cached_input_tokens": 40, "output_tokens": 5, "total_tokens": last + 5}
    return "event_msg", {
        "type": "token_count",
        "info": {"last_token_usage": usage, "total_token_usage": {"total_tokens": total}},
    }


def used(items: list[Any]) -> list[Usage]:
    return [item for item in items if isinstance(item, Usage)]


def test_the_first_meta_names_the_thread(tmp_path: Path) -> None:
    items = read(adapter, rollout(tmp_path, META, ("session_meta", {"id": "parent"})))
    assert about(items) == {"session": "t1", "cwd": "/w", "branch": "main", "version": "0.166.0"}


def test_calls_join_their_outputs_by_call_id(tmp_path: Path) -> None:
    call = {"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": '{"cmd": "ls"}'}
    output = {"type": "function_call_output", "call_id": "c1", "output": "Process exited with code 3\nOutput:\nno"}
    loaded = events(
        read(adapter, rollout(tmp_path, META, ("response_item", call), ("response_item", output))), "call", "result"
    )
    assert [(e.kind, e.call_id, e.verdict, e.exit_code) for e in loaded] == [
        ("call", "c1", None, None),
        ("result", "c1", "error", 3),
    ]
    assert loaded[0].arguments == {"cmd": "ls"}


def test_messages_repeated_as_events_are_read_once(tmp_path: Path) -> None:
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]}
    path = rollout(
        tmp_path, META, ("response_item", message), ("event_msg", {"type": "user_message", "message": "Fix it"})
    )
    assert [e.text for e in events(read(adapter, path), "message")] == ["Fix it"]


def test_a_total_that_did_not_move_counts_nothing(tmp_path: Path) -> None:
    tokens = used(read(adapter, rollout(tmp_path, META, count(100, 95), count(100, 95), count(200, 95))))
    assert [(item.input, item.cache_read, item.output) for item in tokens] == [(55, 40, 5), (55, 40, 5)]


def test_a_usage_record_and_its_token_count_are_one(tmp_path: Path) -> None:
    usage = {"input_tokens": 95, "cached_input_tokens": 40, "output_tokens": 5}
    record = {"turn_id": "u1", "usage": usage, "thread_token_usage": {"total_tokens": 100}}
    assert len(used(read(adapter, rollout(tmp_path, META, ("token_usage_record", record), count(100, 95))))) == 1


def test_a_replay_of_the_parent_makes_figures_uncertain(tmp_path: Path) -> None:
    fork = ("session_meta", {"id": "t2", "forked_from_id": "t1"})
    items = read(adapter, rollout(tmp_path, fork, META, count(100, 95)))
    assert (about(items)["parent"], about(items)["relation"]) == ("t1", "fork")
    assert used(items)[0].basis == "uncertain"


def test_an_aborted_turn_is_an_interrupt(tmp_path: Path) -> None:
    path = rollout(tmp_path, META, ("event_msg", {"type": "turn_aborted", "reason": "interrupted"}))
    assert [e.name for e in events(read(adapter, path), "interrupt")] == ["interrupted"]


def test_bare_items_of_2025_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rollout-x.jsonl"
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    path.write_text(
        json.dumps({"id": "old", "timestamp": "2025-09-01T00:00:00Z", "instructions": None})
        + "\n"
        + json.dumps(item)
        + "\n"
    )
    assert adapter.recognises(str(path), path.read_bytes())
    assert [(e.session, e.text) for e in events(read(adapter, path), "message")] == [("old", "Hi")]


def test_a_compressed_rollout_reads_the_same(tmp_path: Path) -> None:
    path = rollout(tmp_path, META, count(100, 95))
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(zstd.compress(path.read_bytes()))
    assert [vars(i) for i in read(adapter, packed)] == [vars(i) for i in read(adapter, path)]


def test_the_generated_sessions_give_the_exact_tokens() -> None:
    units: dict[str, Usage] = {}
    for path in ours(adapter, shared("data", "transcripts", "codex", "generated", "codex-0.166.0")):
        units |= {usage.key: usage for usage in used(read(adapter, path))}
    sums = [sum(getattr(unit, name) for unit in units.values()) for name in ("input", "output", "cache_read")]
    assert sums == [5300, 300, 4000]


def test_every_real_rollout_is_read_without_an_exception() -> None:
    own = ours(adapter, shared("data", "transcripts", "codex"))
    assert len(own) > 20
    for path in own:
        read(adapter, path)


def test_what_later_versions_add_is_read(tmp_path: Path) -> None:
    review = {"overall_explanation": "One bug.", "findings": [{"title": "Off by one", "body": "In the loop."}, 7]}
    path = rollout(
        tmp_path, META,
        ("event_msg", {"type": "thread_name_updated", "thread_name": "The parser"}),
        ("event_msg", {"type": "thread_goal_updated", "goal": {"objective": "Ship it", "status": "active"}}),
        ("event_msg", {"type": "item_completed", "item": {"type": "Plan", "id": "p", "text": "1. Read"}}),
        ("event_msg", {"type": "exited_review_mode", "review_output": review}),
        ("event_msg", {"type": "patch_apply_end", "success": True, "changes": {"/w/a.py": {"type": "add"}}}),
        ("event_msg", {"type": "mcp_tool_call_end", "result": {"Err": "no such tool"}}),
        ("response_item", {"type": "agent_message", "author": "a", "recipient": "b", "content": [{"text": "Look"}]}),
        ("inter_agent_communication", {"author": "b", "recipient": "a", "content": "Seen"}),
        ("response_item", {"type": "context_compaction", "encrypted_content": "gAAA"}),
        ("response_item", {"type": "additional_tools", "tools": [{"name": "x"}]}),
        ("world_state", {"full": True, "state": {"agents_md": {}}}),
    )  # fmt: skip
    items = read(adapter, path)
    assert about(items)["title"] == "The parser"
    assert [(e.kind, e.name, e.text, e.verdict) for e in events(items)[1:]] == [
        ("lifecycle", "thread_name_updated", "", None),
        ("lifecycle", "thread_goal_updated", "Ship it", None),
        ("lifecycle", "completed Plan", "1. Read", None),
        ("lifecycle", "exited_review_mode", "One bug.\n\nOff by one\nIn the loop.", None),
        ("lifecycle", "patch_apply_end", "/w/a.py", None),
        ("lifecycle", "mcp_tool_call_end", "", "error"),
        ("message", "agent_message", "Look", None),
        ("message", "agent_message", "Seen", None),
        ("lifecycle", "context_compaction", "", None),
    ]
