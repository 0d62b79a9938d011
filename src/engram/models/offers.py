"""Find the models that the user has: a logged-in agent program, a server on this machine, or a key."""

from __future__ import annotations

import os
import re
import shutil

from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

PLAN, FREE, KEY = "plan", "free", "key"  # how a model is paid
_OLLAMA = "127.0.0.1:11434"
_LOCAL_HOSTS = ("localhost", "0.0.0.0", "::1", "::", "")  # noqa: S104  a server that listens everywhere is here too
_SECONDS = 0.5  # to answer, for a server on this machine
_EMBEDDERS = re.compile(r"embed|bge|minilm|rerank", re.IGNORECASE)
_LARGEST = 8_000_000_000  # bytes of a local model that summarizes while you work
_SMALL_CLAUDE = re.compile(r"claude-haiku-(\d+)-(\d+)")
_SMALL_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?-mini")


@value
class ModelOffer:
    """A model that could be used, and the settings that choose it."""

    title: str
    settings: Mapping[str, str]
    paid_by: str  # plan, free or key
    company: str  # who gets what is sent; empty if it stays on this machine


def find_offers() -> list[ModelOffer]:
    """Return the models the user has, those that cost nothing extra first; only this machine is asked."""
    environ = os.environ
    offers = [*_find_claude(environ), *_find_codex(), *_find_server(environ), *_find_keys(environ)]
    return sorted(offers, key=lambda offer: offer.paid_by == KEY)


def _find_claude(environ: Mapping[str, str]) -> Iterator[ModelOffer]:
    """Yield the user's `claude` if it is logged in; a key in the environment takes precedence over its plan."""
    from engram.agents.agent import SERVER
    from engram.agents.claude import agent

    if not shutil.which("claude"):
        return
    directory = agent.directory()
    login = _read_json(os.path.join(directory, ".credentials.json"))
    state = _read_json(os.path.join(directory, next(file.path for file in agent.user_files() if SERVER in file.holds)))
    has_plan = bool(login.get("claudeAiOauth") or state.get("oauthAccount")) and not state.get("primaryApiKey")
    has_key = bool(environ.get("ANTHROPIC_API_KEY") or environ.get("ANTHROPIC_AUTH_TOKEN"))
    if has_plan or state.get("primaryApiKey"):
        paid_by = PLAN if has_plan and not has_key else KEY
        yield ModelOffer("Claude Code (haiku)", {"model": "claude", "model_name": "haiku"}, paid_by, "Anthropic")


def _find_codex() -> Iterator[ModelOffer]:
    """Yield the user's `codex` if it is logged in, with a small model of those it offered last."""
    from engram.agents.codex import agent

    if not shutil.which("codex"):
        return
    directory = agent.directory()
    login = _read_json(os.path.join(directory, "auth.json"))
    if not (login.get("tokens") or login.get("OPENAI_API_KEY")):
        return
    offered = _read_json(os.path.join(directory, "models_cache.json")).get("models")
    models = offered if isinstance(offered, list) else []
    slugs = (str(model.get("slug")) for model in models if isinstance(model, dict))
    name = next((slug for slug in slugs if slug.endswith("-mini")), "")
    title = f"Codex ({name})" if name else "Codex (its default model)"
    yield ModelOffer(title, {"model": "codex", "model_name": name}, PLAN if login.get("tokens") else KEY, "OpenAI")


def _find_server(environ: Mapping[str, str]) -> Iterator[ModelOffer]:
    """Yield a model of Ollama, or of another server with OpenAI's API at its address."""
    if not (address := _parse_address(environ.get("OLLAMA_HOST") or _OLLAMA)):
        return
    listed = _ask_server(address, "/api/tags").get("models")
    program, models = "Ollama", listed if isinstance(listed, list) else []
    if not models:
        listed = _ask_server(address, "/v1/models").get("data")
        program, models = "Model server", listed if isinstance(listed, list) else []
    name = _choose_local_model([model for model in models if isinstance(model, dict)])
    if name:
        settings = {"model": "openai", "model_url": f"{address}/v1", "model_name": name}
        yield ModelOffer(f"{program} on this machine ({name})", settings, FREE, "")


def _find_keys(environ: Mapping[str, str]) -> Iterator[ModelOffer]:
    from engram.models.prices import load_shipped_table

    names = load_shipped_table()["models"] if environ.get("ANTHROPIC_API_KEY") or environ.get("OPENAI_API_KEY") else ()
    for variable, model, company, pattern in (
        ("ANTHROPIC_API_KEY", "anthropic", "Anthropic", _SMALL_CLAUDE),
        ("OPENAI_API_KEY", "openai", "OpenAI", _SMALL_GPT),
    ):
        matches = [match for name in names if (match := pattern.fullmatch(name))]
        if environ.get(variable) and matches:
            newest = max(matches, key=lambda match: (int(match[1]), int(match[2] or 0)))[0]
            yield ModelOffer(f"{company} API ({newest})", {"model": model, "model_name": newest}, KEY, company)


def _parse_address(host: str) -> str:
    """Return the address of a server on this machine; empty if it is elsewhere."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(host if "//" in host else f"http://{host}")
        name, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 11434)
    except ValueError:
        return ""
    is_here = parts.scheme == "http" and (name in _LOCAL_HOSTS or name.startswith("127."))
    return f"http://{name if name.startswith('127.') else '127.0.0.1'}:{port}" if is_here else ""


def _ask_server(address: str, path: str) -> dict[str, Any]:
    """Return what a server on this machine lists; empty if there is none."""
    from engram.errors import Error
    from engram.models.endpoint import ModelEndpoint
    from engram.models.http_json import request_json

    endpoint = ModelEndpoint(provider="openai", url=address, variable="", local=True)
    try:
        answer = request_json(endpoint, path, None, {}, _SECONDS)
    except Error:
        return {}
    return answer if isinstance(answer, dict) else {}


def _choose_local_model(models: list[dict[str, Any]]) -> str:
    """Return the largest model that is small enough, or else the smallest."""
    sizes = {
        name: model["size"] if isinstance(model.get("size"), int) else 0
        for model in models
        if (name := str(model.get("name") or model.get("id") or "")) and not _EMBEDDERS.search(name)
    }
    small = {name: size for name, size in sizes.items() if size <= _LARGEST}
    return max(small, key=small.__getitem__) if small else min(sizes, key=sizes.__getitem__, default="")


def _read_json(path: str) -> dict[str, Any]:
    """Return the object in a file; empty if there is none."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
