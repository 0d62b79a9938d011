"""The profile and the narrative as documents: which version it is, who wrote it and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from engram.clock import moment
from engram.errors import InvalidInput
from engram.hub import Hub
from engram.memory import versions
from engram.memory.versions import NARRATIVE, PROFILE
from engram.operation import Help, operation
from engram.value import value

if TYPE_CHECKING:
    from datetime import datetime

_KEYS = {PROFILE: "self", NARRATIVE: "current"}


@value
class Tier:
    """What stands on top of memory, and where it comes from."""

    name: str
    content: str
    version: int
    made_by: str
    made_at: datetime


@operation()
def get_tier(hub: Hub, name: Annotated[str, Help("profile or narrative")]) -> Tier | None:
    """Show the profile or the narrative with its version, who made it and when."""
    if name not in _KEYS:
        raise InvalidInput(field="name", reason=f"{name!r} is none of {', '.join(_KEYS)}.")
    row = versions.current(hub, name, _KEYS[name])
    if row is None:
        return None
    return Tier(
        name=name, content=row["content"], version=row["version"], made_by=row["made_by"],
        made_at=moment(row["made_at"]),
    )  # fmt: skip
