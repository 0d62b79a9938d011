"""Anthropic's Messages API."""

from __future__ import annotations

from typing import Any

from engram.errors import ModelRefused, ModelUnavailable
from engram.llm import wire
from engram.llm.endpoint import endpoint
from engram.llm.provider import Reply, Request, count
from engram.settings import Settings

_OWN = ("https://api.anthropic.com", "ANTHROPIC_API_KEY")
_TOOL = "answer"  # a typed reply is the input of a tool it must use
_STOPS = {
    "max_tokens": "it was cut off at the limit of its length: say it in fewer words",
    "refusal": "it declined to answer",
    "model_context_window_exceeded": "the context was full before it ended: say it in fewer words",
}


class Anthropic:
    """The API with a key."""

    name = "anthropic"
    overhead = 50

    def __init__(self, settings: Settings) -> None:
        self.model = settings.model_name
        self.endpoint = endpoint(self.name, "model_url", settings.model_url, settings.model_key_variable, _OWN)
        self.priced = not self.endpoint.local

    def ask(self, request: Request) -> Reply:
        """Answer once."""
        if not self.model:
            raise ModelRefused(provider=self.name, reason="no model is named.", hint="Set model_name.")
        answer = wire.ask(self.endpoint, "/v1/messages", self._body(request), self._headers(), request.seconds)
        try:
            return _reply(answer)
        except (KeyError, TypeError, AttributeError) as problem:
            reason = "its answer is not of the form we know."
            raise ModelUnavailable(provider=self.name, reason=reason, after=None, billed=True) from problem

    def reach(self) -> None:
        """Ask for the list of models, which costs nothing."""
        wire.ask(self.endpoint, "/v1/models", None, self._headers(), 10)

    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key()
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model, "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": request.prompt}],
        }  # fmt: skip
        if request.system:
            body["system"] = request.system
        if request.schema is not None:
            wanted = {"type": "object", **request.schema} if "type" not in request.schema else request.schema
            body["tools"] = [{"name": _TOOL, "description": "Give the answer.", "input_schema": wanted}]
            body["tool_choice"] = {"type": "tool", "name": _TOOL}
        return body


def _reply(answer: dict[str, Any]) -> Reply:
    blocks = answer["content"]
    usage = answer.get("usage") or {}
    data = next((block["input"] for block in blocks if block["type"] == "tool_use" and block["name"] == _TOOL), None)
    return Reply(
        text="".join(block["text"] for block in blocks if block["type"] == "text"), data=data,
        model=str(answer.get("model") or ""), flaw=_STOPS.get(str(answer.get("stop_reason")), ""),
        input=count(usage.get("input_tokens")), output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")), counted=bool(usage),
    )  # fmt: skip


make = Anthropic
