"""Claude Code with the user's login: one answer, without tools, hooks, customizations or transcript."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any

from engram.errors import BudgetSpent, Error, ModelRefused, ModelUnavailable
from engram.models import agent_process
from engram.models.provider import Reply, Request, clean_token_count
from engram.platform.text import to_one_line
from engram.settings import Settings

_LEAN = (
    "-p", "--safe-mode", "--no-session-persistence", "--tools", "", "--strict-mcp-config",
    "--settings", '{"disableAllHooks":true}', "--output-format", "json",
)  # fmt: skip
_FEW_TRIES = "1"  # its own ten retries take three minutes, even for a wrong key
_HEALS = re.compile(r"limit reached|rate.?limit|hit your .*limit|overloaded|timed? ?out|connection", re.IGNORECASE)
_TOO_LONG = re.compile(r"output token maximum", re.IGNORECASE)


class ClaudeCli:
    """The user's own `claude`."""

    name = "claude"
    priced = True
    overhead = 4000

    def __init__(self, settings: Settings) -> None:
        self.model = settings.model_name or "haiku"
        self.home = settings.home

    def ask(self, request: Request) -> Reply:
        """Make one call."""
        program = agent_process.find_program(self.name, "claude")
        directory = agent_process.ensure_work_folder(self.home)
        with tempfile.TemporaryDirectory(dir=directory, prefix="ask-") as folder:
            argv = [
                program,
                *_LEAN,
                "--model",
                self.model,
                *_write_system_prompt(request, folder),
                *_build_limit_arguments(request),
            ]
            env = agent_process.build_environment(CLAUDE_CODE_MAX_OUTPUT_TOKENS=str(request.max_tokens))
            env.setdefault("CLAUDE_CODE_MAX_RETRIES", _FEW_TRIES)
            output = agent_process.run_program(self.name, argv, request.prompt, directory, env, request.seconds)
        return _parse_reply(output, request)

    def reach(self) -> None:
        """Find the program."""
        agent_process.find_program(self.name, "claude")


def _write_system_prompt(request: Request, folder: str) -> list[str]:
    """Pass the system prompt in a file: arguments are visible to every user of the machine."""
    path = os.path.join(folder, "system.txt")
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(request.system or "Answer the user's request, and nothing else.")
    return ["--system-prompt-file", path]


def _build_limit_arguments(request: Request) -> list[str]:
    words = [] if request.max_dollars is None else ["--max-budget-usd", f"{request.max_dollars:.4f}"]
    return words if request.schema is None else [*words, "--json-schema", json.dumps(request.schema)]


def _parse_reply(output: agent_process.ProcessOutput, request: Request) -> Reply:
    try:
        answer = json.loads(output.out)
        result = answer["result"] if not answer["is_error"] else ""
    except (ValueError, TypeError, KeyError, RecursionError):
        words = to_one_line((output.err or output.out).decode("utf-8", "replace"), 300)
        raise _build_failure(words or f"it exited with status {output.status}.", None) from None
    flaw, error = _judge_error(answer, request) if answer["is_error"] else ("", None)
    if error is not None and not answer.get("total_cost_usd"):
        raise error
    return Reply(
        text=str(result),
        data=answer.get("structured_output"),
        flaw=flaw,
        error=error,
        cost=_read_cost(answer),
        **_sum_usage(answer),
    )


def _judge_error(answer: dict[str, Any], request: Request) -> tuple[str, Error | None]:
    """Classify a failed answer: a flaw worth another try, or a final error."""
    kind = str(answer.get("subtype"))
    words = to_one_line(str(answer.get("result") or "; ".join(map(str, answer.get("errors") or [kind]))), 300)
    if kind == "error_max_budget_usd":
        reason = f"The answer cost more than the ${request.max_dollars or 0:.2f} allowed."
        return "", BudgetSpent(reason=reason, hint="Raise the budget, or request less.", free_at=None)
    if _TOO_LONG.search(words):
        return "it exceeded the length limit: use fewer words", None
    if kind.startswith("error_max_structured"):
        return "it did not have the requested format", None
    return "", _build_failure(words, answer.get("api_error_status"))


def _build_failure(words: str, status: object) -> Error:
    heals = status in (408, 429) or (type(status) is int and status >= 500)
    if heals or (status is None and _HEALS.search(words)):
        return ModelUnavailable(provider="claude", reason=words, after=None, billed=False)
    return ModelRefused(provider="claude", reason=words, hint="Test it with `claude -p hello`.")


def _sum_usage(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the tokens of all models it used, and the name of the one that used most."""
    used = {str(name): usage for name, usage in (answer.get("modelUsage") or {}).items() if isinstance(usage, dict)}
    names = {"input": "inputTokens", "output": "outputTokens", "cache_read": "cacheReadInputTokens",
             "cache_write": "cacheCreationInputTokens"}  # fmt: skip
    sums = {
        ours: sum(clean_token_count(usage.get(theirs)) for usage in used.values()) for ours, theirs in names.items()
    }
    model = max(used, key=lambda name: clean_token_count(used[name].get("outputTokens")), default="")
    return {**sums, "model": model, "counted": bool(used)}


def _read_cost(answer: dict[str, Any]) -> float | None:
    cost = answer.get("total_cost_usd")
    return float(cost) if isinstance(cost, int | float) and 0 <= cost < 10_000 else None


make = ClaudeCli
