"""The result of updating months, profile and narrative."""

from __future__ import annotations

from engram.platform.value import value


@value
class IntegrationReport:
    """The result of updating eras, profile and narrative."""

    eras: tuple[str, ...]  # months written
    removed: tuple[str, ...]  # months that no longer have a session
    fresh: int  # eras that were up to date
    kept: tuple[str, ...]  # outdated months written by a person, which only a model may replace
    profile: str  # made, fresh, kept (written by a person; only a model may replace it), none, or postponed
    narrative: str
    by: dict[str, int]
    fallbacks: dict[str, int]
    failed: dict[str, str]
