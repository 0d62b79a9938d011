"""Request bodies: strict JSON of the right type and size."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from engram import Engram
from engram.surfaces.http.request_body import MAX_BODY_BYTES
from tests.surfaces.http.calling import JSON, Caller


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Engram]:
    with Engram(tmp_path / "home", serving=True) as opened:
        yield opened


HOSTILE = {
    "nothing": b"",
    "no JSON": b"{session_id: 1}",
    "trailing text": b'{"session_id": "x"} x',
    "a list": b'["x"]',
    "a text": b'"x"',
    "null": b"null",
    "deep lists": b"[" * 100_000,
    "deep lists, closed": b'{"metadata": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep enough to break readers": b'{"metadata": ' + b"[" * 500 + b"]" * 500 + b"}",
    "deep objects": b'{"a":' * 100_000,
    "5,000 digits": b'{"metadata": ' + b"9" * 5000 + b"}",
    "41 digits": b'{"metadata": ' + b"9" * 41 + b"}",
    "NaN": b'{"metadata": NaN}',
    "-Infinity": b'{"metadata": [-Infinity]}',
    "too large a float": b'{"metadata": 1e999}',
    "half a character": b'{"summary": "\\ud800"}',
    "half a character in a name": b'{"metadata": {"\\udfff": 1}}',
    "a name twice": b'{"summary": "a", "summary": "b"}',
    "a name twice, inside": b'{"metadata": {"a": 1, "a": 2}}',
    "broken UTF-8": b'{"summary": "\xff\xfe"}',
    "UTF-16": '{"summary": "x"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"summary": "x"}',
    "a control character": b'{"summary": "a\x00b"}',
    "an unknown name": b'{"nonsense": 1}',
    "the hub": b'{"hub": 1}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_body_is_refused_and_changes_nothing(local: Engram, name: str) -> None:
    body = HOSTILE[name]
    if body.startswith(b'{"metadata"'):
        body = b'{"session_type": "x", "summary": "x", ' + body[1:]
    answer = Caller(local).send("POST", "/api/register", content=body, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_input")
    assert local.stats().total_sessions == 0


@pytest.mark.parametrize(
    "kind",
    [None, "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/json-seq",
     "application/json; charset=utf-16", "text/plain; application/json"],
)  # fmt: skip
def test_only_json_is_read(local: Engram, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    answer = Caller(local).send("POST", "/api/stats", content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (415, "not_json")


def test_json_may_say_its_charset(local: Engram) -> None:
    headers = {"content-type": "Application/JSON; charset=UTF-8"}
    assert Caller(local).send("POST", "/api/stats", content=b"{}", headers=headers).status_code == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_beyond_the_limit_is_refused(local: Engram, chunked: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 65536 + 1):
            yield b" " * 65536

    content = pieces() if chunked else b" " * (MAX_BODY_BYTES + 1)
    answer = Caller(local).send("POST", "/api/stats", content=content, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


def test_a_body_at_the_limit_is_read(local: Engram) -> None:
    body = b"{}".ljust(MAX_BODY_BYTES)
    assert Caller(local).send("POST", "/api/stats", content=body, headers=JSON).status_code == 200
