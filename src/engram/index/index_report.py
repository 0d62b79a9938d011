"""The report of an index update; a separate file, so that showing it does not load the index."""

from __future__ import annotations

from engram.platform.value import value


@value
class Indexed:
    """The result of an index update."""

    indexed: int  # exchanges and passages that are new, changed or deleted
    embedded: int  # docs that now have vectors
    waiting: int  # still to be indexed
    docs: int  # docs in the index, including deleted ones
