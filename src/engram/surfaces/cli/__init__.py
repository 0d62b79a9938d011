"""The command line: one command per operation, built from its signature.

`COMMANDS` says how each operation is called here; what its parameters mean is read from the operation
itself. A command whose work is not one operation (an editor, a server) lives in `errands`.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

import engram.api  # noqa: F401  the operations enter the registry
from engram import __version__
from engram.errors import Error
from engram.operation import find
from engram.surfaces.cli import capture, commands, dream, errands, hints, patterns, recall, wiki, wiring
from engram.surfaces.cli import render_capture as _  # noqa: F401  captured values learn to be shown
from engram.surfaces.cli import render_catalog as _catalog  # noqa: F401  so do patterns and their rules
from engram.surfaces.cli import render_compile as _compile  # noqa: F401  so does what compiling came to
from engram.surfaces.cli import render_dream as _dream  # noqa: F401  so do passes and drives
from engram.surfaces.cli import render_health as _health  # noqa: F401  so do sizes, failures and hooks
from engram.surfaces.cli import render_memory as _memory  # noqa: F401  so do gists and eras
from engram.surfaces.cli import render_model as _model  # noqa: F401  so does the model
from engram.surfaces.cli import render_page as _page  # noqa: F401  so do pages of the wiki
from engram.surfaces.cli import render_wiki as _wiki  # noqa: F401  so do answers and lint
from engram.surfaces.cli.commands import Command
from engram.surfaces.encode import problem, to_json

COMMANDS = (
    Command("sitrep", "get_situation_report", plain="situation"),
    Command("register", "register", positional=("summary",)),
    Command("heartbeat", "heartbeat", positional=("summary",), stdin=False),
    Command("log", "log", positional=("entry",)),
    Command("complete", "complete", positional=("completion_summary",)),
    Command("logs", "get_session_logs", positional=("session_id",), empty="No log entries yet."),
    Command("lock", "lock_resources", positional=("resources",), each=True, patient=True),
    Command("send", "send", positional=("to", "body")),
    Command("inbox", "inbox", empty="No unread messages."),
    Command("messages", "list_messages", empty="Nobody has written to anybody yet."),
    Command("stats", "stats"),
    Command("activity", "activity", empty="Nothing was prevented or taken over yet."),
    Command("projects", "list_projects", empty="No session worked anywhere yet."),
    Command("digest", "get_digest", positional=("session_id",)),
    Command("outcome", "set_outcome", positional=("session_id", "outcome")),
    Command("cost", "cost", empty="No tokens of these days are captured: `engram ingest`, or --days for more."),
    Command("days", "count_days", empty="Nothing was said in these days: `engram ingest`, or --days for more."),
    Command("model", "model_status"),
    Command("get", "get", positional=("id",)),
    Command("context", "context", positional=("prompt",), stdin=False),
    Command("history", "history", positional=("session",), empty="Nothing was said there."),
    Command("recent", "recent", positional=("session",), empty="Nothing was said there."),
    Command("summarize", "summarize", positional=("session",)),
    Command("gist", "get_summary", positional=("session_id",), empty="It has no gist yet: `engram summarize`.",
            document="gist", named="session_id"),
    Command("eras", "list_eras", positional=("month",), document="era", named="month",
            empty="No month has an era yet: `engram summarize`, then `engram integrate`."),
    Command("profile", "get_profile", document="profile", named="profile_id",
            empty="Nothing is known yet: `engram summarize`, then `engram integrate`."),
    Command("narrative", "get_narrative", document="narrative", named="narrative_id",
            empty="There is none yet: `engram summarize`, then `engram integrate`."),
    Command("self", "get_self_state", empty="No state is kept yet.", document="self", named="state_id"),
    Command("backlog", "backlog_stats"),
    Command("failures", "list_failures", empty="Nothing failed."),
    Command("compile", "compile"),
    Command("lint", "lint"),
    Command("wiki list", "list_pages"),
    Command("wiki show", "get_page", positional=("target",), document="page", named="target"),
    Command("wiki diff", "page_diff", positional=("target", "since", "until"), empty="They do not differ."),
    Command("wiki graph", "link_graph", positional=("around",), stdin=False),
    Command("wiki mentions", "get_mentions", positional=("session_id",), empty="The wiki does not tell of it yet."),
    Command("integrate", "integrate"),
    Command("memory gists", "list_summaries", empty="No session has a gist yet: `engram summarize`."),
    Command("memory months", "summaries_by_month", empty="No session has a gist yet: `engram summarize`."),
    Command("memory unsummarized", "unsummarized_count", positional=("session_id",)),
    Command("memory tier", "get_tier", positional=("name",), empty="There is none yet: `engram integrate`."),
    Command("memory covered", "profile_sessions_covered"),
    Command("memory set-gist", "store_summary", positional=("session_id", "content")),
    Command("memory set-era", "store_era", positional=("month", "content")),
    Command("memory set-profile", "set_profile", positional=("content",)),
    Command("memory set-narrative", "set_narrative", positional=("content",)),
    Command("memory set-self", "set_self_state", positional=("state",)),
    Command("check", "check"),
    Command("storage", "get_storage"),
    Command("hooks", "hook_times", empty="No agent has called yet: `engram init` wires them."),
    Command("import chatgpt", "import_chatgpt", positional=("path",)),
    Command("import claude", "import_claude", positional=("path",)),
    Command("import grok", "import_grok", positional=("path",)),
    Command("import engram", "import_engram", positional=("path",)),
    Command("import lyra", "import_lyra", positional=("path",)),
    Command("import memoria", "import_memoria", positional=("path",)),
    Command("import session-memory", "import_session_memory", positional=("path",)),
    Command("patterns list", "list_patterns", empty="No patterns yet: `engram patterns detect` looks for some."),
    Command("patterns show", "get_pattern", positional=("pattern",), document="rule", named="pattern"),
    Command("patterns approve", "approve_pattern", positional=("pattern",)),
    Command("patterns reject", "reject_pattern", positional=("pattern",)),
    Command("patterns retire", "retire_pattern", positional=("pattern",)),
    Command("patterns restore", "restore_pattern", positional=("pattern",)),
    Command("patterns merge", "merge_patterns", positional=("into", "others")),
    Command("patterns recommend", "recommend_pattern", positional=("pattern", "what", "why")),
    Command("patterns export", "export_catalog", positional=("directory",)),
    Command("patterns measure", "measure", positional=("pattern",), empty="No rule was distributed yet."),
    Command("world show", "world_state", document="world", named="project"),
    Command("world list", "list_world_states", empty="No world state yet. Write one with `engram world set`."),
    Command("world set", "set_world_state", positional=("content",)),
    Command("world history", "world_history", empty="No world state yet. Write one with `engram world set`."),
    Command("world diff", "world_diff", positional=("since", "until"), empty="They do not differ."),
)  # fmt: skip

_HELP = """One memory for every coding agent.

