"""Pages made by rules from the entries about a topic, newest first. Pure.

Every line is a quote or a count, with its date and source entry.
"""

from __future__ import annotations

from collections import Counter

from engram.platform.text import escape_inline
from engram.platform.value import value
from engram.wiki.compiler.topic_record import MAX_FULL_ENTRIES, TopicRecord, count_days, count_entries
from engram.wiki.compiler.topics import DECISIONS, ERROR, FILE, PROJECT, TERM, project_root
from engram.wiki.vault.article import Article, Section, to_markdown
from engram.wiki.vault.links import escape_links, format_link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engram.wiki.compiler.topics import TopicEvidence

Front = tuple[tuple[str, "str | tuple[str, ...]"], ...]
RULES = "rules/2"  # increase when the same entries give a different page
_MAX_LINES = 12  # lines of a list
_MAX_DIRECTORIES = 8  # directories of a project
_MAX_SOURCES = 30  # logs listed as sources
_TAGS = {PROJECT: "project", DECISIONS: "decisions", FILE: "file", ERROR: "error", TERM: "term"}


@value
class RulePage:
    """A page as the rules build it."""

    text: str
    summary: str
    sources: tuple[str, ...]  # logs it was compiled from, newest first


def build_topic_page(record: TopicRecord) -> RulePage:
    """Build the page of a topic."""
    summary, sections = _BUILDERS[record["kind"]](record)
    logs = tuple(dict.fromkeys(f"daily/{evidence['day']}" for evidence in record["evidence"]))
    front: Front = (
        ("title", record["title"]), ("aliases", tuple(record.get("aliases", ()))), ("tags", (_TAGS[record["kind"]],)),
        ("sources", logs[:_MAX_SOURCES]), ("created", record["first"]), ("updated", record["last"]),
    )  # fmt: skip
    all_sections = [
        *sections,
        ("Related Concepts", _format_related(record)),
        ("Sources", list(_format_sources(record))),
    ]
    text = render_page(front, f"# {_to_plain_text(record['title'])}\n\n{summary}", all_sections)
    return RulePage(text=text, summary=_summarize_topic(record), sources=logs)


def build_connection_page(
    titles: tuple[str, str], targets: tuple[str, str], shared: list[TopicEvidence], insight: str
) -> RulePage:
    """Build the page about two pages that often occur together, with each sentence that names both, or each goal."""
    names = (_to_plain_text(titles[0]), _to_plain_text(titles[1]))
    links = [format_link(target, name) for target, name in zip(targets, names, strict=True)]
    logs = tuple(dict.fromkeys(f"daily/{item['day']}" for item in shared))
    first, last = shared[-1]["day"], shared[0]["day"]
    front: Front = (
        ("title", f"{names[0]} and {names[1]}"), ("connects", targets), ("tags", ("connection",)),
        ("sources", logs[:_MAX_SOURCES]), ("created", first), ("updated", last),
    )  # fmt: skip
    together = (
        f"{links[0]} and {links[1]} occur together in {_format_entry_count(len(shared))}, {_format_span(first, last)}."
    )
    sections = (
        ("The Connection", [together]),
        ("Key Insight", [insight]),
        (
            "Evidence",
            [_format_line(item, _pick_sentence(item)) for item in shared[:_MAX_LINES]]
            + _format_rest(len(shared), _MAX_LINES),
        ),
        ("Related Concepts", [f"- {item}" for item in links]),
        ("Sources", [f"- {format_link(item)}" for item in logs[:_MAX_SOURCES]]),
    )
    text = render_page(front, f"# {names[0]} and {names[1]}", sections)
    return RulePage(text=text, summary=f"Together in {_format_entry_count(len(shared))}.", sources=logs)


def render_page(front: Front, top: str, sections: Iterable[tuple[str, list[str]]]) -> str:
    """Render a page: frontmatter, summary and the sections that have lines."""
    parts = [Section(heading=heading, body="\n" + "\n".join(lines) + "\n\n") for heading, lines in sections if lines]
    head = Section(heading="", body=f"\n{top}\n\n")
    return to_markdown(Article(front=front, sections=(head, *parts))).rstrip("\n") + "\n"


