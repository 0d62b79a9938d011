"""Which model thinks for Engram, whether it can be reached, and what is left of today's cap."""

from __future__ import annotations

from engram.errors import Error, ModelOff
from engram.operation import Help, operation
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated

    from engram.hub import Hub
    from engram.llm.provider import Provider


@value
class ModelStatus:
    """The chosen model as it stands."""

    provider: str  # none until the user chooses one
    model: str  # empty: the provider's own choice
    ready: bool
    reason: str  # why it is not
    tried: bool  # whether it was asked, or only looked for
    spent: float  # US dollars today, calls under way with the most they may cost
    cap: float
    tokens: int  # today, of models without a known price
    token_cap: int
    calls: int
    free_at: datetime


@operation(writes=True, agent=False)
def model_status(
    hub: Hub,
    attempt: Annotated[bool, Help("ask it for one word, which costs a little")] = False,
) -> ModelStatus:
    """Show which model thinks for Engram, whether it can be reached, and what today cost."""
    from engram.clock import moment
    from engram.llm import cap
    from engram.llm.registry import provider

    chosen: Provider | None = None
    reason = ""
    try:
        chosen = provider(hub.settings)
        _try(hub) if attempt else chosen.reach()
    except ModelOff as off:
        reason = str(off)
    except Error as problem:
        if chosen is None:
            raise
        reason = str(problem)
    spent, settings = cap.today(hub), hub.settings
    return ModelStatus(
        provider=chosen.name if chosen else "none", model=chosen.model if chosen else "", ready=not reason,
        reason=reason, tried=attempt and chosen is not None, spent=spent["money"], cap=settings.model_daily_cents / 100,
        tokens=spent["tokens"], token_cap=settings.model_daily_tokens, calls=spent["calls"],
        free_at=moment(cap.free_at(hub.now())),
    )  # fmt: skip


def _try(hub: Hub) -> None:
    from engram.llm.complete import complete
    from engram.llm.provider import Budget

    complete(hub, "Answer with the one word: ready", purpose="try", budget=Budget(max_tokens=1000))
