"""The history of documents: every version with who wrote it, to be read and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from engram import text
from engram.clock import moment
from engram.coordination import sessions, world_state
from engram.errors import InvalidInput, NotFound, StoreBusy
from engram.hub import Hub
from engram.memory import gist, narrative, versions
from engram.memory.eras import month_named
from engram.memory.months import Months
from engram.memory.versions import ERA, GIST, NARRATIVE, PROFILE, SELF
from engram.operation import Help, operation
from engram.store import documents
from engram.value import value

if TYPE_CHECKING:
    from datetime import datetime

    from engram.store.engine import Row

WORLD = world_state.KIND
DOCUMENTS = (GIST, ERA, PROFILE, NARRATIVE, SELF, WORLD)
_USUAL = {PROFILE: "self", NARRATIVE: "current", SELF: "self", WORLD: world_state.GLOBAL}
_KIND = Help(f"which: {', '.join(DOCUMENTS)}")
_NAME = Help("of which one: a gist's session, an era's month, a world state's project, the id of the others")


@value
class DocumentVersion:
    """One version of a document."""

    document: str
    name: str  # session, month, project or id
    version: int
    made_at: datetime
    author: str  # person, model, import, or extract: quotes by rules
    made_by: str  # as it was noted: the model and its prompt, the session, the import
    size: int  # characters
    begins: str
    content: str = ""  # where one version is asked for


@operation()
def list_versions(
    hub: Hub,
    document: Annotated[str, _KIND],
    name: Annotated[str | None, _NAME] = None,
    limit: Annotated[int, Help("maximum number of versions")] = 50,
) -> list[DocumentVersion]:
    """List the versions of a document, the newest first, with who wrote each."""
    kind, key = _named(hub, document, name)
    return [_view(row) for row in documents.history(hub.engine, kind, key, sessions.positive("limit", limit))]


@operation()
def get_version(
    hub: Hub,
    document: Annotated[str, _KIND],
    version: Annotated[int, Help("its number, as list_versions names it")],
    name: Annotated[str | None, _NAME] = None,
) -> DocumentVersion:
    """Show one version of a document."""
    row = _require(hub, *_named(hub, document, name), version)
    return _view(row, row["content"])


@operation(writes=True)
def restore_version(
    hub: Hub,
    document: Annotated[str, _KIND],
    version: Annotated[int, Help("its number, as list_versions names it")],
    name: Annotated[str | None, _NAME] = None,
) -> DocumentVersion:
    """Let a document say again what an older version said, as a new version."""
    kind, key = _named(hub, document, name)
    row = _require(hub, kind, key, version)
    if not row["content"]:
        raise InvalidInput(field="version", reason=f"version {version} is empty.")
    now = documents.current(hub.engine, kind, key)
    if now is None or now["version"] == version:
        return _view(row)
    if kind == WORLD:
        world_state.set_world_state(hub, row["content"], row["made_by"], project=key or None)
    else:
        put_back(hub, now, row, row["made_by"], {"restored": version})
    return _view(documents.current(hub.engine, kind, key) or row)


def put_back(hub: Hub, now: Row, before: Row | None, made_by: str, more: dict[str, Any]) -> None:
    """Add a version that says what an older one said, or nothing, and stays until its sources change anew."""
    kind = now["kind"]
    facts = versions.loaded((before or now)["sources"]) | more | _up_to_date(hub, now)
    with hub.engine.transaction(durable=True):
        content = before["content"] if before else ""
        row = versions.add(hub, kind, now["key"], content, versions.dumped(facts), made_by)
        if row is None:
            raise StoreBusy(store=hub.engine.store, seconds=0)
        if kind == GIST:
            gist.restore(hub, row)
        elif kind != SELF:
            versions.show(hub, row)


def _up_to_date(hub: Hub, now: Row) -> dict[str, Any]:
    """Return what says that a document is up to date, so that nothing is made again before its sources change."""
    if now["kind"] == SELF:
        return {}
    if now["kind"] == GIST:
        return {"hash": versions.loaded(now["sources"]).get("hash")}
    months = Months(hub)
    if now["kind"] == ERA:
        return {"hash": months.sources(now["key"])["hash"]}
    if now["kind"] == PROFILE:
        return {"hash": months.made_of(list(months.sessions))["hash"]}
    return {"hash": narrative.sources(hub, months)["hash"]}


def _named(hub: Hub, document: str, name: str | None) -> tuple[str, str]:
    """Return the kind and key of a document somebody names."""
    if document not in DOCUMENTS:
        reason = f"Unknown document {document!r}. Choose one of: {', '.join(DOCUMENTS)}."
        raise InvalidInput(field="document", reason=reason)
    if name is None and document not in _USUAL:
        reason = f"Say which {document}: {'a session' if document == GIST else 'a month'}."
        raise InvalidInput(field="name", reason=reason)
    if name is None:
        return document, _USUAL[document]
    if document == GIST:
        return document, sessions.get_session(hub, name).id
    if document == WORLD:
        return document, sessions.room(name) or world_state.GLOBAL
    return document, month_named(name) if document == ERA else text.name("name", name)


def _require(hub: Hub, kind: str, key: str, version: int) -> Row:
    known = isinstance(version, int) and 0 < version < 1 << 31
    row = documents.get(hub.engine, kind, key, version) if known else None
    if row is None:
        of = f"version of the {kind} {key}".rstrip()
        raise NotFound(kind=of, id=str(version), hint="--history lists the versions there are.")
    return row


def _view(row: Row, content: str = "") -> DocumentVersion:
    return DocumentVersion(
        document=row["kind"], name=row["key"], version=row["version"], made_at=moment(row["made_at"]),
        author=versions.author(row) if row["content"] else "", made_by=row["made_by"] or "", size=len(row["content"]),
        begins=text.one_line(row["content"].lstrip().partition("\n")[0], 80), content=content,
    )  # fmt: skip
