"""Lint: what is wrong with the wiki, told in a report; what is safe to put right is put right on request."""

from __future__ import annotations

import os
from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.store import news
from engram.value import value
from engram.wiki.checks import ERROR, SUGGESTION, WARNING, Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.vault.vault import Vault
    from engram.wiki.checks import View


@value
class Linted:
    """What lint found."""

    pages: int
    logs: int
    findings: tuple[Finding, ...]  # errors first
    fixed: tuple[str, ...]  # what was put right, in words
    report: str  # the file that tells it
    problem: str = ""  # why the model could not look for contradictions

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return what is plainly wrong."""
        return tuple(each for each in self.findings if each.severity == ERROR)

    @property
    def counts(self) -> dict[str, int]:
        """Return how many findings there are of each severity."""
        found = [each.severity for each in self.findings]
        return {each: found.count(each) for each in (ERROR, WARNING, SUGGESTION)}


@operation(writes=True, agent=False)
def lint(
    hub: Hub,
    fix: Annotated[bool, Help("put right what is safe: backlinks, rows of the index")] = False,
    structural_only: Annotated[bool, Help("ask no model for contradictions")] = False,
) -> Linted:
    """Check the wiki: links, orphans, stale and sparse pages, sources that are gone, contradictions."""
    from engram.vault import sync, vault
    from engram.wiki import checks
    from engram.wiki.view import view

    home = vault.of(hub)
    sync.sync(hub, home)
    changed = news.waiting(hub.engine, news.LINT)
    seen = view(hub, home)
    findings = checks.check(seen)
    fixed: tuple[str, ...] = ()
    if fix and any(each.fixable for each in findings):
        from engram.wiki.mend import mend

        fixed = mend(hub, home, findings)
        seen = view(hub, home)
        findings = checks.check(seen)
    more, problem = ([], "") if structural_only else _contradictions(hub, home, seen)
    findings = sorted([*findings, *more], key=lambda each: (ERROR, WARNING, SUGGESTION).index(each.severity))
    found = Linted(
        pages=len(seen.pages), logs=len(seen.logs), findings=tuple(findings), fixed=fixed, report="",
        problem=problem,
    )  # fmt: skip
    found = Linted(**{**vars(found), "report": _reported(hub, home, found)})
    with hub.engine.transaction():
        for row in changed:
            news.settle(hub.engine, news.LINT, row)
    return found


def _contradictions(hub: Hub, home: Vault, seen: View) -> tuple[list[Finding], str]:
    if hub.settings.model in ("", "none"):
        return [], ""
    from engram.store import rot
    from engram.vault.findable import KIND
    from engram.wiki.contradictions import contradictions

    found, problem = contradictions(hub, home, seen)
    if not problem:
        with hub.engine.transaction():
            pairs = [(KIND, each.page, other) for each in found for other in each.others]
            rot.keep(hub.engine, rot.CONTRADICTION, pairs, hub.now())
    return found, problem


def _reported(hub: Hub, home: Vault, found: Linted) -> str:
    """Write the report of the day and note when lint ran; return the file. A wiki that is not there gets none."""
    from engram.clock import moment, zone
    from engram.vault import state
    from engram.vault.vault import replace

    if not os.path.isdir(home.root):
        return ""
    at = moment(hub.now()).astimezone(zone(hub.settings.timezone)).isoformat(timespec="seconds")
    path = os.path.join(home.own, "reports", f"lint-{at[:10]}.md")
    try:
        with home.alone():
            replace(path, report(found, at))
            state.write(home, state.STATE, {**state.load(home), "last_lint": at}, readable=True)
    except OSError:  # a full disk, or one that cannot be written: what was found is told all the same
        return ""
    return path


def report(found: Linted, at: str) -> str:
    """Return a report as markdown."""
    counts = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in found.counts.items())
    lines = [f"# Lint Report: {at[:10]}", "", f"{at}: {found.pages} articles, {found.logs} logs: {counts}."]
    for severity in (ERROR, WARNING, SUGGESTION):
        some = [each for each in found.findings if each.severity == severity]
        if some:
            lines += ["", f"## {severity.capitalize()}s", ""]
            lines += [f"- {each.check}: [[{each.page}]]: {each.message}" for each in some]
    lines += ["", "## Fixed", "", *(f"- {each}" for each in found.fixed)] if found.fixed else []
    lines += ["", f"Contradictions were not looked for: {found.problem}"] if found.problem else []
    return "\n".join([*lines, ""])
