"""Format the figures as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

from benchmarks.recall.asking import Sheet
from benchmarks.recall.metrics import Scores

_HEADING = ("any@1", "any@5", "any@10", "all@5", "all@10", "rec@5", "rec@10", "nDCG@10", "MRR")


def table(title: str, sheets: Sequence[Sheet], unit: str | None = None) -> str:
    """Return the scores of every system, overall and by kind of question, then the costs."""
    run = [sheet for sheet in sheets if sheet.answers]
    lines = [f"\n{title}", f"  {'':24} {'n':>5} " + " ".join(f"{name:>7}" for name in _HEADING)]
    lines += [_row(sheet.name, sheet.scored(unit=unit)) if sheet.answers else _reason(sheet) for sheet in sheets]
    for kind in run[0].kinds() if run else []:
        lines += [f"  {kind}", *(_row(f"  {sheet.name}", sheet.scored(kind, unit)) for sheet in run)]
    lines += ["  separately: evidence of unanswerable questions"] if run else []
    lines += [_row(f"  {sheet.name}", sheet.scored(unit=unit, unanswerable=True)) for sheet in run]
    return "\n".join([*lines, *_costs(run), *(f"  {sheet.name}: {sheet.about}" for sheet in run)])


def _reason(sheet: Sheet) -> str:
    return f"  {sheet.name:24} not run: {sheet.why or 'no questions asked'}"


def _row(name: str, scores: Scores) -> str:
    count, *values = astuple(scores)
    if not count:
        return f"  {name:24} {count:>5}"
    cells = [f"{value:7.1%}" for value in values[:7]] + [f"{value:7.3f}" for value in values[7:]]
    return f"  {name:24} {count:>5} {' '.join(cells)}"


def _costs(run: Sequence[Sheet]) -> list[str]:
    if not run:
        return []
    heading = ("abstains: right", "wrong", "tokens@5", "p50 ms", "p95 ms", "index s")
    lines = ["", f"  {'':24} " + " ".join(f"{name:>13}" for name in heading)]
    for sheet in run:
        silent = [f"{share:.1%}" if share is not None else "-" for share in sheet.silence()]
        p50, p95 = sheet.milliseconds()
        cells = (*silent, f"{sheet.tokens():,.0f}", f"{p50:.2f}", f"{p95:.2f}", f"{sheet.index_seconds():.1f}")
        lines.append(f"  {sheet.name:24} " + " ".join(f"{cell:>13}" for cell in cells))
    return lines
