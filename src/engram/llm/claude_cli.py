"""Claude Code as the user is logged in to it: one answer, without tools, hooks, customizations or transcript."""

from __future__ import annotations

import json
import os
import re
import tempfile
from typing import Any

from engram.errors import BudgetSpent, Error, ModelRefused, ModelUnavailable
from engram.llm import child
from engram.llm.provider import Reply, Request, count
from engram.settings import Settings
from engram.text import one_line

_LEAN = (
    "-p", "--safe-mode", "--no-session-persistence", "--tools", "", "--strict-mcp-config",
    "--settings", '{"disableAllHooks":true}', "--output-format", "json",
)  # fmt: skip
_FEW_TRIES = "1"  # its own ten take three minutes, even for a wrong key
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
        """Answer once."""
        program = child.program(self.name, "claude")
        directory = child.place(self.home)
        with tempfile.TemporaryDirectory(dir=directory, prefix="ask-") as folder:
            argv = [program, *_LEAN, "--model", self.model, *_system(request, folder), *_limits(request)]
            env = child.environment(CLAUDE_CODE_MAX_OUTPUT_TOKENS=str(request.max_tokens))
            env.setdefault("CLAUDE_CODE_MAX_RETRIES", _FEW_TRIES)
            said = child.run(self.name, argv, request.prompt, directory, env, request.seconds)
        return _reply(said, request)

    def reach(self) -> None:
        """Look for the program."""
        child.program(self.name, "claude")


def _system(request: Request, folder: str) -> list[str]:
    """Hand over the system prompt in a file: every user of the machine can read arguments."""
    path = os.path.join(folder, "system.txt")
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(request.system or "Answer the user's request, and nothing else.")
    return ["--system-prompt-file", path]


def _limits(request: Request) -> list[str]:
    words = [] if request.max_dollars is None else ["--max-budget-usd", f"{request.max_dollars:.4f}"]
    return words if request.schema is None else [*words, "--json-schema", json.dumps(request.schema)]


def _reply(said: child.Said, request: Request) -> Reply:
    try:
        told = json.loads(said.out)
        result = told["result"] if not told["is_error"] else ""
    except (ValueError, TypeError, KeyError, RecursionError):
        words = one_line((said.err or said.out).decode("utf-8", "replace"), 300)
        raise _failure(words or f"it ended with status {said.status}.", None) from None
    flaw, error = _verdict(told, request) if told["is_error"] else ("", None)
    if error is not None and not told.get("total_cost_usd"):
        raise error
    return Reply(
        text=str(result), data=told.get("structured_output"), flaw=flaw, error=error, cost=_cost(told), **_usage(told)
    )


def _verdict(told: dict[str, Any], request: Request) -> tuple[str, Error | None]:
    """Return what is wrong with an answer: a flaw to ask again for, or an error to end with."""
    kind = str(told.get("subtype"))
    words = one_line(str(told.get("result") or "; ".join(map(str, told.get("errors") or [kind]))), 300)
    if kind == "error_max_budget_usd":
        reason = f"The answer came to more than the ${request.max_dollars or 0:.2f} it was given."
        return "", BudgetSpent(reason=reason, hint="Allow more, or ask for less.", free_at=None)
    if _TOO_LONG.search(words):
        return "it was cut off at the limit of its length: say it in fewer words", None
    if kind.startswith("error_max_structured"):
        return "it did not take the form that was asked for", None
    return "", _failure(words, told.get("api_error_status"))


def _failure(words: str, status: object) -> Error:
    heals = status in (408, 429) or (type(status) is int and status >= 500)
    if heals or (status is None and _HEALS.search(words)):
        return ModelUnavailable(provider="claude", reason=words, after=None, billed=False)
    return ModelRefused(provider="claude", reason=words, hint="Try `claude -p hello` yourself.")


def _usage(told: dict[str, Any]) -> dict[str, Any]:
    """Return the tokens of all models it used, and the one that did most."""
    used = {str(name): each for name, each in (told.get("modelUsage") or {}).items() if isinstance(each, dict)}
    names = {"input": "inputTokens", "output": "outputTokens", "cache_read": "cacheReadInputTokens",
             "cache_write": "cacheCreationInputTokens"}  # fmt: skip
    sums = {ours: sum(count(each.get(theirs)) for each in used.values()) for ours, theirs in names.items()}
    model = max(used, key=lambda name: count(used[name].get("outputTokens")), default="")
    return {**sums, "model": model, "counted": bool(used)}


def _cost(told: dict[str, Any]) -> float | None:
    cost = told.get("total_cost_usd")
    return float(cost) if isinstance(cost, int | float) and 0 <= cost < 10_000 else None


make = ClaudeCli
