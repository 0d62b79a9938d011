"""Aider's chat history."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from engram.agents.transcripts.adapter import Mark
from engram.agents.transcripts.aider import adapter
from engram.types import Usage
from tests.agents.reading import abouts, events, in_steps, read, recognised, samples, survives, totals

CHAT = """
# aider chat started at 2024-08-05 19:33:32

> /usr/bin/aider x.py  
> Aider v0.47.2-dev  
> Models: claude-3-5-sonnet-20240620 with diff edit format, weak model claude-3-haiku  

#### Make it faster  
#### and shorter  

Sure:

> a quote

#### A heading

Done.

> Tokens: 5,244 sent, 1.5k cache write, 300 cache hit, 604 received.
Cost: $0.02 message, $0.02 session.  
> Applied edit to x.py  
> Commit abc1234 feat: faster  

#### /diff  

#### /exit  

> ^C KeyboardInterrupt  
"""  # noqa: W291


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / "project" / ".aider.chat.history.md"
    path.parent.mkdir()
    path.write_text(CHAT)
    return path


def test_speakers_are_recognized(history: Path) -> None:
    items = read(adapter, history)
    said = [(event.role, event.text) for event in events(items) if event.kind == "message"]
    assert said == [
        ("user", "Make it faster\nand shorter"),
        ("assistant", "Sure:\n\n> a quote\n\n#### A heading\n\nDone."),
        ("user", "/diff"),
        ("user", "/exit"),
    ]
    (about,) = abouts(items).values()
    assert about == {"cwd": str(history.parent), "version": "0.47.2-dev", "model": "claude-3-5-sonnet-20240620"}
    named = {event.name: event.text for event in events(items) if event.name in ("edit", "commit")}
    assert named == {"edit": "x.py", "commit": "abc1234 feat: faster"}
    assert [event.text for event in events(items) if event.kind == "interrupt"] == ["^C KeyboardInterrupt"]


def test_tokens_are_uncertain(history: Path) -> None:
    (usage,) = [item for item in read(adapter, history) if isinstance(item, Usage)]
    assert (usage.input, usage.output, usage.cache_read, usage.cache_write) == (3744, 604, 300, 1500)
    assert (usage.cost, usage.basis) == (0.02, "uncertain")


def test_times_are_local(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        start = events(read(adapter, history))[0]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (start.name, start.at) == ("start", 1_722_854_012_000_000)


def test_one_session_for_each_chat(history: Path) -> None:
    first = read(adapter, history)
    history.write_text(CHAT + CHAT.replace("19:33:32", "20:00:00"))
    assert isinstance(first[-1], Mark)
    again = read(adapter, history, first[-1])
    assert len(abouts(again)) == 2
    assert set(abouts(first)) < set(abouts(again))
    assert isinstance(again[-1], Mark)
    assert len(abouts(read(adapter, history, again[-1]))) == 1
    assert events([*first, *again]) == events(read(adapter, history))


def test_another_file_under_the_same_name_is_read_whole(history: Path) -> None:
    mark = read(adapter, history)[-1]
    assert isinstance(mark, Mark)
    history.write_text(CHAT.replace("2024", "2025") * 2)
    assert len(abouts(read(adapter, history, mark))) == 2


def test_the_sample_is_read() -> None:
    (path,) = samples("aider/Aider-AI+aider/tests/fixtures/chat-history.md")
    items = read(adapter, path)
    assert len(abouts(items)) == 1134
    usages = [item for item in items if isinstance(item, Usage)]
    assert len(usages) == 838
    assert totals(items)["output"] == 345_046
    assert all(usage.basis == "uncertain" for usage in usages)


def test_headings_without_blanks_stay_in_the_answer() -> None:
    (path,) = samples("aider/kenn-io*/**/.aider.chat.history.md")
    loaded = events(read(adapter, path))
    assert [event.text for event in loaded if event.role == "user"] == [
        "add a retry to the webhook", "make the timeout configurable",
    ]  # fmt: skip
    assert "#### Step 1" in next(event.text for event in loaded if event.role == "assistant")


def test_only_its_own_files_are_recognised() -> None:
    matched = recognised(adapter)
    assert {name.split("/")[0] for name in matched} == {"aider"}
    assert len(matched) == 3


def test_reading_in_steps_gives_the_same_as_one_read(history: Path, tmp_path: Path) -> None:
    for path in (history, *samples("aider/kenn-io*/**/.aider.chat.history.md")):
        found = {(item.session, item.key): item for item in events(in_steps(adapter, path, tmp_path))}
        for event in events(read(adapter, path)):
            assert found[event.session, event.key] == event


def test_no_damage_makes_it_raise(history: Path, tmp_path: Path) -> None:
    survives(adapter, history, tmp_path)
    history.write_bytes(
        b"\n# aider chat started at 0000-99-99 99:99:99\n\n#### \xff\xfe  \n\n> Tokens: k sent, . received.  \n"
    )
    read(adapter, history)


def test_places() -> None:
    (place,) = adapter.places({"HOME": "/h"}, ["/p"])
    assert (place.root, place.endings, place.depth) == ("/p", (".aider.chat.history.md",), 0)
    (moved,) = adapter.places({"AIDER_CHAT_HISTORY_FILE": os.path.join("logs", "chat.md")}, ["/p"])
    assert moved.endings == ("chat.md",)
