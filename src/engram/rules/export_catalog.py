"""Export the catalog: one markdown file a pattern, fit for a git repository and a pull request."""

from __future__ import annotations

import os

from engram import text
from engram.errors import ConfigRefused
from engram.operation import Help, operation
from engram.rules import catalog
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Annotated

    from engram.hub import Hub

MOST = 100_000  # patterns of one catalog


@value
class Exported:
    """What an export wrote."""

    directory: str
    written: tuple[str, ...]
    unchanged: int


@operation(writes=True, agent=False)
def export_catalog(
    hub: Hub,
    directory: Annotated[str, Help("where the files go; it is made if it is not there")],
    with_evidence: Annotated[bool, Help("also write what was said in sessions; it may be private")] = False,
    candidates: Annotated[bool, Help("also what nobody decided about; its words come from sessions too")] = False,
) -> Exported:
    """Write the catalog as markdown, one file a pattern; the same catalog gives the same bytes."""
    from engram.rules.catalog_file import file_name, heading, render

    folder = os.path.abspath(os.path.expanduser(text.name("directory", directory)))
    known, written = names(folder), []
    found = [each for each in catalog.list_patterns(hub, limit=MOST) if each.version or candidates]
    for pattern in found:
        name = known.get(pattern.id) or file_name(pattern.id, heading(pattern, with_evidence))
        said = render(catalog.dossier(hub, pattern.id), with_evidence=with_evidence)
        if _put(os.path.join(folder, name), said):
            written.append(name)
    return Exported(folder, tuple(written), len(found) - len(written))


def names(folder: str) -> dict[str, str]:
    """Return the files of a catalog by the id their name begins with: a title may change, a file's name should not."""
    try:
        found = sorted(name for name in os.listdir(folder) if name.endswith(".md") and "-" in name)
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise ConfigRefused(path=folder, reason=f"it cannot be read: {problem.strerror}.") from problem
    return {name.partition("-")[0]: name for name in reversed(found)}


def _put(path: str, said: str) -> bool:
    """Write a file if it says something else; tell whether it did."""
    from engram.files.change import Change, read, write

    if os.path.islink(path):  # a repository of others may hold one that leads anywhere
        raise ConfigRefused(path=path, reason="it is a link. Remove it and export again.")
    before, after = read(path), said.encode()
    if before == after:
        return False
    write(Change(path, before, after, "pattern", shared=True))
    return True
