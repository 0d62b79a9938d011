"""Import data exports of chat services: repeatable, with the original dates."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Annotated

from engram.capture.ingest_report import Ingested
from engram.errors import Error, ImportRefused
from engram.hub import Hub
from engram.operation import Help, operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.agents.transcripts.adapter import Adapter
    from engram.capture.discover import TranscriptFile

_MEMBER = re.compile(r"(?:^|/)(?:conversations(?:-\d+)?|prod-grok-backend)\.json$")
_LARGEST = 8 << 30  # bytes of a member: a larger one is a zip bomb, not a history


@operation(writes=True, agent=False)
def import_chatgpt(
    hub: Hub,
    path: Annotated[str, Help("the export: zip file, folder or conversations.json")],
    dry_run: Annotated[bool, Help("read the export without importing it")] = False,
) -> Ingested:
    """Import the conversations of a ChatGPT data export."""
    return _import_export(hub, path, "chatgpt", dry_run)


@operation(writes=True, agent=False)
def import_claude(
    hub: Hub,
    path: Annotated[str, Help("the export: zip file, folder or conversations.json")],
    dry_run: Annotated[bool, Help("read the export without importing it")] = False,
) -> Ingested:
    """Import the conversations of a claude.ai data export."""
    return _import_export(hub, path, "claude-web", dry_run)


@operation(writes=True, agent=False)
def import_grok(
    hub: Hub,
    path: Annotated[str, Help("the export: zip file, folder or JSON file")],
    dry_run: Annotated[bool, Help("read the export without importing it")] = False,
) -> Ingested:
    """Import the conversations of a grok.com data export."""
    return _import_export(hub, path, "grok-web", dry_run)


def _import_export(hub: Hub, path: str, flavor: str, dry_run: bool) -> Ingested:
    import tempfile

    from engram.capture.ingest_run import ingest_transcripts

    if not os.path.exists(path):
        raise ImportRefused(path=path, reason="no such file or folder.")
    with tempfile.TemporaryDirectory(prefix="engram-") as scratch:
        sources = list(_iter_files(os.path.abspath(path), scratch))
        if not sources:
            raise ImportRefused(path=path, reason="it does not contain a conversations.json.")
        for source in sources:
            adapter = _find_adapter(source)
            if adapter is None or adapter.flavor != flavor:
                origin = f"it is from {adapter.flavor}" if adapter else "its format is unknown"
                raise ImportRefused(path=source.name, reason=f"it is not a {flavor} export; {origin}.")
        return ingest_transcripts(hub, sources, dry_run=dry_run)


def _find_adapter(source: TranscriptFile) -> Adapter | None:
    from engram.capture.discover import UnreadableFile, find_adapter

    try:
        return find_adapter(source)
    except UnreadableFile:
        return None


def _iter_files(path: str, scratch: str) -> Iterator[TranscriptFile]:
    """Yield the conversation files of an export; those of a zip are unpacked to a temporary directory."""
    import zipfile

    if os.path.isdir(path):
        names = sorted(os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files)
        yield from _iter_existing(name for name in names if _MEMBER.search(name))
    elif zipfile.is_zipfile(path):
        yield from _iter_zip(path, scratch)
    else:
        yield from _iter_existing(iter([path]))


def _iter_existing(names: Iterator[str]) -> Iterator[TranscriptFile]:
    from engram.capture.discover import stat_transcript

    yield from (existing for existing in map(stat_transcript, names) if existing)


def _iter_zip(path: str, scratch: str) -> Iterator[TranscriptFile]:
    try:
        yield from _unpack_members(path, scratch)
    except (OSError, Error):
        raise
    except Exception as problem:  # zipfile, zlib, struct and more: what a damaged zip raises is not documented
        raise ImportRefused(path=path, reason=f"the zip is damaged: {str(problem).rstrip('.')}.") from problem


def _unpack_members(path: str, scratch: str) -> Iterator[TranscriptFile]:
    import zipfile

    with zipfile.ZipFile(path) as archive:
        for number, member in enumerate(archive.infolist()):
            if not _MEMBER.search(member.filename):
                continue
            if member.file_size > _LARGEST:
                raise ImportRefused(path=path, reason=f"{member.filename} is too large.")
            target = os.path.join(scratch, f"{number}.json")  # never the name the archive gives
            with archive.open(member) as packed, open(target, "wb") as file:
                while chunk := packed.read(1 << 20):
                    file.write(chunk)
            for unpacked in _iter_existing(iter([target])):
                # An unpacked file always looks new; the checksum shows whether it changed.
                facts = {**vars(unpacked), "name": f"{path}!{member.filename}", "changed_at": member.CRC, "inode": 0}
                yield type(unpacked)(**facts)
