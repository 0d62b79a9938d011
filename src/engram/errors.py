"""Every error Engram raises.

A class docstring is the message template, its fields are the facts, and three attributes tell each
surface how to report it: `code` for programs, `status` for HTTP, `exit` for the shell.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any


class Error(Exception):
    """Something went wrong."""

    code = "error"
    status = 500
    exit = 1

    def __init__(self, **facts: Any) -> None:
        self.facts = facts
        self.__dict__.update(facts)
        template = " ".join((type(self).__doc__ or "").split())
        super().__init__(template.format_map(facts))

    def __reduce__(self) -> Any:
        return _rebuild_error, (type(self), self.facts)


def _rebuild_error(kind: type[Error], facts: dict[str, Any]) -> Error:
    return kind(**facts)


class InvalidInput(Error):
    """{field}: {reason}"""

    code, status, exit = "invalid_input", 400, 2
    field: str
    reason: str


class MissingInput(InvalidInput):
    """{reason}"""


class TooLarge(Error):
    """{field} is {size} {unit}; the limit is {limit}. {hint}"""

    code, status, exit = "too_large", 413, 2
    field: str
    size: int
    limit: int
    unit: str
    hint: str


class NotFound(Error):
    """No {kind} {id!r}. {hint}"""

    code, status = "not_found", 404
    kind: str
    id: str
    hint: str


class NotWritten(NotFound):
    """There is no {kind} yet. {hint}"""


class NoVersion(NotFound):
    """{kind} has no version {id}. {hint}"""


class Held(Error):
    """This is locked by {holder} ({flavor}: {summary}) for another {left}. Wait, do something else, or message them.
    Locked: {resource}{held_text}{note_text}, token {token}{others_text}."""

    code, status, exit = "held", 409, 3
    resource: str
    holder: str
    flavor: str
    summary: str
    note: str | None
    held: str
    until: datetime
    left: str
    token: int
    locks: tuple[Any, ...]

    def shorten(self, length: int) -> str:
        """Return who holds it and what to do, then as much of the end of the path as fits."""
        message = str(self)
        head, mark, _ = message.partition(" Locked: ")
        room = length - len(head) - len(mark) - len(".")
        if len(message) <= length or room <= 1:
            return message[:length]
        path = self.resource if len(self.resource) <= room else f"…{self.resource[1 - room :]}"
        return f"{head}{mark}{path}."


class Fenced(Error):
    """{reason} Nothing was changed. Read the resource again, and lock it again if you still need it."""

    code, status, exit = "fenced", 409, 3
    reason: str
    session_id: str


class Conflict(Error):
    """{document} is at version {version}, not {expected}: {by} changed it.
    Read it again, merge, and write with expected_version={version}."""

    code, status, exit = "conflict", 409, 3
    document: str
    version: int
    expected: int
    by: str


class Unauthorized(Error):
    """{reason}"""

    code, status = "unauthorized", 401
    reason: str


class StoreBusy(Error):
    """The store {store} was busy for {seconds} s. Nothing was written. Try again."""

    code, status = "store_busy", 503


class StoreFull(Error):
    """No disk space left for the store {store}. Nothing was written.
    Free some disk space and run the command again."""

    code, status = "store_full", 507


class StoreUnavailable(Error):
    """Cannot use the store {store}: {reason} {hint}"""

    code, status = "store_unavailable", 503


class StoreDamaged(Error):
    """The store {store} is damaged: {reason} Engram did not change it. Restore it from a copy."""

    code = "store_damaged"


class StoreReadOnly(Error):
    """{store} cannot be written from here, so nothing was saved; reading works.
    If an agent's sandbox runs this, allow writes to {home}, or use Engram's MCP tools, which run outside it."""

    code, status = "store_read_only", 503
    store: str
    home: str


class UpgradeFailed(Error):
    """Cannot upgrade {store} to this version of Engram: {reason}. Nothing was changed{copy}.
    Keep using your previous version and report this."""

    code, status = "upgrade_failed", 503
    store: str


class StoreMissing(Error):
    """{home} contains {remains}, but its database {store} is {state}. Engram did not create a new one.
    Put the database back{copy}, set ENGRAM_STORE if it is elsewhere, or move {home} aside to start over;
    `engram ingest` then reads your agents' transcripts again."""

    code, status = "store_missing", 503
    home: str
    store: str


class RepairRefused(Error):
    """{directory} contains {bodies}, but {store} refers to none of them: they belong to another database.
    Nothing was changed. Put that database back, then run this again."""

    code, status, exit = "repair_refused", 409, 3
    directory: str
    store: str


class NotAStore(Error):
    """{path} {what}. It was not changed. {hint}"""

    code, status = "not_a_store", 503
    path: str
    what: str
    hint: str


