"""A model that writes summaries, where the user chose one; its answers are checked before anybody sees them."""

from __future__ import annotations

import os
from collections import Counter

from engram import text
from engram.errors import Error, ModelInvalid, ModelOff
from engram.llm import allowance
from engram.llm.registry import NONE
from engram.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from engram.hub import Hub

_PROMPTS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "llm", "prompts")
_IN_A_ROW = 3  # answers nobody can use, until we stop asking
_ITEM = 600  # characters of one item of a list
_PROSE = 6000  # characters
_VERDICT, _KEEP, _NOTHING = "verdict", "keep", "nothing"


@value
class Thought:
    """What a model wrote, checked."""

    data: dict[str, Any]
    made_by: str


class Thinker:
    """Asks the chosen model, counts what it could not do, and stops asking where asking again is no use."""

    def __init__(self, hub: Hub, *, allowed: bool = True) -> None:
        self.hub = hub
        self.off = not allowed or hub.settings.model in ("", NONE) or allowance.silent()
        self.by: Counter[str] = Counter()
        self.fallbacks: Counter[str] = Counter()
        self.problem: Error | None = None  # why the last answer could not be had
        self._invalid = 0

    def ask(
        self, name: str, data: str, prose: str = "", lists: tuple[str, ...] = (), *, verdict: bool = False
    ) -> Thought | None:  # fmt: skip
        """Return what the model makes of quoted data; None when somebody else has to do it.

        With a verdict it may say that there is nothing to keep; without that word, an answer that says nothing is none.
        """
        self.problem = None
        if self.off:
            return None
        from engram.llm.complete import complete

        words, version = prompt(name)
        try:
            answer = complete(
                self.hub, words.replace("{data}", text.quote(data)), purpose=name, schema=_schema(prose, lists, verdict)
            )
            found = self._sound(answer.data, prose)
        except ModelOff:  # also from inside a hook or another call: then nobody asked for a model here
            self.off = True
            return None
        except Error as problem:
            self.problem = problem
            self._failed(problem)
            return None
        self._invalid = 0
        return Thought(data=found, made_by=f"model:{answer.provider}/{answer.model}, prompt {name}@{version}")

    def made(self, made_by: str) -> None:
        """Count what was made, and by what."""
        self.by[made_by.partition(",")[0]] += 1

    def _failed(self, problem: Error) -> None:
        self.fallbacks[problem.code] += 1
        self._invalid = self._invalid + 1 if isinstance(problem, ModelInvalid) else _IN_A_ROW
        self.off = self._invalid >= _IN_A_ROW

    def _sound(self, data: dict[str, Any], prose: str) -> dict[str, Any]:
        """Return an answer fit to be stored: clean, without secrets, and not empty."""
        from engram.capture.batch import cleaned
        from engram.redaction.removal import redactor

        found = {name: _tidied(each) for name, each in cleaned(data, redactor(self.hub)).items()}
        said = [each for name, each in found.items() if name != _VERDICT]
        if found.get(_VERDICT) != _NOTHING and not (found[prose] if prose else any(said)):
            raise ModelInvalid(provider=self.hub.settings.model, reason="it says nothing.", reply_text="")
        return found


def prompt(name: str) -> tuple[str, str]:
    """Return the words of a prompt and the version they are: a hash of them."""
    from hashlib import blake2b

    with open(os.path.join(_PROMPTS, f"{name}.md"), encoding="utf-8") as file:
        words = file.read()
    return words, blake2b(words.encode(), digest_size=4).hexdigest()


def _schema(prose: str, lists: tuple[str, ...], verdict: bool) -> dict[str, Any]:
    items = {"type": "array", "items": {"type": "string", "maxLength": _ITEM}}
    parts: dict[str, Any] = dict.fromkeys(lists, items)
    if prose:
        parts = {prose: {"type": "string", "maxLength": _PROSE}, **parts}
    if verdict:
        parts = {_VERDICT: {"type": "string", "enum": [_KEEP, _NOTHING]}, **parts}
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


def _tidied(part: Any) -> Any:
    if isinstance(part, list):
        return [line for line in (text.one_line(text.clean("answer", each), _ITEM) for each in part) if line]
    return text.clean("answer", part).strip()