def _pick_sentence(evidence: TopicEvidence) -> str:
    return str(evidence.get("sentence") or evidence.get("goal", ""))


def describe_co_mentions(titles: tuple[str, str], counts: tuple[int, int], shared: int) -> str:
    """Describe two pages that are named in the same sentences."""
    (less, rarer), (_, other) = sorted(zip(counts, titles, strict=True))
    return (
        f"{shared} of the {_format_entry_count(less)} that name {_to_plain_text(rarer)} name "
        f"{_to_plain_text(other)} in the same sentence."
    )


def describe_shared_work(first: TopicRecord, second: TopicRecord, shared: int) -> str:
    """Describe two topics that share entries."""
    first_count, second_count = count_entries(first), count_entries(second)
    less, more = sorted(((first_count, first), (second_count, second)), key=lambda counted: counted[0])
    share = round(100 * shared / max(1, less[0]))
    return (
        f"{share} % of the entries about {_to_plain_text(less[1]['title'])} ({shared} of {less[0]}) are also about "
        f"{_to_plain_text(more[1]['title'])}: changing one is likely to affect the other."
    )


# ---- Page kinds: a summary, and sections with their lines


PageParts = tuple[str, list[tuple[str, list[str]]]]


def _build_project(record: TopicRecord) -> PageParts:
    evidence = record["evidence"]
    latest = evidence[0]
    where = ", ".join(f"`{escape_inline(directory, 200)}`" for directory in _list_directories(evidence))
    ended = f"Last: {_format_quote(latest.get('goal', ''))} ({_format_source(latest)})."
    summary = f"{f'The project at {where}' if where else 'A project'}. {_format_overview(record)} {ended}"
    return summary, [
        ("Key Points", list(_list_key_points(record))),
        ("Open", _list_quotes(evidence[:8], "open", 10)),
        ("Timeline", list(_format_timeline(evidence))),
        ("Decisions", _list_quotes(evidence, "decided", _MAX_LINES)),
        ("Failures and Fixes", _list_quotes(evidence, "failed", _MAX_LINES)),
        ("Tests", _list_quotes(evidence, "tests", 6)),
        ("Most Changed Files", list(_format_files(record))),
        ("Commits", _list_quotes(evidence, "commits", _MAX_LINES)),
    ]  # fmt: skip


def _list_directories(evidence: list[TopicEvidence]) -> list[str]:
    """Return the directories of a project, the latest first, each in one spelling."""
    root_by_spelling: dict[str, str] = {}
    for item in evidence:
        root_by_spelling.setdefault(project_root(item.get("root", "")).casefold(), item.get("root", ""))
    return [item for item in root_by_spelling.values() if "/" in item or "\\" in item][:_MAX_DIRECTORIES]


def _list_key_points(record: TopicRecord) -> Iterator[str]:
    evidence = record["evidence"]
    failed = sum(bool(item.get("failed")) for item in evidence)
    decided = sum(len(item.get("decided", ())) for item in evidence)
    commits = sum(len(item.get("commits", ())) for item in evidence)
    touched = {path for item in evidence for path in item.get("files", ())}
    facts = (
        ("files changed", len(touched)), ("commits", commits), ("decisions", decided), ("with failures", failed),
    )  # fmt: skip
    counts = [f"{words}: {number}" for words, number in facts if number]
    if counts and len(evidence) > 1:
        yield f"- The last {_format_entry_count(len(evidence))} in numbers: {'; '.join(counts)}."
    busiest = Counter(item["day"] for item in evidence).most_common(1)[0]
    if busiest[1] > 1:
        yield f"- Busiest day: {format_link(f'daily/{busiest[0]}', busiest[0])} with {_format_entry_count(busiest[1])}."
    latest = next((item for item in evidence if item.get("decided")), None)
    if latest:
        yield f"- Latest decision: {_format_quote(latest['decided'][0])} ({_format_source(latest)})"
    ended = next((item for item in evidence if item.get("ended")), None)
    if ended:
        yield f"- Last reported state: {_format_quote(ended['ended'][0])} ({_format_source(ended)})"