class NetworkFilesystem(Error):
    """{path} is on a network filesystem ({filesystem}), where SQLite can silently lose data.
    Point ENGRAM_HOME at a local disk, or share through PostgreSQL (ENGRAM_STORE=postgresql://…)."""

    code = "network_filesystem"


class SchemaTooNew(Error):
    """The store {store} has schema {found}, but this version of Engram supports only up to {known}.
    Upgrade Engram. Nothing was changed."""

    code = "schema_too_new"


class SettingsInvalid(Error):
    """{source}: {reason}"""

    code, exit = "settings_invalid", 2


class MissingExtra(Error):
    """{feature} needs the extra {extra!r}. Install it with: {command}"""

    code, status = "missing_extra", 501

    def __init__(self, **facts: Any) -> None:
        from engram.distribution import format_install_command

        super().__init__(**{"command": format_install_command(facts["extra"]), **facts})


class ImportRefused(Error):
    """Cannot import {path}: {reason}"""

    code, status, exit = "import_refused", 400, 1


class BodyGone(Error):
    """The body {name} is missing from the store. Run `engram check` to see which session it belongs to."""

    code, status = "body_gone", 410
    name: str


class SweepRunning(Error):
    """Another `engram ingest` is running (process {pid}) and reads the same transcripts. Wait for it to finish."""

    code, status, exit = "sweep_running", 409, 3
    pid: int


class CompileRunning(Error):
    """Another `engram compile` is running on this wiki (process {pid}). Wait for it to finish."""

    code, status, exit = "compile_running", 409, 3
    pid: int


class DreamRunning(Error):
    """A dream is already running on this store (process {pid} on {host}, since {since}). Wait for it to finish."""

    code, status, exit = "dream_running", 409, 3
    host: str
    pid: int
    since: str


class ModelOff(Error):
    """No model is configured, so Engram calls none. Choose one with ENGRAM_MODEL or `model` in {place}:
    claude or codex (the agent program you are logged in to), anthropic or openai (an API, also a local one)."""

    code, status = "model_off", 501
    place: str


class ModelInside(ModelOff):
    """Engram does not call a model from inside {place}: memory must not feed on itself."""

    code, status = "model_inside", 409
    place: str


class ModelUnavailable(Error):
    """The model provider {provider!r} is not answering: {reason} Try again later."""

    code, status = "model_unavailable", 503
    provider: str
    reason: str
    after: float | None  # seconds the provider asks us to wait
    billed: bool  # whether the call may have been charged anyway


class ModelRefused(Error):
    """The model provider {provider!r} refused the request: {reason} {hint}"""

    code, status = "model_refused", 502
    provider: str
    reason: str
    hint: str


class ModelInvalid(Error):
    """The model provider {provider!r} returned an unusable reply: {reason}"""

    code, status = "model_invalid", 502
    provider: str
    reason: str
    reply_text: str  # the model's reply; also saved in the ledger


class BudgetSpent(Error):
    """{reason} {hint}"""

    code, status = "budget_spent", 429
    reason: str
    hint: str
    free_at: datetime | None  # when the daily cap allows calls again


class ConfigRefused(Error):
    """Did not change {path}: {reason}"""

    code, status, exit = "config_refused", 409, 1
    path: str
    reason: str


class ConfigDamaged(ConfigRefused):
    """{path}, line {line}: {reason} Nothing was written there. Fix it and run this again."""

    code = "config_damaged"
    line: int


class ConfigChanged(ConfigRefused):
    """Another program changed {path} in the meantime. Nothing was written there. Run this again."""

    code = "config_changed"


class InitRunning(Error):
    """Another `engram init` or `uninit` is running (process {pid}). Wait for it, then run this again."""

    code, status, exit = "init_running", 409, 3
    pid: int


class Undecidable(Error):
    """{pattern} is {state}, so it cannot be {wanted}. {hint}"""

    code, status, exit = "undecidable", 409, 3
    pattern: str
    state: str
    wanted: str
    hint: str


class OnlyPeople(Error):
    """Only a person decides what agents are told, and {agent} is running this. Run it in your own terminal;
    an agent can advise with the tool `patterns`."""

    code, status, exit = "only_people", 403, 3
    agent: str


class DistributeRunning(Error):
    """Another `engram patterns distribute` is running (process {pid}). Wait for it, then run this again."""

    code, status, exit = "distribute_running", 409, 3
    pid: int


class DistributeOutdated(Error):
    """A rule changed after this preview, so nothing was written. Run it again to see the current changes."""

    code, status, exit = "distribute_outdated", 409, 3


class ScheduleRefused(Error):
    """Could not schedule the dream: {reason} {hint}"""

    code, status, exit = "schedule_refused", 409, 1
    reason: str
    hint: str
