"""A full disk ends a pass, and the same process dreams again when there is space."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.dream.cycle import run_pass
from engram.dream.results import FORCED
from engram.errors import StoreFull
from tests.capture.digests.test_retention import disk, fill
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
            run_pass(hub, force=True, why=FORCED, on_step=told)
        (died,) = hub.dream_log()
        assert died.ended_at is None
        (disk / "filler").unlink()
        dream_pass = hub.dream(force=True)
        assert [done.failed for done in dream_pass.steps if done.failed] == []
        assert dream_pass.drives["stability"].level == 1.0
        assert [gist.version for gist in hub.list_summaries()] == [1]
        assert len(hub.engine.run("select id from entries")) == 1
        assert hub.check().problems == ()
