"""What a pass would do, step by step, with the diffs it would make; nothing is written and no model is asked."""

from __future__ import annotations

from difflib import unified_diff

from engram.dream import senses
from engram.dream.done import Foreseen
from engram.dream.steps import STEPS, ripe
from engram.hub import Hub
from engram.llm.allowance import Allowance, allowed
from engram.memory import gist, versions
from engram.memory.integration import Integration
from engram.memory.versions import GIST

_SHOWN = 20  # documents whose diff is shown


def foreseen(hub: Hub, *, force: bool = False) -> Foreseen:
    """Return what a pass would do now, with the diff it would make."""
    drives = senses.sense(hub)
    waits = {step.name: (step, ((step.all if force else None) or step.waits)(hub)) for step in STEPS}
    due = {
        name: count for name, (step, count) in waits.items()
        if count and (force or step.always or drives[step.drive].is_due)
    }  # fmt: skip
    with allowed(Allowance(0, 0)):
        diffs = [diff for name, make in _DIFFS if name in due for diff in make(hub)]
    later = "Steps that follow see what these make; that is not in the diff." if len(due) > 1 or "ingest" in due else ""
    return Foreseen(
        drives=drives, steps=due, diff="\n".join(diffs), note=later,
        waiting={name: count for name, (_, count) in waits.items() if count and name not in due},
    )  # fmt: skip


def _gists(hub: Hub) -> list[str]:
    found = []
    for row in ripe(hub)[:_SHOWN]:
        before = versions.current(hub, GIST, row["session_id"])
        after = gist.foreseen(hub, row["session_id"])
        found += _diff(f"gist/{row['session_id']}", before["content"] if before else "", after)
    more = len(ripe(hub)) - _SHOWN
    return [*found, f"… and {more} more gists"] if more > 0 else found


def _tiers(hub: Hub) -> list[str]:
    work = Integration(hub, rebuild=False, think=False, dry=True)
    work.run()
    return [line for name, (before, after) in work.foreseen.items() for line in _diff(name, before, after)]


def _pages(hub: Hub) -> list[str]:
    from engram.compiler.compile import compile_logs

    return [compile_logs(hub, dry_run=True).diff]


def _diff(name: str, before: str, after: str) -> list[str]:
    names = (f"a/{name}" if before else "/dev/null", f"b/{name}" if after else "/dev/null")
    return list(unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""))


_DIFFS = (("gist", _gists), ("integrate", _tiers), ("compile", _pages))
