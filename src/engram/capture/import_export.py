"""Import what chat services hand out when asked for one's data: idempotent, with the original dates."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Annotated

from engram.errors import Error, ImportRefused
from engram.hub import Hub
from engram.model import Ingested
from engram.operation import Help, operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.adapters.adapter import Adapter
    from engram.capture.discover import Source

_MEMBER = re.compile(r"(?:^|/)(?:conversations(?:-\d+)?|prod-grok-backend)\.json$")
_LARGEST = 8 << 30  # bytes of a member: more is a bomb, not a history


@operation(writes=True, agent=False)
def import_chatgpt(
    hub: Hub,
    path: Annotated[str, Help("the export: its zip, its folder, or conversations.json")],
    dry_run: Annotated[bool, Help("find and read, but write nothing")] = False,
) -> Ingested:
    """Take over the conversations of a ChatGPT data export."""
    return _imported(hub, path, "chatgpt", dry_run)


@operation(writes=True, agent=False)
def import_claude(
    hub: Hub,
    path: Annotated[str, Help("the export: its zip, its folder, or conversations.json")],
    dry_run: Annotated[bool, Help("find and read, but write nothing")] = False,
) -> Ingested:
    """Take over the conversations of a claude.ai data export."""
    return _imported(hub, path, "claude-web", dry_run)


@operation(writes=True, agent=False)
def import_grok(
    hub: Hub,
    path: Annotated[str, Help("the export: its zip, its folder, or its JSON file")],
    dry_run: Annotated[bool, Help("find and read, but write nothing")] = False,
) -> Ingested:
    """Take over the conversations of a grok.com data export."""
    return _imported(hub, path, "grok-web", dry_run)


def _imported(hub: Hub, path: str, flavor: str, dry_run: bool) -> Ingested:
    import tempfile

    from engram.capture.intake import take_in

    if not os.path.exists(path):
        raise ImportRefused(path=path, reason="there is no such file or folder.")
    with tempfile.TemporaryDirectory(prefix="engram-") as scratch:
        found = list(_files(os.path.abspath(path), scratch))
        if not found:
            raise ImportRefused(path=path, reason="it holds no conversations.json.")
        for each in found:
            adapter = _adapter(each)
            if adapter is None or adapter.flavor != flavor:
                what = f"it is of {adapter.flavor}" if adapter else "nobody knows its format"
                raise ImportRefused(path=each.name, reason=f"it is no {flavor} export: {what}.")
        return take_in(hub, found, dry_run=dry_run)


def _adapter(found: Source) -> Adapter | None:
    from engram.capture.discover import Unreadable, adapter_of

    try:
        return adapter_of(found)
    except Unreadable:
        return None


def _files(path: str, scratch: str) -> Iterator[Source]:
    """Yield the conversation files of an export, those of a zip unpacked for now."""
    import zipfile

    if os.path.isdir(path):
        names = sorted(os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files)
        yield from _present(name for name in names if _MEMBER.search(name))
    elif zipfile.is_zipfile(path):
        yield from _unpacked(path, scratch)
    else:
        yield from _present(iter([path]))


def _present(names: Iterator[str]) -> Iterator[Source]:
    from engram.capture.discover import source

    yield from (found for found in map(source, names) if found)


def _unpacked(path: str, scratch: str) -> Iterator[Source]:
    try:
        yield from _members(path, scratch)
    except (OSError, Error):
        raise
    except Exception as problem:  # of zipfile, zlib, struct and more: nobody lists what a damaged zip raises
        raise ImportRefused(path=path, reason=f"its zip is damaged: {str(problem).rstrip('.')}.") from problem


def _members(path: str, scratch: str) -> Iterator[Source]:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        for number, member in enumerate(archive.infolist()):
            if not _MEMBER.search(member.filename):
                continue
            if member.file_size > _LARGEST:
                raise ImportRefused(path=path, reason=f"{member.filename} is too large.")
            place = os.path.join(scratch, f"{number}.json")  # never by the name the archive gives
            with archive.open(member) as packed, open(place, "wb") as file:
                while chunk := packed.read(1 << 20):
                    file.write(chunk)
            for found in _present(iter([place])):
                # What is unpacked is always new; the checksum tells whether it says something else.
                facts = {**vars(found), "name": f"{path}!{member.filename}", "changed_at": member.CRC, "inode": 0}
                yield type(found)(**facts)
