"""Parse time expressions in a question, relative to the user's clock.

Every pattern is bounded, so parsing is linear in the text. An ambiguous expression means the latest past occurrence:
"in May" asked in March is last year's May. Days come from the calendar, not from adding hours, so a window starts and
ends at the user's midnight even when clocks change.
"""

from __future__ import annotations

import re
from functools import cache

from engram.platform.value import value
from engram.search import calendar_words as words
from engram.search.calendar_math import (
    add_days,
    add_months,
    days_in_month,
    subtract_seconds,
    subtract_units,
    to_datetime,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date, datetime
    from re import Match, Pattern

    _Make = Callable[[Match[str], datetime, str], "_Found | None"]
    _Place = tuple[Match[str], _Make]


@value
class Window:
    """A time window from `since` up to, but not including, `until`."""

    since: datetime | None
    until: datetime | None
    words: tuple[int, int]
    certain: bool = True


@value
class _Found:
    """One expression, before the words around it are considered."""

    since: datetime
    until: datetime
    certain: bool = True
    dated: bool = False  # it names its year, so it may be in the future
    weak: bool = False  # the word is ambiguous: it needs one like "in" before it


_SINCE, _BEFORE, _UNTIL = ("since", "ever since"), ("before", "prior to"), ("until", "till", "up to", "by")
_WITHIN = ("in", "on", "during", "throughout", "over", "from", "between")
_FIRM = {*_SINCE, *_BEFORE, *_UNTIL, *_WITHIN, "after"} - {"over"}
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
_LEAD = re.compile(
    rf"(?<![\w-])(?:(?P<lead>{'|'.join((*_SINCE, *_BEFORE, *_UNTIL, *_WITHIN))}|after|at|within|for|around)"
    r"|(?P<ahead>next|coming|upcoming|following|every|each|black|good))\s{1,3}(?:the\s{1,3})?$"
)
_JOINT = re.compile(r"\s{1,3}(?P<word>and|to|until|till|through|thru|[-–—])\s{1,3}(?:the\s{1,3})?|(?P<dash>[-–])")


def find_window(text: str, now: datetime) -> Window | None:
    """Return the time window a text refers to, as of `now`."""
    vague = None
    for candidate in _TimeReader(text, now).iter_windows():
        if candidate.certain:
            return candidate
        vague = vague or candidate
    return vague


class _TimeReader:
    """Reads the time expressions of a text as of a given time."""

    def __init__(self, text: str, now: datetime) -> None:
        low = text.lower()
        if len(low) != len(text):  # some letters become two; positions must not shift
            low = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
        self.masked = _CODE.sub(lambda code: "\0" * len(code[0]), low)
        self.text, self.now = text, now

    def iter_windows(self) -> Iterator[Window]:
        """Yield every time window in the text, in order."""
        expressions = list(self.iter_expressions())
        taken = -1
        for number, (match, make) in enumerate(expressions):
            span = self.read_expression(make, match, self.now) if number > taken else None
            if span is None:
                continue
            lead = _LEAD.search(self.masked, max(match.start() - 24, 0), match.start())
            start = lead.start() if lead else match.start()
            if joined := self.join_spans(span, lead, expressions[number : number + 2]):
                taken = number + 1
                yield Window(joined.since, joined.until, (start, expressions[taken][0].end()), joined.certain)
            elif bounds := _apply_lead(span, lead, self.now):
                loose = lead and lead["lead"] in ("by", "around")
                yield Window(*bounds, words=(start, match.end()), certain=span.certain and not loose)

    def iter_expressions(self) -> Iterator[_Place]:
        """Yield expressions in order; of overlapping ones, the first and longest."""
        matches = [(match, make) for pattern, make in _compile_patterns() for match in pattern.finditer(self.masked)]
        matches.sort(key=lambda candidate: (candidate[0].start(), -candidate[0].end()))
        end = 0
        for match, make in matches:
            if match.start() >= end:
                end = match.end()
                yield match, make

    def read_expression(self, make: _Make, match: Match[str], now: datetime) -> _Found | None:
        """Read one expression."""
        try:
            return make(match, now, self.text)
        except (ValueError, OverflowError, OSError):  # 30 February, 9999 years ago
            return None

    def join_spans(self, first: _Found, lead: Match[str] | None, expressions: list[_Place]) -> _Found | None:
        """Return the window from one expression to the next, if words such as "to" join them."""
        if len(expressions) < 2 or not self.has_joint(lead, expressions):
            return None
        (match, make), (second_match, make_second) = expressions
        second = self.read_expression(make_second, second_match, self.now)
        if second is None or (lead is None and (first.weak or second.weak)):
            return None
        if first.since.timestamp() >= second.until.timestamp():  # from November to February
            first = self.read_expression(make, match, second.since) or first
        ordered = first.since.timestamp() < second.until.timestamp()
        return _Found(first.since, second.until, first.certain and second.certain) if ordered else None

    def has_joint(self, lead: Match[str] | None, expressions: list[_Place]) -> bool:
        """Check whether the words between two expressions join them."""
        joint = _JOINT.fullmatch(self.masked, expressions[0][0].end(), expressions[1][0].start())
        word = lead["lead"] if lead else None
        if joint is None or (lead and word not in _WITHIN):
            return False
        if word == "between" or joint["word"] == "and":
            return word == "between" and joint["word"] == "and"
        return word == "from" or joint["word"] not in ("-", "–", "—")


def _apply_lead(span: _Found, lead: Match[str] | None, now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """Apply the word before an expression, such as "since" or "before"."""
    word = lead["lead"] if lead else None
    since = span.until if word == "after" else span.since
    if (lead and not word) or (span.weak and word not in _FIRM):
        return None
    if word in (*_BEFORE, *_UNTIL):
        return None, span.since if word in _BEFORE else span.until
    if not span.dated and since.timestamp() > now.timestamp():
        return None
    return since, None if word in (*_SINCE, "after") else span.until


# ---- The calendar


def _build_day_span(now: datetime, first: date, end: date, certain: bool = True, **facts: bool) -> _Found:
    return _Found(to_datetime(now, first), to_datetime(now, end), certain, **facts)


def _resolve_date(now: datetime, year: int | None, month: int, day: int = 1) -> date:
    """Return a day of a year; without a year, the latest one not in the future. Most years have no leap day."""
    today = now.date()
    if year is not None:
        return today.replace(year=year, month=month, day=day)
    for candidate_year in range(today.year, today.year - 9, -1):
        if (
            day <= days_in_month(today, candidate_year, month)
            and (candidate := today.replace(year=candidate_year, month=month, day=day)) <= today
        ):
            return candidate
    raise ValueError("no such day")


def _previous_if_ongoing(now: datetime, first: date, end: date) -> date:
    """Return the first day of the latest period that is over: "last May" is not the current May."""
    return first if end <= now.date() else add_months(first, -12)


# ---- Readers


def _parse_count(word: str) -> tuple[int, int]:
    """Return the minimum and maximum a number word stands for."""
    number = int(word) if word.isdigit() else words.NUMBERS.index(word) + 1 if word in words.NUMBERS else 1
    return next((bounds for loose, bounds in words.LOOSE.items() if loose in word), (number, number))


def _read_ago(match: Match[str], now: datetime, _: str) -> _Found:
    low, high = sorted((_parse_count(match["low"])[0], _parse_count(match["high"] or match["low"])[1]))
    unit = match["unit"]
    if seconds := words.IN_SECONDS.get(unit):
        return _Found(
            subtract_seconds(now, (high + 0.5) * seconds),
            subtract_seconds(now, max(low - 0.5, 0) * seconds),
            certain=False,
        )
    loose = bool(match["about"] or match["high"] or any(word in match["low"] for word in words.LOOSE))
    slack = max(1, high // 4) if match["about"] or "couple" in match["low"] else 0
    around = {"day": 0, "week": 3, "month": 15, "year": 182}[unit]
    first = add_days(subtract_units(now.date(), high + slack, unit), -around)
    end = add_days(subtract_units(now.date(), max(low - slack, 0), unit), around + 1)
    return _build_day_span(now, first, min(end, add_days(now.date(), 1)), not loose)


def _read_rolling(match: Match[str], now: datetime, _: str) -> _Found:
    """Read "the last three weeks": up to now."""
    word, unit = match.groupdict().get("low") or "one", match["unit"]
    certain, count = not any(loose in word for loose in words.LOOSE), _parse_count(word)[1]
    seconds = words.IN_SECONDS.get(unit)
    since = (
        subtract_seconds(now, count * seconds) if seconds else to_datetime(now, subtract_units(now.date(), count, unit))
    )
    return _Found(since, to_datetime(now, add_days(now.date(), 1)), certain)


def _read_period(match: Match[str], now: datetime, _: str) -> _Found:
    """Read "last week", "this quarter", "the month before last"."""
    today, back = now.date(), {"this": 0, "before": 2}.get(match["which"], 1)
    if match["unit"] == "week":
        first = add_days(today, -today.weekday() - 7 * back)
        return _build_day_span(now, first, add_days(first, 7))
    months = words.IN_MONTHS[match["unit"]]
    first = add_months(today.replace(month=(today.month - 1) // months * months + 1, day=1), -months * back)
    return _build_day_span(now, first, add_months(first, months))


def _read_weekend(match: Match[str], now: datetime, _: str) -> _Found:
    today, which = now.date(), match["which"]
    lasts = today.weekday() >= 5
    saturday = add_days(today, -((today.weekday() - 5) % 7))
    if lasts and which not in ("this", "the"):
        saturday = add_days(saturday, -7)
    return _build_day_span(now, saturday, add_days(saturday, 2), certain=lasts or which != "this")


def _read_day_word(match: Match[str], now: datetime, _: str) -> _Found:
    back = 2 if "before" in match[0] else 1 if match[0].startswith(("yesterday", "last")) else 0
    return _build_day_part_span(
        now, add_days(now.date(), -back), match["part"] or ("night" if "night" in match[0] else None)
    )


def _build_day_part_span(now: datetime, day: date, part: str | None) -> _Found:
    """Return a day or a part of it; the whole day if that part is still to come."""
    if part and to_datetime(now, day, words.HOURS[part][0]).timestamp() <= now.timestamp():
        begin, end = words.HOURS[part]
        return _Found(to_datetime(now, day, begin), to_datetime(now, day, end))
    return _build_day_span(now, day, add_days(day, 1), certain=not part)


def _read_weekday(match: Match[str], now: datetime, text: str) -> _Found | None:
    """Read "Monday", "last Tuesday night", "Friday last week": the latest before today."""
    groups, today, name = match.groupdict(), now.date(), match["weekday"]
    if name in ("mon", "wed", "sat", "sun") and text[match.start("weekday")].islower():
        return None
    back = today.weekday() - [day[:3] for day in words.DAYS].index(name[:3])
    back = back + 7 if groups.get("week") else back % 7 or (0 if groups["which"] == "this" else 7)
    span = _build_day_part_span(now, add_days(today, -back), groups.get("part"))
    return _Found(span.since, span.until, span.certain, weak=not (name in words.DAYS or groups["which"]))


def _parse_year(match: Match[str], now: datetime) -> int | None:
    """Return the year in the match, including "last year"."""
    if match["year"]:
        return int(match["year"])
    return now.year - (match["of"] == "last") if match["of"] else None


def _parse_third(match: Match[str]) -> str | None:
    word = (match["third"] or "").removeprefix("the").split(maxsplit=1)[:1]
    return words.PLACES.get(word[0], word[0]) if word else None


def _read_month(match: Match[str], now: datetime, text: str) -> _Found | None:
    """Read "May", "last May", "late May 2024", "May of last year"."""
    name, year, third, which = match["month"], _parse_year(match, now), _parse_third(match), match["which"]
    if which == "this" and name in ("may", "march") and text[match.start("month")].islower():
        return None
    first = _resolve_date(now, year, words.NUMBER_OF[name[:3]])
    if which == "last":
        first = _previous_if_ongoing(now, first, add_months(first, 1))
    bare = not (third or which or year)
    weak = bare and (name not in words.MONTHS or name in ("march", "april", "may", "june", "august"))
    begun, end = first, add_months(first, 1)
    if third:
        begin, stop = words.THIRDS[third]
        begun, end = add_days(first, begin - 1), min(add_days(first, stop - 1), end)
        if not year and begun > now.date():
            begun, end = add_months(begun, -12), add_months(end, -12)
    return _build_day_span(now, begun, end, not third, dated=bool(match["year"]), weak=weak)


def _read_month_day(match: Match[str], now: datetime, text: str) -> _Found:
    """Read "May 3rd", "3 May 2024", "May 3-7"."""
    year, month = _parse_year(match, now), match["month"]
    first = _resolve_date(now, year, words.NUMBER_OF[month[:3]], int(match["day"]))
    groups = match.groupdict()
    last = int(groups.get("last") or groups.get("second") or 0)
    end = add_days(first.replace(day=last) if last > first.day else first, 1)
    ordinal = match["nth"] and (match.start("day") > match.start("month") or " of" in match[0])
    verb = month in ("may", "march") and text[match.start("month")].islower()
    return _build_day_span(now, first, end, dated=bool(match["year"]), weak=bool(verb and not year and not ordinal))


def _read_iso_date(match: Match[str], now: datetime, _: str) -> _Found:
    day = _resolve_date(now, int(match["year"]), int(match["month"]), int(match["day"] or 1))
    return _build_day_span(now, day, add_days(day, 1) if match["day"] else add_months(day, 1), dated=True)


def _read_slashed_date(match: Match[str], now: datetime, _: str) -> _Found:
    """Read 05/03/2024 as month first, unless there is no such month."""
    first_number, second_number, year = int(match["one"]), int(match["two"]), int(match["year"])
    month, day = (second_number, first_number) if first_number > 12 else (first_number, second_number)
    first = _resolve_date(now, year + 2000 * (year < 100), month, day)
    return _build_day_span(
        now,
        first,
        add_days(first, 1),
        certain=max(first_number, second_number) > 12 or first_number == second_number,
        dated=True,
    )


def _read_year(match: Match[str], now: datetime, _: str) -> _Found:
    third = _parse_third(match) or "all"
    begin, months = {"early": (0, 4), "mid": (4, 5), "late": (8, 4), "all": (0, 12)}[third]
    first = add_months(_resolve_date(now, int(match["year"]), 1), begin)
    return _build_day_span(now, first, add_months(first, months), third == "all", dated=True, weak=third == "all")


def _read_quarter(match: Match[str], now: datetime, _: str) -> _Found:
    year = int(match["year"] or match["sooner"] or 0) or None
    first = _resolve_date(now, year, int(match["quarter"]) * 3 - 2)
    return _build_day_span(now, first, add_months(first, 3), certain=bool(year), dated=bool(year))


def _read_season(match: Match[str], now: datetime, text: str) -> _Found | None:
    """Read "last summer", "in the spring", "winter of 2023"; people do not mean exact days."""
    year, name, which = _parse_year(match, now), match["season"], match["which"]
    if not (year or which) and text.startswith("Spring", match.start("season")):
        return None  # "spring" the framework
    first = _resolve_date(now, year, words.SEASONS[name])
    if which == "last":
        first = _previous_if_ongoing(now, first, add_months(first, 3))
    # The winter of a year may be the one at its start or at its end.
    begun = add_months(first, -12) if year and name == "winter" else first
    return _build_day_span(now, begun, add_months(first, 3), False, dated=bool(match["year"]), weak=not (year or which))


def _read_holiday(match: Match[str], now: datetime, _: str) -> _Found:
    """Read "last Christmas", "New Year 2024"."""
    name, year = match["feast"].replace("’", "'"), _parse_year(match, now)
    month, day, length = words.FEASTS[name]
    if year and name in ("new year", "new year's"):
        year -= 1
    first = _resolve_date(now, year, month, day)
    if match["which"] == "last":
        first = _previous_if_ongoing(now, first, add_days(first, length))
    return _build_day_span(now, first, add_days(first, length), length == 1, dated=bool(match["year"]))


def _read_vague(match: Match[str], now: datetime, _: str) -> _Found:
    days = 14 if match[0].startswith("the") else 30
    return _build_day_span(now, add_days(now.date(), -days), add_days(now.date(), 1), certain=False)


# ---- Patterns

_S = r"\s{1,3}"
_MONTH = rf"(?P<month>{'|'.join(words.MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
_DAY = r"(?P<day>[0-9]{1,2})(?P<nth>st|nd|rd|th)?"
_CENTURY = "(?:19|20)[0-9]{2}"
_YEAR = rf"(?P<year>{_CENTURY})(?![\w%]|[-./,:][0-9])"
_OF = rf"(?:,?{_S}(?:of{_S})?(?:(?P<of>last|this){_S}year\b|{_YEAR}))?"
_WEEKDAY = rf"(?P<weekday>{'|'.join(words.DAYS)})"
_COUNT = rf"(?:[0-9]{{1,4}}|{'|'.join(words.NUMBERS)}|(?:a{_S})?(?:couple(?:{_S}of)?|few)|several|an?)"
_UNIT = r"(?P<unit>minute|hour|day|week|month|year)s?\b"
_PART = rf"(?:{_S}(?P<part>morning|afternoon|evening|night))?\b"
_TO_DAY = (  # "and 14" may also count something: a day ends the phrase
    rf"{_S}(?:and|to|until|till|through){_S}(?:the{_S})?(?P<second>[0-9]{{1,2}})(?:st|nd|rd|th)?"
    r"(?=\s{0,3}(?:$|[?.!,;)]|(?:in|on|at|for)\b))"
)
_THIRD = rf"(?P<third>early|mid|late|(?:the{_S})?(?:beginning|start|middle|end){_S}of)(?:{_S}|-)"
_ABOUT = rf"(?P<about>(?:about|around|roughly|approximately|nearly|almost|some|over|more\sthan){_S}|~)?"
_TO = rf"(?:\s?(?:-|–|to|or)\s?(?P<high>{_COUNT}))?"
_ALONE, _ENDS = r"(?<![\w./:#-])", r"(?![\w/-]|[.:,]\w)"  # not part of a path, a version or a larger number
_NO_DATE = rf"(?!,?{_S}(?:the{_S})?(?:[0-9]{{1,2}}(?:st|nd|rd|th)?{_S}(?:of{_S})?)?(?:{'|'.join(words.MONTHS)})\b)"
_NO_VERB = rf"(?!{_S}(?:under|into|in|on|apart|back|through|short|down|off|over|behind|out|for)\b)"
_NO_MEASURE = rf"(?!{_S}(?:bytes|lines|ms|seconds|tokens|words|files|rows|people|users|times|items|[kmg]b|px|k?m)\b)"
_ISO_DAY = r"(?P<mark>[-/])(?P<month>[0-9]{1,2})(?:(?P=mark)(?P<day>[0-9]{1,2})(?:t[0-9:.]{2,15}z?)?)?"
_LONG = r"(?P<unit>week|month|quarter|year)\b"
_FEAST = "|".join(words.FEASTS).replace("'", "['’]")
_PATTERNS: list[tuple[str, _Make]] = [
    (rf"{_ALONE}(?<!half\s){_ABOUT}(?P<low>{_COUNT}){_TO}{_S}{_UNIT}{_S}(?:ago|back)\b", _read_ago),
    (rf"\b(?:the{_S})?(?:last|past|previous){_S}(?P<low>{_COUNT}){_S}{_UNIT}", _read_rolling),
    (rf"\b(?:the{_S}(?:last|past)|past){_S}{_LONG}(?!{_S}of\b)", _read_rolling),
    (rf"\b(?:earlier{_S})?(?P<which>this|last|previous){_S}{_LONG}", _read_period),
    (rf"\b(?:the{_S})?{_LONG}{_S}(?P<which>before){_S}last\b", _read_period),
    (rf"\b(?P<which>this|last|past|previous|the){_S}weekend\b", _read_weekend),
    (rf"\b(?:(?:the{_S})?day{_S}before{_S}yesterday|yesterday|(?:earlier{_S})?today){_PART}(?!\()", _read_day_word),
    (
        rf"\b(?:this{_S}(?P<part>morning|afternoon|evening)|last{_S}night|tonight|night{_S}before{_S}last)\b",
        _read_day_word,
    ),
    (
        rf"{_ALONE}(?:(?P<which>last|this|past){_S})?{_WEEKDAY}{_PART}(?!-){_NO_DATE}(?:{_S}(?:of{_S})?(?P<week>last{_S}week\b))?",
        _read_weekday,
    ),
    (rf"\b(?P<week>last{_S}week){_S}(?:on{_S})?{_WEEKDAY}{_PART}", _read_weekday),
    (
        rf"{_ALONE}(?:(?P<which>last|this){_S})?(?P<weekday>mon|tues?|wed|thu|thurs?|fri|sat|sun)\b(?![-'’])",
        _read_weekday,
    ),
    (
        rf"\b(?:{_THIRD}|(?P<which>last|this){_S})?{_MONTH}(?![-'’]|{_S}[0-9]{{1,2}}(?:st|nd|rd|th)?\b){_OF}",
        _read_month,
    ),
    (
        rf"\b{_MONTH}{_S}{_DAY}(?:\s?[-–]\s?(?P<last>[0-9]{{1,2}})|{_TO_DAY})?(?![\w:]|[-./,:][0-9]){_OF}",
        _read_month_day,
    ),
    (rf"{_ALONE}(?:the{_S})?{_DAY}{_S}(?:of{_S})?{_MONTH}{_OF}", _read_month_day),
    (rf"{_ALONE}(?P<year>{_CENTURY}){_ISO_DAY}{_ENDS}", _read_iso_date),
    (
        rf"{_ALONE}(?P<one>[0-9]{{1,2}})/(?P<two>[0-9]{{1,2}})/(?P<year>{_CENTURY}|[0-9]{{2}}){_ENDS}",
        _read_slashed_date,
    ),
    (rf"(?:\b{_THIRD}|{_ALONE}){_YEAR}{_NO_MEASURE}", _read_year),
    (
        rf"{_ALONE}(?:(?P<sooner>{_CENTURY})[ -]?)?q(?P<quarter>[1-4])(?![\w.])(?:,?{_S}(?:of{_S})?{_YEAR})?",
        _read_quarter,
    ),
    (
        rf"\b(?:(?P<which>last|this|over{_S}the){_S})?(?P<season>{'|'.join(words.SEASONS)})\b{_NO_VERB}{_OF}",
        _read_season,
    ),
    (rf"\b(?:(?P<which>last|this){_S})?(?P<feast>{_FEAST})(?!\w){_OF}", _read_holiday),
    (rf"\b(?:recently|lately|the{_S}other{_S}day)\b", _read_vague),
]


@cache
def _compile_patterns() -> list[tuple[Pattern[str], _Make]]:
    """Compile every pattern with its reader on first use."""
    return [(re.compile(pattern), make) for pattern, make in _PATTERNS]
