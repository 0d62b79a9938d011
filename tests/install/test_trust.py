"""Trust in our hooks, next to the other contents of a hooks.json."""

from __future__ import annotations

import json

import pytest

from engram.install.trust import iter_hook_hashes

OURS = {"type": "command", "command": "engram hook"}


@pytest.mark.parametrize(
    "held",
    [
        [], None, 3, {"hooks": 3}, {"hooks": []}, {"hooks": {"Stop": {}}}, {"hooks": {"Stop": [1, None, "x"]}},
        {"hooks": {"Stop": [{"hooks": 5}, {"hooks": [1, None, {"command": 3}]}]}},
    ],
)  # fmt: skip
def test_what_is_no_hook_of_ours_has_no_hash(held: object) -> None:
    assert list(iter_hook_hashes("/hooks.json", json.dumps(held))) == []


def test_ours_is_found_among_what_is_none() -> None:
    held = {"hooks": {"Stop": [7, {"hooks": [None, OURS]}], "SessionEnd": [{"hooks": [{**OURS, "timeout": "soon"}]}]}}
    keys = [key for key, _ in iter_hook_hashes("/hooks.json", json.dumps(held))]
    assert keys == ["/hooks.json:stop:1:1", "/hooks.json:session_end:0:0"]
