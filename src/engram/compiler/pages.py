"""Pages made by rules: what the entries about a topic say, the newest first. Pure.

Every line is a quote or a count, with its date and the entry it comes from.
"""

from __future__ import annotations

from collections import Counter

from engram.compiler.record import FULL, Record, count, days
from engram.compiler.topics import DECISIONS, ERROR, FILE, PROJECT, TERM, root_of
from engram.text import inline
from engram.value import value
from engram.vault.article import Article, Section, written
from engram.vault.links import link, unlinked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from engram.compiler.topics import Evidence

Front = tuple[tuple[str, "str | tuple[str, ...]"], ...]
RULES = "rules/1"  # changes when the same entries would give another page
_SHOWN = 12  # lines of a list
_PLACES = 8  # directories of one project
_SOURCES = 30  # logs a page names
_TAGS = {PROJECT: "project", DECISIONS: "decisions", FILE: "file", ERROR: "error", TERM: "term"}


@value
class Page:
    """A page as we would write it."""

    text: str
    summary: str
    sources: tuple[str, ...]  # the logs it was compiled from, newest first


def page(record: Record) -> Page:
    """Return the page of a topic."""
    summary, sections = _KINDS[record["kind"]](record)
    logs = tuple(dict.fromkeys(f"daily/{each['day']}" for each in record["evidence"]))
    front: Front = (
        ("title", record["title"]), ("aliases", tuple(record.get("aliases", ()))), ("tags", (_TAGS[record["kind"]],)),
        ("sources", logs[:_SOURCES]), ("created", record["first"]), ("updated", record["last"]),
    )  # fmt: skip
    told = [*sections, ("Related Concepts", _related(record)), ("Sources", list(_sources(record)))]
    text = laid_out(front, f"# {_plain(record['title'])}\n\n{summary}", told)
    return Page(text=text, summary=_in_brief(record), sources=logs)


def connection(titles: tuple[str, str], targets: tuple[str, str], shared: list[Evidence], insight: str) -> Page:
    """Return the page about two pages that keep coming up together: each sentence that names both, or each goal."""
    names = (_plain(titles[0]), _plain(titles[1]))
    links = [link(target, name) for target, name in zip(targets, names, strict=True)]
    logs = tuple(dict.fromkeys(f"daily/{each['day']}" for each in shared))
    first, last = shared[-1]["day"], shared[0]["day"]
    front: Front = (
        ("title", f"{names[0]} and {names[1]}"), ("connects", targets), ("tags", ("connection",)),
        ("sources", logs[:_SOURCES]), ("created", first), ("updated", last),
    )  # fmt: skip
    together = f"{links[0]} and {links[1]} come up together in {_entries(len(shared))}, {_span(first, last)}."
    told = (
        ("The Connection", [together]),
        ("Key Insight", [insight]),
        ("Evidence", [_line(each, _linking(each)) for each in shared[:_SHOWN]] + _rest(len(shared), _SHOWN)),
        ("Related Concepts", [f"- {each}" for each in links]),
        ("Sources", [f"- {link(each)}" for each in logs[:_SOURCES]]),
    )  # fmt: skip
    text = laid_out(front, f"# {names[0]} and {names[1]}", told)
    return Page(text=text, summary=f"Together in {_entries(len(shared))}.", sources=logs)


def laid_out(front: Front, top: str, sections: Iterable[tuple[str, list[str]]]) -> str:
    """Return a page: frontmatter, what stands at its top, and the sections that have lines."""
    parts = [Section(heading=heading, body="\n" + "\n".join(lines) + "\n\n") for heading, lines in sections if lines]
    head = Section(heading="", body=f"\n{top}\n\n")
    return written(Article(front=front, sections=(head, *parts))).rstrip("\n") + "\n"


def _linking(each: Evidence) -> str:
    return str(each.get("sentence") or each.get("goal", ""))


def named_together(titles: tuple[str, str], counts: tuple[int, int], shared: int) -> str:
    """Return what it says of two pages that sentences name both."""
    (less, rarer), (_, other) = sorted(zip(counts, titles, strict=True))
    return f"{shared} of the {_entries(less)} that name {_plain(rarer)} name {_plain(other)} in the same sentence."


def worked_together(one: Record, other: Record, shared: int) -> str:
    """Return what it says of two topics that entries are about both."""
    of_one, of_other = count(one), count(other)
    less, more = sorted(((of_one, one), (of_other, other)), key=lambda each: each[0])
    share = round(100 * shared / max(1, less[0]))
    return (
        f"{share} % of the entries about {_plain(less[1]['title'])} ({shared} of {less[0]}) are also about "
        f"{_plain(more[1]['title'])}: a change of one is likely to concern the other."
    )


