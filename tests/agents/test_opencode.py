"""OpenCode's database, its exports, and its files from before 1.2."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from engram.agents.transcripts.adapter import HEAD_BYTES, Mark
from engram.agents.transcripts.opencode import adapter
from engram.types import Event, Usage
from tests.agents.reading import SHARED, abouts, events, read, recognised, samples, spoilt, survives, totals

DATABASE = "opencode/generated/opencode-1.18.33/opencode.db"
SCHEMA = """
create table project (id text primary key);
create table session (id text primary key, parent_id text, directory text, title text, version text,
  time_created integer, time_updated integer);
create table message (id text primary key, session_id text, time_created integer, time_updated integer, data text);
create table part (id text primary key, message_id text, session_id text, time_created integer, time_updated integer,
  data text);
"""


class Store:
    """A small database as OpenCode writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = apsw.Connection(str(path))
        self.db.pragma("journal_mode", "wal")
        self.db.execute(SCHEMA)
        self.now = 1_700_000_000_000

    def session(self, key: str, title: str = "A talk", parent: str | None = None) -> None:
        self.now += 100_000
        self.db.execute(
            "insert into session values (?, ?, '/w', ?, '1.18.33', ?, ?)", (key, parent, title, self.now, self.now)
        )

    def message(self, session: str, key: str, role: str, at: int | None = None, **facts: Any) -> None:
        self.now += 100_000
        data = orjson.dumps({"role": role, "time": {"created": at or self.now}, **facts}).decode()
        self.db.execute("insert into message values (?, ?, ?, ?, ?)", (key, session, at or self.now, self.now, data))

    def part(self, session: str, message: str, key: str, **data: Any) -> None:
        said = orjson.dumps(data).decode()
        self.db.execute("insert into part values (?, ?, ?, ?, ?, ?)", (key, message, session, self.now, self.now, said))

    def answer(self, session: str, key: str, at: int | None = None, **facts: Any) -> None:
        at = at or self.now + 100_000
        counts = {"input": 7, "output": 3, "reasoning": 2, "cache": {"read": 5, "write": 1}}
        time = {"created": at, "completed": at + 9}
        self.message(session, key, "assistant", at, **{"modelID": "m", "tokens": counts, "time": time, **facts})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "opencode.db")
    made.session("ses_a")
    made.message("ses_a", "msg_1", "user")
    made.part("ses_a", "msg_1", "prt_1", type="text", text="Do it")
    made.answer("ses_a", "msg_2")
    made.part("ses_a", "msg_2", "prt_2", type="text", text="Done")
    return made


def tool(**state: Any) -> dict[str, Any]:
    return {"type": "tool", "tool": "bash", "callID": "c1", "state": {"input": {"command": "x"}, **state}}


def test_the_samples_count_to_the_truth() -> None:
    found = [item for path in samples("opencode/generated/**/opencode.db") for item in read(adapter, path)]
    assert totals(found) == {"input": 9000, "output": 360, "cache_read": 7200, "cache_write": 0, "reasoning": 120}
    said = events(found)
    failed = [text for text in said if text.verdict == "error"]
    assert {entry.exit_code for entry in failed} == {1}
    assert len(failed) == 3
    assert [text.text for text in said if text.role == "user"] == [
        '"Create calc.py with an add function"', '"Use a SUBAGENT to explore"',
    ]  # fmt: skip
    children = [facts for facts in abouts(found).values() if facts.get("relation") == "subagent"]
    assert [facts["parent"] for facts in children] == ["ses_e1f73f400ffeqhwDwjkPXm98re"]


def test_the_client_run_by_us_is_read() -> None:
    for path in samples("opencode/**/opencode.db", SHARED / "realclients" / "samples"):
        items = read(adapter, path)
        assert totals(items)["output"] == 160
        assert "COUNT-TASK" in next(event.text for event in events(items) if event.name == "prompt")


def test_only_its_own_files_are_recognised() -> None:
    matched = recognised(adapter)
    assert DATABASE in matched
    assert {name.split("/")[0] for name in matched} == {"opencode"}
    assert all(name.endswith((".db", "ses_test1.json")) for name in matched)


