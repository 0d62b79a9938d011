"""Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from engram.errors import ModelRefused, ModelUnavailable
from engram.models import http_json
from engram.models.endpoint import build_endpoint
from engram.models.provider import Reply, Request, clean_token_count
from engram.settings import Settings

_OWN = ("https://api.anthropic.com", "ANTHROPIC_API_KEY")
_TOOL = "answer"  # a typed reply is the input of a tool it must use
_STOPS = {
    "max_tokens": "it exceeded the length limit: use fewer words",
    "refusal": "the model refused to answer",
    "model_context_window_exceeded": "it filled the context: use fewer words",
}


class Anthropic:
    """The Anthropic API with a key."""

    name = "anthropic"
    overhead = 50

    def __init__(self, settings: Settings) -> None:
        self.model = settings.model_name
        self.endpoint = build_endpoint(self.name, "model_url", settings.model_url, settings.model_key_variable, _OWN)
        self.priced = not self.endpoint.local

    def ask(self, request: Request) -> Reply:
        """Make one call."""
        if not self.model:
            raise ModelRefused(provider=self.name, reason="no model name is set.", hint="Set model_name.")
        answer = http_json.request_json(
            self.endpoint, "/v1/messages", self._build_body(request), self._build_headers(), request.seconds
        )
        try:
            return _parse_reply(answer)
        except (KeyError, TypeError, AttributeError) as problem:
            reason = "the answer has an unknown format."
            raise ModelUnavailable(provider=self.name, reason=reason, after=None, billed=True) from problem

    def reach(self) -> None:
        """List the models, which is free."""
        http_json.request_json(self.endpoint, "/v1/models", None, self._build_headers(), 10)

    def _build_headers(self) -> dict[str, str]:
        key = self.endpoint.read_key()
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def _build_body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model, "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": request.prompt}],
        }  # fmt: skip
        if request.system:
            body["system"] = request.system
        if request.schema is not None:
            schema = {"type": "object", **request.schema} if "type" not in request.schema else request.schema
            body["tools"] = [{"name": _TOOL, "description": "Give the answer.", "input_schema": schema}]
            body["tool_choice"] = {"type": "tool", "name": _TOOL}
        return body


def _parse_reply(answer: dict[str, Any]) -> Reply:
    blocks = answer["content"]
    usage = answer.get("usage") or {}
    data = next((block["input"] for block in blocks if block["type"] == "tool_use" and block["name"] == _TOOL), None)
    return Reply(
        text="".join(block["text"] for block in blocks if block["type"] == "text"), data=data,
        model=str(answer.get("model") or ""), flaw=_STOPS.get(str(answer.get("stop_reason")), ""),
        input=clean_token_count(usage.get("input_tokens")), output=clean_token_count(usage.get("output_tokens")),
        cache_read=clean_token_count(usage.get("cache_read_input_tokens")),
        cache_write=clean_token_count(usage.get("cache_creation_input_tokens")), counted=bool(usage),
    )  # fmt: skip


make = Anthropic
