"""Remove what older rules made: pages of files, names and errors, each of quotes from log entries."""

from __future__ import annotations

import os
from contextlib import suppress

from engram.wiki.compiler.project_compilation import is_made_by_rules
from engram.wiki.project_pages.page_draft import RULES
from engram.wiki.vault import state
from engram.wiki.vault.vault import Vault
from engram.wiki.vault.write_batch import PageWrite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_FILES = ("candidates.json", "together.json")  # what older rules kept beside the pages


def list_removals(vault: Vault, written: Collection[str]) -> list[PageWrite]:
    """Return the removals of the pages that older rules made, except those that were written anew."""
    records = ((target, state.read_page_record(vault, target) or {}) for target in state.list_page_records(vault))
    return [
        PageWrite(target=target, text=None, made_by=record["made_by"], record=record, gone=True)
        for target, record in records
        if target not in written and is_made_by_rules(record) and record["made_by"] != RULES
    ]


def remove_files(vault: Vault) -> None:
    """Remove what older rules kept beside the pages."""
    for name in _FILES:
        with suppress(FileNotFoundError):
            os.remove(os.path.join(vault.own_dir, name))
