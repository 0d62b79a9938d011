"""The end of `engram init`: offer the model the user has, for summaries; the default is none."""

from __future__ import annotations

import click

from engram.api import Engram
from engram.errors import Error
from engram.models.offers import find_offers
from engram.models.registry import NONE
from engram.settings import load_settings
from engram.surfaces.cli.output import mark_failed
from engram.surfaces.cli.render.install import format_found_models, format_model_offers
from engram.surfaces.cli.render.layout import shorten_home, wrap_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.models.offers import ModelOffer

_CENTS = 20  # maximum per pass of the dream, unless the user has chosen one; 0 would call no model
_CHOICES = ("model", "model_name", "model_url")  # settings that choose a model


def offer_model(ask: bool, dry_run: bool) -> None:
    """Offer the models found on this machine; without a person to ask, only mention them."""
    if load_settings().model not in ("", NONE) or not (offers := find_offers()):
        return
    if not ask:
        hint = "`engram init` asks you" if dry_run else "`engram init` asks you in a terminal"
        click.echo(f"\n{format_found_models(offers, hint)}")
        return
    try:
        chosen = _choose_offer(offers)
        if chosen is not None:
            _save_offer(chosen)
    except Error as problem:  # the agents are connected all the same
        click.echo(click.style(f"✗ {problem}", fg="red"), err=True)
        mark_failed()


def _choose_offer(offers: list[ModelOffer]) -> ModelOffer | None:
    """Show what each costs, and return the one the user wants."""
    from engram.summaries.model_estimate import estimate_month

    with Engram() as engram:
        estimated = [(offer, estimate_month(engram, offer)) for offer in offers]
        click.echo(f"\n{format_model_offers(estimated, engram.settings.model_daily_cents)}")
    if len(offers) == 1:
        return offers[0] if click.confirm("Use it? Without it, summaries quote your sessions.", default=False) else None
    numbers = click.IntRange(0, len(offers))
    number = click.prompt("Which one? 0: none, summaries quote your sessions", default=0, type=numbers)
    return offers[number - 1] if number else None


def _save_offer(offer: ModelOffer) -> None:
    """Write the settings that use a model, and say how to turn it off."""
    from engram.install.settings_file import save_settings

    settings = load_settings()
    choices = {name: offer.settings.get(name, "") for name in _CHOICES}
    needed = {name: choice for name, choice in choices.items() if choice or getattr(settings, name)}
    path = save_settings(settings.home, {**needed, "dream_cents": settings.dream_cents or _CENTS})
    click.echo(wrap_text(f"Saved in {shorten_home(path)}. Turn it off with `engram config model none`."))
