"""Chat completions, as offered by OpenAI, OpenRouter, Ollama, LM Studio, vLLM and many others."""

from __future__ import annotations

import json
from typing import Any

from engram.errors import ModelRefused, ModelUnavailable
from engram.models import http_json
from engram.models.endpoint import build_endpoint
from engram.models.provider import Reply, Request, clean_token_count
from engram.settings import Settings

OWN = ("https://api.openai.com/v1", "OPENAI_API_KEY")
_STOPS = {
    "length": "it exceeded the length limit: use fewer words",
    "content_filter": "a content filter blocked it",
}


class OpenAI:
    """An OpenAI-compatible API, with or without a key."""

    name = "openai"
    overhead = 50

    def __init__(self, settings: Settings) -> None:
        self.model = settings.model_name
        self.endpoint = build_endpoint(self.name, "model_url", settings.model_url, settings.model_key_variable, OWN)
        self.priced = not self.endpoint.local

    def ask(self, request: Request) -> Reply:
        """Make one call."""
        if not self.model:
            raise ModelRefused(provider=self.name, reason="no model name is set.", hint="Set model_name.")
        answer = http_json.request_json(
            self.endpoint, "/chat/completions", self._build_body(request), self._build_headers(), request.seconds
        )
        try:
            return _parse_reply(answer)
        except (KeyError, TypeError, AttributeError, IndexError) as problem:
            reason = "the answer has an unknown format."
            raise ModelUnavailable(provider=self.name, reason=reason, after=None, billed=True) from problem

    def reach(self) -> None:
        """List the models, which is free."""
        http_json.request_json(self.endpoint, "/models", None, self._build_headers(), 10)

    def _build_headers(self) -> dict[str, str]:
        key = self.endpoint.read_key()
        return {"Authorization": f"Bearer {key}"} if key else {}

    def _build_body(self, request: Request) -> dict[str, Any]:
        system = "\n\n".join(filter(None, (request.system, _describe_schema(request.schema))))
        messages = [{"role": "system", "content": system}] if system else []
        # OpenAI's newer models refuse the old name of this limit; all other servers know only that.
        limit = "max_completion_tokens" if self.endpoint.url == OWN[0] else "max_tokens"
        body = {"model": self.model, limit: request.max_tokens,
                "messages": [*messages, {"role": "user", "content": request.prompt}]}  # fmt: skip
        if request.schema is not None:
            form = {"name": "answer", "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


def _describe_schema(schema: dict[str, Any] | None) -> str:
    """Return the schema as an instruction: some servers do not enforce it, and small models need it."""
    if schema is None:
        return ""
    return f"Answer with one JSON value and nothing else. It must fit this JSON schema:\n{json.dumps(schema)}"


def _parse_reply(answer: dict[str, Any]) -> Reply:
    choice = answer["choices"][0]
    usage = answer.get("usage") or {}
    cached = clean_token_count((usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
    flaw = _STOPS.get(str(choice.get("finish_reason")), "")
    return Reply(
        text="" + (choice["message"].get("content") or ""),
        model=str(answer.get("model") or ""),
        flaw="the model refused to answer" if choice["message"].get("refusal") else flaw,
        input=max(clean_token_count(usage.get("prompt_tokens")) - cached, 0),
        output=clean_token_count(usage.get("completion_tokens")),
        cache_read=cached,
        counted=bool(usage),
    )


make = OpenAI
