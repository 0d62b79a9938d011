"""Text laid out for a terminal: tables whose rows never wrap, facts in two columns, wrapped prose, numbers for people.

On a terminal everything fits its width. Piped text is as wide as it is, unless COLUMNS says otherwise.
"""

from __future__ import annotations

import os
import unicodedata
from datetime import datetime, timedelta, timezone

from engram.platform import text
from engram.platform.value import value
from engram.surfaces.cli.terminal import get_width, style, unstyle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_ITEMS = 10  # shown one by one
_GAP = "  "
_TITLE_SHARE = 0.4  # of the width, for the column that says what a row is about
_MIN_PROSE_WIDTH = 20
_DIFF_COLORS = {"+": "green", "-": "red", "@": "cyan"}


@value
class Column:
    """One column of a table, and how it gives way when the terminal is narrow."""

    heading: str
    right: bool = False  # aligned right, as numbers are
    min_width: int = 0  # it may be cut down to this width; 0: never
    keep_end: bool = False  # a path is cut at its beginning
    drop: int = 0  # left out when it does not fit, the highest first; 0: never


def number_column(heading: str, drop: int = 0) -> Column:
    """Return a column of numbers."""
    return Column(heading=heading, right=True, drop=drop)


def format_table(columns: Sequence[Column | str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under headings; the last column says what a row is about and takes the space that is left."""
    described_columns = [Column(heading=column) if isinstance(column, str) else column for column in columns]
    headings = [column.heading for column in described_columns]
    natural_widths = [max(measure_width(row[n]) for row in (headings, *rows)) for n in range(len(headings))]
    uniform = {n for n in range(len(headings)) if len({row[n] for row in rows}) == 1 and len(rows) > 1}
    widths = _fit_columns(described_columns, natural_widths, uniform, get_width())
    lines = [_format_row(described_columns, row, widths) for row in (headings, *rows)]
    if not any(headings):
        return "\n".join(lines[1:])
    return "\n".join([style(lines[0], dim=True), *lines[1:]])


def _fit_columns(
    columns: Sequence[Column], natural_widths: list[int], uniform: set[int], available: int | None
) -> dict[int, int]:
    """Return the widths of the columns that fit, by position; those with the same cell in every row go first."""
    *head, last = range(len(columns))
    if available is None:
        return dict(enumerate(natural_widths))
    wanted = min(natural_widths[last], int(available * _TITLE_SHARE + 0.5))
    shown = list(head)
    while True:
        widths = {n: natural_widths[n] for n in shown}
        droppable = [n for n in shown if columns[n].drop]
        redundant = [n for n in droppable if n in uniform]
        if not redundant:
            _shrink_columns(columns, widths, _measure_row(widths) + wanted - available)
        needed = natural_widths[last] if redundant else wanted
        if _measure_row(widths) + needed <= available or not droppable:
            break
        shown.remove(max(redundant or droppable, key=lambda n: columns[n].drop))
    widths[last] = max(1, min(natural_widths[last], available - _measure_row(widths)))
    return widths


def _measure_row(widths: dict[int, int]) -> int:
    """Return the width of the columns before the last one, with the gaps behind them."""
    return sum(widths.values()) + len(_GAP) * len(widths)


def _shrink_columns(columns: Sequence[Column], widths: dict[int, int], excess: int) -> None:
    """Take the excess from the columns that may be cut, the widest first."""
    while excess > 0:
        cuttable = [n for n in widths if columns[n].min_width and widths[n] > columns[n].min_width]
        if not cuttable:
            return
        widths[max(cuttable, key=lambda n: widths[n])] -= 1
        excess -= 1


def _format_row(columns: Sequence[Column], cells: Sequence[str], widths: dict[int, int]) -> str:
    padded_cells = []
    for n, width in widths.items():
        cell = cut_path(cells[n], width) if columns[n].keep_end else cut_to_width(cells[n], width)
        padding = " " * (width - measure_width(cell))
        padded_cells.append(padding + cell if columns[n].right else cell + padding)
    row = _GAP.join(padded_cells).rstrip()
    available = get_width()
    return row if available is None else cut_to_width(row, available)


def measure_width(cell: str) -> int:
    """Return how many columns a text takes on a terminal, colours not counted."""
    plain = unstyle(cell)
    return len(plain) if plain.isascii() else sum(map(_count_columns, plain))


def _count_columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut_to_width(cell: str, width: int) -> str:
    """Return a text no wider than a width, with `…` where it was cut."""
    if measure_width(cell) <= width:
        return cell
    kept_text, columns_left = "", width - 1
    for character in unstyle(cell):
        columns_left -= _count_columns(character)
        if columns_left < 0:
            break
        kept_text += character
    return f"{kept_text.rstrip()}…"


def cut_path(path: str, width: int) -> str:
    """Return a path no wider than a width, with `…` in place of its beginning."""
    return path if measure_width(path) <= width else f"…{path[len(path) - width + 1 :]}"


def wrap_text(sentence: str, indent: str = "", hanging: str | None = None) -> str:
    """Return prose in lines that fit the terminal; `hanging` indents the lines after the first."""
    width = get_width()
    later_indent = indent if hanging is None else hanging
    if width is None or measure_width(indent + sentence) <= width:
        return indent + sentence
    lines, line, is_empty = [], indent, True
    for word in sentence.split():
        candidate = line + word if is_empty else f"{line} {word}"
        if not is_empty and measure_width(candidate) > max(width, len(later_indent) + _MIN_PROSE_WIDTH):
            lines.append(line)
            candidate = later_indent + word
        line, is_empty = candidate, False
    return "\n".join([*lines, line])


def fit_lines(words: str) -> str:
    """Wrap the lines of a text that are wider than the terminal, under their own indent; diffs stay as they are."""
    width = get_width()
    if width is None:
        return words
    return "\n".join(
        line if measure_width(line) <= width or _is_diff_line(line) else _wrap_line(line) for line in words.split("\n")
    )


def _wrap_line(line: str) -> str:
    indent = line[: len(line) - len(line.lstrip(" "))]
    body = line[len(indent) :]
    bullet = "  " if body.startswith(("- ", "> ", "– ")) else ""
    return wrap_text(body, indent, indent + bullet)


def _is_diff_line(line: str) -> bool:
    plain = unstyle(line)
    return plain[:1] in "+-@" and plain[1:2] != " "


def format_facts(named_facts: Iterable[tuple[str, object]]) -> str:
    """Return names and facts in two columns, long facts wrapped; a fact that is None is left out."""
    shown_facts = [(name, str(fact)) for name, fact in named_facts if fact is not None]
    longest = max((len(name) for name, _ in shown_facts), default=0)
    margin = " " * (longest + len(_GAP))
    lines = []
    for name, fact in shown_facts:
        first, *rest = fact.splitlines() or [""]
        head = style(name.ljust(longest), dim=True) + _GAP
        lines += [head + wrap_text(first, margin).removeprefix(margin), *(wrap_text(line, margin) for line in rest)]
    return "\n".join(lines)


def format_ago(then: datetime) -> str:
    """Return how long ago something was."""
    return f"{text.format_duration(_to_microseconds(datetime.now(timezone.utc) - then))} ago"


def format_time_left(until: datetime) -> str:
    """Return how long something still lasts."""
    return text.format_time_left(_to_microseconds(until - datetime.now(timezone.utc)))


def format_time(then: datetime | None) -> str | None:
    """Return a point in time, to the second."""
    return then.astimezone().strftime("%Y-%m-%d %H:%M:%S") if then else None


def format_when(then: datetime | None) -> str:
    """Return a time as a list shows it: the hour today, the day this year, else the month."""
    if then is None:
        return ""
    local, now = then.astimezone(), datetime.now(timezone.utc).astimezone()
    if local.date() == now.date():
        return f"{local:%H:%M}"
    if now - local < timedelta(days=300):
        return f"{local:%b} {local.day:>2}"
    return f"{local:%b %Y}"


def format_money(dollars: float) -> str:
    """Return a sum of US dollars."""
    return "<$0.01" if 0 < dollars < 0.005 else f"${dollars:,.2f}"


def format_cost(dollars: float, unpriced: Sequence[str]) -> str:
    """Return what something cost; models without a price are not free."""
    if not unpriced:
        return format_money(dollars)
    return f"≥ {format_money(dollars)}" if dollars else "no price"


def format_unpriced(unpriced: Sequence[str]) -> str:
    """Return a sentence that names the models without a price."""
    return f"No price for {', '.join(unpriced)}. Add it to prices.toml."


def format_tokens(count: int) -> str:
    """Return a number of tokens in at most four digits: 950, 12.4k, 3.1M."""
    for unit, size in (("B", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)):
        if count >= size:
            return f"{count / size:.1f}{unit}" if count < 100 * size else f"{count / size:.0f}{unit}"
    return str(count)


def shorten_home(path: str) -> str:
    """Return a path as people write it, from their home directory."""
    home = os.path.expanduser("~").rstrip(os.sep)
    return f"~{path[len(home) :]}" if home and path.startswith(home + os.sep) else path


def color_diff_line(line: str) -> str:
    """Return a line of a diff in its colour."""
    is_file_name = line.startswith(("+++", "---"))
    return style(line, bold=True) if is_file_name else style(line, fg=_DIFF_COLORS.get(line[:1]))


def _to_microseconds(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
