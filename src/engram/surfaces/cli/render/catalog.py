"""Patterns, their rules, where they are distributed and what they change, as text for people."""

from __future__ import annotations

from collections.abc import Sequence

from engram.patterns.rules.catalog import Dossier, Pattern, PatternEvidence, RuleVersion
from engram.patterns.rules.distribute import DistributeResult, WrittenFile
from engram.patterns.rules.effect import Effect, Sample
from engram.patterns.rules.export_catalog import CatalogExport
from engram.patterns.rules.import_catalog import ImportedCatalog
from engram.patterns.rules.statistics import Interval
from engram.platform import text
from engram.platform.text import format_count
from engram.surfaces.cli.render import LIST_RENDERERS, render
from engram.surfaces.cli.render.layout import (
    Column,
    format_ago,
    format_facts,
    format_table,
    number_column,
    shorten_home,
)
from engram.surfaces.cli.terminal import style

_WORD_COLORS = {"candidate": "yellow", "approved": "green", "helped": "green", "hurt": "red", "rejected": "red"}
_PATTERN_COLUMNS = (
    Column("pattern"), Column("state", drop=5), Column("kind", drop=4), number_column("sessions"),
    Column("agents", min_width=8, drop=2), Column("last seen", drop=3), Column("title"),
)  # fmt: skip
_EFFECT_COLUMNS = (
    Column("pattern"), Column("verdict"), Column("before", drop=2), Column("after", drop=1),
    Column("change (95 %)", drop=3), Column("with rule", drop=6), Column("without", drop=7),
    number_column("tokens saved", drop=4), number_column("minutes saved", drop=5), Column("problem"),
)  # fmt: skip
_MAX_EVIDENCE = 5  # pieces of evidence


def _render_patterns(patterns: Sequence[Pattern]) -> str:
    rows = [
        (
            pattern.id,
            _color_word(pattern.state),
            pattern.kind,
            f"{pattern.sessions:,}",
            ", ".join(pattern.flavors),
            format_ago(pattern.last_at),
            pattern.title,
        )
        for pattern in patterns
    ]
    return format_table(_PATTERN_COLUMNS, rows)


def _render_effects(effects: Sequence[Effect]) -> str:
    rows = [
        (
            effect.pattern,
            _color_word(effect.verdict),
            _format_rate(effect.before),
            _format_rate(effect.after),
            _format_change(effect.change),
            _format_rate(effect.told),
            _format_rate(effect.untold),
            _format_saving(effect, effect.tokens),
            _format_saving(effect, effect.minutes),
            text.to_one_line(effect.title),
        )
        for effect in effects
    ]
    notes = [style(f"{effect.pattern} ({_format_applicability(effect)}): {effect.why}", dim=True) for effect in effects]
    hurt = [f"Consider `engram patterns retire {effect.pattern}`." for effect in effects if effect.verdict == "hurt"]
    return "\n".join([format_table(_EFFECT_COLUMNS, rows), "", *notes, *hurt])


LIST_RENDERERS[Pattern] = _render_patterns
LIST_RENDERERS[Effect] = _render_effects


@render.register
def _(value: Pattern) -> str:
    who = f"v{value.version}, {value.scope}" if value.version else "proposed"
    lines = [
        f"{value.id} is {'a ' if value.state == 'candidate' else ''}{_color_word(value.state)} ({who}).",
        *_indent_rule(value.rule, value.fix),
    ]
    return "\n".join(lines)


@render.register
def _(value: Dossier) -> str:
    p = value.pattern
    times = f"{format_count(p.times, 'time')} in {format_count(p.sessions, 'session')}"
    seen = f"{times} of {', '.join(p.flavors) or 'no agent'}, last {format_ago(p.last_at)}"
    advice = f"{p.recommended.what} ({p.recommended.who}): {p.recommended.why}" if p.recommended else None
    lines = [
        style(f"{p.id}  {p.title}", bold=True),
        "",
        format_facts(
            [
                ("kind", f"{p.kind}, with several agents" if len(p.flavors) > 1 else p.kind),
                ("state", _color_word(p.state)),
                ("merged into", p.merged_into),
                ("seen", seen),
                ("cost", _format_cost(p)),
                ("scope", p.scope),
                ("advice", advice),
            ]
        ),
        "",
        "Rule:" if p.version else "Proposed rule:",
        *_indent_rule(p.rule, p.fix),
    ]
    for title, part in (
        ("Evidence:", _format_evidence(value)),
        ("Versions:", _format_versions(value)),
        ("Distributed to:", _format_placements(value)),
    ):
        lines += ["", title, *part] if part else []
    lines += ["", f"Effect: {_color_word(value.effect.verdict)}. {value.effect.why}"] if value.effect else []
    return "\n".join(lines)


