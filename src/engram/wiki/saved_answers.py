"""Save answers as pages in `qa/`, with the question and the sources."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from engram.clock import load_timezone, to_datetime
from engram.hub import Hub
from engram.platform.text import escape_inline, to_one_line
from engram.store import log_entries
from engram.wiki.vault import article, state, write_batch
from engram.wiki.vault.links import escape_links, format_link
from engram.wiki.vault.page_text import Front, render_page
from engram.wiki.vault.vault import Vault

TYPE_CHECKING = False
if TYPE_CHECKING:
    from engram.wiki.answer import AnswerSource, WikiAnswer


def save_answer(hub: Hub, vault: Vault, answer: WikiAnswer) -> str:
    """Save an answer as a page and return it; text that people added to an earlier one is kept."""
    at = to_datetime(hub.now()).astimezone(load_timezone(hub.settings.timezone)).isoformat(timespec="seconds")
    target = find_answer_page(vault, answer.question)
    logs = dict(_find_daily_logs(hub, answer))
    text = render_answer_page(answer, at[:10], logs)
    saved = state.read_page_record(vault, target) or {}
    record = {"kind": "qa", "title": to_one_line(answer.question, 200), "last": at[:10]}
    pages = tuple(dict.fromkeys(source.target or logs.get(source.id, "") for source in answer.sources))
    total = state.load_state(vault)["totals"].get("filed", 0)
    write_batch.finish_journal(hub, vault)
    write_batch.commit_writes(
        hub,
        vault,
        [
            write_batch.PageWrite(
                target=target,
                text=text,
                made_by=answer.made_by,
                summary=_summarize_answer(answer),
                sources=tuple(filter(None, pages)),
                record={**saved, **record},
                anew=True,
            )
        ],
        what="query",
        subject=answer.question,
        at=at,
        patch={"totals": {"filed": total + 1}},
    )
    return target


def find_answer_page(vault: Vault, question: str) -> str:
    """Return the page of a question; another question with the same name gets its own page."""
    from engram.errors import InvalidInput

    number = blake2b(_fold_question(question).encode(), digest_size=4).hexdigest()
    try:
        target = vault.make_target("qa", question)
    except InvalidInput:  # it has no letters
        return vault.make_target("qa", f"question {number}")
    saved_text = vault.read(target)
    saved_question = article.parse_article(saved_text).get("question") if saved_text is not None else question
    same = _fold_question(saved_question) == _fold_question(question)
    return target if same else vault.make_target("qa", f"{target.partition('/')[2][:60]} {number}")


def _find_daily_logs(hub: Hub, answer: WikiAnswer) -> Iterator[tuple[str, str]]:
    """Yield the daily log of each source that quotes a session."""
    for source in answer.sources:
        if (
            source.session_id
            and not source.target
            and source.day in log_entries.list_days(hub.engine, source.session_id)
        ):
            yield source.id, f"daily/{source.day}"


def render_answer_page(answer: WikiAnswer, day: str, logs: dict[str, str]) -> str:
    """Render the page of an answer."""
    front: Front = (
        ("title", to_one_line(answer.question, 200)),
        ("question", to_one_line(answer.question, 2000)),
        ("tags", ("qa",)),
        ("consulted", tuple(item.target or item.session_id or item.id for item in answer.sources)),
        ("filed", day),
        ("created", day),
        ("updated", day),
    )
    sections = [
        ("Answer", [_escape_headings(answer.answer)]),
        ("Sources Consulted", [f"- {_format_source(item, logs.get(item.id))}" for item in answer.sources]),
        ("Follow-Up Questions", [f"- {item}" for item in answer.follow_up] or ["None."]),
    ]
    title = escape_links(escape_inline(answer.question, 200))
    return render_page(front, f"# {title}", sections)


def _escape_headings(answer: str) -> str:
    """Escape the headings in an answer."""
    return "\n".join(f"\\{line}" if line.startswith(("# ", "## ")) else line for line in answer.splitlines())


def _format_source(source: AnswerSource, log: str | None) -> str:
    where = f"{source.shown}, {format_link(log)}" if log else source.shown
    return f"{where} ({source.tier}{f', {source.day}' if source.day else ''}, `{source.id}`)"


def _summarize_answer(answer: WikiAnswer) -> str:
    lines = (line.strip("> ").strip() for line in answer.answer.splitlines() if not line.startswith("- "))
    return to_one_line(" ".join(line for line in lines if line), 160)


def _fold_question(question: str) -> str:
    return " ".join(question.casefold().split())
