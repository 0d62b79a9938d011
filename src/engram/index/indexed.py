"""What upkeep of the index came to; a file of its own, so that showing it loads no index."""

from __future__ import annotations

from engram.value import value


@value
class Indexed:
    """What bringing the index up to date took."""

    indexed: int  # exchanges and passages that are new, changed or gone
    embedded: int  # docs that have vectors now
    waiting: int  # still to be indexed
    docs: int  # in the index, those that are dead included