def test_the_database_is_left_as_it_was(store: Store, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for ending in ("", "-wal"):
        shutil.copy(f"{store.path}{ending}", copy)
    assert len(events(read(adapter, copy / "opencode.db"))) == 2
    assert sorted(os.listdir(copy)) == ["opencode.db", "opencode.db-wal"]


def test_an_unchanged_database_is_not_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ago = time.time() - 60
    for ending in ("", "-wal"):
        os.utime(f"{store.path}{ending}", (long_ago, long_ago))
    mark = read(adapter, store.path)[-1]
    assert isinstance(mark, Mark)
    monkeypatch.setattr("engram.agents.transcripts.opencode.ForeignDatabase", None)
    assert read(adapter, store.path, mark) == [mark]


def test_only_changed_sessions_are_read_again(store: Store) -> None:
    store.session("ses_b", "Another")
    store.message("ses_b", "msg_3", "user")
    store.part("ses_b", "msg_3", "prt_3", type="text", text="Hm")
    first = read(adapter, store.path)
    store.answer("ses_b", "msg_4")
    store.part("ses_b", "msg_4", "prt_4", type="text", text="Yes")
    assert isinstance(first[-1], Mark)
    again = read(adapter, store.path, first[-1])
    assert {event.session for event in events(again)} == {"ses_b"}
    assert events([*first, *again]) == events(read(adapter, store.path))
    assert isinstance(again[-1], Mark)
    assert "ses_a" not in {event.session for event in events(read(adapter, store.path, again[-1]))}


def test_an_answer_still_being_written_is_looked_at_again(store: Store) -> None:
    store.message("ses_a", "msg_3", "user")
    store.message("ses_a", "msg_4", "assistant", tokens={"input": 1, "output": 1})
    store.part("ses_a", "msg_4", "prt_4", **tool(status="running"))
    store.session("ses_z")
    store.message("ses_z", "msg_9", "user")
    first = read(adapter, store.path)
    assert totals(first)["input"] == 7
    done = orjson.dumps(tool(status="completed", output="hi", metadata={"exit": 0})).decode()
    store.db.execute("update part set data = ? where id = 'prt_4'", (done,))
    assert isinstance(first[-1], Mark)
    result = next(event for event in events(read(adapter, store.path, first[-1])) if event.kind == "result")
    assert (result.text, result.verdict, result.exit_code, result.call_id) == ("hi", "ok", 0, "c1")


def test_renumbered_rows_or_another_database_are_read_completely(store: Store) -> None:
    for row, first in ((1000, "ses_a"), (1, "ses_of_another")):
        state = {"updated": 1 << 60, "row": row, "first": first, "open": [], "stamp": None}
        assert len(events(read(adapter, store.path, Mark(state=state)))) == 2


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ({"status": "completed", "output": "no", "metadata": {"exit": 2}}, "error"),
        ({"status": "completed", "output": "x\nUser aborted the command\n", "metadata": {}}, "interrupted"),
        ({"status": "error", "error": "Tool execution aborted"}, "interrupted"),
        ({"status": "error", "error": "The user rejected permission to use this specific tool call."}, "denied"),
        ({"status": "error", "error": "boom"}, "error"),
        ({"status": "completed", "output": "fine"}, "ok"),
    ],
)
def test_verdicts(store: Store, state: dict[str, Any], verdict: str) -> None:
    store.part("ses_a", "msg_2", "prt_5", **tool(**state))
    result = next(event for event in events(read(adapter, store.path)) if event.kind == "result")
    assert result.verdict == verdict
    assert result.text == (state.get("output") or state.get("error"))


def test_unknown_tools_are_errors(store: Store) -> None:
    store.part("ses_a", "msg_2", "prt_5", **{**tool(status="completed", output="?"), "tool": "invalid"})
    assert [event.verdict for event in events(read(adapter, store.path)) if event.kind == "result"] == ["error"]


def test_speakers_are_recognized(store: Store) -> None:
    store.part("ses_a", "msg_1", "prt_6", type="text", text="<reminder>", synthetic=True)
    store.session("ses_c", "Look (@general subagent)", parent="ses_a")
    store.message("ses_c", "msg_7", "user")
    store.part("ses_c", "msg_7", "prt_7", type="text", text="Look around")
    found = {event.text: (event.role, event.name) for event in events(read(adapter, store.path))}
    assert found["Do it"] == ("user", None)
    assert found["<reminder>"] == ("system", "injected")
    assert found["Look around"] == ("system", "prompt")


def test_compaction_abort_and_errors(store: Store) -> None:
    store.message("ses_a", "msg_7", "user")
    store.part("ses_a", "msg_7", "prt_7", type="compaction", auto=True)
    store.answer("ses_a", "msg_8", summary=True)
    store.part("ses_a", "msg_8", "prt_8", type="text", text="So far")
    store.answer("ses_a", "msg_9", error={"name": "MessageAbortedError", "data": {"message": "aborted"}})
    store.answer("ses_a", "msg_x", error={"name": "APIError", "data": {"message": "overloaded"}})
    store.part("ses_a", "msg_x", "prt_x", type="brand-new", what=1)
    found = [(event.kind, event.name, event.text) for event in events(read(adapter, store.path))]
    assert ("compaction", "auto", "") in found
    assert ("compaction", "summary", "So far") in found
    assert ("interrupt", "MessageAbortedError", "aborted") in found
    assert ("lifecycle", "APIError", "overloaded") in found
    assert [name for kind, name, _ in found if kind == "opaque"] == ["brand-new"]


def test_a_fork_counts_once_and_names_its_parent(store: Store) -> None:
    cloned = [row for row in read(adapter, store.path) if isinstance(row, Usage)]
    first, second = (int(str(at)) for (at,) in store.db.execute("select time_created from message order by id"))
    store.session("ses_f", "A talk (fork #1)")
    store.message("ses_f", "msg_f1", "user", at=first)
    store.answer("ses_f", "msg_f2", at=second)
    store.answer("ses_f", "msg_f3")
    items = read(adapter, store.path)
    assert abouts(items)["ses_f"]["parent"] == "ses_a"
    assert abouts(items)["ses_f"]["relation"] == "fork"
    assert len(cloned) == 1
    assert totals(items)["input"] == 14


