"""The history of documents: every version with its author, to read and restore."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram.clock import to_datetime
from engram.errors import InvalidInput, MissingInput, NoVersion, StoreBusy
from engram.hub import Hub
from engram.operation import Help, operation
from engram.platform import text
from engram.platform.value import value
from engram.sessions import lifecycle, world_state
from engram.store import documents
from engram.summaries import gist, narrative, versions
from engram.summaries.eras import parse_month
from engram.summaries.months import Months
from engram.summaries.versions import ERA, GIST, NARRATIVE, PROFILE, SELF

if TYPE_CHECKING:
    from datetime import datetime

    from engram.store.engine import Row

WORLD = world_state.KIND
DOCUMENTS = (GIST, ERA, PROFILE, NARRATIVE, SELF, WORLD)
_USUAL = {**versions.USUAL, WORLD: world_state.GLOBAL}
_UNNAMED = {GIST: "Name the session, e.g. `engram gist SESSION --history`.",
            ERA: "Name the month, e.g. `engram eras 2026-03 --history`."}  # fmt: skip
_KIND = Help(f"document type: {', '.join(DOCUMENTS)}")
_NAME = Help("session of a gist, month of an era, project of a world state, or id of other documents")


@value
class DocumentVersion:
    """One version of a document."""

    document: str
    name: str  # session, month, project or id
    version: int
    made_at: datetime
    author: str  # person, model, import, or extract (quotes by rules)
    made_by: str  # details: model and prompt, session, or import
    size: int  # characters
    begins: str
    content: str = ""  # only if a single version is requested


@operation()
def list_versions(
    hub: Hub,
    document: Annotated[str, _KIND],
    name: Annotated[str | None, _NAME] = None,
    limit: Annotated[int, Help("maximum number of versions")] = 50,
) -> list[DocumentVersion]:
    """List the versions of a document, newest first, with the author of each."""
    kind, key = _resolve_document(hub, document, name)
    return [
        _version_from_row(row)
        for row in documents.list_versions(hub.engine, kind, key, lifecycle.require_positive("limit", limit))
    ]


@operation()
def get_version(
    hub: Hub,
    document: Annotated[str, _KIND],
    version: Annotated[int, Help("version number, as shown by list_versions")],
    name: Annotated[str | None, _NAME] = None,
) -> DocumentVersion:
    """Show one version of a document."""
    row = _require_version(hub, *_resolve_document(hub, document, name), version)
    return _version_from_row(row, row["content"])


@operation(writes=True)
def restore_version(
    hub: Hub,
    document: Annotated[str, _KIND],
    version: Annotated[int, Help("version number, as shown by list_versions")],
    name: Annotated[str | None, _NAME] = None,
) -> DocumentVersion:
    """Restore an older version of a document as a new version."""
    kind, key = _resolve_document(hub, document, name)
    row = _require_version(hub, kind, key, version)
    if not row["content"]:
        raise InvalidInput(field="version", reason=f"Version {version} is empty.")
    current = documents.get_current(hub.engine, kind, key)
    if current is None or current["version"] == version:
        return _version_from_row(row)
    if kind == WORLD:
        world_state.set_world_state(hub, row["content"], row["made_by"], project=key or None)
    else:
        add_restored_version(hub, current, row, row["made_by"], {"restored": version})
    return _version_from_row(documents.get_current(hub.engine, kind, key) or row)


def add_restored_version(
    hub: Hub, current: Row, older: Row | None, made_by: str, extra_sources: dict[str, Any]
) -> None:
    """Add a version with the text of an older one, or empty; it stays until its sources change."""
    kind = current["kind"]
    sources = versions.load_sources((older or current)["sources"]) | extra_sources | _compute_source_hash(hub, current)
    with hub.engine.transaction(durable=True):
        content = older["content"] if older else ""
        row = versions.add_version(hub, kind, current["key"], content, versions.dump_sources(sources), made_by)
        if row is None:
            raise StoreBusy(store=hub.engine.store, seconds=0)
        if kind == GIST:
            gist.restore_gist(hub, row)
        elif kind != SELF:
            versions.update_passages(hub, row)


def _compute_source_hash(hub: Hub, current: Row) -> dict[str, Any]:
    """Return the hash of the sources that marks a document as up to date, so that it is not rebuilt before they
    change.
    """
    if current["kind"] == SELF:
        return {}
    if current["kind"] == GIST:
        return {"hash": versions.load_sources(current["sources"]).get("hash")}
    months = Months(hub)
    if current["kind"] == ERA:
        return {"hash": months.build_era_sources(current["key"])["hash"]}
    if current["kind"] == PROFILE:
        return {"hash": months.build_sources(list(months.sessions))["hash"]}
    return {"hash": narrative.collect_sources(hub, months)["hash"]}


def _resolve_document(hub: Hub, document: str, name: str | None) -> tuple[str, str]:
    """Return the kind and key of a document given by name."""
    if document not in DOCUMENTS:
        reason = f"Unknown document {document!r}. Choose one of: {', '.join(DOCUMENTS)}."
        raise InvalidInput(field="document", reason=reason)
    if name is None and document in _UNNAMED:
        raise MissingInput(field="name", reason=_UNNAMED[document])
    if name is None:
        return document, _USUAL[document]
    if document == GIST:
        return document, lifecycle.get_session(hub, name).id
    if document == WORLD:
        return document, lifecycle.parse_project_filter(name) or world_state.GLOBAL
    return document, parse_month(name) if document == ERA else text.validate_name("name", name)


def _require_version(hub: Hub, kind: str, key: str, version: int) -> Row:
    row = documents.get(hub.engine, kind, key, version)
    if row is None:
        label = world_state.format_title(key) if kind == WORLD else versions.format_title(kind, key)
        raise NoVersion(kind=f"The {label}", id=str(version), hint="List the versions with --history.")
    return row


def _version_from_row(row: Row, content: str = "") -> DocumentVersion:
    return DocumentVersion(
        document=row["kind"],
        name=row["key"],
        version=row["version"],
        made_at=to_datetime(row["made_at"]),
        author=versions.get_author(row) if row["content"] else "",
        made_by=row["made_by"] or "",
        size=len(row["content"]),
        begins=text.to_one_line(row["content"].lstrip().partition("\n")[0], 80),
        content=content,
    )
