"""Measure whether a rule helped: how often its signal occurs in sessions that could have it."""

from __future__ import annotations

from engram.operation import Help, operation
from engram.patterns.rules import catalog
from engram.patterns.rules.effect import Effect
from engram.patterns.rules.trial import measure_effects
from engram.patterns.rules.verdict import Verdict
from engram.platform import plain_json
from engram.store import patterns, rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub


@operation(writes=True)
def measure(
    hub: Hub, pattern: Annotated[str | None, Help("only this pattern, by id or prefix")] = None
) -> list[Effect]:
    """Show for each distributed rule whether it helped; rules that hurt are proposed for retirement."""
    only = catalog.require_pattern(hub, pattern)["id"] if pattern else None
    effects_found = measure_effects(hub, only)
    for effect in effects_found:
        if effect.verdict == Verdict.HURT and effect.state == patterns.APPROVED:
            _propose_retirement(hub, effect)
    return effects_found


def _propose_retirement(hub: Hub, effect: Effect) -> None:
    recommendation = {
        "what": "retire",
        "why": effect.why,
        "who": "engram patterns measure",
        "at": hub.now(),
        "rule": "",
    }
    with hub.engine.transaction():
        rules.save_recommendation(hub.engine, effect.pattern, plain_json.dumps(recommendation))
