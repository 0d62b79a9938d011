"""What a rebuild of digests did."""

from __future__ import annotations

from engram.platform.value import value


@value
class RebuiltDigests:
    """Digests that were made again because the rules changed."""

    rebuilt: int
    left: int  # made by older rules; what they need cannot be read
