"""Sums of replies match the replies, in whatever order they arrive."""

from __future__ import annotations

import random
from typing import Any

import pytest

from engram import Engram
from engram.store import token_usage
from tests.patterns.planting import session

_DAY = 86_400_000_000
CONTEXTS = {1: 0, 150_000: 128_000, 300_000: 272_000}  # and the limit that each exceeds


def captures(engram: Engram, many: int) -> list[int]:
    for n in range(many):
        session(engram, f"s{n}")
    return [row["num"] for row in engram.engine.run("select num from captures order by num")]


def answer(dice: random.Random, owners: list[int]) -> dict[str, Any]:
    """Return a reply that others may repeat, under another session, later, longer, or without a time."""
    which = dice.randrange(len(owners))
    return {
        "key": dice.randrange(40), "capture": owners[which], "began": which, "model": dice.choice(("", "a", "b")),
        "at": None if dice.random() < 0.2 else dice.randrange(_DAY), "input": dice.choice(tuple(CONTEXTS)),
        "output": dice.randrange(100),
        "cache_read": 2, "cache_write": 3, "cache_write_long": 4, "reasoning": 5,
        "basis": dice.choice(("exact", "floor")), "cost": dice.choice((None, 0.5)), "counted": int(dice.random() < 0.9),
        "speed": dice.choice(("", "fast")),
    }  # fmt: skip


def truth(engram: Engram) -> list[dict[str, Any]]:
    return engram.engine.run(
        "select capture, coalesce(at / 900000000, -1) as slot, model, basis, speed,"
        f" case input {' '.join(f'when {context} then {band}' for context, band in CONTEXTS.items())} end as band,"
        " count(*) as answers, sum(output) as output, sum(cost) as cost"
        " from usage where counted = 1 group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6"
    )


def summed(engram: Engram) -> list[dict[str, Any]]:
    return engram.engine.run(
        "select capture, slot, model, basis, speed, band, answers, output, cost from spent order by 1, 2, 3, 4, 5, 6"
    )


@pytest.mark.parametrize("seed", range(5))
def test_sums_match_the_replies(engram: Engram, seed: int) -> None:
    dice, owners = random.Random(seed), captures(engram, 4)
    for _ in range(25):
        with engram.engine.transaction():
            token_usage.add_answers(engram.engine, [answer(dice, owners) for _ in range(dice.randrange(8))])
        assert summed(engram) == truth(engram)
    assert token_usage.list_wrong_sums(engram.engine) == []


def test_wrong_sums_are_found_and_recomputed(engram: Engram) -> None:
    dice, owners = random.Random(1), captures(engram, 3)
    with engram.engine.transaction():
        token_usage.add_answers(engram.engine, [{**answer(dice, owners), "key": n, "counted": 1} for n in range(30)])
    engram.engine.run("delete from spent where capture = :capture", capture=owners[0])
    engram.engine.run("update spent set answers = answers + 1 where capture = :capture", capture=owners[1])
    assert [problem for problem in engram.check().problems if "token sums" in problem] == [
        "the token sums of 2 sessions are wrong; --repair recomputes them"
    ]
    assert "recomputed the token sums of 2 sessions" in engram.check(repair=True).mended
    assert summed(engram) == truth(engram)
