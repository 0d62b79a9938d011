"""Exports of chat services are imported once, with their own dates."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, ImportRefused


def conversation(identity: str, text: str) -> dict[str, Any]:
    message = {
        "id": "m1",
        "author": {"role": "user"},
        "create_time": 1700000000.5,
        "content": {"content_type": "text", "parts": [text]},
    }
    mapping = {"root": {"id": "root", "parent": None, "children": ["m1"], "message": None},
               "m1": {"id": "m1", "parent": "root", "children": [], "message": message}}  # fmt: skip
    return {"id": identity, "conversation_id": identity, "title": "Sums", "create_time": 1700000000.0,
            "update_time": 1700000100.0, "current_node": "m1", "mapping": mapping}  # fmt: skip


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "conversations.json", json.dumps([conversation("c1", "Add 2 and 3"), conversation("c2", "Hi")])
        )
        archive.writestr("../../evil.json", "{}")
    return path


def test_a_zip_is_imported_with_its_dates(engram: Engram, export: Path, home: Path) -> None:
    report = engram.import_chatgpt(str(export))
    assert (report.sessions, report.failures) == (2, {})
    captures = engram.list_sessions()
    assert {capture.session.flavor for capture in captures} == {"chatgpt"}
    assert all(capture.began and capture.began.year == 2023 for capture in captures)


def test_importing_again_adds_nothing(engram: Engram, export: Path, home: Path) -> None:
    engram.import_chatgpt(str(export))
    again = engram.import_chatgpt(str(export))
    assert again.skipped_unchanged == 1
    assert len(engram.list_sessions()) == 2


def test_the_same_conversations_in_a_later_export_are_the_same(
    engram: Engram, export: Path, tmp_path: Path, home: Path
) -> None:
    engram.import_chatgpt(str(export))
    later = tmp_path / "conversations.json"
    later.write_text(json.dumps([conversation("c1", "Add 2 and 3"), conversation("c3", "New")]))
    engram.import_chatgpt(str(later))
    assert len(engram.list_sessions()) == 3
    session = next(c.session.id for c in engram.list_sessions() if c.session.native_id == "c1")
    assert [event.text for event in engram.get_events(session, "message")] == ["Add 2 and 3"]


def test_another_services_export_is_refused_by_name(engram: Engram, export: Path, home: Path) -> None:
    with pytest.raises(ImportRefused, match="chatgpt"):
        engram.import_claude(str(export))


def test_a_file_without_conversations_is_refused(engram: Engram, tmp_path: Path, home: Path) -> None:
    with pytest.raises(ImportRefused, match="no such file"):
        engram.import_chatgpt(str(tmp_path / "missing.zip"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(ImportRefused, match=r"conversations\.json"):
        engram.import_chatgpt(str(tmp_path / "folder"))


def test_a_damaged_zip_is_refused(engram: Engram, export: Path, home: Path) -> None:
    whole = export.read_bytes()
    spot = whole.index(b"Add 2 and 3")
    for damaged in (
        whole[:spot] + b"Bad" + whole[spot + 3 :],
        b"\0" * 40 + whole[40:],
        whole.replace(b"PK\1\2", b"PK\7\7"),
    ):
        export.write_bytes(damaged)
        with pytest.raises(ImportRefused, match="damaged"):
            engram.import_chatgpt(str(export))
    assert engram.list_sessions() == []


def test_a_later_zip_of_the_same_size_is_read_again(engram: Engram, export: Path, home: Path) -> None:
    engram.import_chatgpt(str(export))
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr(
            "conversations.json", json.dumps([conversation("c1", "Add 4 and 5"), conversation("c2", "Hi")])
        )
    again = engram.import_chatgpt(str(export))
    assert (again.ingested, again.skipped_unchanged) == (1, 0)
    assert engram.recall("Add 4")