def test_reasoning_inside_output_is_not_counted_twice(store: Store) -> None:
    inside = {"input": 10, "output": 8, "reasoning": 4, "total": 18, "cache": {"read": 0, "write": 0}}
    store.answer("ses_a", "msg_9", tokens=inside, cost=0.25)
    usage = [item for item in read(adapter, store.path) if isinstance(item, Usage)][-1]
    assert (usage.output, usage.reasoning, usage.cost) == (8, 0, 0.25)


EXPORT = {
    "info": {"id": "ses_a", "directory": "/w", "title": "New session - 2026-01-01T00:00:00.000Z", "version": "1.2.6"},
    "messages": [
        {
            "info": {"id": "msg_1", "role": "user", "time": {"created": 1_700_000_000_000}},
            "parts": [{"id": "prt_1", "type": "text", "text": "Do it"}],
        },
        {
            "info": {"id": "msg_2", "role": "assistant", "time": {"created": 1_700_000_000_001, "completed": 2}},
            "parts": [{"id": "prt_2", "type": "text", "text": "Done"}],
        },
    ],
}


def test_an_export_reads_like_the_database(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "full.jsonl"
    path.write_bytes(orjson.dumps(EXPORT))
    assert adapter.recognises(str(path), path.read_bytes()[:HEAD_BYTES])
    assert adapter.recognises(str(path), orjson.dumps(EXPORT, option=orjson.OPT_INDENT_2))
    items = read(adapter, path)
    assert abouts(items) == {"ses_a": {"cwd": "/w", "version": "1.2.6"}}
    kept = [(event.session, event.key, event.text, event.order) for event in events(read(adapter, store.path))]
    assert [(event.session, event.key, event.text, event.order) for event in events(items)] == kept


def test_an_export_of_opencode_2(tmp_path: Path) -> None:
    state = {"status": "completed", "input": {"path": "/x"}, "content": [{"type": "text", "text": "ok"}]}
    said = [
        {"id": "msg_1", "type": "user", "time": {"created": 1}, "text": "hello"},
        {"id": "msg_2", "type": "assistant", "time": {"created": 2, "completed": 3}, "content": [
            {"type": "text", "text": "hi"}, {"type": "tool", "id": "call_1", "name": "write", "state": state},
        ], "tokens": {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 1, "write": 0}}},
    ]  # fmt: skip
    path = tmp_path / "v2.json"
    path.write_bytes(orjson.dumps({"info": {"id": "ses_2"}, "messages": said}))
    items = read(adapter, path)
    assert [(event.kind, event.role, event.text) for event in events(items)] == [
        ("message", "user", "hello"), ("message", "assistant", "hi"),
        ("call", "assistant", ""), ("result", "tool", "ok"),
    ]  # fmt: skip
    assert totals(items)["input"] == 10


def test_files_of_the_time_before_are_read_together() -> None:
    path = samples("opencode/**/session/proj1/ses_test1.json")[0]
    loaded = events(read(adapter, path))
    assert [(event.role, event.text[:5]) for event in loaded] == [("user", "Hello"), ("assistant", "Of co")]
    assert len({event.key for event in loaded}) == 2
    assert abouts(read(adapter, path))["ses_test1"]["model"] == "claude-3-opus"


def test_no_damage_makes_it_raise(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps(EXPORT, option=orjson.OPT_INDENT_2))
    survives(adapter, path, tmp_path, "spoilt.json")
    store.db.execute("update part set data = '{nonsense' where id = 'prt_1'")
    assert [event.kind for event in events(read(adapter, store.path))] == ["damage", "message"]
    store.db.close()
    copy = tmp_path / "spoilt.db"
    for data in spoilt(store.path.read_bytes()):
        copy.write_bytes(data)
        adapter.recognises(str(copy), data[:HEAD_BYTES])
        read(adapter, copy)


def test_the_sample_survives_damage(tmp_path: Path) -> None:
    path = samples("opencode/**/opencode.db", SHARED / "realclients" / "samples")[0]
    whole, copy = path.read_bytes(), tmp_path / "spoilt.db"
    for step in range(1, 16):
        cut = len(whole) * step // 16
        for data in (whole[:cut], whole[:cut] + b"\xa5" * 4096 + whole[cut + 4096 :]):
            copy.write_bytes(data)
            items = read(adapter, copy)
            assert all(isinstance(event, Event) for event in events(items))


def test_places(tmp_path: Path) -> None:
    places = [place.root for place in adapter.places({"HOME": "/h"}, [])]
    assert places == ["/h/.local/share/opencode", "/h/.local/share/opencode/storage/session"]
    moved = next(iter(adapter.places({"HOME": "/h", "XDG_DATA_HOME": "/d"}, [])))
    assert (moved.root, moved.endings) == ("/d/opencode", (".db",))
