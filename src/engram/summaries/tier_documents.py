"""The profile and the narrative as documents, with version, author and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from engram.clock import to_datetime
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform.value import value
from engram.summaries import versions
from engram.summaries.versions import NARRATIVE, PROFILE

if TYPE_CHECKING:
    from datetime import datetime

_KEYS = {PROFILE: "self", NARRATIVE: "current"}


@value
class Tier:
    """A document on top of the memory, and its origin."""

    name: str
    content: str
    version: int
    made_by: str
    made_at: datetime


@operation()
def get_tier(hub: Hub, name: Annotated[str, Help("the document: profile or narrative")]) -> Tier | None:
    """Show the profile or the narrative with its version, author and time."""
    if name not in _KEYS:
        raise InvalidInput(field="name", reason=f"Unknown value {name!r}. Choose one of: {', '.join(_KEYS)}.")
    row = versions.get_current(hub, name, _KEYS[name])
    if row is None:
        return None
    return Tier(
        name=name, content=row["content"], version=row["version"], made_by=row["made_by"],
        made_at=to_datetime(row["made_at"]),
    )  # fmt: skip
