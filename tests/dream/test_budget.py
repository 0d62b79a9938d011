"""Limits of a pass, as users write them."""

from __future__ import annotations

import pytest

from engram import Engram, InvalidInput
from engram.dream.budget import parse_limits


@pytest.mark.parametrize(
    ("given", "seconds", "tokens", "dollars"),
    [
        (None, 600, 200_000, 0),
        ("", 600, 200_000, 0),
        ("90s", 90, 200_000, 0),
        ("5m, 50k tokens", 300, 50_000, 0),
        ("1h;$0.20", 3600, 200_000, 0.2),
        ("20c", 600, 200_000, 0.2),
        ("1.5m, 1000t, $1", 90, 1000, 1),
    ],
)
def test_limits_are_read_as_people_write_them(
    timed: Engram, given: str | None, seconds: float, tokens: int, dollars: float
) -> None:
    limits = parse_limits(timed, given)
    assert (limits.seconds, limits.tokens, limits.dollars) == (seconds, tokens, dollars)


@pytest.mark.parametrize("given", ["soon", "5", "-5m", "5 parsecs", "$", "€5", "5m 3"])
def test_what_is_no_limit_is_refused_with_the_way_out(timed: Engram, given: str) -> None:
    with pytest.raises(InvalidInput, match=r"Use time \(5m\)"):
        parse_limits(timed, given)