# ---- Kinds of pages: a summary, and sections with their lines


Told = tuple[str, list[tuple[str, list[str]]]]


def _project(record: Record) -> Told:
    seen = record["evidence"]
    last = seen[0]
    where = ", ".join(f"`{inline(each, 200)}`" for each in _places(seen))
    ended = f"Last: {_said(last.get('goal', ''))} ({_source(last)})."
    summary = f"{f'The project at {where}' if where else 'A project'}. {_overview(record)} {ended}"
    return summary, [
        ("Key Points", list(_key_points(record))),
        ("Open", _listed(seen[:8], "open", 10)),
        ("Timeline", list(_timeline(seen))),
        ("Decisions", _listed(seen, "decided", _SHOWN)),
        ("What Failed and What Helped", _listed(seen, "failed", _SHOWN)),
        ("Tests", _listed(seen, "tests", 6)),
        ("Most Changed Files", list(_files(record))),
        ("Commits", _listed(seen, "commits", _SHOWN)),
    ]  # fmt: skip


def _places(seen: list[Evidence]) -> list[str]:
    """Return the directories a project lies in, the one worked in last first, each in one spelling."""
    found: dict[str, str] = {}
    for each in seen:
        found.setdefault(root_of(each.get("root", "")).casefold(), each.get("root", ""))
    return [each for each in found.values() if "/" in each or "\\" in each][:_PLACES]


def _key_points(record: Record) -> Iterator[str]:
    seen = record["evidence"]
    failed = sum(bool(each.get("failed")) for each in seen)
    decided = sum(len(each.get("decided", ())) for each in seen)
    commits = sum(len(each.get("commits", ())) for each in seen)
    touched = {path for each in seen for path in each.get("files", ())}
    facts = (
        ("files changed", len(touched)), ("commits", commits), ("decisions", decided), ("with a failure", failed),
    )  # fmt: skip
    said = [f"{words}: {number}" for words, number in facts if number]
    if said and len(seen) > 1:
        yield f"- The last {_entries(len(seen))} in numbers: {'; '.join(said)}."
    busiest = Counter(each["day"] for each in seen).most_common(1)[0]
    if busiest[1] > 1:
        yield f"- Busiest day: {link(f'daily/{busiest[0]}', busiest[0])} with {_entries(busiest[1])}."
    latest = next((each for each in seen if each.get("decided")), None)
    if latest:
        yield f"- Latest decision: {_said(latest['decided'][0])} ({_source(latest)})"
    ended = next((each for each in seen if each.get("ended")), None)
    if ended:
        yield f"- Where it stands, as last reported: {_said(ended['ended'][0])} ({_source(ended)})"


def _timeline(seen: list[Evidence]) -> Iterator[str]:
    day = ""
    for each in seen:
        if each["day"] != day:
            if day:
                yield ""
            day = each["day"]
            yield f"### {day}"
            yield ""
        counts = [(len(each.get("files", ())), "file"), (len(each.get("commits", ())), "commit")]
        told = [f"{number} {word}{'s' if number > 1 else ''}" for number, word in counts if number]
        told += [f"tests: {inline(each['tests'][0], 60)}"] if each.get("tests") else []
        rest = f" ({'; '.join(told)})" if told else ""
        yield f"- {_source(each, each.get('at') or day)} {each.get('flavor', '')}: {_said(each.get('goal', ''))}{rest}"


def _files(record: Record) -> Iterator[str]:
    changed = Counter(path for each in record["evidence"] for path in each.get("files", ()))
    known = {facts["title"]: target for target, facts in record["related"].items() if facts["kind"] == FILE}
    for path, number in sorted(changed.items(), key=lambda each: (-each[1], each[0]))[:_SHOWN]:
        last = next(each for each in record["evidence"] if path in each.get("files", ()))
        name = link(known[path], path) if path in known else f"`{inline(path, 120)}`"
        yield f"- {name}: {_entries(number)}, last {_source(last, last['day'])}"


def _decisions(record: Record) -> Told:
    stated = sum(len(each.get("decided", ())) for each in record["evidence"])
    lines = _listed(record["evidence"], "decided", 3 * _SHOWN)
    lessons = _listed(record["evidence"], "lessons", _SHOWN)
    summary = f"{stated} decisions as they were stated, the newest first. {_overview(record)}"
    return summary, [("Decided", lines), ("Lessons", lessons)]


