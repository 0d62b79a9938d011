"""Claude Code transcripts as they are found in the wild."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engram.agents.transcripts.adapter import Mark
from engram.agents.transcripts.claude import adapter
from engram.types import About, Usage
from tests.agents.trials import about, events, ours, read, shared


def transcript(tmp_path: Path, *records: dict[str, Any] | str) -> Path:
    path = tmp_path / "5b1f.jsonl"
    lines = [record if isinstance(record, str) else json.dumps({"sessionId": "s1", **record}) for record in records]
    path.write_text("".join(line + "\n" for line in lines))
    return path


def said(uuid: str, content: Any, **facts: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}, **facts}


def answered(uuid: str, *blocks: dict[str, Any], **facts: Any) -> dict[str, Any]:
    message = {"id": "m1", "model": "claude-sonnet-4-5", "role": "assistant", "content": list(blocks), **facts}
    return {"type": "assistant", "uuid": uuid, "message": message, "requestId": "r1"}


def test_a_call_and_its_result_are_joined_with_verdict_and_exit_code(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": "Exit code 2\nno rule"}
    loaded = events(read(adapter, transcript(tmp_path, answered("a", call), said("b", [result]))))
    assert [(e.kind, e.name, e.call_id, e.verdict, e.exit_code) for e in loaded] == [
        ("call", "Bash", "t1", None, None),
        ("result", None, "t1", "error", 2),
    ]
    assert loaded[0].arguments == {"command": "make"}


def test_a_refused_tool_is_denied_and_an_interrupt_is_one(tmp_path: Path) -> None:
    refused = {"type": "tool_result", "tool_use_id": "t1", "is_error": True,
               "content": "The user doesn't want to proceed with this tool use."}  # fmt: skip
    path = transcript(tmp_path, said("a", [refused]), said("b", "[Request interrupted by user for tool use]"))
    assert [(e.kind, e.verdict) for e in events(read(adapter, path))] == [("result", "denied"), ("interrupt", None)]


def test_the_copy_of_the_edited_file_is_left_out(tmp_path: Path) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "updated"}
    patch = [{"lines": ["+one", "+two", "-three", " four"]}]
    detail = {"filePath": "/a.py", "originalFile": "x" * 5000, "structuredPatch": patch}
    (event,) = events(read(adapter, transcript(tmp_path, said("a", [result], toolUseResult=detail))))
    assert event.data == {"filePath": "/a.py", "added": 2, "removed": 1}


def test_text_a_program_inserts_is_not_the_users(tmp_path: Path) -> None:
    path = transcript(
        tmp_path, said("a", "Fix it"), said("b", "<local-command-stdout>ok</local-command-stdout>"),
        said("c", "caveat", isMeta=True), said("d", "So far…", isCompactSummary=True),
    )  # fmt: skip
    assert [(e.kind, e.role) for e in events(read(adapter, path))] == [
        ("message", "user"), ("message", "system"), ("message", "system"), ("compaction", "system"),
    ]  # fmt: skip


def test_usage_is_yielded_again_only_when_the_output_grew(tmp_path: Path) -> None:
    text = {"type": "text", "text": "hi"}
    records = [
        answered(str(n), text, usage={"input_tokens": 3, "output_tokens": tokens}) for n, tokens in enumerate((1, 1, 9))
    ]
    counted = [item for item in read(adapter, transcript(tmp_path, *records)) if isinstance(item, Usage)]
    assert [(entry.key, entry.output) for entry in counted] == [("m1:r1", 1), ("m1:r1", 9)]


def test_the_hour_long_cache_is_counted_apart(tmp_path: Path) -> None:
    usage = {"cache_creation_input_tokens": 100, "cache_creation": {"ephemeral_1h_input_tokens": 60}}
    (each,) = [i for i in read(adapter, transcript(tmp_path, answered("a", usage=usage))) if isinstance(i, Usage)]
    assert (each.cache_write, each.cache_write_long) == (40, 60)


def test_a_subagent_inside_its_parents_file_is_its_own_session(tmp_path: Path) -> None:
    inner = {"type": "user", "uuid": "x1", "message": {"role": "user", "content": "Explore"}}
    path = transcript(tmp_path, said("a", "Look"), {
        "type": "progress", "uuid": "p", "toolUseID": "t",
        "data": {"type": "agent_progress", "agentId": "g7", "message": inner},
    })  # fmt: skip
    items = read(adapter, path)
    assert [(e.session, e.name) for e in events(items)] == [("s1", None), ("s1/g7", "prompt")]
    child = next(i for i in items if isinstance(i, About) and i.session == "s1/g7")
    assert (child.parent, child.relation) == ("s1", "subagent")


def test_records_before_the_first_session_id_belong_to_the_session(tmp_path: Path) -> None:
    first = json.dumps(
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"trackedFileBackups": {"a.py": {}}}}
    )
    items = read(adapter, transcript(tmp_path, first, said("a", "Hello", cwd="/w", gitBranch="main")))
    assert {e.session for e in events(items)} == {"s1"}
    assert about(items)["cwd"] == "/w"


def test_every_real_transcript_is_read_without_an_exception() -> None:
    own = ours(adapter, shared("data", "transcripts", "claude"))
    assert len(own) > 200
    for path in own:
        read(adapter, path)


def test_the_generated_sessions_give_the_exact_tokens() -> None:
    units: dict[str, Usage] = {}
    for path in ours(adapter, shared("data", "transcripts", "claude", "generated", "claude-2.1.197")):
        for item in read(adapter, path):
            if isinstance(item, Usage) and item.output >= getattr(units.get(item.key), "output", 0):
                units[item.key] = item
    sums = [sum(getattr(unit, name) for unit in units.values()) for name in ("input", "output", "cache_read")]
    assert sums == [168, 770, 22000]


@settings(max_examples=60, deadline=None)
@given(cuts=st.lists(st.integers(0, 2000), max_size=4), junk=st.binary(max_size=30))
def test_steps_and_damage_never_raise_and_marks_lose_nothing(
    tmp_path_factory: Any, cuts: list[int], junk: bytes
) -> None:
    path = transcript(tmp_path_factory.mktemp("t"), *(said(str(n), f"word {n} é\u2028") for n in range(8)))
    whole = path.read_bytes()
    broken = whole[:700] + junk.replace(b"\n", b"") + whole[700:]
    path.write_bytes(broken)
    once = {e.key for e in events(read(adapter, path))}
    mark, seen = Mark(), set()
    for cut in [*sorted(cuts), len(broken)]:
        path.write_bytes(broken[:cut])
        items = read(adapter, path, mark)
        seen |= {e.key for e in events(items)}
        mark = items[-1]  # type: ignore[assignment]
    assert once <= seen