Several agents on one machine know of each other: who is here, what they do, what they hold; and what they did in
the past is kept, found and counted. Start with `engram init`, or look first with `engram demo`; commands take --json,
and --help shows more.
"""


class _Group(click.Group):
    """Commands of one prefix, each built when it is called for: most calls need one."""

    def __init__(self, prefix: str = "", **facts: Any) -> None:
        super().__init__(**facts)
        self.prefix = prefix
        self.known = {c.path.removeprefix(prefix): c for c in COMMANDS if c.path.rpartition(" ")[0] == prefix.strip()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self.known})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = self.known.get(cmd_name)
        operation = find(command.operation) if command else None
        if command is None or operation is None:
            return super().get_command(ctx, cmd_name)
        return commands.build(command, patterns.by_people(capture.attended(operation)))


class _Root(_Group):
    """The whole command line, answering every refusal in one line, or as JSON when asked to."""

    def invoke(self, ctx: click.Context) -> Any:
        if os.environ.get("NO_COLOR"):
            ctx.color = False
        try:
            hints.tell_older_variables()
            result = super().invoke(ctx)
        except Error as error:
            _answer(error)
            ctx.exit(error.exit)
        if ctx.meta.get(capture.FAILED):
            ctx.exit(1)
        return result


def _answer(error: Error) -> None:
    if "--json" in sys.argv:
        click.echo(to_json(problem(error)))
    else:
        click.echo(f"{click.style('engram:', fg='red')} {' '.join(str(error).split())}", err=True)


def command_line() -> click.Group:
    """Return the whole command line."""
    root = _Root(name="engram", help=_HELP, context_settings={"help_option_names": ["-h", "--help"]})
    click.version_option(__version__, prog_name="engram")(root)
    for errand in (*errands.ERRANDS, *capture.CAPTURE, *recall.RECALL, *wiki.WIKI, *wiring.WIRING):
        root.add_command(errand)
    world = _Group("world ", name="world", help="The maintained overview of a project, or of everything.")
    world.add_command(errands.edit_world)
    root.add_command(world)
    root.add_command(dream.DREAM)
    group = _Group("patterns ", name="patterns", help="What keeps going wrong or right, and the rules made of it.")
    for each in patterns.PATTERNS:
        group.add_command(each)
    root.add_command(group)
    pages = _Group("wiki ", name="wiki", help="The pages of the wiki: read, compared, edited, and who links to whom.")
    for each in wiki.PAGES:
        pages.add_command(each)
    root.add_command(pages)
    root.add_command(_Group("memory ", name="memory", help="What is made of sessions, piece by piece."))
    root.add_command(_Group("import ", name="import", help="Take over the memory of another program."))
    return root


def main() -> int:
    """Run the command line and return its exit status; what it writes is its user's alone."""
    os.umask(0o077)
    try:
        command_line()(prog_name="engram")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
