"""A session that its agent writes to several files is captured once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import orjson

from engram import Engram
from tests.agents.test_cline import OLD_TASK, talk
from tests.agents.test_cursor import CHAT, ChatStore, said, text, transcript

TASK = "1700000000000"


def task_files(home: Path, ui: list[Any] | None, history: tuple[Any, ...] | None) -> Path:
    folder = home / ".config" / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev" / "tasks" / TASK
    folder.mkdir(parents=True, exist_ok=True)
    if ui is not None:
        (folder / "ui_messages.json").write_bytes(orjson.dumps(ui))
    if history is not None:
        (folder / "api_conversation_history.json").write_bytes(orjson.dumps(history))
    return folder


def entry(kind: str, words: str, number: int) -> dict[str, Any]:
    return {"ts": 1_700_000_000_000 + number, "type": "say", "say": kind, "text": words}


UI = [
    entry("task", "Fix it", 0), entry("text", "Looking.", 1), entry("command", "ls", 2),
    entry("command_output", "a.py", 3), entry("completion_result", "Done", 4),
]  # fmt: skip


def spoken(engram: Engram) -> list[str]:
    (capture,) = engram.list_sessions()
    return [exchange.content for exchange in engram.history(capture.session.id)]


def test_a_task_is_read_from_the_screens_file_if_both_are_whole(engram: Engram, home: Path) -> None:
    task_files(home, UI, OLD_TASK)
    engram.ingest()
    assert spoken(engram) == ["Fix it", "Looking.", "Done"]
    task_files(home, [*UI, entry("user_feedback", "Not yet", 5)], (*OLD_TASK, talk("assistant", "Right.")))
    engram.ingest()
    assert spoken(engram) == ["Fix it", "Looking.", "Done", "Not yet"]


def test_a_task_without_the_screens_file_is_read_from_the_models(engram: Engram, home: Path) -> None:
    task_files(home, None, OLD_TASK)
    report = engram.ingest()
    assert report.unread == ()
    assert spoken(engram) == ["Fix it", "Looking.", "Done", "Not yet"]


def test_a_task_whose_screens_file_is_poorer_is_read_from_the_models(engram: Engram, home: Path) -> None:
    task_files(home, UI[:1], OLD_TASK)
    engram.ingest()
    assert spoken(engram) == ["Fix it", "Looking.", "Done", "Not yet"]


def test_the_file_that_was_read_first_keeps_the_task(engram: Engram, home: Path) -> None:
    task_files(home, None, OLD_TASK)
    engram.ingest()
    task_files(home, UI * 4, None)
    engram.ingest()
    engram.ingest(again=True)
    assert spoken(engram) == ["Fix it", "Looking.", "Done", "Not yet"]
    task_files(home, None, (*OLD_TASK, talk("assistant", "Right.")))
    engram.ingest()
    assert spoken(engram)[-1] == "Right."


def chat(home: Path) -> ChatStore:
    made = ChatStore(home)
    question = made.add(said("user", text("<user_query>\nDo it\n</user_query>")))
    made.finish(question, made.add(said("assistant", text("Yes, from the store"))))
    return made


def test_a_chat_of_cursors_agent_is_read_from_its_store(engram: Engram, home: Path) -> None:
    transcript(home, CHAT)
    chat(home)
    engram.ingest()
    assert spoken(engram) == ["Do it", "Yes, from the store"]
    engram.ingest(again=True)
    assert spoken(engram) == ["Do it", "Yes, from the store"]


def test_a_chat_that_was_read_from_its_transcript_stays_there(engram: Engram, home: Path) -> None:
    path = transcript(home, CHAT)
    engram.ingest()
    chat(home)
    with path.open("ab") as file:
        file.write(orjson.dumps({"role": "assistant", "message": {"content": [text("More")]}}) + b"\n")
    engram.ingest()
    engram.ingest(again=True)
    assert spoken(engram) == ["Do it", "Yes", "More"]


def test_a_store_that_grows_is_followed(engram: Engram, home: Path) -> None:
    made = chat(home)
    engram.ingest()
    rows: list[Any] = list(apsw.Connection(str(made.path)).execute("select id from blobs where data like '{%'"))
    made.finish(*(row[0] for row in rows), made.add(said("user", text("And now?"))))
    engram.ingest()
    assert spoken(engram) == ["Do it", "Yes, from the store", "And now?"]


def test_a_chat_that_the_editor_keeps_is_not_read_from_the_agents_store(engram: Engram, home: Path) -> None:
    chat(home)
    path = home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    path.parent.mkdir(parents=True)
    editor = apsw.Connection(str(path))
    editor.execute("create table cursorDiskKV (key text, value blob)")
    editor.execute("insert into cursorDiskKV values (?, ?)", (f"composerData:{CHAT}", '{"name":"In the editor"}'))
    bubble = '{"type":1,"bubbleId":"b","text":"From the editor"}'
    editor.execute("insert into cursorDiskKV values (?, ?)", (f"bubbleId:{CHAT}:b", bubble))
    engram.ingest()
    assert spoken(engram) == ["From the editor"]