def _format_timeline(evidence: list[TopicEvidence]) -> Iterator[str]:
    day = ""
    for item in evidence:
        if item["day"] != day:
            if day:
                yield ""
            day = item["day"]
            yield f"### {day}"
            yield ""
        counts = [(len(item.get("files", ())), "file"), (len(item.get("commits", ())), "commit")]
        details = [f"{number} {word}{'s' if number > 1 else ''}" for number, word in counts if number]
        details += [f"tests: {escape_inline(item['tests'][0], 60)}"] if item.get("tests") else []
        rest = f" ({'; '.join(details)})" if details else ""
        yield (
            f"- {_format_source(item, item.get('at') or day)} {item.get('flavor', '')}: "
            f"{_format_quote(item.get('goal', ''))}{rest}"
        )


def _format_files(record: TopicRecord) -> Iterator[str]:
    changed = Counter(path for evidence in record["evidence"] for path in evidence.get("files", ()))
    target_by_path = {facts["title"]: target for target, facts in record["related"].items() if facts["kind"] == FILE}
    for path, number in sorted(changed.items(), key=lambda item: (-item[1], item[0]))[:_MAX_LINES]:
        last = next(evidence for evidence in record["evidence"] if path in evidence.get("files", ()))
        name = format_link(target_by_path[path], path) if path in target_by_path else f"`{escape_inline(path, 120)}`"
        yield f"- {name}: {_format_entry_count(number)}, last {_format_source(last, last['day'])}"


def _build_decisions(record: TopicRecord) -> PageParts:
    stated = sum(len(evidence.get("decided", ())) for evidence in record["evidence"])
    lines = _list_quotes(record["evidence"], "decided", 3 * _MAX_LINES)
    lessons = _list_quotes(record["evidence"], "lessons", _MAX_LINES)
    summary = f"{stated} decisions in their original words, newest first. {_format_overview(record)}"
    return summary, [("Decided", lines), ("Lessons", lessons)]


def _format_file(path: str, target_by_path: dict[str, str]) -> str:
    """Return a link to a file's page, or its name if it has none."""
    target = target_by_path.get(path)
    return format_link(target, path) if target else f"`{escape_inline(path, 120)}`"


def _build_file(record: TopicRecord) -> PageParts:
    evidence = record["evidence"]
    target_by_path = {facts["title"]: target for target, facts in record["related"].items() if facts["kind"] == FILE}
    other_files = Counter(path for item in evidence for path in item.get("files", ()))
    together = [
        f"- {_format_file(path, target_by_path)}: together in {_format_entry_count(number)}"
        for path, number in sorted(other_files.items(), key=lambda item: (-item[1], item[0]))[:6]
        if number > 1
    ]
    summary = f"A file of {_to_plain_text(record['project'])}. {_format_overview(record)}"
    return summary, [
        ("Changed Together With", together),
        ("History", [_format_line(item, item.get("goal", "")) for item in evidence[:MAX_FULL_ENTRIES]]),
        ("Mentions", _list_quotes(evidence, "said", _MAX_LINES)),
    ]


def _build_error(record: TopicRecord) -> PageParts:
    where = Counter(evidence["in"] for evidence in record["evidence"] if evidence.get("in"))
    places = (
        f" in {', '.join(f'{_to_plain_text(name)} ({number})' for name, number in where.most_common(5))}"
        if where
        else ""
    )
    fixes = _list_quotes(record["evidence"], "fixes", _MAX_LINES)
    summary = (
        f"An error that occurred in {_format_entry_count(count_entries(record))}{places}, "
        f"{_format_span(record['first'], record['last'])}."
    )
    return summary, [
        ("Fixes", fixes or ["No fix is known yet."]),
        ("Occurrences", _list_quotes(record["evidence"], "said", _MAX_LINES)),
        (
            "Affected Work",
            [_format_line(evidence, evidence.get("goal", "")) for evidence in record["evidence"][:_MAX_LINES]],
        ),
    ]


