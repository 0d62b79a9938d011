"""Which commands there are: built from an operation (COMMANDS) or written by hand in a module (MODULES).

Everything is named by strings, so that calling one command imports only what that command needs.
"""

from __future__ import annotations

from engram.surfaces.cli.commands import CommandSpec

COMMANDS = (
    CommandSpec("sitrep", "sessions.sitrep:get_situation_report", json_operation="sessions.sitrep:situation"),
    CommandSpec("register", "sessions.lifecycle:register", positional=("summary",)),
    CommandSpec("heartbeat", "sessions.lifecycle:heartbeat", positional=("summary",), reads_stdin=False),
    CommandSpec("log", "sessions.lifecycle:log", positional=("entry",)),
    CommandSpec("complete", "sessions.lifecycle:complete", positional=("completion_summary",)),
    CommandSpec(
        "logs", "sessions.lifecycle:get_session_logs", positional=("session_id",), empty_message="No log entries yet."
    ),
    CommandSpec(
        "lock", "sessions.locks:lock_resources", positional=("resources",), item_name="lock",
        announces_wait=True,
    ),
    CommandSpec("send", "sessions.messages:send", positional=("to", "body")),
    CommandSpec("inbox", "sessions.messages:inbox", empty_message="No unread messages."),
    CommandSpec("messages", "sessions.messages:list_messages", empty_message="No messages yet."),
    CommandSpec("stats", "sessions.stats:stats"),
    CommandSpec("activity", "sessions.stats:activity", empty_message="No activity yet."),
    CommandSpec(
        "projects", "sessions.stats:list_projects", empty_message="No projects yet. Run `engram ingest`."
    ),
    CommandSpec(
        "episodes", "capture.digests.episodes:list_episodes", positional=("session_id",),
        empty_message="No transcript of this session was read, so it has no episodes.",
    ),
    CommandSpec("decisions", "capture.digests.episodes:list_decisions", empty_message="No decisions found."),
    CommandSpec("open", "capture.digests.episodes:list_open_items", empty_message="Nothing was left open."),
    CommandSpec("playbook", "summaries.playbook.playbook:get_playbook", positional=("project",)),
    CommandSpec("outcome", "capture.digests.digest:set_outcome", positional=("session_id", "outcome")),
    CommandSpec(
        "cost", "capture.digests.cost:cost", runner="costs:run_cost",
        empty_message="No token usage in this period. Run `engram ingest`, or look further back with --days.",
    ),
    CommandSpec(
        "days", "capture.digests.daily_activity:count_days",
        empty_message="No messages in this period. Run `engram ingest`, or look further back with --days.",
    ),
    CommandSpec("model", "models.status:model_status"),
    CommandSpec("get", "wiki.get:get", positional=("id",)),
    CommandSpec("context", "search.context:context", positional=("prompt",), reads_stdin=False),
    CommandSpec(
        "history", "summaries.exchanges:history", positional=("session",), empty_message="It has no messages."
    ),
    CommandSpec("recent", "summaries.exchanges:recent", positional=("session",), empty_message="It has no messages."),
    CommandSpec("summarize", "summaries.gist:summarize", positional=("session",)),
    CommandSpec(
        "gist", "summaries.gist:get_summary", positional=("session_id",), document="gist",
        name_parameter="session_id", empty_message="No summary yet. Run `engram summarize`.",
    ),
    CommandSpec(
        "eras", "summaries.eras:list_eras", positional=("month",), document="era", name_parameter="month",
        empty_message="No monthly summary. Run `engram summarize`, then `engram integrate`.",
    ),
    CommandSpec(
        "profile", "summaries.profile:get_profile", document="profile", name_parameter="profile_id",
        empty_message="No profile yet. Run `engram summarize`, then `engram integrate`.",
    ),
    CommandSpec(
        "narrative", "summaries.narrative:get_narrative", document="narrative", name_parameter="narrative_id",
        empty_message="No narrative yet. Run `engram summarize`, then `engram integrate`.",
    ),
    CommandSpec(
        "self", "summaries.self_state:get_self_state", document="self", name_parameter="state_id",
        empty_message="No self state yet.",
    ),
    CommandSpec("backlog", "summaries.gist:backlog_stats"),
    CommandSpec("failures", "wiki.flush_failures:list_failures", empty_message="No failures."),
    CommandSpec(
        "compile", "wiki.compiler.compile:compile", runner="progress_runs:run_compile", failure_field="failed"
    ),
    CommandSpec("lint", "wiki.lint:lint", failure_field="errors"),
    CommandSpec("wiki list", "wiki.page_list:list_pages"),
    CommandSpec("wiki show", "wiki.page:get_page", positional=("target",), document="page", name_parameter="target"),
    CommandSpec(
        "wiki diff", "wiki.page:page_diff", positional=("target", "since", "until"), empty_message="No differences."
    ),
    CommandSpec("wiki graph", "wiki.graph:link_graph", positional=("around",), reads_stdin=False),
    CommandSpec(
        "wiki mentions", "wiki.mentions:get_mentions", positional=("session_id",),
        empty_message="No page mentions this session yet.",
    ),
    CommandSpec("integrate", "summaries.eras:integrate"),
    CommandSpec(
        "memory gists", "summaries.gist:list_summaries", empty_message="No summaries yet. Run `engram summarize`."
    ),
    CommandSpec(
        "memory months", "summaries.eras:summaries_by_month",
        empty_message="No summaries yet. Run `engram summarize`.",
    ),
    CommandSpec("memory unsummarized", "summaries.gist:unsummarized_count", positional=("session_id",)),
    CommandSpec(
        "memory tier", "summaries.tier_documents:get_tier", positional=("name",),
        empty_message="Nothing there yet. Run `engram integrate`.",
    ),
    CommandSpec("memory covered", "summaries.profile:profile_sessions_covered"),
    CommandSpec("memory set-gist", "summaries.gist:store_summary", positional=("session_id", "content")),
    CommandSpec("memory set-era", "summaries.eras:store_era", positional=("month", "content")),
    CommandSpec("memory set-profile", "summaries.profile:set_profile", positional=("content",)),
    CommandSpec("memory set-narrative", "summaries.narrative:set_narrative", positional=("content",)),
    CommandSpec("memory set-self", "summaries.self_state:set_self_state", positional=("state",)),
    CommandSpec("check", "capture.check:check", failure_field="problems"),
    CommandSpec("storage", "capture.storage:get_storage"),
    CommandSpec(
        "hooks", "install.hook_times:hook_times",
        empty_message="No agent has called a hook yet. Run `engram init` to connect your agents.",
    ),
    CommandSpec(
        "import chatgpt", "importers.web_exports:import_chatgpt", positional=("path",), failure_field="failures"
    ),
    CommandSpec(
        "import claude", "importers.web_exports:import_claude", positional=("path",), failure_field="failures"
    ),
    CommandSpec(
        "import grok", "importers.web_exports:import_grok", positional=("path",), failure_field="failures"
    ),
    CommandSpec("import engram", "importers.engram:import_engram", positional=("path",)),
    CommandSpec(
        "import lyra", "importers.lyra:import_lyra", positional=("path",), runner="progress_runs:run_lyra_import"
    ),
    CommandSpec("import memoria", "importers.memoria:import_memoria", positional=("path",)),
    CommandSpec(
        "import session-memory", "importers.session_memory:import_session_memory", positional=("path",),
        runner="progress_runs:run_session_memory_import",
    ),
    CommandSpec(
        "patterns list", "patterns.rules.catalog:list_patterns",
        empty_message="No patterns found. Run `engram patterns detect` to scan new sessions.",
    ),
    CommandSpec(
        "patterns show", "patterns.rules.catalog:get_pattern", positional=("pattern",), document="rule",
        name_parameter="pattern",
    ),
    CommandSpec(
        "patterns approve", "patterns.rules.review:approve_pattern", positional=("pattern",),
        runner="patterns:run_approval",
    ),
    CommandSpec(
        "patterns reject", "patterns.rules.review:reject_pattern", positional=("pattern",),
        runner="patterns:run_decision",
    ),
    CommandSpec(
        "patterns retire", "patterns.rules.review:retire_pattern", positional=("pattern",),
        runner="patterns:run_decision",
    ),
    CommandSpec(
        "patterns restore", "patterns.rules.review:restore_pattern", positional=("pattern",),
        runner="patterns:run_decision",
    ),
    CommandSpec(
        "patterns merge", "patterns.rules.review:merge_patterns", positional=("into", "others"),
        runner="patterns:run_decision",
    ),
    CommandSpec(
        "patterns recommend", "patterns.rules.review:recommend_pattern", positional=("pattern", "what", "why")
    ),
    CommandSpec("patterns export", "patterns.rules.export_catalog:export_catalog", positional=("directory",)),
    CommandSpec(
        "patterns measure", "patterns.rules.measure:measure", positional=("pattern",),
        empty_message="No rule has been distributed yet.",
    ),
    CommandSpec("world show", "sessions.world_state:world_state", document="world", name_parameter="project"),
    CommandSpec(
        "world list", "sessions.world_state:list_world_states",
        empty_message="No world state yet. Write one with `engram world set`.",
    ),
    CommandSpec("world set", "sessions.world_state:set_world_state", positional=("content",)),
    CommandSpec(
        "world history", "sessions.world_state:world_history",
        empty_message="No world state yet. Write one with `engram world set`.",
    ),
    CommandSpec(
        "world diff", "sessions.world_state:world_diff", positional=("since", "until"),
        empty_message="No differences.",
    ),
)  # fmt: skip

