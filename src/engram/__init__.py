"""Engram: one memory for every coding agent.

The names below are the public API. They are loaded on first use, because a hook that runs at every
agent event must not load what it does not need.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from engram.api import Engram, sitrep, update_world_state
    from engram.capture.digests.daily_activity import Day
    from engram.capture.digests.rebuild_report import RebuiltDigests
    from engram.capture.digests.transcript import Outline, Turn
    from engram.capture.ingest_report import Ingested as Ingested
    from engram.capture.ingest_report import Retention as Retention
    from engram.capture.storage import Storage
    from engram.dream.priorities import Drive
    from engram.dream.results import DreamPreview, Pass, StepResult, UndoReport
    from engram.errors import (
        BodyGone,
        BudgetSpent,
        CompileRunning,
        ConfigChanged,
        ConfigDamaged,
        ConfigRefused,
        Conflict,
        DistributeOutdated,
        DistributeRunning,
        DreamRunning,
        Error,
        Fenced,
        Held,
        ImportRefused,
        InitRunning,
        InvalidInput,
        MissingExtra,
        MissingInput,
        ModelInside,
        ModelInvalid,
        ModelOff,
        ModelRefused,
        ModelUnavailable,
        NetworkFilesystem,
        NotAStore,
        NotFound,
        NotWritten,
        NoVersion,
        OnlyPeople,
        RepairRefused,
        ScheduleRefused,
        SchemaTooNew,
        SettingsInvalid,
        StoreBusy,
        StoreDamaged,
        StoreFull,
        StoreMissing,
        StoreReadOnly,
        StoreUnavailable,
        SweepRunning,
        TooLarge,
        Unauthorized,
        Undecidable,
        UpgradeFailed,
    )
    from engram.evidence.records import Decision, Episode, EpisodeError, OpenItem
    from engram.importers.lyra import LyraImportReport
    from engram.importers.memoria import MemoriaImportReport
    from engram.importers.session_memory_report import SessionMemoryImportReport
    from engram.index.index_report import Indexed
    from engram.install.finding import Finding
    from engram.install.hook_times import HookTimes
    from engram.install.init import RewrittenFile, WiringReport
    from engram.models.status import ModelStatus
    from engram.patterns.candidate import Candidate, CandidateEvidence, DetectResult
    from engram.patterns.rules.catalog import Dossier, Pattern, PatternEvidence, Placement, Recommendation, RuleVersion
    from engram.patterns.rules.distribute import DistributeResult, WrittenFile
    from engram.patterns.rules.effect import Effect, Sample
    from engram.patterns.rules.export_catalog import CatalogExport
    from engram.patterns.rules.import_catalog import ImportedCatalog, ImportedPattern
    from engram.patterns.rules.statistics import Interval
    from engram.platform.host import Process
    from engram.search.briefing import Context
    from engram.search.pushed import Pushed
    from engram.sessions.stats import Project
    from engram.summaries.deletion_report import DeletionReport
    from engram.summaries.document_history import DocumentVersion
    from engram.summaries.gist import Backlog, SummarizeReport
    from engram.summaries.integration_report import IntegrationReport
    from engram.summaries.playbook.playbook import Playbook, PlaybookLine
    from engram.summaries.tier_documents import Tier
    from engram.surfaces.errors import (
        AlreadyServing,
        CallCancelled,
        ForeignOrigin,
        ForgedForm,
        FromOutside,
        HomeUnwritable,
        InternalError,
        Interrupted,
        Misdirected,
        NoForm,
        NoLink,
        NotAllowed,
        NotInvited,
        NotJson,
        PassUnderWay,
        ToolFailure,
        TooManyListeners,
    )
    from engram.types import (
        About,
        Activity,
        Around,
        Capture,
        Check,
        Cost,
        Digest,
        Era,
        Event,
        Exchange,
        Gist,
        Hit,
        Imported,
        Lock,
        Log,
        Message,
        Rot,
        Sent,
        Session,
        Sitrep,
        Stats,
        Usage,
        WorldState,
    )
    from engram.wiki.answer import AnswerSource, WikiAnswer
    from engram.wiki.checks import LintFinding
    from engram.wiki.compiler.compile import CompileResult
    from engram.wiki.edit import EditResult, NotWhole, PageChanged
    from engram.wiki.flush import FlushResult
    from engram.wiki.flush_failures import FlushFailure
    from engram.wiki.graph import ArticleNode, LinkGraph
    from engram.wiki.lint import LintReport
    from engram.wiki.mentions import Mention
    from engram.wiki.page import PageLink, PageSource, PageUnreadable, WikiPage
    from engram.wiki.page_list import ListedPage, PageList
    from engram.wiki.vault.daily_log import LogEntry
    from engram.wiki.vault.history import PageVersion

    SessionRegistry = Engram
    DB_PATH: Path | None

__version__ = "0.2.0"

__all__ = [
    "About",
    "Activity",
    "AlreadyServing",
    "AnswerSource",
    "Around",
    "ArticleNode",
    "Backlog",
    "BodyGone",
    "BudgetSpent",
    "CallCancelled",
    "Candidate",
    "CandidateEvidence",
    "Capture",
    "CatalogExport",
    "Check",
    "CompileResult",
    "CompileRunning",
    "ConfigChanged",
    "ConfigDamaged",
    "ConfigRefused",
    "Conflict",
    "Context",
    "Cost",
    "Day",
    "Decision",
    "DeletionReport",
    "DetectResult",
    "Digest",
    "DistributeOutdated",
    "DistributeResult",
    "DistributeRunning",
    "DocumentVersion",
    "Dossier",
    "DreamPreview",
    "DreamRunning",
    "Drive",
    "EditResult",
    "Effect",
    "Engram",
    "Episode",
    "EpisodeError",
    "Era",
    "Error",
    "Event",
    "Exchange",
    "Fenced",
    "Finding",
    "FlushFailure",
    "FlushResult",
    "ForeignOrigin",
    "ForgedForm",
    "FromOutside",
    "Gist",
    "Held",
    "Hit",
    "HomeUnwritable",
    "HookTimes",
    "ImportRefused",
    "Imported",
    "ImportedCatalog",
    "ImportedPattern",
    "Indexed",
    "Ingested",
    "InitRunning",
    "IntegrationReport",
    "InternalError",
    "Interrupted",
    "Interval",
    "InvalidInput",
    "LinkGraph",
    "LintFinding",
    "LintReport",
    "ListedPage",
    "Lock",
    "Log",
    "LogEntry",
    "LyraImportReport",
    "MemoriaImportReport",
    "Mention",
    "Message",
    "Misdirected",
    "MissingExtra",
    "MissingInput",
    "ModelInside",
    "ModelInvalid",
    "ModelOff",
    "ModelRefused",
    "ModelStatus",
    "ModelUnavailable",
    "NetworkFilesystem",
    "NoForm",
    "NoLink",
    "NoVersion",
    "NotAStore",
    "NotAllowed",
    "NotFound",
    "NotInvited",
    "NotJson",
    "NotWhole",
    "NotWritten",
    "OnlyPeople",
    "OpenItem",
    "Outline",
    "PageChanged",
    "PageLink",
    "PageList",
    "PageSource",
    "PageUnreadable",
    "PageVersion",
    "Pass",
    "PassUnderWay",
    "Pattern",
    "PatternEvidence",
    "Placement",
    "Playbook",
    "PlaybookLine",
    "Process",
    "Project",
    "Pushed",
    "RebuiltDigests",
    "Recommendation",
    "RepairRefused",
    "Retention",
    "RewrittenFile",
    "Rot",
    "RuleVersion",
    "Sample",
    "ScheduleRefused",
    "SchemaTooNew",
    "Sent",
    "Session",
    "SessionMemoryImportReport",
    "SessionRegistry",
    "SettingsInvalid",
    "Sitrep",
    "Stats",
    "StepResult",
    "Storage",
    "StoreBusy",
    "StoreDamaged",
    "StoreFull",
    "StoreMissing",
    "StoreReadOnly",
    "StoreUnavailable",
    "SummarizeReport",
    "SweepRunning",
    "Tier",
    "TooLarge",
    "TooManyListeners",
    "ToolFailure",
    "Turn",
    "Unauthorized",
    "Undecidable",
    "UndoReport",
    "UpgradeFailed",
    "Usage",
    "WikiAnswer",
    "WikiPage",
    "WiringReport",
    "WorldState",
    "WrittenFile",
    "__version__",
    "sitrep",
    "update_world_state",
]  # fmt: skip

# The modules of the names that are not in `errors`, `types`, `api` or `surfaces.errors`.
_MODULES = {
    "capture.digests.daily_activity": ("Day",),
    "capture.digests.rebuild_report": ("RebuiltDigests",),
    "capture.digests.transcript": ("Outline", "Turn"),
    "capture.ingest_report": ("Ingested", "Retention"),
    "capture.storage": ("Storage",),
    "dream.priorities": ("Drive",),
    "dream.results": ("DreamPreview", "Pass", "StepResult", "UndoReport"),
    "evidence.records": ("Decision", "Episode", "EpisodeError", "OpenItem"),
    "importers.lyra": ("LyraImportReport",),
    "importers.memoria": ("MemoriaImportReport",),
    "importers.session_memory_report": ("SessionMemoryImportReport",),
    "index.index_report": ("Indexed",),
    "install.finding": ("Finding",),
    "install.hook_times": ("HookTimes",),
    "install.init": ("RewrittenFile", "WiringReport"),
    "models.status": ("ModelStatus",),
    "patterns.candidate": ("Candidate", "CandidateEvidence", "DetectResult"),
    "patterns.rules.catalog": ("Dossier", "Pattern", "PatternEvidence", "Placement", "Recommendation", "RuleVersion"),
    "patterns.rules.distribute": ("DistributeResult", "WrittenFile"),
    "patterns.rules.export_catalog": ("CatalogExport",),
    "patterns.rules.import_catalog": ("ImportedCatalog", "ImportedPattern"),
    "patterns.rules.effect": ("Effect", "Sample"),
    "patterns.rules.statistics": ("Interval",),
    "platform.host": ("Process",),
    "search.briefing": ("Context",),
    "search.pushed": ("Pushed",),
    "sessions.stats": ("Project",),
    "summaries.deletion_report": ("DeletionReport",),
    "summaries.document_history": ("DocumentVersion",),
    "summaries.integration_report": ("IntegrationReport",),
    "summaries.gist": ("Backlog", "SummarizeReport"),
    "summaries.playbook.playbook": ("Playbook", "PlaybookLine"),
    "summaries.tier_documents": ("Tier",),
    "wiki.answer": ("AnswerSource", "WikiAnswer"),
    "wiki.checks": ("LintFinding",),
    "wiki.compiler.compile": ("CompileResult",),
    "wiki.edit": ("EditResult", "NotWhole", "PageChanged"),
    "wiki.flush": ("FlushResult",),
    "wiki.flush_failures": ("FlushFailure",),
    "wiki.graph": ("ArticleNode", "LinkGraph"),
    "wiki.lint": ("LintReport",),
    "wiki.mentions": ("Mention",),
    "wiki.page": ("PageLink", "PageSource", "PageUnreadable", "WikiPage"),
    "wiki.page_list": ("ListedPage", "PageList"),
    "wiki.vault.daily_log": ("LogEntry",),
    "wiki.vault.history": ("PageVersion",),
}


def __getattr__(name: str) -> object:
    if name == "DB_PATH":  # read each time: the environment may have changed
        from engram.api import default_path

        return default_path()
    if name not in __all__:
        raise AttributeError(f"module 'engram' has no attribute {name!r}")
    from importlib import import_module

    listed = [module for module, names in _MODULES.items() if name in names]
    for module in listed or ("errors", "types", "api", "surfaces.errors"):
        members = vars(import_module(f"engram.{module}"))
        if name in members:
            globals()[name] = members[name]
            return members[name]
    raise AttributeError(name)


def __dir__() -> list[str]:
    return __all__
