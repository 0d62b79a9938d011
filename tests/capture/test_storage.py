"""How much room is taken, and what waits."""

from __future__ import annotations

import os
from pathlib import Path

from engram import Engram
from engram.capture import spool
from engram.clock import moment
from tests.capture.transcripts import Claude


def test_sizes_grow_with_what_is_captured_and_stand_beside_their_caps(engram: Engram, tmp_path: Path) -> None:
    before = engram.get_storage()
    assert (before.sessions, before.events, before.bodies, before.digests) == (0, 0, 0, 0)
    talk = Claude(tmp_path)
    talk.says("please fix the parser")
    talk.answers("done")
    engram.ingest([str(tmp_path)])
    found = engram.get_storage()
    assert (found.sessions, found.events) == (1, 2)
    assert min(found.bodies, found.digests, found.database, found.free or 0) > 0
    settings = engram.settings
    caps = settings.raw_soft_cap_bytes, settings.raw_hard_cap_bytes, settings.distilled_cap_bytes
    assert (found.soft_cap, found.hard_cap, found.digests_cap) == caps


def test_what_hooks_asked_for_is_counted_with_the_time_of_the_oldest(engram: Engram) -> None:
    home = engram.settings.home
    assert (engram.get_storage().waiting, engram.get_storage().waiting_since) == (0, None)
    for name in ("a", "b"):
        spool.ask(home, spool.Request(flavor="claude", native_id=name, path="", event="stop"))
    os.utime(os.path.join(home, "spool", "claude-a.json"), (1_700_000_000, 1_700_000_000))
    found = engram.get_storage()
    assert (found.waiting, found.waiting_since) == (2, moment(1_700_000_000_000_000))
