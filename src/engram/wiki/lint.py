"""Lint the wiki: write a report of problems, and fix the safe ones on request."""

from __future__ import annotations

import os
from typing import Annotated

from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.text import format_count
from engram.platform.value import value
from engram.store import dream_inbox
from engram.wiki.checks import ERROR, SUGGESTION, WARNING, LintFinding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.wiki.checks import VaultView
    from engram.wiki.vault.vault import Vault


@value
class LintReport:
    """The result of lint."""

    pages: int
    logs: int
    findings: tuple[LintFinding, ...]  # errors first
    fixed: tuple[str, ...]  # what was fixed, in words
    report: str  # path of the report
    problem: str = ""  # why the model could not search for contradictions

    @property
    def errors(self) -> tuple[LintFinding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == ERROR)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings by severity."""
        severities = [severity.severity for severity in self.findings]
        return {severity: severities.count(severity) for severity in (ERROR, WARNING, SUGGESTION)}


@operation(writes=True, agent=False)
def lint(
    hub: Hub,
    fix: Annotated[bool, Help("fix what is safe: backlinks and index rows")] = False,
    structural_only: Annotated[bool, Help("skip the model's search for contradictions")] = False,
) -> LintReport:
    """Check the wiki: links, orphans, stale and sparse pages, missing sources, contradictions."""
    from engram.wiki import checks
    from engram.wiki.lint_view import load_view
    from engram.wiki.vault import sync, vault

    wiki = vault.open_vault(hub)
    sync.sync_pages(hub, wiki)
    changed = dream_inbox.list_waiting(hub.engine, dream_inbox.LINT)
    vault_view = load_view(hub, wiki)
    findings = checks.run_checks(vault_view)
    fixed: tuple[str, ...] = ()
    if fix and any(finding.fixable for finding in findings):
        from engram.wiki.lint_fixes import apply_fixes

        fixed = apply_fixes(hub, wiki, findings)
        vault_view = load_view(hub, wiki)
        findings = checks.run_checks(vault_view)
    more, problem = ([], "") if structural_only else _find_contradictions(hub, wiki, vault_view)
    findings = sorted([*findings, *more], key=lambda finding: (ERROR, WARNING, SUGGESTION).index(finding.severity))
    result = LintReport(
        pages=len(vault_view.pages), logs=len(vault_view.logs), findings=tuple(findings), fixed=fixed, report="",
        problem=problem,
    )  # fmt: skip
    result = LintReport(**{**vars(result), "report": _write_report(hub, wiki, result)})
    with hub.engine.transaction():
        for row in changed:
            dream_inbox.mark_done(hub.engine, dream_inbox.LINT, row)
    return result


def _find_contradictions(hub: Hub, wiki: Vault, vault_view: VaultView) -> tuple[list[LintFinding], str]:
    if hub.settings.model in ("", "none"):
        return [], ""
    from engram.store import rot
    from engram.wiki.contradictions import find_contradictions
    from engram.wiki.vault.article_passages import KIND

    findings, problem = find_contradictions(hub, wiki, vault_view)
    if not problem:
        with hub.engine.transaction():
            pairs = [(KIND, finding.page, other) for finding in findings for other in finding.others]
            rot.replace_findings(hub.engine, rot.CONTRADICTION, pairs, hub.now())
    return findings, problem


def _write_report(hub: Hub, wiki: Vault, result: LintReport) -> str:
    """Write the report of the day and record when lint ran; return its path. Skip it if there is no wiki."""
    from engram.clock import load_timezone, to_datetime
    from engram.wiki.vault import state
    from engram.wiki.vault.vault import replace_file

    if not os.path.isdir(wiki.root):
        return ""
    at = to_datetime(hub.now()).astimezone(load_timezone(hub.settings.timezone)).isoformat(timespec="seconds")
    path = os.path.join(wiki.own_dir, "reports", f"lint-{at[:10]}.md")
    try:
        with wiki.hold_lock():
            replace_file(path, format_report(result, at))
            state.write_file(wiki, state.STATE, {**state.load_state(wiki), "last_lint": at}, readable=True)
    except OSError:  # the disk is full or read-only: the findings are still shown
        return ""
    return path


def format_report(result: LintReport, at: str) -> str:
    """Render a report as markdown."""
    counts = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in result.counts.items())
    totals = f"{format_count(result.pages, 'article')}, {format_count(result.logs, 'log')}"
    lines = [f"# Lint Report: {at[:10]}", "", f"{at}: {totals}: {counts}."]
    for severity in (ERROR, WARNING, SUGGESTION):
        findings = [item for item in result.findings if item.severity == severity]
        if findings:
            lines += ["", f"## {severity.capitalize()}s", ""]
            lines += [f"- {item.check}: [[{item.page}]]: {item.message}" for item in findings]
    lines += ["", "## Fixed", "", *(f"- {item}" for item in result.fixed)] if result.fixed else []
    lines += ["", f"Contradictions were not checked: {result.problem}"] if result.problem else []
    return "\n".join([*lines, ""])