# The module of each command that is more than one operation; its COMMANDS holds the command under this path.
MODULES = {
    "sessions": "sessions", "show": "sessions",
    "locks": "locks", "unlock": "locks",
    "ingest": "ingest", "digest": "digests",
    "recall": "recall", "remember": "recall", "index": "recall", "delete": "recall",
    "ask": "wiki", "flush": "wiki", "wiki history": "wiki", "wiki edit": "wiki",
    "world edit": "world", "pushed": "pushed",
    "dream": "dream",
    "patterns detect": "patterns_detect", "patterns edit": "patterns", "patterns review": "patterns",
    "patterns import": "patterns", "patterns distribute": "patterns",
    "init": "install", "uninit": "install", "doctor": "install",
    "ui": "servers", "serve": "servers", "mcp": "servers", "hook": "servers",
    "config": "admin", "completion": "admin", "demo": "admin",
    "help": "help_screen",
}  # fmt: skip

# Commands with subcommands: what they are about, and the subcommand that runs when none is named.
GROUPS = {
    "world": ("Show and change the world state: what every session should know.", "show"),
    "patterns": ("List recurring problems and manage the rules made from them.", "list"),
    "wiki": ("List, read and edit the wiki pages compiled from your sessions.", "list"),
    "memory": ("Read and write single summaries and profile documents.", ""),
    "import": ("Import the memory of another program.", ""),
}