def _file(record: Record) -> Told:
    seen = record["evidence"]
    known = {facts["title"]: target for target, facts in record["related"].items() if facts["kind"] == FILE}
    beside = Counter(path for each in seen for path in each.get("files", ()))
    together = [
        f"- {link(known[path], path) if path in known else f'`{inline(path, 120)}`'}: together in {_entries(number)}"
        for path, number in sorted(beside.items(), key=lambda each: (-each[1], each[0]))[:6] if number > 1
    ]  # fmt: skip
    summary = f"A file of {_plain(record['project'])}. {_overview(record)}"
    return summary, [
        ("Changed Together With", together),
        ("History", [_line(each, each.get("goal", "")) for each in seen[:FULL]]),
        ("What Was Said of It", _listed(seen, "said", _SHOWN)),
    ]  # fmt: skip


def _error(record: Record) -> Told:
    where = Counter(each["in"] for each in record["evidence"] if each.get("in"))
    places = f" in {', '.join(f'{_plain(name)} ({number})' for name, number in where.most_common(5))}" if where else ""
    fixes = _listed(record["evidence"], "fixes", _SHOWN)
    summary = f"An error that came up in {_entries(count(record))}{places}, {_span(record['first'], record['last'])}."
    return summary, [
        ("What Helped", fixes or ["Nothing that helped was named yet."]),
        ("Where It Came Up", _listed(record["evidence"], "said", _SHOWN)),
        ("What Was Being Done", [_line(each, each.get("goal", "")) for each in record["evidence"][:_SHOWN]]),
    ]  # fmt: skip


def _term(record: Record) -> Told:
    where = Counter(each["in"] for each in record["evidence"] if each.get("in"))
    places = ", ".join(f"{_plain(name)} ({number})" for name, number in where.most_common(5))
    summary = _overview(record) + (f" It belongs to {places}." if places else "")
    return summary, [("What Was Said", _listed(record["evidence"], "said", 2 * _SHOWN))]


_KINDS: dict[str, Callable[[Record], Told]] = {
    PROJECT: _project, DECISIONS: _decisions, FILE: _file, ERROR: _error, TERM: _term,
}  # fmt: skip


# ---- Pieces of pages


def _overview(record: Record) -> str:
    by = Counter(each["flavor"] for each in record["evidence"] if each.get("flavor"))
    who = ", ".join(f"{name} ({number})" for name, number in by.most_common())
    over = f" on {days(record)} days" if days(record) > 1 else ""
    return f"{_entries(count(record)).capitalize()}{over}, {_span(record['first'], record['last'])}, by {who}."


def _in_brief(record: Record) -> str:
    """Return what the index says of a page."""
    last = record["evidence"][0]
    said = (last.get("said") or [last.get("goal", "")])[0]
    return f"{_TAGS[record['kind']].capitalize()}, {_entries(count(record))}; last: {_said(said)}"


def _listed(seen: Iterable[Evidence], part: str, most: int) -> list[str]:
    """Return what entries say in one part, each thing once, with its source."""
    lines: dict[str, str] = {}
    for each in seen:
        for said in each.get(part, ()):
            lines.setdefault(said.casefold(), _line(each, said))
    return [*list(lines.values())[:most], *_rest(len(lines), most)]


def _rest(number: int, most: int) -> list[str]:
    return [f"- … and {number - most} more in the logs below"] if number > most else []


def _line(each: Evidence, said: str) -> str:
    return f"- {_source(each)}: {_said(said) if said else 'no goal was stated'}"


def _related(record: Record) -> list[str]:
    known = sorted(record["related"].items(), key=lambda each: (-each[1]["shared"], each[0]))
    return [
        f"- {link(target, _plain(facts['title']))} ({facts['kind']}, {_entries(facts['shared'])})"
        for target, facts in known[: 2 * _SHOWN]
    ]  # fmt: skip


def _sources(record: Record) -> Iterator[str]:
    number = Counter(each["day"] for each in record["evidence"])
    for day, times in list(number.items())[:_SOURCES]:
        yield f"- {link(f'daily/{day}', day)}: {_entries(times)}"
    for month, times in sorted(record["older"].items(), reverse=True)[:12]:
        yield f"- {month}: {_entries(times)} more, in the logs of that month"


def _source(each: Evidence, shown: str = "") -> str:
    return link(each["link"], shown or f"{each['day']} {each.get('at', '')}".strip())


def _said(text: str) -> str:
    return f"“{inline(text, 240)}”" if text else "“…”"


def _plain(text: str) -> str:
    return unlinked(inline(text, 120))


def _entries(number: int) -> str:
    return "1 entry" if number == 1 else f"{number} entries"


def _span(first: str, last: str) -> str:
    return f"on {first}" if first == last else f"from {first} to {last}"
