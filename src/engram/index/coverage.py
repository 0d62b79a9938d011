"""Which segments a model still has to embed. Loads neither numpy nor a model: every ingest asks."""

from __future__ import annotations

from typing import Any

from engram.hub import Hub
from engram.models import embedder
from engram.store import index_segments


def needs_fast_embedding(hub: Hub) -> bool:
    """Return whether the bundled model still has to embed something."""
    if embedder.get_embedder_name(hub.settings) == embedder.OFF:
        return False
    return bool(list_unembedded_segments(hub, embedder.get_model_name(embedder.STATIC, hub.settings)))


def list_unembedded_segments(hub: Hub, model: str) -> list[dict[str, Any]]:
    """Return the segments a model still has to embed; the bundled one skips what another has embedded."""
    spaces = {row["model"]: row["id"] for row in index_segments.list_spaces(hub.engine)}
    rows = index_segments.list_coverage(hub.engine, spaces.get(model, 0))
    unfinished = [row for row in rows if row["through"] < row["count"]]
    if not unfinished or embedder.get_model_name(embedder.get_embedder_name(hub.settings), hub.settings) == model:
        return unfinished
    covered = {
        row["id"]
        for space in spaces.values()
        for row in index_segments.list_coverage(hub.engine, space)
        if _is_covered(row)
    }
    return [row for row in unfinished if row["id"] not in covered]


def _is_covered(row: dict[str, Any]) -> bool:
    return bool(row["through"] >= row["count"])
