"""The checker of the race: it sees every violation planted in a story, and excuses what may have been right."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import race
from benchmarks.race import SECOND, WISHES, Call, Life, Story, Takeover

MAIN = next(n for n, wish in enumerate(WISHES) if wish.spelling == "entry.py")
SOURCE = next(n for n, wish in enumerate(WISHES) if wish.spelling == "{tree}/src")
README = next(n for n, wish in enumerate(WISHES) if wish.spelling == "README.md")
LAPSED = "it expired without a heartbeat"


def lock(start: float, end: float, token: int, wish: int = MAIN, mode: str = "exclusive", **facts: Any) -> Call:
    seen = {"wishes": [wish], "mode": mode, "tokens": [token], "until": [end + 10], "overlaps": [[]], "wait": 0}
    return call("lock", start, end, "ok", **(seen | facts))


def call(op: str, start: float, end: float, outcome: str, **facts: Any) -> Call:
    if "until" in facts:
        facts["until"] = [moment * SECOND for moment in facts["until"]]
    return Call(op, int(start * SECOND), facts, end * SECOND, outcome)


def release(start: float, end: float, token: int, outcome: str = "ok", **facts: Any) -> Call:
    return call("release", start, end, outcome, token=token, tokens=[token], mode="exclusive", **facts)


def life(name: str, *calls: Call, killed: float = race.ENDLESS) -> Life:
    return Life(name, name, 10 * SECOND, list(calls), (killed * SECOND, (killed + 0.1) * SECOND))


def takeover(old: int, new: int, reason: str = LAPSED) -> Takeover:
    return Takeover(old_token=old, token=new, holder="a", taker="b", reason=reason)


def broken(*lives: Life, takeovers: tuple[Takeover, ...] = (), snapshots: tuple[list[int], ...] = ()) -> set[str]:
    """Return the names of the rules a story breaks."""
    found = race.check(Story(list(lives), list(takeovers), list(snapshots)))
    return {breach.partition(":")[0] for breach in found}


def test_the_checker_accepts_one_after_the_other() -> None:
    assert broken(life("a", lock(1, 2, 1), release(3, 4, 1)), life("b", lock(3.5, 5, 2), release(6, 7, 2))) == set()


def test_the_checker_accepts_a_grant_that_may_have_come_before_or_after_a_release() -> None:
    assert broken(life("a", lock(1, 2, 1), release(3, 9, 1)), life("b", lock(2.5, 3.1, 2))) == set()


@pytest.mark.parametrize("modes", [("exclusive", "exclusive"), ("shared", "exclusive"), ("exclusive", "shared")])
def test_the_checker_sees_a_double_grant(modes: tuple[str, str]) -> None:
    first = life("a", lock(1, 2, 1, MAIN, modes[0]), release(5, 6, 1))
    assert broken(first, life("b", lock(3, 4, 2, SOURCE, modes[1]))) == {"double_grants"}
    assert broken(first, life("b", lock(3, 4, 2, README, modes[1]))) == set()


def test_the_checker_sees_a_double_grant_in_the_table_of_locks() -> None:
    first, second = life("a", lock(1, 2, 1), release(3, 9, 1)), life("b", lock(2.5, 4, 2))
    assert broken(first, second, snapshots=([1], [2, 1])) == {"snapshots"}


@pytest.mark.parametrize("modes", [("shared", "shared"), ("announce", "exclusive"), ("exclusive", "announce")])
def test_the_checker_sees_an_overlap_nobody_was_warned_of(modes: tuple[str, str]) -> None:
    first = life("a", lock(1, 2, 1, MAIN, modes[0]), release(5, 6, 1))
    assert broken(first, life("b", lock(3, 4, 2, SOURCE, modes[1]))) == {"double_grants"}
    assert broken(first, life("b", lock(3, 4, 2, SOURCE, modes[1], overlaps=[[1]]))) == set()


def test_the_checker_sees_a_warning_of_what_is_not_there() -> None:
    first = life("a", lock(1, 2, 1, MAIN, "announce"), release(3, 4, 1))
    assert broken(first, life("b", lock(5, 6, 2, SOURCE, overlaps=[[1]]))) == {"false_warnings"}
    assert broken(first, life("b", lock(2.1, 2.2, 2, README, overlaps=[[1]]))) == {"false_warnings"}


def test_the_checker_sees_a_falling_and_a_repeated_token() -> None:
    first = life("a", lock(1, 2, 7), release(3, 4, 7))
    assert broken(first, life("b", lock(5, 6, 6, README))) == {"tokens"}
    assert "tokens" in broken(first, life("b", lock(5, 6, 7)))


def test_the_checker_accepts_a_takeover_of_the_lapsed_and_sees_one_that_came_too_early() -> None:
    told = call("inbox", 20, 21, "ok", told=[1])
    late = life("a", lock(1, 2, 1), told)
    assert broken(late, life("b", lock(12, 13, 2)), takeovers=(takeover(1, 2),)) == set()
    renewed = life("a", lock(1, 2, 1), call("heartbeat", 8, 9, "ok"), told)
    assert broken(renewed, life("b", lock(12, 13, 2)), takeovers=(takeover(1, 2),)) == {"double_grants"}


def test_the_checker_sees_a_false_promise() -> None:
    assert broken(life("a", lock(1, 2, 1, until=[30]))) == {"until"}
    told = call("inbox", 20, 21, "ok", told=[1])
    early = life("b", lock(11.2, 11.3, 2))
    assert broken(life("a", lock(1, 2, 1, until=[12]), told), early, takeovers=(takeover(1, 2),)) == {"until"}


def test_the_checker_accepts_a_takeover_from_the_dead_and_sees_one_from_the_living() -> None:
    gone, second = (takeover(1, 2, race.GONE),), life("b", lock(5, 6, 2))
    assert broken(life("a", lock(1, 2, 1), killed=3), second, takeovers=gone) == set()
    alive = life("a", lock(1, 2, 1), call("inbox", 8, 9, "ok", told=[1]))
    assert broken(alive, second, takeovers=gone) == {"deaths", "double_grants"}


def test_the_checker_sees_a_lock_that_outlives_its_holder() -> None:
    assert broken(life("a", lock(1, 2, 1), killed=3)) == {"deaths"}


@pytest.mark.parametrize("told", [[], [1, 1]])
def test_the_checker_sees_a_loss_told_never_or_twice(told: list[int]) -> None:
    first = life("a", lock(1, 2, 1), call("inbox", 20, 21, "ok", told=told))
    assert broken(first, life("b", lock(13, 14, 2)), takeovers=(takeover(1, 2),)) == {"told_once"}


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        (call("world", 20, 21, "ok", token=1), {"gates"}),
        (call("world", 20, 21, "stale", token=1), set()),
        (call("world", 13.5, 21, "ok", token=1), set()),  # it may have come first
        (release(20, 21, 2, "stale"), {"gates"}),
        (call("edit", 20, 21, "held", token=2, mode="exclusive"), {"gates"}),
    ],
)
def test_the_checker_sees_a_gate_open_to_an_overtaken_token_and_shut_to_a_good_one(
    last: Call, expected: set[str]
) -> None:
    first = life("a", lock(1, 2, 1), last, call("inbox", 22, 23, "ok", told=[1]))
    assert broken(first, life("b", lock(13, 14, 2)), takeovers=(takeover(1, 2),)) == expected


def test_the_checker_sees_a_release_that_frees_nothing() -> None:
    assert broken(life("a", lock(1, 2, 1), call("release", 3, 4, "ok", token=1, tokens=[]))) == {"gates"}


@pytest.mark.parametrize(
    ("holder", "at", "reason"),
    [
        (life("a", lock(1, 2, 1), release(3, 4, 1)), 5, "had ended"),
        (life("a", lock(1, 2, 1, README), release(9, 10, 1)), 5, "does not overlap"),
        (life("a", lock(1, 2, 1, mode="announce"), release(9, 10, 1)), 5, "does not exclude"),
        (life("a", lock(1, 2, 1), killed=3), 5, "belonged to a killed racer"),
        (life("a", lock(1, 2, 1)), 13, "had expired"),
    ],
)
def test_the_checker_sees_a_refusal_without_reason(holder: Life, at: float, reason: str) -> None:
    refused = call("lock", at, at + 0.5, "held", wishes=[MAIN], mode="exclusive", tokens=[1], wait=0)
    assert [reason in breach for breach in race.refusals(Story([holder, life("b", refused)]))] == [True]
