"""Preview a pass, step by step, with its diffs; nothing is written and no model is called."""

from __future__ import annotations

from difflib import unified_diff

from engram.dream import probes
from engram.dream.results import DreamPreview
from engram.dream.steps import STEPS, list_ripe
from engram.hub import Hub
from engram.models.call_budget import Allowance, use_allowance
from engram.summaries import gist, versions
from engram.summaries.refresh import Integration
from engram.summaries.versions import GIST

_SHOWN = 20  # documents whose diff is shown


def preview_pass(hub: Hub, *, force: bool = False) -> DreamPreview:
    """Return what a pass would do now, with its diff."""
    drives = probes.sense_drives(hub)
    waits = {step.name: (step, ((step.count_forced if force else None) or step.count_waiting)(hub)) for step in STEPS}
    due = {
        name: count for name, (step, count) in waits.items()
        if count and (force or step.always or drives[step.drive].is_due)
    }  # fmt: skip
    with use_allowance(Allowance(0, 0)):
        diffs = [diff for name, make in _DIFFS if name in due for diff in make(hub)]
    note = "The diff does not include later steps that build on these." if len(due) > 1 or "ingest" in due else ""
    return DreamPreview(
        drives=drives, steps=due, diff="\n".join(diffs), note=note,
        waiting={name: count for name, (_, count) in waits.items() if count and name not in due},
    )  # fmt: skip


def _diff_gists(hub: Hub) -> list[str]:
    lines = []
    for row in list_ripe(hub)[:_SHOWN]:
        before = versions.get_current(hub, GIST, row["session_id"])
        after = gist.preview_gist(hub, row["session_id"])
        lines += _format_diff(f"gist/{row['session_id']}", before["content"] if before else "", after)
    more = len(list_ripe(hub)) - _SHOWN
    return [*lines, f"… and {more} more summaries"] if more > 0 else lines


def _diff_tiers(hub: Hub) -> list[str]:
    work = Integration(hub, rebuild=False, think=False, dry=True)
    work.run()
    return [line for name, (before, after) in work.previews.items() for line in _format_diff(name, before, after)]


def _diff_pages(hub: Hub) -> list[str]:
    from engram.wiki.compiler.compile import compile_logs

    return [compile_logs(hub, dry_run=True).diff]


def _format_diff(name: str, before: str, after: str) -> list[str]:
    names = (f"a/{name}" if before else "/dev/null", f"b/{name}" if after else "/dev/null")
    return list(unified_diff(before.splitlines(), after.splitlines(), *names, lineterm=""))


_DIFFS = (("gist", _diff_gists), ("integrate", _diff_tiers), ("compile", _diff_pages))
