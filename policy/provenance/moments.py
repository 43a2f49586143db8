"""Dates and times: those that a person wrote, in the ways people write them, and those that an argument is."""

import re
from dataclasses import dataclass
from datetime import datetime

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4})"
_DATES = (
    re.compile(r"(?<![\d-])(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?![\d-])"),
    re.compile(r"(?<!\d)(?:(?P<year>\d{4})\s*年\s*)?(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号]"),
    re.compile(rf"\b{_MONTH}\s+{_DAY}\b(?:\s*,?\s*{_YEAR}\b)?"),
    re.compile(rf"(?<!\d){_DAY}\s+(?:of\s+)?{_MONTH}\b(?:\s*,?\s*{_YEAR}\b)?"),
    re.compile(r"(?<![\d.])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?!\d)"),
)
_FORMS = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d",
    "%Y/%m/%d",
)
_ZONE = re.compile(r"(?:\.\d+)?(?:z|[+-]\d{2}:?\d{2})?$", re.IGNORECASE)
_CLOCK = re.compile(r"\d{1,2}:\d{2}(?::\d{2})?")

EARLIEST, LATEST = 1900, 2200
"""The years that a date of a call may have."""


@dataclass(frozen=True)
class Day:
    """A day of the calendar; the year is None where none was written with it."""

    year: int | None
    month: int
    day: int


def days_in(words: str) -> frozenset[Day]:
    """Every day that folded words name."""
    found = set()
    for form in _DATES:
        for place in form.finditer(words):
            part = place.groupdict()
            month = _NAMES.index(part["name"][:3]) + 1 if part.get("name") else int(part["month"])
            if 1 <= month <= 12 and 1 <= int(part["day"]) <= 31:
                found.add(Day(int(part["year"]) if part.get("year") else None, month, int(part["day"])))
    return frozenset(found)


def moment_of(text: str) -> datetime | None:
    """The date, with or without time, that an argument is; None if it says anything else."""
    plain = _ZONE.sub("", text.strip()) if ":" in text else text.strip()
    for form in _FORMS:
        try:
            found = datetime.strptime(plain, form)  # noqa: DTZ007 - compared with what a person wrote, without zone
        except ValueError:
            continue
        return found if EARLIEST <= found.year <= LATEST else None
    return None


def is_clock(text: str) -> bool:
    """Whether an argument is nothing but a time of day."""
    return _CLOCK.fullmatch(text.strip()) is not None


def names_day(days: frozenset[Day], moment: datetime) -> bool:
    """Whether one of the days is this one; a year that was written must be the same."""
    same = [day for day in days if (day.month, day.day) == (moment.month, moment.day)]
    years = {day.year for day in same if day.year is not None}
    return moment.year in years if years else bool(same)
