"""Cursor's store of chats and its agent's transcripts."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import orjson
import pytest

from engram.agents.transcripts.adapter import HEAD_BYTES, Mark
from engram.agents.transcripts.cursor import adapter
from engram.types import Usage
from tests.agents.reading import abouts, events, in_steps, read, recognised, samples, spoilt, survives

CHAT = "0b1c7a4e-0000-4000-8000-000000000001"


class Store:
    """A state.vscdb as Cursor writes it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.db = apsw.Connection(str(path))
        self.db.execute("create table cursorDiskKV (key text unique on conflict replace, value blob)")

    def put(self, key: str, **value: Any) -> None:
        self.db.execute("insert into cursorDiskKV values (?, ?)", (key, orjson.dumps(value).decode()))

    def chat(self, *bubbles: str, chat: str = CHAT, **facts: Any) -> None:
        headers = [{"bubbleId": bubble} for bubble in bubbles]
        self.put(f"composerData:{chat}", name="Talk", fullConversationHeadersOnly=headers, **facts)

    def bubble(self, name: str, kind: int, chat: str = CHAT, **facts: Any) -> None:
        self.put(f"bubbleId:{chat}:{name}", type=kind, bubbleId=name, createdAt="2026-01-01T00:00:00Z", **facts)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = Store(tmp_path / "h" / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb")
    made.bubble("b2", 2, text="Answer", thinking={"text": "hm"}, tokenCount={"inputTokens": 9, "outputTokens": 2})
    made.bubble("b1", 1, text="Question", workspaceUris=["file:///home/me/a%20b"])
    made.chat("b1", "b2")
    return made


def test_the_sample_is_read() -> None:
    (path,) = samples("cursor/**/composer-global-state.vscdb")
    items = read(adapter, path)
    (about,) = abouts(items).values()
    assert about == {"cwd": "/fixture/v016/project", "title": "Synthetic v0.16 Composer session"}
    said = events(items)
    assert [text.kind for text in said] == [
        "message", "message", "message", "call", "result", "call", "result", "message"
    ]  # fmt: skip
    assert all(text.data is None for text in said)
    assert said[3].call_id == said[4].call_id is not None


def test_only_its_own_files_are_recognised() -> None:
    matched = recognised(adapter)
    assert {name.split("/")[0] for name in matched} == {"cursor"}
    assert len(matched) == 4


def test_a_chat_is_read_in_its_own_order(store: Store) -> None:
    items = read(adapter, store.path)
    assert [(event.kind, event.role, event.text) for event in events(items)] == [
        ("message", "user", "Question"), ("thinking", "assistant", "hm"), ("message", "assistant", "Answer"),
    ]  # fmt: skip
    assert [event.order for event in events(items)] == [0, 256, 257]
    assert abouts(items)[CHAT] == {"title": "Talk", "cwd": "/home/me/a b"}
    (usage,) = [item for item in items if isinstance(item, Usage)]
    assert (usage.input, usage.output, usage.basis) == (9, 2, "uncertain")


def test_bubbles_no_longer_shown_are_kept(store: Store) -> None:
    store.bubble("b0", 2, text="Taken back")
    last = events(read(adapter, store.path))[-1]
    assert (last.text, last.data) == ("Taken back", {"shown": False})


def test_old_chats_hold_their_bubbles(store: Store) -> None:
    inline = [{"bubbleId": "i1", "type": 1, "text": "Old"}, {"type": 2, "text": "Way"}]
    store.put("composerData:old", name="Old", conversation=inline)
    assert [event.text for event in events(read(adapter, store.path), "old")] == ["Old", "Way"]


@pytest.mark.parametrize(
    ("tool", "verdict", "code"),
    [
        ({"status": "completed", "result": '{"exitCode":1,"output":"no"}'}, "error", 1),
        ({"status": "completed", "result": "fine"}, "ok", None),
        ({"status": "error", "error": "boom"}, "error", None),
        ({"status": "cancelled"}, "interrupted", None),
        ({"status": "cancelled", "userDecision": "rejected"}, "denied", None),
    ],
)
def test_verdicts(store: Store, tool: dict[str, Any], verdict: str, code: int | None) -> None:
    store.bubble("b3", 2, toolFormerData={"name": "run", "toolCallId": "t1", "params": '{"a":1}', **tool})
    call, result = events(read(adapter, store.path))[-2:]
    assert (call.kind, call.arguments, call.call_id) == ("call", {"a": 1}, "t1")
    assert (result.kind, result.verdict, result.exit_code) == ("result", verdict, code)


def test_a_running_tool_has_no_result(store: Store) -> None:
    store.bubble("b3", 2, toolFormerData={"name": "run", "status": "loading"})
    assert events(read(adapter, store.path))[-1].kind == "call"


def test_only_changed_chats_are_read_again(store: Store) -> None:
    store.chat("c1", chat="other", lastUpdatedAt=5)
    store.bubble("c1", 1, chat="other", text="Elsewhere")
    first = read(adapter, store.path)[-1]
    assert isinstance(first, Mark)
    assert not events(read(adapter, store.path, first))
    store.bubble("b2", 2, text="Answer, longer")
    again = read(adapter, store.path, first)
    assert {event.session for event in events(again)} == {CHAT}
    assert isinstance(again[-1], Mark)
    store.db.execute(
        "update cursorDiskKV set value = ? where key = 'composerData:other'", ('{"name":"New","lastUpdatedAt":6}',)
    )
    assert abouts(read(adapter, store.path, again[-1])) == {"other": {"title": "New"}}
    assert len(abouts(read(adapter, store.path, Mark(state={"row": 999})))) == 2


def line(role: str, *content: dict[str, Any]) -> bytes:
    return orjson.dumps({"role": role, "message": {"content": list(content)}}) + b"\n"


def transcript(home: Path, chat: str, *parts: str) -> Path:
    path = home.joinpath(
        ".cursor", "projects", "slug", "agent-transcripts", chat, *parts, f"{'sub' if parts else chat}.jsonl"
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        line("user", {"type": "text", "text": "<rules>be kind</rules>\n<user_query>\nDo it\n</user_query>"})
        + line("assistant", {"type": "text", "text": "Yes"}, {"type": "tool_use", "name": "Read", "input": {"p": 1}})
    )
    return path


def test_a_transcript_is_read(tmp_path: Path) -> None:
    path = transcript(tmp_path, CHAT)
    meta = tmp_path / ".cursor" / "chats" / "hash" / CHAT / "meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text('{"cwd":"/w"}')
    items = read(adapter, path)
    assert [(event.role, event.name, event.text) for event in events(items)] == [
        ("user", None, "Do it"), ("system", "injected", "<rules>be kind</rules>"), ("assistant", None, "Yes"),
        ("assistant", "Read", ""),
    ]  # fmt: skip
    assert abouts(items) == {CHAT: {"cwd": "/w"}}


def test_a_subagents_transcript_names_its_parent(tmp_path: Path) -> None:
    items = read(adapter, transcript(tmp_path, CHAT, "subagents"))
    assert abouts(items) == {"sub": {"parent": CHAT, "relation": "subagent"}}
    assert events(items)[0].name == "prompt"


def test_a_chat_in_both_stores_is_read_once(store: Store, tmp_path: Path) -> None:
    assert read(adapter, transcript(tmp_path / "h", CHAT)) == [Mark()]
    assert len(events(read(adapter, transcript(tmp_path / "h", "only-here")))) == 4


def test_reading_in_steps_gives_the_same_as_one_read(tmp_path: Path) -> None:
    for path in (transcript(tmp_path, CHAT), *samples("cursor/**/agent-transcripts/**/*.jsonl")):
        assert events(in_steps(adapter, path, tmp_path)) == events(read(adapter, path))


def test_no_damage_makes_it_raise(store: Store, tmp_path: Path) -> None:
    survives(adapter, transcript(tmp_path, CHAT), tmp_path)
    store.put("composerData:", name=[], conversation=[1, None], fullConversationHeadersOnly=[None, {"bubbleId": []}])
    store.put(f"bubbleId:{CHAT}:x", type=2, toolFormerData={"params": 7, "result": [1]}, thinking=3, workspaceUris=[4])
    store.db.execute("insert into cursorDiskKV values ('composerData:n', null), ('bubbleId:n:1', x'ff00'), (null, 1)")
    read(adapter, store.path)
    store.db.close()
    copy = tmp_path / "spoilt.vscdb"
    for data in spoilt(store.path.read_bytes()):
        copy.write_bytes(data)
        adapter.recognises(str(copy), data[:HEAD_BYTES])
        read(adapter, copy)


class ChatStore:
    """A store.db as Cursor's command line writes it."""

    def __init__(self, home: Path, chat: str = CHAT, **meta: Any) -> None:
        self.path = home / ".cursor" / "chats" / "0123abcd" / chat / "store.db"
        self.path.parent.mkdir(parents=True)
        self.db = apsw.Connection(str(self.path))
        self.db.execute("create table blobs (id text primary key, data blob); create table meta (key text, value text)")
        self.meta = {"agentId": chat, "name": "A chat", "createdAt": 1_767_225_600_000, "lastUsedModel": "m-1", **meta}

    def add(self, content: bytes, *, hexed: bool = False) -> str:
        name = sha256(content).hexdigest()
        self.db.execute("insert or ignore into blobs values (?, ?)", (name, content.hex() if hexed else content))
        return name

    def finish(self, *messages: str, workspace: str = "") -> Path:
        root = b"".join(b"\x0a\x20" + bytes.fromhex(name) for name in messages)
        root += b"\x4a" + bytes([len(workspace)]) + workspace.encode() if workspace else b""
        facts = orjson.dumps({**self.meta, "latestRootBlobId": self.add(root)})
        self.db.execute("delete from meta")
        self.db.execute("insert into meta values ('0', ?)", (facts.hex(),))
        return self.path


def said(role: str, *parts: dict[str, Any]) -> bytes:
    return orjson.dumps({"role": role, "content": list(parts)})


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def chat_store(home: Path, *, hexed: bool = False) -> ChatStore:
    made = ChatStore(home)
    call = {"type": "tool-call", "toolCallId": "t1", "toolName": "Shell", "args": {"command": "ls"}}
    result = {"type": "tool-result", "toolCallId": "t1", "toolName": "Shell", "result": "Exit code: 2\n\nno such file"}
    names = [
        made.add(content, hexed=hexed)
        for content in (
            b'{"role":"system","content":"Be kind"}',
            said("user", text("<user_info>\nWorkspace Path: /home/me/p\n</user_info>")),
            said("user", text("<user_query>\nDo it\n</user_query>")),
            said("assistant", {"type": "reasoning", "text": "hm"}, text("Looking."), call),
            said("tool", result),
        )
    ]
    made.finish(*names, names[2])
    return made


@pytest.mark.parametrize("hexed", [False, True])
def test_a_chat_store_is_read(tmp_path: Path, hexed: bool) -> None:
    items = read(adapter, chat_store(tmp_path, hexed=hexed).path)
    assert [(event.kind, event.role, event.name, event.text) for event in events(items)] == [
        ("message", "system", "injected", "Be kind"),
        ("message", "system", "injected", "<user_info>\nWorkspace Path: /home/me/p\n</user_info>"),
        ("message", "user", None, "Do it"),
        ("thinking", "assistant", None, "hm"),
        ("message", "assistant", None, "Looking."),
        ("call", "assistant", "Shell", ""),
        ("result", "tool", "Shell", "Exit code: 2\n\nno such file"),
        ("message", "user", None, "Do it"),  # said twice, stored once
    ]
    assert [(event.verdict, event.exit_code) for event in events(items) if event.kind == "result"] == [("error", 2)]
    assert [event.order for event in events(items)] == sorted({event.order for event in events(items)})
    assert abouts(items) == {CHAT: {"title": "A chat", "model": "m-1", "cwd": "/home/me/p"}}


def test_what_a_summary_replaced_is_still_read(tmp_path: Path) -> None:
    made = ChatStore(tmp_path, name="New Agent")
    made.add(said("user", text("First")))
    made.finish(made.add(said("user", text("Second"))), workspace="file:///home/me/a%20b")
    items = read(adapter, made.path)
    assert [event.text for event in events(items)] == ["First", "Second"]
    assert abouts(items) == {CHAT: {"model": "m-1", "cwd": "/home/me/a b"}}


def test_older_chat_stores_wrap_messages_in_protobuf(tmp_path: Path) -> None:
    made, message = ChatStore(tmp_path), said("user", text("Wrapped"))
    made.finish(made.add(b"\x08\x01\x22" + bytes([len(message)]) + message))
    assert [event.text for event in events(read(adapter, made.path))] == ["Wrapped"]


def test_a_chat_store_that_lost_blobs_or_is_damaged_does_not_raise(tmp_path: Path) -> None:
    made = chat_store(tmp_path)
    made.db.execute(
        "delete from blobs where rowid = 3; insert into blobs values (null, null), ('x', 7), ('y', x'0affff')"
    )
    assert len(events(read(adapter, made.path))) == 6
    made.db.close()
    copy = tmp_path / "copy" / "store.db"
    copy.parent.mkdir()
    for data in spoilt(made.path.read_bytes()):
        copy.write_bytes(data)
        adapter.recognises(str(copy), data[:HEAD_BYTES])
        read(adapter, copy)


def test_another_programs_store_of_the_same_name_is_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    apsw.Connection(str(path)).execute("create table blobs (id, data); create table meta (key, value)")
    assert not adapter.recognises(str(path), path.read_bytes())


def test_places() -> None:
    roots = [place.root for place in adapter.places({"HOME": "/h", "APPDATA": "/r"}, [])]
    assert roots == [
        "/h/.config/Cursor/User", "/h/Library/Application Support/Cursor/User", "/r/Cursor/User", "/h/.cursor/projects",
        "/h/.cursor/chats",
    ]  # fmt: skip
