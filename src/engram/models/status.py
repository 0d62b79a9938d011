"""The configured model, whether it is reachable, and what is left of the daily limit."""

from __future__ import annotations

from engram.errors import Error, ModelOff
from engram.operation import Help, operation
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Annotated

    from engram.hub import Hub
    from engram.models.provider import Provider


@value
class ModelStatus:
    """The state of the configured model."""

    provider: str  # "none" until the user configures one
    model: str  # empty for the provider's default
    ready: bool
    reason: str  # why it is not ready
    tried: bool  # whether it was called, or only looked up
    spent: float  # US dollars today, with the maximum for running calls
    cap: float
    tokens: int  # today, of models without a known price
    token_cap: int
    calls: int
    free_at: datetime


@operation(writes=True, agent=False)
def model_status(
    hub: Hub,
    attempt: Annotated[bool, Help("call the model for one word, which costs a little")] = False,
) -> ModelStatus:
    """Show which model is configured, whether it is reachable, and what it cost today."""
    from engram.clock import to_datetime
    from engram.models import daily_cap as cap
    from engram.models.registry import load_provider

    chosen: Provider | None = None
    reason = ""
    try:
        chosen = load_provider(hub.settings)
        _ask_once(hub) if attempt else chosen.reach()
    except ModelOff as off:
        reason = str(off)
    except Error as problem:
        if chosen is None:
            raise
        reason = str(problem)
    spent, settings = cap.get_today_usage(hub), hub.settings
    return ModelStatus(
        provider=chosen.name if chosen else "none", model=chosen.model if chosen else "", ready=not reason,
        reason=reason, tried=attempt and chosen is not None, spent=spent["money"], cap=settings.model_daily_cents / 100,
        tokens=spent["tokens"], token_cap=settings.model_daily_tokens, calls=spent["calls"],
        free_at=to_datetime(cap.get_next_midnight(hub.now())),
    )  # fmt: skip


def _ask_once(hub: Hub) -> None:
    from engram.models.complete import complete
    from engram.models.provider import Budget

    complete(hub, "Answer with the one word: ready", purpose="try", budget=Budget(max_tokens=1000))
