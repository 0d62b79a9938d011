"""grok.com's export."""

from __future__ import annotations

from pathlib import Path

import orjson

from engram.agents.transcripts.grok_web import adapter
from tests.agents.reading import abouts, events, read, recognised, samples, survives


def test_the_sample_is_read() -> None:
    (path,) = samples("grok-web-export/**/*.json")
    loaded = events(read(adapter, path))
    assert [(event.role, event.text[:5], event.at) for event in loaded] == [
        ("user", "Prove", 1_785_578_401_000_000), ("assistant", "The p", 1_785_578_402_000_000),
    ]  # fmt: skip
    assert len({event.session for event in loaded}) == 1


def test_wrapped_responses_are_read(tmp_path: Path) -> None:
    time = {"$date": {"$numberLong": "1705312200000"}}
    answer = {"_id": "r2", "sender": "ASSISTANT", "message": "Yes", "create_time": time, "model": "grok-4"}
    one = {"conversation": {"id": "c1", "title": "T"}, "responses": [
        {"response": {"_id": "r1", "sender": "human", "message": "Hi", "create_time": time}}, {"response": answer},
    ]}  # fmt: skip
    path = tmp_path / "prod-grok-backend.json"
    path.write_bytes(orjson.dumps({"conversations": [one, {**one, "conversation": {"id": "c2"}}]}))
    assert adapter.recognises(str(path), path.read_bytes())
    items = read(adapter, path)
    assert [(event.key, event.role, event.at) for event in events(items, "c1")] == [
        ("r1", "user", 1_705_312_200_000_000), ("r2", "assistant", 1_705_312_200_000_000),
    ]  # fmt: skip
    assert abouts(items) == {"c1": {"title": "T", "model": "grok-4"}, "c2": {"model": "grok-4"}}
    path.write_bytes(path.read_bytes()[:-30])
    assert [event.kind for event in events(read(adapter, path))] == ["message", "message", "damage"]


def test_only_its_own_files_are_recognised() -> None:
    assert {name.split("/")[0] for name in recognised(adapter)} == {"grok-web-export"}


def test_no_damage_makes_it_raise(tmp_path: Path) -> None:
    survives(adapter, samples("grok-web-export/**/*.json")[0], tmp_path)
    path = tmp_path / "x.json"
    strange = {"conversations": [1, {"responses": [None, {"response": [], "create_time": {"$date": []}}]}]}
    path.write_bytes(orjson.dumps(strange))
    read(adapter, path)


def test_it_has_no_places() -> None:
    assert list(adapter.places({}, ["/p"])) == []
