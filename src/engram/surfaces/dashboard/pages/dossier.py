"""The page of one pattern: its rule version by version, what speaks for it, where it stands and whether it helped."""

from __future__ import annotations

import math
from collections.abc import Sequence

from starlette.responses import Response

from engram import text
from engram.errors import Error
from engram.rules.catalog import Dossier, Pattern, Rule
from engram.rules.measure import Effect, Sample
from engram.surfaces.dashboard import words
from engram.surfaces.dashboard.drawing import diff
from engram.surfaces.dashboard.drawing.plot import Spans, spans
from engram.surfaces.dashboard.frame import Address, Ask
from engram.value import value

_TONES = {"helped": "good", "hurt": "bad"}
_MERGEABLE = ("candidate", "approved")
_MOST = 200  # patterns to merge into
_LEAST = 0.1  # of the axis, so that a rate of nothing is still seen as one

_FIFTHS = 5  # an axis of changes ends at 20 %, 40 %, …
_NAME = 36  # characters of a pattern beside its plot


@value
class Revision:
    """A version of a rule with what changed against the one before."""

    rule: Rule
    diff: tuple[diff.Line, ...]


@value
class Plotted:
    """An effect with its plots."""

    effect: Effect
    rates: Spans
    changes: Spans | None  # none where one side has no session


def whole(ask: Ask) -> Response:
    """Draw all that is known of a pattern; whether it helped is counted after."""
    return drawn(ask, ask.path("pattern"))


def drawn(ask: Ask, named: str, problem: Error | None = None) -> Response:
    """Draw a dossier, with what was refused just now."""
    found = ask.engram.get_pattern(named, effect=False)
    return ask.show(
        "patterns/dossier", shown=found, pattern=found.pattern, problem=problem,
        typed=typed(ask, found.pattern, problem), revisions=_revisions(found.versions), scopes=scopes(found.pattern),
        others=_others(ask, found),
    )  # fmt: skip


def typed(ask: Ask, pattern: Pattern, problem: Error | None) -> dict[str, str]:
    """Return the words of the form: as somebody typed them, if that was refused, or as they stand."""
    held = {"rule": pattern.rule, "fix": pattern.fix, "scope": pattern.scope}
    return {name: ask.said(name) if problem and name in ask.form else each for name, each in held.items()}


def effect(ask: Ask) -> Response:
    """Draw whether the rule of one pattern helped."""
    found = ask.engram.get_pattern(ask.path("pattern"))
    came_to = _plotted(found.effect) if found.effect else None
    return ask.show("patterns/effect", plotted=came_to, pattern=found.pattern)


def effects(ask: Ask) -> Response:
    """Measure every rule and draw what each came to; what hurts is proposed for retirement."""
    found = ask.engram.measure()
    plot = _changes([(text.one_line(each.title, _NAME), each) for each in found if each.change])
    return ask.show("patterns/effects", effects=found, plot=plot)


def scopes(pattern: Pattern) -> tuple[str, ...]:
    """Return for whom a rule could be: all, or an agent or a project it was seen with."""
    seen = [f"flavor:{each}" for each in pattern.flavors] + [f"project:{each}" for each in pattern.projects if each]
    return tuple(dict.fromkeys([pattern.scope, "global", *seen]))


def _others(ask: Ask, found: Dossier) -> list[Pattern]:
    if found.pattern.state not in _MERGEABLE:
        return []
    listed = ask.engram.list_patterns(limit=_MOST)
    return [each for each in listed if each.state in _MERGEABLE and each.id != found.pattern.id]


def _revisions(versions: Sequence[Rule]) -> list[Revision]:
    """Return versions, newest first, each with its difference from the one before."""
    from difflib import unified_diff

    told: list[Revision] = []
    before: list[str] = []
    for each in sorted(versions, key=lambda one: one.version):
        now = _lines(each)
        changed = "\n".join(unified_diff(before, now, lineterm="", n=9)) if before else ""
        told.append(Revision(rule=each, diff=tuple(line for line in diff.lines(changed) if line.kind not in _HEADS)))
        before = now
    return told[::-1]


_HEADS = (diff.FILE, diff.HUNK)


def _lines(rule: Rule) -> list[str]:
    return [*rule.rule.splitlines(), *(f"Fix: {each}" for each in rule.fix.splitlines()), f"For: {rule.scope}"]


def _plotted(found: Effect) -> Plotted:
    changed = [("change", found)] if found.change else []
    return Plotted(effect=found, rates=_rates(found), changes=_changes(changed))


def _rates(found: Effect) -> Spans:
    samples = (("before", found.before, ""), ("after", found.after, "now"), ("told", found.told, "now"),
               ("not told", found.untold, ""))  # fmt: skip
    known = [(name, sample, tone) for name, sample, tone in samples if sample.sessions]
    top = max((sample.high for _, sample, _ in known), default=1.0)
    return spans([(name, *_reach(sample), tone) for name, sample, tone in known], words.percent, high=max(top, _LEAST))


def _reach(sample: Sample) -> tuple[float, float, float]:
    return sample.rate, sample.low, sample.high


def _changes(named: Sequence[tuple[str, Effect]]) -> Spans | None:
    """Return by how much rates changed, on an axis with nothing in its middle."""
    figures = [
        (name, each.change.value, each.change.low, each.change.high, _TONES.get(each.verdict, ""))
        for name, each in named
        if each.change
    ]
    if not figures:
        return None
    reach = max(max(abs(low), abs(high)) for _, _, low, high, _ in figures)
    reach = max(1, math.ceil(reach * _FIFTHS)) / _FIFTHS
    return spans(figures, _signed, low=-reach, high=reach)


def _signed(share: float) -> str:
    points = round(share * 100)
    return f"{points:+d} %" if points else "0 %"


ADDRESSES = (
    Address("/patterns/effects", effects, writes=True), Address("/patterns/{pattern}", whole),
    Address("/patterns/{pattern}/effect", effect),
)  # fmt: skip