def _build_term(record: TopicRecord) -> PageParts:
    where = Counter(evidence["in"] for evidence in record["evidence"] if evidence.get("in"))
    places = ", ".join(f"{_to_plain_text(name)} ({number})" for name, number in where.most_common(5))
    summary = _format_overview(record) + (f" Found in {places}." if places else "")
    return summary, [("Mentions", _list_quotes(record["evidence"], "said", 2 * _MAX_LINES))]


_BUILDERS: dict[str, Callable[[TopicRecord], PageParts]] = {
    PROJECT: _build_project, DECISIONS: _build_decisions, FILE: _build_file, ERROR: _build_error, TERM: _build_term,
}  # fmt: skip


# ---- Parts of pages


def _format_overview(record: TopicRecord) -> str:
    flavor_counts = Counter(evidence["flavor"] for evidence in record["evidence"] if evidence.get("flavor"))
    agents = ", ".join(f"{name} ({number})" for name, number in flavor_counts.most_common())
    over = f" on {count_days(record)} days" if count_days(record) > 1 else ""
    return (
        f"{_format_entry_count(count_entries(record)).capitalize()}{over}, "
        f"{_format_span(record['first'], record['last'])}, by {agents}."
    )


def _summarize_topic(record: TopicRecord) -> str:
    """Return the summary of a page for the index."""
    latest = record["evidence"][0]
    quote = (latest.get("said") or [latest.get("goal", "")])[0]
    return (
        f"{_TAGS[record['kind']].capitalize()}, {_format_entry_count(count_entries(record))}; last: "
        f"{_format_quote(quote)}"
    )


def _list_quotes(evidence: Iterable[TopicEvidence], part: str, limit: int) -> list[str]:
    """Return the quotes of one section of the entries, without duplicates, with their sources."""
    lines: dict[str, str] = {}
    for item in evidence:
        for quote in item.get(part, ()):
            lines.setdefault(quote.casefold(), _format_line(item, quote))
    return [*list(lines.values())[:limit], *_format_rest(len(lines), limit)]


def _format_rest(number: int, limit: int) -> list[str]:
    return [f"- … and {number - limit} more in the logs below"] if number > limit else []


def _format_line(evidence: TopicEvidence, quote: str) -> str:
    return f"- {_format_source(evidence)}: {_format_quote(quote) if quote else 'no goal stated'}"


def _format_related(record: TopicRecord) -> list[str]:
    related = sorted(record["related"].items(), key=lambda item: (-item[1]["shared"], item[0]))
    return [
        f"- {format_link(target, _to_plain_text(facts['title']))} ({facts['kind']}, "
        f"{_format_entry_count(facts['shared'])})"
        for target, facts in related[: 2 * _MAX_LINES]
    ]


def _format_sources(record: TopicRecord) -> Iterator[str]:
    entries_by_day = Counter(evidence["day"] for evidence in record["evidence"])
    for day, times in list(entries_by_day.items())[:_MAX_SOURCES]:
        yield f"- {format_link(f'daily/{day}', day)}: {_format_entry_count(times)}"
    for month, times in sorted(record["older"].items(), reverse=True)[:12]:
        yield f"- {month}: {_format_entry_count(times)} more, in the logs of that month"


def _format_source(evidence: TopicEvidence, label: str = "") -> str:
    return format_link(evidence["link"], label or f"{evidence['day']} {evidence.get('at', '')}".strip())


def _format_quote(text: str) -> str:
    return f"“{escape_inline(text, 240)}”" if text else "“…”"


def _to_plain_text(text: str) -> str:
    return escape_links(escape_inline(text, 120))


def _format_entry_count(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _format_span(first: str, last: str) -> str:
    return f"on {first}" if first == last else f"from {first} to {last}"
