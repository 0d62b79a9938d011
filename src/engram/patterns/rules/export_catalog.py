"""Export the catalog as markdown, one file per pattern, for a git repository and pull requests."""

from __future__ import annotations

import os

from engram.errors import ConfigRefused
from engram.operation import Help, operation
from engram.patterns.rules import catalog
from engram.platform import text
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub

MAX_PATTERNS = 100_000  # maximum patterns of a catalog


@value
class CatalogExport:
    """The result of an export."""

    directory: str
    written: tuple[str, ...]
    unchanged: int


@operation(writes=True, agent=False)
def export_catalog(
    hub: Hub,
    directory: Annotated[str, Help("directory to write to; created if missing")],
    with_evidence: Annotated[bool, Help("include quotes from sessions, which may be private")] = False,
    candidates: Annotated[bool, Help("include candidates, whose wording also comes from sessions")] = False,
) -> CatalogExport:
    """Write the catalog as markdown, one file per pattern; the same catalog gives the same bytes."""
    from engram.patterns.rules.catalog_file import file_heading, pattern_file_name, render_pattern

    folder = os.path.abspath(os.path.expanduser(text.validate_name("directory", directory)))
    names_by_id, written = list_file_names(folder), []
    exported = [
        listed_pattern
        for listed_pattern in catalog.list_patterns(hub, limit=MAX_PATTERNS, statistics=candidates)
        if listed_pattern.version or candidates
    ]
    for pattern in exported:
        name = names_by_id.get(pattern.id) or pattern_file_name(pattern.id, file_heading(pattern, with_evidence))
        file_text = render_pattern(catalog.load_dossier(hub, pattern.id), with_evidence=with_evidence)
        if _write_if_changed(os.path.join(folder, name), file_text):
            written.append(name)
    return CatalogExport(folder, tuple(written), len(exported) - len(written))


def list_file_names(folder: str) -> dict[str, str]:
    """Map pattern ids to existing files: a title may change, but its file keeps its name."""
    try:
        file_names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and "-" in name)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise ConfigRefused(path=folder, reason=f"it cannot be read: {problem.strerror}.") from problem
    return {name.partition("-")[0]: name for name in reversed(file_names)}


def _write_if_changed(path: str, file_text: str) -> bool:
    """Write a file if its content changed; return whether it did."""
    from engram.platform.file_edit import FileChange, read_file, write_change

    if os.path.islink(path):  # a cloned repository may contain a link to anywhere
        raise ConfigRefused(path=path, reason="it is a link. Remove it and export again.")
    before, after = read_file(path), file_text.encode()
    if before == after:
        return False
    write_change(FileChange(path, before, after, "pattern", shared=True))
    return True
