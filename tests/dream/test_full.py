"""A disk that is full in the middle of a pass ends it, and the same process dreams again once there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.dream.cycle import dreamt
from engram.dream.done import FORCED
from engram.errors import StoreFull
from tests.digests.test_retention import disk, fill
from tests.dream.test_cycle import talk

__all__ = ["disk"]


@pytest.mark.parametrize("step", ["flush", "integrate", "embed"])
def test_a_full_disk_ends_a_pass_and_the_next_goes_on_where_it_stopped(disk: Path, step: str) -> None:
    def told(name: str) -> None:
        if name == step:
            fill(disk)

    with Engram(disk / "home", embedder="static") as hub:
        talk(hub)
        with pytest.raises(StoreFull):
            dreamt(hub, force=True, why=FORCED, told=told)
        (died,) = hub.dream_log()
        assert died.ended_at is None
        (disk / "filler").unlink()
        found = hub.dream(force=True)
        assert [done.failed for done in found.steps if done.failed] == []
        assert found.drives["stability"].level == 1.0
        assert [gist.version for gist in hub.list_summaries()] == [1]
        assert len(hub.engine.run("select id from entries")) == 1
        assert hub.check().problems == ()
