"""Reading a transcript takes bounded memory, however large it is or unpacks to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engram.platform.zstd import zstd

MEGABYTE = 1 << 20
MOST = 160 * MEGABYTE
FIRST, LAST = b'{"type":"user","n":1}\n', b'{"type":"user","n":2}\n'
_CHILD = """
import json, sys
import orjson, engram.agents.transcripts.formats.json_document
import engram.agents.transcripts.gemini, engram.agents.transcripts.aider
from engram.agents.transcripts.adapter import Mark
from engram.agents.transcripts.formats.json_lines import iter_records
from engram.agents.transcripts.registry import load_adapters

def peak():
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))

load_adapters()
before = peak()
found = {"read": [], "damaged": 0, "items": 0}
if sys.argv[2] == "records":
    for record in iter_records(sys.argv[1]):
        if record.value is None:
            found["damaged"] += record.lost
        else:
            found["read"].append(len(orjson.dumps(record.value)))
else:
    for item in load_adapters()[sys.argv[2]].read(sys.argv[1], Mark()):
        found["items"] += 1
        found["damaged"] += getattr(item, "kind", "") == "damage"
print(json.dumps({**found, "grew": peak() - before}))
"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to measure memory")


def read_apart(path: Path, how: str = "records") -> Any:
    """Read a transcript in a separate process; return the result and how much its memory grew."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path), how], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def with_hole(path: Path, before: bytes, size: int, after: bytes) -> Path:
    """Write a sparse file with a stretch of zeros."""
    with path.open("wb") as file:
        file.write(before)
        file.seek(size, 1)
        file.write(after)
    return path


def packed(path: Path, *parts: bytes) -> Path:
    """Write a compressed file with one frame per part."""
    frames = {part: zstd.compress(part) for part in set(parts)}
    path.write_bytes(b"".join(frames[part] for part in parts))
    return path


def test_a_line_of_half_a_gigabyte_is_damage_and_the_rest_is_read(tmp_path: Path) -> None:
    path = with_hole(tmp_path / "t.jsonl", FIRST + b'{"text":"', 500 * MEGABYTE, b'"}\n' + LAST)
    result = read_apart(path)
    assert len(result["read"]) == 2
    assert result["damaged"] > 500 * MEGABYTE
    assert result["grew"] < MOST


def test_a_small_file_that_unpacks_to_one_endless_line_is_damage(tmp_path: Path) -> None:
    path = packed(tmp_path / "t.jsonl.zst", FIRST, b'{"text":"', *[b"a" * (64 * MEGABYTE)] * 24)
    assert path.stat().st_size < 70_000
    result = read_apart(path)
    assert len(result["read"]) == 1
    assert result["damaged"] > 0
    assert result["grew"] < MOST


def test_a_small_file_that_unpacks_to_endless_lines_is_given_up(tmp_path: Path) -> None:
    path = packed(tmp_path / "t.jsonl.zst", FIRST, *[(b"x" * 65_535 + b"\n") * 1024] * 24)
    assert path.stat().st_size < 200_000
    result = read_apart(path)
    assert len(result["read"]) == 1
    assert result["damaged"] > 0


def test_a_picture_of_sixty_four_megabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with path.open("wb") as file:
        file.write(FIRST + b'{"type":"user","image":"')
        for _ in range(64):
            file.write(b"iVBORw0KGgoAAAAN" * (MEGABYTE // 16))
        file.write(b'"}\n' + LAST)
    result = read_apart(path)
    assert len(result["read"]) == 3
    assert not result["damaged"]
    assert result["grew"] < MOST


def test_lines_of_a_few_megabytes_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(FIRST + json.dumps({"type": "user", "text": "x" * 3 * MEGABYTE}).encode() + b"\n" + LAST)
    result = read_apart(path)
    assert [size > 3 * MEGABYTE for size in result["read"]] == [False, True, False]


def test_a_line_of_countless_tiny_values_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(FIRST + b'{"a":[' + b"[]," * (5 * MEGABYTE) + b"[]]}\n" + LAST)
    result = read_apart(path)
    assert len(result["read"]) == 2
    assert result["grew"] < MOST


def test_a_compressed_file_that_was_cut_is_read_up_to_the_cut(tmp_path: Path) -> None:
    lines = b"".join(json.dumps({"n": number, "text": str(number) * 50}).encode() + b"\n" for number in range(50_000))
    path = packed(tmp_path / "t.jsonl.zst", FIRST, lines)
    path.write_bytes(path.read_bytes()[:-100])
    result = read_apart(path)
    assert len(result["read"]) > 1000
    assert result["damaged"] > 0


@pytest.mark.parametrize(
    ("flavor", "name", "opening"),
    [
        ("chatgpt", "conversations.json.zst", b'[{"mapping":{},"title":"'),
        ("opencode", "ses_1.json.zst", b'{"id":"ses_1","title":"'),
        ("gemini", "session-1.json.zst", b'{\n"sessionId":"a","messages":"'),
        ("cline", "ui_messages.json.zst", b'[{"say":"'),
        ("aider", ".aider.chat.history.md.zst", b"# aider chat started at 2026-01-01 10:00:00\n\n#### hello\n\n"),
    ],
)
def test_a_document_that_unpacks_to_gigabytes_is_damage(tmp_path: Path, flavor: str, name: str, opening: bytes) -> None:
    path = packed(tmp_path / name, opening, *[b"a" * (64 * MEGABYTE)] * 16)
    result = read_apart(path, flavor)
    assert result["damaged"] > 0
    assert result["grew"] < MOST
