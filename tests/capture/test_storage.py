"""How much disk space is used, and what waits."""

from __future__ import annotations

import os
from pathlib import Path

from engram import Engram
from engram.capture import spool
from engram.clock import to_datetime
from tests.capture.transcripts import Claude


def test_sizes_grow_with_what_is_captured_and_are_shown_with_their_caps(engram: Engram, tmp_path: Path) -> None:
    before = engram.get_storage()
    assert (before.sessions, before.events, before.bodies, before.digests) == (0, 0, 0, 0)
    talk = Claude(tmp_path)
    talk.says("please fix the parser")
    talk.answers("done")
    engram.ingest([str(tmp_path)])
    storage = engram.get_storage()
    assert (storage.sessions, storage.events) == (1, 2)
    assert min(storage.bodies, storage.digests, storage.database, storage.free or 0) > 0
    settings = engram.settings
    caps = settings.raw_soft_cap_bytes, settings.raw_hard_cap_bytes, settings.distilled_cap_bytes
    assert (storage.soft_cap, storage.hard_cap, storage.digests_cap) == caps


def test_waiting_requests_are_counted_with_the_time_of_the_oldest(engram: Engram) -> None:
    home = engram.settings.home
    assert (engram.get_storage().waiting, engram.get_storage().waiting_since) == (0, None)
    for name in ("a", "b"):
        spool.add_request(home, spool.CaptureRequest(flavor="claude", native_id=name, path="", event="stop"))
    os.utime(os.path.join(home, "spool", "claude-a.json"), (1_700_000_000, 1_700_000_000))
    storage = engram.get_storage()
    assert (storage.waiting, storage.waiting_since) == (2, to_datetime(1_700_000_000_000_000))