@render.register
def _(rule: RuleVersion) -> str:
    head = f"version {rule.version}, {rule.state} by {rule.author}, {format_ago(rule.at)}, {rule.scope}"
    return "\n".join([style(head, bold=True), *_indent_rule(rule.rule, rule.fix)])


def _render_rules(rule_versions: Sequence[RuleVersion]) -> str:
    rows = [
        (
            str(rule_version.version),
            format_ago(rule_version.at),
            rule_version.author,
            rule_version.state,
            text.to_one_line(rule_version.rule, 80),
        )
        for rule_version in rule_versions
    ]
    return format_table(("version", "made", "by", "state", "rule"), rows)


LIST_RENDERERS[RuleVersion] = _render_rules


@render.register
def _(value: DistributeResult) -> str:
    lines = []
    if value.context:
        rules = format_count(len(value.context), "rule")
        lines.append(f"New sessions get {rules} in their context: {', '.join(value.context)}.")
    elif not value.undo:
        lines.append("New sessions get no rules in their context.")
    lines += [_format_file(item) for item in value.files]
    lines += [style(f"{shorten_home(path)} needs no change.", dim=True) for path in value.standing]
    lines += (
        [f"In no file, because pattern_tokens is used up or no file applies: {', '.join(value.left_out)}."]
        if value.left_out
        else []
    )
    lines += [style(f"✗ {item}", fg="red") for item in value.problems]
    if value.undo and not value.files:
        lines.append("No file contains our rules.")
    return "\n".join(lines)


@render.register
def _(value: CatalogExport) -> str:
    written = format_count(len(value.written), "file")
    return f"Wrote {written} to {shorten_home(value.directory)}; {value.unchanged} unchanged."


@render.register
def _(value: ImportedCatalog) -> str:
    lines = [f"{_format_change_label(item.new)} {item.pattern} ({item.file}):\n{item.diff}" for item in value.taken]
    lines += [style(f"✗ {item}", fg="red") for item in value.refused]
    lines.append(f"{len(value.taken)} changed, {value.unchanged} unchanged, {len(value.refused)} refused.")
    return "\n\n".join(lines)


def _format_change_label(new: bool) -> str:
    return "New:" if new else "Changed:"


def _format_file(file: WrittenFile) -> str:
    readers = ", ".join(file.flavors) or "no agent on this machine"
    return f"{style(shorten_home(file.path), bold=True)} (read by {readers})\n{file.diff}"


def _format_evidence(dossier: Dossier) -> list[str]:
    return [_format_evidence_line(evidence) for evidence in dossier.evidence[:_MAX_EVIDENCE]]


def _format_evidence_line(evidence: PatternEvidence) -> str:
    one_line = text.to_one_line(evidence.quote, 160)
    quote = f"\n    “{one_line}”" if one_line and one_line not in text.to_one_line(evidence.text) else ""
    times = f" ×{evidence.times}" if evidence.times > 1 else ""
    return (
        f"  {evidence.flavor}, {format_ago(evidence.at)}, {evidence.session_id}{times}: "
        f"{text.to_one_line(evidence.text, 160)}{quote}"
    )


def _format_versions(dossier: Dossier) -> list[str]:
    return [
        f"  {rule_version.version}. {rule_version.state} by {rule_version.author}, {format_ago(rule_version.at)}"
        + (f": {rule_version.reason}" if rule_version.reason else "")
        for rule_version in dossier.versions
    ]


def _format_placements(dossier: Dossier) -> list[str]:
    return [
        f"  {shorten_home(placement.place)}, "
        f"v{placement.version}{f' for {placement.flavor}' if placement.flavor else ''}, "
        f"{format_ago(placement.placed_at)}"
        + (f"; removed {format_ago(placement.removed_at)}" if placement.removed_at else "")
        for placement in dossier.placements
    ]


def _indent_rule(rule: str, fix: str) -> list[str]:
    return [*(f"  {line}" for line in rule.splitlines()), *(f"  Fix: {line}" for line in fix.splitlines())]


def _color_word(word: str) -> str:
    return style(word, fg=_WORD_COLORS.get(word))


def _format_rate(sample: Sample) -> str:
    return f"{sample.hits}/{sample.sessions} {sample.rate:.0%}" if sample.sessions else "–"


def _format_change(change: Interval | None) -> str:
    return "–" if change is None else f"{change.value:+.0%} ({change.low:+.0%} … {change.high:+.0%})"


def _format_saving(effect: Effect, saved: Interval) -> str:
    return f"{saved.value:,.0f} ({saved.low:,.0f} … {saved.high:,.0f})" if effect.change else "–"


def _format_applicability(effect: Effect) -> str:
    return "all sessions" if effect.applies == "all" else f"sessions that {effect.applies}"


def _format_cost(pattern: Pattern) -> str | None:
    spent = [f"{pattern.tokens:,} tokens"] if pattern.tokens else []
    return ", ".join(spent + ([text.format_duration(pattern.seconds * 1_000_000)] if pattern.seconds else [])) or None
