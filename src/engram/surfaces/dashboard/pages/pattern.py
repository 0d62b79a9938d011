"""The page of one pattern: versions of its rule, evidence, placements and effect."""

from __future__ import annotations

import math
from collections.abc import Sequence

from starlette.responses import Response

from engram.errors import Error
from engram.patterns.rules.catalog import Dossier, Pattern, RuleVersion
from engram.patterns.rules.effect import Effect, Sample
from engram.platform import text
from engram.platform.value import value
from engram.surfaces.dashboard import template_filters
from engram.surfaces.dashboard.drawing import diff
from engram.surfaces.dashboard.drawing.diff import DiffLine
from engram.surfaces.dashboard.drawing.plot import IntervalPlot, build_intervals
from engram.surfaces.dashboard.layout import PageAddress, PageRequest

_TONES = {"helped": "good", "hurt": "bad"}
_MERGEABLE_STATES = ("candidate", "approved")
_MAX_PATTERNS = 200  # patterns offered for merging
_MIN_AXIS = 0.1  # minimum end of the axis, so that a rate of 0 is visible

_FIFTHS = 5  # the axis of changes ends at a multiple of this
_NAME_CHARS = 36  # longest pattern title beside the plot


@value
class RuleRevision:
    """A version of a rule with its diff to the previous one."""

    rule: RuleVersion
    diff: tuple[DiffLine, ...]


@value
class EffectPlot:
    """An effect with its plots."""

    effect: Effect
    rates: IntervalPlot
    changes: IntervalPlot | None  # None if one side has no sessions


def show_pattern(request: PageRequest) -> Response:
    """Render a pattern; its effect is loaded afterwards."""
    return render_dossier(request, request.get_path_part("pattern"))


def render_dossier(request: PageRequest, pattern_id: str, problem: Error | None = None) -> Response:
    """Render a pattern, with the error of a refused decision."""
    dossier = request.engram.get_pattern(pattern_id, effect=False)
    return request.render_page(
        "patterns/dossier",
        shown=dossier,
        pattern=dossier.pattern,
        problem=problem,
        typed=form_values(request, dossier.pattern, problem),
        revisions=_build_revisions(dossier.versions),
        scopes=list_scopes(dossier.pattern),
        others=_list_merge_targets(request, dossier),
    )


def form_values(request: PageRequest, pattern: Pattern, problem: Error | None) -> dict[str, str]:
    """Return the form values: the typed ones after a refusal, otherwise the saved ones."""
    saved_values = {"rule": pattern.rule, "fix": pattern.fix, "scope": pattern.scope}
    return {
        name: request.get_field(name) if problem and name in request.form else saved_text
        for name, saved_text in saved_values.items()
    }


def show_effect(request: PageRequest) -> Response:
    """Render the effect of one pattern's rule."""
    dossier = request.engram.get_pattern(request.get_path_part("pattern"))
    effect_plot = _plot_effect(dossier.effect) if dossier.effect else None
    return request.render_page("patterns/effect", plotted=effect_plot, pattern=dossier.pattern)


def show_effects(request: PageRequest) -> Response:
    """Measure and render the effect of every rule; harmful ones are recommended for retirement."""
    effects = request.engram.measure()
    plot = _plot_changes([(text.to_one_line(effect.title, _NAME_CHARS), effect) for effect in effects if effect.change])
    return request.render_page("patterns/effects", effects=effects, plot=plot)


def list_scopes(pattern: Pattern) -> tuple[str, ...]:
    """Return the possible scopes of a rule: all, or an agent or project it was seen with."""
    seen_scopes = [f"flavor:{name}" for name in pattern.flavors] + [
        f"project:{name}" for name in pattern.projects if name
    ]
    return tuple(dict.fromkeys([pattern.scope, "global", *seen_scopes]))


def _list_merge_targets(request: PageRequest, dossier: Dossier) -> list[Pattern]:
    if dossier.pattern.state not in _MERGEABLE_STATES:
        return []
    all_patterns = request.engram.list_patterns(limit=_MAX_PATTERNS)
    return [other for other in all_patterns if other.state in _MERGEABLE_STATES and other.id != dossier.pattern.id]


def _build_revisions(versions: Sequence[RuleVersion]) -> list[RuleRevision]:
    """Return versions, newest first, each with its diff to the previous one."""
    from difflib import unified_diff

    revisions: list[RuleRevision] = []
    lines_before: list[str] = []
    for rule_version in sorted(versions, key=lambda version: version.version):
        lines_now = _rule_lines(rule_version)
        changed = "\n".join(unified_diff(lines_before, lines_now, lineterm="", n=9)) if lines_before else ""
        revisions.append(
            RuleRevision(
                rule=rule_version,
                diff=tuple(line for line in diff.parse_diff(changed) if line.kind not in _HEADER_KINDS),
            )
        )
        lines_before = lines_now
    return revisions[::-1]


_HEADER_KINDS = (diff.FILE, diff.HUNK)


def _rule_lines(rule: RuleVersion) -> list[str]:
    return [*rule.rule.splitlines(), *(f"Fix: {line}" for line in rule.fix.splitlines()), f"Scope: {rule.scope}"]


def _plot_effect(effect: Effect) -> EffectPlot:
    changed_effects = [("change", effect)] if effect.change else []
    return EffectPlot(effect=effect, rates=_plot_rates(effect), changes=_plot_changes(changed_effects))


def _plot_rates(effect: Effect) -> IntervalPlot:
    samples = (
        ("before", effect.before, ""),
        ("after", effect.after, "now"),
        ("with rule", effect.told, "now"),
        ("without rule", effect.untold, ""),
    )
    known_samples = [(name, sample, tone) for name, sample, tone in samples if sample.sessions]
    top = max((sample.high for _, sample, _ in known_samples), default=1.0)
    return build_intervals(
        [(name, *_sample_range(sample), tone) for name, sample, tone in known_samples],
        template_filters.percent,
        high=max(top, _MIN_AXIS),
    )


def _sample_range(sample: Sample) -> tuple[float, float, float]:
    return sample.rate, sample.low, sample.high


def _plot_changes(named_effects: Sequence[tuple[str, Effect]]) -> IntervalPlot | None:
    """Return a plot of the rate changes, with zero in the middle of the axis."""
    figures = [
        (
            name,
            effect.change.value,
            effect.change.low,
            effect.change.high,
            _TONES.get(effect.verdict, ""),
        )
        for name, effect in named_effects
        if effect.change
    ]
    if not figures:
        return None
    reach = max(max(abs(low), abs(high)) for _, _, low, high, _ in figures)
    reach = max(1, math.ceil(reach * _FIFTHS)) / _FIFTHS
    return build_intervals(figures, _format_change, low=-reach, high=reach)


def _format_change(share: float) -> str:
    points = round(share * 100)
    return f"{points:+d} %" if points else "0 %"


ADDRESSES = (
    PageAddress("/patterns/effects", show_effects, writes=True), PageAddress("/patterns/{pattern}", show_pattern),
    PageAddress("/patterns/{pattern}/effect", show_effect),
)  # fmt: skip
