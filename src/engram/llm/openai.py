"""Chat completions as OpenAI, OpenRouter, Ollama, LM Studio, vLLM and many others offer them."""

from __future__ import annotations

import json
from typing import Any

from engram.errors import ModelRefused, ModelUnavailable
from engram.llm import wire
from engram.llm.endpoint import endpoint
from engram.llm.provider import Reply, Request, count
from engram.settings import Settings

OWN = ("https://api.openai.com/v1", "OPENAI_API_KEY")
_STOPS = {
    "length": "it was cut off at the limit of its length: say it in fewer words",
    "content_filter": "a filter held it back",
}


class OpenAI:
    """An OpenAI-compatible API, with a key or without."""

    name = "openai"
    overhead = 50

    def __init__(self, settings: Settings) -> None:
        self.model = settings.model_name
        self.endpoint = endpoint(self.name, "model_url", settings.model_url, settings.model_key_variable, OWN)
        self.priced = not self.endpoint.local

    def ask(self, request: Request) -> Reply:
        """Answer once."""
        if not self.model:
            raise ModelRefused(provider=self.name, reason="no model is named.", hint="Set model_name.")
        answer = wire.ask(self.endpoint, "/chat/completions", self._body(request), self._headers(), request.seconds)
        try:
            return _reply(answer)
        except (KeyError, TypeError, AttributeError, IndexError) as problem:
            reason = "its answer is not of the form we know."
            raise ModelUnavailable(provider=self.name, reason=reason, after=None, billed=True) from problem

    def reach(self) -> None:
        """Ask for the list of models, which costs nothing."""
        wire.ask(self.endpoint, "/models", None, self._headers(), 10)

    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _body(self, request: Request) -> dict[str, Any]:
        system = "\n\n".join(filter(None, (request.system, _told(request.schema))))
        messages = [{"role": "system", "content": system}] if system else []
        # OpenAI's newer models refuse the older name of this limit, everybody else knows only that.
        limit = "max_completion_tokens" if self.endpoint.url == OWN[0] else "max_tokens"
        body = {"model": self.model, limit: request.max_tokens,
                "messages": [*messages, {"role": "user", "content": request.prompt}]}  # fmt: skip
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


def _told(schema: dict[str, Any] | None) -> str:
    """Return the schema in words: some servers do not enforce it, and small models need to be told."""
    if schema is None:
        return ""
    return f"Answer with one JSON value and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"


def _reply(answer: dict[str, Any]) -> Reply:
    choice = answer["choices"][0]
    usage = answer.get("usage") or {}
    cached = count((usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
    flaw = _STOPS.get(str(choice.get("finish_reason")), "")
    return Reply(
        text="" + (choice["message"].get("content") or ""), model=str(answer.get("model") or ""),
        flaw="it declined to answer" if choice["message"].get("refusal") else flaw,
        input=max(count(usage.get("prompt_tokens")) - cached, 0), output=count(usage.get("completion_tokens")),
        cache_read=cached, counted=bool(usage),
    )  # fmt: skip


make = OpenAI
