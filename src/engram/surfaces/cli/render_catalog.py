"""Patterns, their rules, places and effects, as text for people."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from engram import text
from engram.rules.catalog import Dossier, Evidence, Pattern, Rule
from engram.rules.distribute import Distributed, Written
from engram.rules.export_catalog import Exported
from engram.rules.import_catalog import ImportedCatalog
from engram.rules.measure import Effect, Sample
from engram.rules.statistics import Interval
from engram.surfaces.cli.render import LISTS, ago, facts, render
from engram.surfaces.cli.table import table
from engram.text import counted

_COLORS = {"candidate": "yellow", "approved": "green", "helped": "green", "hurt": "red", "rejected": "red"}
_MEASURED = (
    "pattern", "verdict", "before", "after", "change (95 %)", "told", "untold", "tokens saved", "minutes saved",
    "what happens",
)  # fmt: skip
_SHOWN = 5  # pieces of evidence


def _patterns(found: Sequence[Pattern]) -> str:
    rows = [
        (p.id, _coloured(p.state), p.kind, str(p.sessions), ",".join(p.flavors), ago(p.last_at), _mark(p) + p.title)
        for p in found
    ]
    return table(("pattern", "state", "kind", "sessions", "flavors", "last seen", "what happens"), rows)


def _effects(found: Sequence[Effect]) -> str:
    rows = [
        (e.pattern, _coloured(e.verdict), _rate(e.before), _rate(e.after), _percent(e.change), _rate(e.told),
         _rate(e.untold), _amount(e, e.tokens), _amount(e, e.minutes), text.one_line(e.title, 60))
        for e in found
    ]  # fmt: skip
    notes = [click.style(f"{e.pattern} ({_applies(e)}): {e.why}", dim=True) for e in found]
    hurt = [f"`engram patterns retire {e.pattern}` is proposed." for e in found if e.verdict == "hurt"]
    return "\n".join([table(_MEASURED, rows), "", *notes, *hurt])


LISTS[Pattern] = _patterns
LISTS[Effect] = _effects


@render.register
def _(found: Pattern) -> str:
    who = f"v{found.version}, {found.scope}" if found.version else "proposed"
    lines = [f"{found.id} is {_coloured(found.state)} ({who}).", *_quoted(found.rule, found.fix)]
    return "\n".join(lines)


@render.register
def _(found: Dossier) -> str:
    p = found.pattern
    times = f"{counted(p.times, 'time')} in {counted(p.sessions, 'session')}"
    seen = f"{times} of {', '.join(p.flavors) or 'none'}, last {ago(p.last_at)}"
    advice = f"{p.recommended.what} ({p.recommended.who}): {p.recommended.why}" if p.recommended else None
    lines = [
        click.style(f"{p.id}  {p.title}", bold=True), "",
        facts([
            ("kind", f"{_mark(p)}{p.kind}"), ("state", _coloured(p.state)), ("into", p.merged_into), ("seen", seen),
            ("cost", _cost(p)),
            ("scope", p.scope), ("advised", advice),
        ]),
        "", "Rule:" if p.version else "Rule as proposed:", *_quoted(p.rule, p.fix),
    ]  # fmt: skip
    for title, part in (("Evidence:", _evidence(found)), ("Versions:", _versions(found)), ("Places:", _places(found))):
        lines += ["", title, *part] if part else []
    lines += ["", f"Effect: {_coloured(found.effect.verdict)}. {found.effect.why}"] if found.effect else []
    return "\n".join(lines)


@render.register
def _(rule: Rule) -> str:
    head = f"version {rule.version}, {rule.state} by {rule.author}, {ago(rule.at)}, {rule.scope}"
    return "\n".join([click.style(head, bold=True), *_quoted(rule.rule, rule.fix)])


def _rules(found: Sequence[Rule]) -> str:
    rows = [
        (str(each.version), ago(each.at), each.author, each.state, text.one_line(each.rule, 80)) for each in found
    ]  # fmt: skip
    return table(("version", "made", "by", "state", "rule"), rows)


LISTS[Rule] = _rules


@render.register
def _(found: Distributed) -> str:
    lines = []
    if found.context:
        rules = counted(len(found.context), "rule")
        lines.append(f"Sessions are told {rules} when they start: {', '.join(found.context)}.")
    elif not found.undo:
        lines.append("No rule is told to sessions when they start.")
    lines += [_file(each) for each in found.files]
    lines += [click.style(f"{_tilde(path)} needs no change.", dim=True) for path in found.standing]
    lines += (
        [f"In no file, for want of room (pattern_tokens) or of a file: {', '.join(found.left_out)}."]
        if found.left_out
        else []
    )
    lines += [click.style(f"✗ {each}", fg="red") for each in found.problems]
    if found.undo and not found.files:
        lines.append("No file holds a rule of ours.")
    return "\n".join(lines)


@render.register
def _(found: Exported) -> str:
    written = counted(len(found.written), "file")
    return f"{written} written to {_tilde(found.directory)}, {found.unchanged} as they were."


@render.register
def _(found: ImportedCatalog) -> str:
    lines = [f"{_what(each.new)} {each.pattern} ({each.file}):\n{each.diff}" for each in found.taken]
    lines += [click.style(f"✗ {each}", fg="red") for each in found.refused]
    lines.append(f"{len(found.taken)} changed, {found.unchanged} as they are here, {len(found.refused)} refused.")
    return "\n\n".join(lines)


def _what(new: bool) -> str:
    return "New:" if new else "Changed:"


def _file(each: Written) -> str:
    who = ", ".join(each.flavors) or "nobody here any more"
    return f"{click.style(_tilde(each.path), bold=True)} (read by {who})\n{each.diff}"


def _evidence(found: Dossier) -> list[str]:
    return [_signal(each) for each in found.evidence[:_SHOWN]]


def _signal(each: Evidence) -> str:
    said = text.one_line(each.quote, 160)
    quote = f"\n    “{said}”" if said and said not in text.one_line(each.text) else ""
    times = f" ×{each.times}" if each.times > 1 else ""
    return f"  {each.flavor}, {ago(each.at)}, {each.session_id}{times}: {text.one_line(each.text, 160)}{quote}"


def _versions(found: Dossier) -> list[str]:
    return [
        f"  {each.version}. {each.state} by {each.author}, {ago(each.at)}" + (f": {each.reason}" if each.reason else "")
        for each in found.versions
    ]


def _places(found: Dossier) -> list[str]:
    return [
        f"  {_tilde(each.place)}, v{each.version}{f' for {each.flavor}' if each.flavor else ''}, {ago(each.placed_at)}"
        + (f", taken back {ago(each.removed_at)}" if each.removed_at else "")
        for each in found.placements
    ]


def _quoted(rule: str, fix: str) -> list[str]:
    return [*(f"  {line}" for line in rule.splitlines()), *(f"  Fix: {line}" for line in fix.splitlines())]


def _mark(found: Pattern) -> str:
    return "[CROSS-FLAVOR] " if len(found.flavors) > 1 else ""


def _coloured(word: str) -> str:
    return click.style(word, fg=_COLORS.get(word))


def _rate(sample: Sample) -> str:
    return f"{sample.hits}/{sample.sessions} {sample.rate:.0%}" if sample.sessions else "–"


def _percent(change: Interval | None) -> str:
    return "–" if change is None else f"{change.value:+.0%} ({change.low:+.0%} … {change.high:+.0%})"


def _amount(effect: Effect, saved: Interval) -> str:
    return f"{saved.value:,.0f} ({saved.low:,.0f} … {saved.high:,.0f})" if effect.change else "–"


def _applies(effect: Effect) -> str:
    return "all sessions" if effect.applies == "all" else f"sessions that {effect.applies}"


def _cost(found: Pattern) -> str | None:
    spent = [f"{found.tokens:,} tokens"] if found.tokens else []
    return ", ".join(spent + ([text.duration(found.seconds * 1_000_000)] if found.seconds else [])) or None


def _tilde(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if path.startswith(home + os.sep) else path
