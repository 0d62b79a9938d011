"""Files made to be slow to read or to hide their content: the work is bounded, and intact records are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.agents.transcripts.formats.bounded_file import read_lines
from engram.agents.transcripts.formats.json_lines import TranscriptRecord, iter_records
from engram.agents.transcripts.formats.salvage import RecordSalvage
from engram.platform.zstd import zstd

MEGABYTE = 1 << 20
BOMBS = [
    b'{"a":[{}],',
    b'{"a":"',
    b"{",
    b"{}",
    b'{"a":',
    b'{"a":[',
    b'{"a":1}]',
    b'{"a":1},',
    b'{"a":"\\',
    b'"{"',
    b'{"a":{},',
]


def steps(line: bytes) -> int:
    """Return how many characters were read while a line was searched for records."""
    search = RecordSalvage(line.decode("latin-1"))
    for _ in search.iter_whole_records():
        pass
    return search.steps


def values(found: list[TranscriptRecord]) -> list[Any]:
    return [item.value for item in found if item.value is not None]


def lost(found: list[TranscriptRecord]) -> int:
    return sum(item.lost for item in found)


def numbered(first: int, last: int) -> bytes:
    return b"".join(b'{"type":"user","n":%d}\n' % number for number in range(first, last))


def packed(path: Path, *parts: bytes) -> Path:
    frames = {part: zstd.compress(part) for part in set(parts)}
    path.write_bytes(b"".join(frames[part] for part in parts))
    return path


@pytest.mark.parametrize("bomb", BOMBS)
def test_work_on_a_line_grows_with_its_length_alone(bomb: bytes) -> None:
    few, many = (steps(bomb * (size // len(bomb))) for size in (40_000, 320_000))
    assert many <= 10 * few + 65_536
    assert many <= 16 * 320_000 + 65_536


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_record_after_a_hostile_line_is_read(tmp_path: Path, bomb: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(bomb * 3000 + b"\n" + numbered(1, 2))
    assert values(list(iter_records(str(path))))[-1] == {"type": "user", "n": 1}


def test_records_nested_too_deep_cost_only_themselves(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"type":' * 100_000 + b"@" + b'{"type":"user","n":1}\n')
    assert values(list(iter_records(str(path)))) == [{"type": "user", "n": 1}]


def test_a_number_of_countless_digits_costs_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"n":1' + b"0" * 5000 + b'}{"n":NaN}{"n":2}\n')
    assert values(list(iter_records(str(path))))[-1] == {"n": 2}


@pytest.mark.parametrize("blank", [b"\n", b" \n", b"\r\n", b"\0\n", b"\0"])
def test_blank_lines_are_skipped_without_looking_at_each(tmp_path: Path, blank: bytes) -> None:
    path = packed(tmp_path / "t.jsonl.zst", numbered(0, 2), *[blank * MEGABYTE] * 3, b"\n" + numbered(2, 4))
    assert sum(1 for _ in read_lines(str(path), skip_blank=True)) <= 16
    records = list(iter_records(str(path)))
    assert [text["n"] for text in values(records)] == [0, 1, 2, 3]
    assert lost(records) == 0
    assert records[2].start == len(numbered(0, 2)) + 3 * MEGABYTE * len(blank) + 1


def test_a_gigabyte_of_newlines_in_a_few_kilobytes_is_skipped(tmp_path: Path) -> None:
    path = packed(tmp_path / "t.jsonl.zst", numbered(0, 2), *[b"\n" * (64 * MEGABYTE)] * 16, numbered(2, 4))
    assert path.stat().st_size < 200_000
    assert [text["n"] for text in values(list(iter_records(str(path))))] == [0, 1, 2, 3]


def test_a_line_of_gigabytes_is_damage_and_the_records_behind_it_are_read(tmp_path: Path) -> None:
    frame = b"a" * (64 * MEGABYTE)
    path = packed(tmp_path / "t.jsonl.zst", numbered(0, 2), b'{"text":"', *[frame] * 32, b'"}\n', numbered(2, 4))
    records = list(iter_records(str(path)))
    assert [text["n"] for text in values(records)] == [0, 1, 2, 3]
    assert lost(records) == 32 * len(frame) + 11


def test_a_small_file_of_countless_records_counts_as_damaged_with_a_reason(tmp_path: Path) -> None:
    path = packed(tmp_path / "t.jsonl.zst", numbered(0, 2), *[b"{}\n" * MEGABYTE] * 8)
    records = list(iter_records(str(path)))
    assert values(records)[:2] == [{"type": "user", "n": 0}, {"type": "user", "n": 1}]
    assert len(records) < 2 * MEGABYTE
    assert "unpacks to more" in records[-1].reason
    assert lost(records) > 0


def test_a_small_file_that_unpacks_without_end_counts_as_damaged_with_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engram.agents.transcripts.formats.bounded_file.MOST_UNPACKED", 32 * MEGABYTE)
    path = packed(tmp_path / "t.jsonl.zst", numbered(0, 2), *[b"\n" * MEGABYTE] * 64, numbered(2, 4))
    records = list(iter_records(str(path)))
    assert [text["n"] for text in values(records)] == [0, 1]
    assert "unpacks to more" in records[-1].reason


GOOD = [numbered(0, 50), numbered(50, 100), numbered(100, 150)]


def frames() -> list[bytes]:
    return [zstd.compress(part) for part in GOOD]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_of_a_truncated_last_frame_the_earlier_ones_are_read(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(b"".join(frames())[:-cut])
    records = list(iter_records(str(path)))
    assert [text["n"] for text in values(records)][:100] == list(range(100))
    assert lost(records) > 0
    assert records[-1].reason


@pytest.mark.parametrize("garbage", [b"garbage", b"\0" * 5000, b"\x28\xb5\x2f\xfd" * 50, b"\x28\xb5\x2f\xfd\x04"])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_frames_around_garbage_are_read(tmp_path: Path, garbage: bytes, place: int) -> None:
    parts = frames()
    parts.insert(place, garbage)
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(b"".join(parts))
    records = list(iter_records(str(path)))
    assert [text["n"] for text in values(records)] == list(range(150))
    assert lost(records) == len(garbage)


def test_a_frame_appended_to_a_torn_one_is_read(tmp_path: Path) -> None:
    first, second, third = frames()
    path = tmp_path / "t.jsonl.zst"
    path.write_bytes(first + second[:-6] + third)
    texts = values(list(iter_records(str(path))))
    assert [text["n"] for text in texts][:50] == list(range(50))
    assert [record["n"] for record in texts][-50:] == list(range(100, 150))


def rollout(first: int, last: int) -> bytes:
    """Return lines of a Codex rollout."""
    meta = {"timestamp": "2026-01-01T10:00:00.000Z", "type": "session_meta", "payload": {"id": "thread-1", "cwd": "/w"}}
    lines = [meta] if not first else []
    for number in range(first, last):
        content = [{"type": "input_text", "text": f"please do thing {number}"}]
        payload = {"type": "message", "role": "user", "content": content}
        lines.append({"timestamp": "2026-01-01T10:00:01.000Z", "type": "response_item", "payload": payload})
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def told(engram: Engram) -> list[str]:
    (capture,) = engram.list_sessions()
    return [event.text for event in engram.get_events(capture.session.id, "message")]


def test_a_compressed_rollout_that_was_cut_is_kept_and_read_on_when_it_grows(tmp_path: Path) -> None:
    path = tmp_path / "rollout-1.jsonl.zst"
    whole = zstd.compress(rollout(0, 20)) + zstd.compress(rollout(20, 40))
    path.write_bytes(whole[:-10])
    with Engram(str(tmp_path / "home")) as engram:
        first = engram.ingest([str(path)])
        assert first.damaged > 0
        assert not first.unread
        assert told(engram)[:20] == [f"please do thing {number}" for number in range(20)]
        path.write_bytes(whole + zstd.compress(rollout(40, 60)))
        again = engram.ingest([str(path)])
        assert not again.damaged
        assert told(engram) == [f"please do thing {number}" for number in range(60)]
