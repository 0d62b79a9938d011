"""Estimate what a model would cost in a month like the last one, before it is chosen."""

from __future__ import annotations

from engram.clock import HOUR
from engram.models.prices import Prices
from engram.models.registry import load_provider
from engram.platform.value import value
from engram.settings import Settings
from engram.store import exchanges
from engram.store.token_usage import find_band
from engram.summaries.gist import MODEL_TOKENS, TOKENS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.hub import Hub
    from engram.models.offers import ModelOffer

DAYS = 30
_DAY = 24 * HOUR
_EXCHANGE_CHARS = 4000  # characters of one message in a prompt
_PIECE_TOKENS = 10_000  # tokens of a conversation in one prompt of the daily log
_PROMPT_TOKENS = 500  # tokens of instructions and schema
_DAILY_CALLS = 5  # era, profile, narrative, pages and reflection, on a day with sessions
_DAILY_TOKENS = 45_000  # tokens of their prompts


@value
class ModelEstimate:
    """What a model would read, write and cost in a month like the last one."""

    sessions: int  # in the last 30 days
    tokens: int  # read and written
    dollars: float | None  # None without a known price


def estimate_month(hub: Hub, offer: ModelOffer) -> ModelEstimate:
    """Return what the dream would have sent in the last 30 days, at the prices of a model."""
    provider = load_provider(Settings(**{**vars(hub.settings), **offer.settings}))
    rows = exchanges.measure_sessions(hub.engine, hub.now() - DAYS * _DAY, _EXCHANGE_CHARS)
    lengths = [int(row["chars"] or 0) // 4 for row in rows]
    days = len({row["last_at"] // _DAY for row in rows})
    calls = sum(2 + length // _PIECE_TOKENS for length in lengths) + days * _DAILY_CALLS
    text_tokens = sum(length + min(length, MODEL_TOKENS) for length in lengths) + days * _DAILY_TOKENS
    read, written = text_tokens + calls * (_PROMPT_TOKENS + provider.overhead), calls * TOKENS
    band = find_band(MODEL_TOKENS)
    prices = Prices(hub.settings.home).guess_prices(provider.model, band) if provider.priced else None
    dollars = None if prices is None else (read * prices[0] + written * prices[1]) / 1_000_000
    return ModelEstimate(sessions=len(rows), tokens=read + written, dollars=dollars)
