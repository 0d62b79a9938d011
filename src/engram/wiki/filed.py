"""Answers that are kept: a page in `qa/` for a question, what it was, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from engram.clock import moment, zone
from engram.compiler.pages import Front, laid_out
from engram.hub import Hub
from engram.store import entries
from engram.text import inline, one_line
from engram.vault import article, state, writes
from engram.vault.links import link, unlinked
from engram.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.wiki.ask import Asked, Source


def filed(hub: Hub, vault: Vault, asked: Asked) -> str:
    """Keep an answer as a page; what people wrote into an earlier one stays. Return the page."""
    at = moment(hub.now()).astimezone(zone(hub.settings.timezone)).isoformat(timespec="seconds")
    target = named(vault, asked.question)
    logs = dict(_logs(hub, asked))
    text = page(asked, at[:10], logs)
    kept = state.page(vault, target) or {}
    record = {"kind": "qa", "title": one_line(asked.question, 200), "last": at[:10]}
    pages = tuple(dict.fromkeys(each.target or logs.get(each.id, "") for each in asked.sources))
    total = state.load(vault)["totals"].get("filed", 0)
    writes.finish(hub, vault)
    writes.commit(
        hub, vault,
        [writes.Write(
            target=target, text=text, made_by=asked.made_by, summary=_gist(asked), sources=tuple(filter(None, pages)),
            record={**kept, **record}, anew=True,
        )],
        what="query", subject=asked.question, at=at, patch={"totals": {"filed": total + 1}},
    )  # fmt: skip
    return target


def named(vault: Vault, question: str) -> str:
    """Return the page of a question; another question of the same name gets one of its own."""
    from engram.errors import InvalidInput

    number = blake2b(_folded(question).encode(), digest_size=4).hexdigest()
    try:
        target = vault.named("qa", question)
    except InvalidInput:  # no letter in it
        return vault.named("qa", f"question {number}")
    held = vault.read(target)
    asked = article.read(held).get("question") if held is not None else question
    same = _folded(asked) == _folded(question)
    return target if same else vault.named("qa", f"{target.partition('/')[2][:60]} {number}")


def _logs(hub: Hub, asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield the daily logs that tell of what sessions said, by the source."""
    for each in asked.sources:
        if each.session_id and not each.target and each.day in entries.days_of(hub.engine, each.session_id):
            yield each.id, f"daily/{each.day}"


def page(asked: Asked, day: str, logs: dict[str, str]) -> str:
    """Return the page of an answer."""
    front: Front = (
        ("title", one_line(asked.question, 200)), ("question", one_line(asked.question, 2000)), ("tags", ("qa",)),
        ("consulted", tuple(each.target or each.session_id or each.id for each in asked.sources)), ("filed", day),
        ("created", day), ("updated", day),
    )  # fmt: skip
    sections = [
        ("Answer", [_below(asked.answer)]),
        ("Sources Consulted", [f"- {_consulted(each, logs.get(each.id))}" for each in asked.sources]),
        ("Follow-Up Questions", [f"- {each}" for each in asked.follow_up] or ["None were noted."]),
    ]
    title = unlinked(inline(asked.question, 200))
    return laid_out(front, f"# {title}", sections)


def _below(answer: str) -> str:
    """Return an answer that makes no sections of its own."""
    return "\n".join(f"\\{line}" if line.startswith(("# ", "## ")) else line for line in answer.splitlines())


def _consulted(source: Source, log: str | None) -> str:
    where = f"{source.shown}, {link(log)}" if log else source.shown
    return f"{where} ({source.tier}{f', {source.day}' if source.day else ''}, `{source.id}`)"


def _gist(asked: Asked) -> str:
    lines = (line.strip("> ").strip() for line in asked.answer.splitlines() if not line.startswith("- "))
    return one_line(" ".join(line for line in lines if line), 160)


def _folded(question: str) -> str:
    return " ".join(question.casefold().split())
