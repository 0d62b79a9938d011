"""Who calls a tool."""

from __future__ import annotations

from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@value
class Caller:
    """Who calls: the program that started us, with its environment, or somebody over HTTP."""

    environ: Mapping[str, str]
    client: str = ""  # the name it gives itself
    meta: Mapping[str, Any] = {}  # what it sent along with its request
    named: str | None = None  # the session a header names
    local: bool = True  # false: our own process and its ancestors say nothing of it
