"""The community's Grok CLI: one database for all sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from engram.agents.transcripts import grok
from engram.agents.transcripts.adapter import HEAD_BYTES, Mark
from engram.agents.transcripts.grok_cli import adapter
from tests.agents.trials import CLIENTS, TRANSCRIPTS, about, events, files, read, shared, usages

SCHEMA = """
create table workspaces (id text primary key, scope_key text not null unique);
create table sessions (id text primary key, workspace_id text, title text, recap_text text, model text not null,
    mode text not null, cwd_at_start text not null, cwd_last text not null, status text,
    created_at text, updated_at text);
create table messages (session_id text, seq integer, role text, message_json text, created_at text,
    primary key (session_id, seq));
create table tool_calls (id integer primary key, session_id text, message_seq integer, tool_call_id text,
    tool_name text, args_json text, status text);
create table tool_results (id integer primary key, tool_call_row_id integer, output_json text, success integer);
create table usage_events (id integer primary key, session_id text, message_seq integer, source text, model text,
    input_tokens integer, output_tokens integer, total_tokens integer, cost_micros integer, created_at text);
"""
COMPACTIONS = """
create table compactions (id integer primary key, session_id text, first_kept_seq integer, summary text,
    tokens_before integer, created_at text);
"""
AT = "2026-03-01T10:00:00.000Z"


def messages() -> list[tuple[str, dict[str, Any] | str]]:
    call = {"type": "tool-call", "toolCallId": "c1", "toolName": "bash", "input": {"command": "false"}}
    output = {"type": "json", "value": {"success": False, "error": "exit 1", "diff": {}}}
    answer = {"type": "tool-result", "toolCallId": "c1", "toolName": "bash", "output": output}
    parts = [{"type": "reasoning", "text": "Hm"}, {"type": "text", "text": "I look."}, call]
    return [
        ("user", {"role": "user", "content": "Fix the port."}),
        ("assistant", {"role": "assistant", "content": parts}),
        ("tool", {"role": "tool", "content": [answer]}),
        ("system", {"role": "system", "content": "A note."}),
        ("user", "{no json"),
    ]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / ".grok" / "grok.db"
    path.parent.mkdir()
    db = apsw.Connection(str(path))
    db.execute(SCHEMA + COMPACTIONS)
    session = ("s1", "w", "Port", None, "grok-4", "agent", "/proj", "/proj/src", "active", AT, AT)
    db.execute(f"insert into sessions values ({', '.join('?' * 11)})", session)
    for number, (role, said) in enumerate(messages(), 1):
        text = said if isinstance(said, str) else orjson.dumps(said).decode()
        db.execute("insert into messages values ('s1', ?, ?, ?, ?)", (number, role, text, AT))
    db.execute("insert into tool_calls values (7, 's1', 2, 'c1', 'bash', '{}', 'completed')")
    db.execute("insert into tool_results values (1, 7, '{}', 0)")
    db.execute("insert into compactions values (1, 's1', 4, 'what was done', 9000, ?)", (AT,))
    db.execute("insert into usage_events values (5, 's1', 2, 'message', 'grok-4', 100, 9, 109, 420, ?)", (AT,))
    db.close()
    return path


def test_a_session_is_read_completely(database: Path) -> None:
    items = read(adapter, database)
    assert [(event.kind, event.role, event.text) for event in events(items)] == [
        ("message", "user", "Fix the port."),
        ("thinking", "assistant", "Hm"),
        ("message", "assistant", "I look."),
        ("call", "assistant", ""),
        ("result", "tool", "exit 1"),
        ("compaction", "system", "what was done"),
        ("message", "system", "A note."),
        ("damage", "system", ""),
    ]
    assert [(event.call_id, event.verdict) for event in events(items, "result")] == [("c1", "error")]
    assert about(items) == {
        "session": "s1", "cwd": "/proj/src", "model": "grok-4", "title": "Port", "entrypoint": "agent",
    }  # fmt: skip


def test_its_usage_is_its_own_estimate(database: Path) -> None:
    (usage,) = usages(read(adapter, database)).values()
    assert (usage.key, usage.input, usage.output, usage.cost, usage.basis) == ("s1:5", 100, 9, 0.00042, "uncertain")


def test_reading_again_gives_the_same(database: Path) -> None:
    assert read(adapter, database, Mark(offset=0)) == read(adapter, database)


def test_a_database_from_before_compactions(tmp_path: Path) -> None:
    db = apsw.Connection(str(tmp_path / "grok.db"))
    db.execute(SCHEMA)
    db.close()
    assert read(adapter, tmp_path / "grok.db") == [Mark(offset=0, state=None)]


def test_a_damaged_database_promises_nothing(database: Path) -> None:
    content = database.read_bytes()
    for end in (0, 50, 100, 4096, 5000, len(content) // 2):
        database.write_bytes(content[:end])
        adapter.recognises(str(database), content[:end])
        list(adapter.read(str(database), Mark()))
    database.write_bytes(content[:200] + b"\xff" * 3000 + content[3200:])
    list(adapter.read(str(database), Mark()))


def test_it_is_distinguished_from_similar_formats(database: Path) -> None:
    assert adapter.recognises(str(database), database.read_bytes()[:HEAD_BYTES])
    assert not grok.adapter.recognises(str(database), database.read_bytes()[:HEAD_BYTES])
    shared("data", "transcripts")
    for path in (*files(TRANSCRIPTS), *files(CLIENTS)):
        assert not adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES])


def test_places() -> None:
    (place,) = adapter.places({"HOME": "/home/a"}, [])
    assert (place.root, place.endings) == ("/home/a/.grok", ("grok.db",))
