"""The model that writes summaries, if one is configured; its answers are validated."""

from __future__ import annotations

import os
from collections import Counter

from engram.errors import Error, ModelInvalid, ModelOff
from engram.models import call_budget
from engram.models.registry import NONE
from engram.platform import text
from engram.platform.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.hub import Hub

_PROMPTS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "models", "prompts")
_IN_A_ROW = 3  # unusable answers after which we stop asking
_ITEM = 600  # characters of a list item
_PROSE = 6000  # characters
_ABOUT = ("summary",)  # prose that replaces what rules found in a session, so that a phrase would be a loss
_VERDICT, _KEEP, _NOTHING = "verdict", "keep", "nothing"


@value
class SummaryAnswer:
    """A validated answer of a model."""

    data: dict[str, Any]
    made_by: str


class SummaryModel:
    """Asks the configured model, counts failures, and stops asking if another try is pointless."""

    def __init__(self, hub: Hub, *, allowed: bool = True) -> None:
        self.hub = hub
        self.off = not allowed or hub.settings.model in ("", NONE) or call_budget.is_silent()
        self.by: Counter[str] = Counter()
        self.fallbacks: Counter[str] = Counter()
        self.problem: Error | None = None  # why the last call failed
        self.sentences: Counter[str] = Counter()  # kept, and dropped because their sources do not say so
        self._invalid = self._dropped = 0

    def ask(
        self, name: str, data: str, prose: str = "", lists: tuple[str, ...] = (), *, verdict: bool = False
    ) -> SummaryAnswer | None:  # fmt: skip
        """Return the model's answer about quoted data; None to fall back to rules.

        Sentences and items with a name or a number that the data does not have are dropped.
        With a verdict, the model may say that there is nothing to keep; otherwise an empty answer counts as a failure.
        """
        self.problem, self._dropped = None, 0
        if self.off:
            return None
        from engram.models.complete import complete

        template, version = load_prompt(name)
        try:
            answer = complete(
                self.hub,
                template.replace("{data}", text.quote_as_data(data)),
                purpose=name,
                schema=_build_schema(prose, lists, verdict),
            )
            checked = self._check_answer(answer.data, prose, data)
        except ModelOff:  # also inside a hook or another model call: no model is requested there
            self.off = True
            return None
        except Error as problem:
            self.problem = problem
            self._record_failure(problem)
            return None
        self._invalid = 0
        return SummaryAnswer(data=checked, made_by=f"model:{answer.provider}/{answer.model}, prompt {name}@{version}")

    def count_made(self, made_by: str) -> None:
        """Count what was made, by its maker."""
        self.by[made_by.partition(",")[0]] += 1

    def _record_failure(self, problem: Error) -> None:
        self.fallbacks[problem.code] += 1
        self._invalid = self._invalid + 1 if isinstance(problem, ModelInvalid) else _IN_A_ROW
        self.off = self._invalid >= _IN_A_ROW

    def _check_answer(self, data: dict[str, Any], prose: str, source: str) -> dict[str, Any]:
        """Return an answer fit to store: clean, redacted, supported by what the model was shown, and not empty."""
        from engram.capture.batch import redact_nested
        from engram.redaction.store_redactor import load_hub_redactor

        redacted = redact_nested(data, load_hub_redactor(self.hub))
        fields = {name: self._keep_grounded(_tidy_part(part), source) for name, part in redacted.items()}
        contents = [part for name, part in fields.items() if name != _VERDICT]
        if fields.get(_VERDICT) != _NOTHING and not (fields[prose] if prose else any(contents)):
            said = "No sentence of the answer is supported by its sources." if self._dropped else "The answer is empty."
            raise ModelInvalid(provider=self.hub.settings.model, reason=said, reply_text="")
        if prose in _ABOUT and not _shares_words(fields[prose], source):
            said = "The answer has no word in common with its sources."
            raise ModelInvalid(provider=self.hub.settings.model, reason=said, reply_text=fields[prose])
        return fields

    def _keep_grounded(self, part: Any, source: str) -> Any:
        """Return a part of an answer without what its sources do not say; count the sentences."""
        from engram.summaries.grounding import keep_grounded

        if isinstance(part, list):
            return [item for item in (self._keep_grounded(item, source) for item in part) if item]
        grounded = keep_grounded(part, source)
        self.sentences["kept"] += grounded.kept
        self.sentences["dropped"] += grounded.dropped
        self._dropped += grounded.dropped
        return grounded.text


def load_prompt(name: str) -> tuple[str, str]:
    """Return the text of a prompt and its version, a hash of the text."""
    from hashlib import blake2b

    with open(os.path.join(_PROMPTS, f"{name}.md"), encoding="utf-8") as file:
        template = file.read()
    return template, blake2b(template.encode(), digest_size=4).hexdigest()


def _shares_words(answer: str, source: str) -> bool:
    """Check that an answer is about its sources: small models fill a schema with brackets and polite phrases."""
    from engram.evidence.content_words import extract_content_words

    return bool(extract_content_words(answer) & extract_content_words(source))


def _build_schema(prose: str, lists: tuple[str, ...], verdict: bool) -> dict[str, Any]:
    items = {"type": "array", "items": {"type": "string", "maxLength": _ITEM}}
    parts: dict[str, Any] = dict.fromkeys(lists, items)
    if prose:
        parts = {prose: {"type": "string", "maxLength": _PROSE}, **parts}
    if verdict:
        parts = {_VERDICT: {"type": "string", "enum": [_KEEP, _NOTHING]}, **parts}
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


def _tidy_part(part: Any) -> Any:
    if isinstance(part, list):
        return [line for line in (text.to_one_line(text.validate_text("answer", item), _ITEM) for item in part) if line]
    return text.validate_text("answer", part).strip()
