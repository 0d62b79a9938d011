"""The caller of a tool."""

from __future__ import annotations

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@value
class Caller:
    """The client that sends a request: the program that started this server, or an HTTP client."""

    environ: Mapping[str, str]
    client: str = ""  # client name from the handshake
    meta: Mapping[str, Any] = {}  # `_meta` of the request
    header_session: str | None = None  # session id from the Engram-Session header
    is_local: bool = True  # False over HTTP: our process tree does not identify the caller
