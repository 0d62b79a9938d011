"""Sizes, failures and the times of hooks as text for people."""

from __future__ import annotations

import os
from collections.abc import Sequence

from engram import text
from engram.capture.storage import Storage
from engram.surfaces.cli.render import LISTS, ago, facts, left, render
from engram.surfaces.cli.table import table
from engram.wiki.failures import Failure
from engram.wiring.hook_times import HookTimes


@render.register
def _(storage: Storage) -> str:
    caps = f"dropped from {text.size(storage.soft_cap)} on, never more than {text.size(storage.hard_cap)}"
    since = f", the oldest since {ago(storage.waiting_since)}" if storage.waiting_since else ""
    shown = (
        ("store", storage.store), ("database", text.size(storage.database)),
        ("bodies", f"{text.size(storage.bodies)}; {caps}"),
        ("digests", f"{text.size(storage.digests)} of {text.size(storage.digests_cap)}"),
        ("free", None if storage.free is None else text.size(storage.free)),
        ("sessions", f"{storage.sessions:,}"), ("events", f"{storage.events:,}"),
        ("to capture", f"{storage.waiting:,}{since}"),
    )  # fmt: skip
    return facts(shown)


def _failures(found: Sequence[Failure]) -> str:
    rows = [
        (each.session_id, each.flavor, os.path.basename(each.project), str(each.tries), left(each.next_at),
         text.one_line(each.problem, 200))
        for each in found
    ]  # fmt: skip
    return table(("session", "flavor", "project", "tries", "again in", "why"), rows)


def _hooks(found: Sequence[HookTimes]) -> str:
    rows = [
        (each.flavor, each.event, str(each.calls), f"{each.p50:.0f}", f"{each.p95:.0f}", f"{each.longest:.0f}",
         str(each.failures or ""), ago(each.last_at) if each.last_at else "", text.one_line(each.problem, 200))
        for each in found
    ]  # fmt: skip
    return table(("flavor", "event", "calls", "p50 ms", "p95 ms", "longest", "failed", "last", "why"), rows)


LISTS |= {Failure: _failures, HookTimes: _hooks}
