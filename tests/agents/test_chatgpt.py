"""ChatGPT's export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from engram.agents.transcripts.chatgpt import adapter
from tests.agents.reading import abouts, events, read, recognised, samples, survives


def node(role: str, text: Any, parent: str | None, at: float | None = 1.7e9, **facts: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    return {"parent": parent, "message": {"author": {"role": role}, "create_time": at, "content": content, **facts}}


def conversation(name: str = "c1", **nodes: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {"root": {"parent": None, "message": None, "children": []}}
    return {"conversation_id": name, "title": "T", "mapping": {**tree, **nodes}, "current_node": list(nodes)[-1]}


def export(tmp_path: Path, *conversations: Any) -> Path:
    path = tmp_path / "conversations-001.json"
    path.write_bytes(orjson.dumps(list(conversations)))
    return path


def test_one_file_holds_many_sessions(tmp_path: Path) -> None:
    path = export(
        tmp_path, conversation("c1", a=node("user", "A", "root")), conversation("c2", b=node("user", "B", None))
    )
    assert adapter.recognises(str(path), path.read_bytes())
    items = read(adapter, path)
    assert [(event.session, event.text, event.at) for event in events(items)] == [
        ("c1", "A", 1_700_000_000_000_000), ("c2", "B", 1_700_000_000_000_000),
    ]  # fmt: skip
    assert abouts(items) == {"c1": {"title": "T"}, "c2": {"title": "T"}}


def test_branches_are_kept_with_their_parents() -> None:
    (path,) = samples("chatgpt-export/**/native-conversation-v1.json")
    loaded = events(read(adapter, path))
    hidden = [event for event in loaded if event.data == {"shown": False}]
    assert [(entry.key, entry.parent, entry.text) for entry in hidden] == [
        ("answer-inactive", "user", "Superseded answer.")
    ]
    shown = [event for event in loaded if event.data is None]
    assert [event.parent for event in shown] == [None, *(event.key for event in shown[:-1])]
    assert [event.kind for event in shown] == [
        "message",
        "message",
        "thinking",
        "call",
        "result",
        "thinking",
        "message",
    ]
    assert shown[3].call_id == shown[4].call_id == "tool-call"
    assert shown[0].name == "injected"
    assert [event.order for event in loaded] == sorted(event.order for event in loaded)


def test_contents_of_every_type(tmp_path: Path) -> None:
    parts = ["See", {"content_type": "image_asset_pointer"}, {"content_type": "audio_transcription", "text": "said"}]
    path = export(
        tmp_path,
        conversation(
            s=node("system", "", "root"),
            a=node("user", {"content_type": "multimodal_text", "parts": parts}, "s", at=None),
            t=node("assistant", {"content_type": "thoughts", "thoughts": [{"summary": "S", "content": "hm"}]}, "a"),
            c=node("assistant", {"content_type": "code", "text": "print(1)"}, "t", recipient="python"),
            r=node("tool", {"content_type": "system_error", "text": "boom"}, "c"),
            e=node("assistant", "Well", "r", metadata={"model_slug": "m", "finish_details": {"type": "interrupted"}}),
        ),
    )
    items = read(adapter, path)
    assert [(event.kind, event.role, event.text, event.verdict) for event in events(items)] == [
        ("message", "user", "See\n[image]\nsaid", None),
        ("thinking", "assistant", "hm", None),
        ("call", "assistant", "", None),
        ("result", "tool", "boom", "error"),
        ("message", "assistant", "Well", None),
        ("interrupt", "system", "", None),
    ]
    assert events(items)[0].parent is None
    assert events(items)[2].arguments == "print(1)"
    assert abouts(items)["c1"]["model"] == "m"


def test_a_tree_that_bites_its_tail_ends(tmp_path: Path) -> None:
    path = export(tmp_path, conversation(a=node("user", "A", "b"), b=node("user", "B", "a")), conversation("c2", x={}))
    assert len(events(read(adapter, path))) <= 2


def test_a_truncated_export_gives_what_came_before(tmp_path: Path) -> None:
    path = export(
        tmp_path, conversation("c1", a=node("user", "A", None)), conversation("c2", b=node("user", "B", None))
    )
    path.write_bytes(path.read_bytes()[:-40])
    assert [(event.kind, event.text) for event in events(read(adapter, path))] == [("message", "A"), ("damage", "")]


def test_only_its_own_files_are_recognised() -> None:
    matched = recognised(adapter)
    assert {name.split("/")[0] for name in matched} == {"chatgpt-export"}
    assert len(matched) == 6


def test_samples_are_read() -> None:
    for path in samples("chatgpt-export/**/*.json"):
        loaded = events(read(adapter, path))
        assert loaded
        assert all(event.kind != "damage" for event in loaded)


def test_no_damage_makes_it_raise(tmp_path: Path) -> None:
    survives(adapter, samples("chatgpt-export/**/native-conversation-v1.json")[0], tmp_path)
    bad = {"mapping": {"a": 1, "b": {"parent": [], "children": 3, "message": {"content": 4}}}, "current_node": []}
    strange: list[Any] = [{}, [], 3, None, bad]
    for item in strange:
        path = tmp_path / "x.json"
        path.write_bytes(orjson.dumps([item]))
        read(adapter, path)


def test_it_has_no_places() -> None:
    assert list(adapter.places({}, ["/p"])) == []
