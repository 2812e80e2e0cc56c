"""Buckets and grids of DotLife as another implementation sees them: Python's own calendar and zones.

Reads questions from standard input, one a line as JSON, and answers each on a line. The implementation shares nothing with
the Swift one: instants are compared by counting through the zone's wall clock, minute by minute around what is asked.

    {"zone": "Europe/Berlin", "instant": 1772727600}
    {"zone": "Europe/Berlin", "instant": 1772727600, "grids": true}

An answer has the start and the end of each bucket (hour, day, week, month, year) in seconds since 1970; with "grids" also
the starts of the dots of each grid, the rows and columns where they stand, and their labels.
"""

import functools
import json
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wall(zone, instant):
    """What the clock shows, without its zone."""
    return (EPOCH + timedelta(seconds=instant)).astimezone(zone).replace(tzinfo=None)


def offset(zone, instant):
    return (EPOCH + timedelta(seconds=instant)).astimezone(zone).utcoffset()


def first_instant(zone, key, low, high):
    """The first second of [low, high] whose key is no longer that of low; high if there is none.

    By halving, so the key may change once in between.
    """
    old = key(low)
    if key(high) == old:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if key(middle) == old:
            low = middle
        else:
            high = middle
    return high


@functools.lru_cache(maxsize=None)
def shifts(name, year):
    """The instants of a year, and a little around it, from which another offset holds."""
    zone = ZoneInfo(name)
    start = int((datetime(year, 1, 1, tzinfo=UTC) - EPOCH).total_seconds()) - 3 * 86400
    found = []
    step = 6 * 3600
    for low in range(start, start + 372 * 86400, step):
        if offset(zone, low) != offset(zone, low + step):
            found.append(first_instant(zone, lambda at: offset(zone, at), low, low + step))
    return found


@functools.lru_cache(maxsize=None)
def day_start(name, day):
    """The first instant of a date; where the zone has left it out, that of the next one."""
    zone = ZoneInfo(name)
    noon_before = int((datetime(day.year, day.month, day.day, tzinfo=UTC) - EPOCH).total_seconds()) - 36 * 3600
    # A date begins when the clock shows it and does not go back to the day before: midnight may come twice, and a minute of
    # the next day be followed by an hour of this one.
    ticks = set(range(noon_before, noon_before + 72 * 3600, 900))
    for year in (day.year, day.year + 1):
        ticks.update(at for at in shifts(name, year) if noon_before <= at < noon_before + 72 * 3600)
    last = max(at for at in ticks if wall(zone, at).date() < day)
    return min(at for at in ticks if at > last)


def hour(name, instant):
    """A full hour of the wall clock, cut where the clocks are shifted."""
    zone = ZoneInfo(name)
    clock = wall(zone, instant)
    start = instant - clock.minute * 60 - clock.second
    end = start + 3600
    for shift in shifts(name, clock.year):
        if start < shift <= instant:
            start = shift
        if instant < shift < end:
            end = shift
    return start, end


def following(kind, day):
    if kind == "month":
        return date(day.year + day.month // 12, day.month % 12 + 1, 1)
    if kind == "year":
        return date(day.year + 1, 1, 1)
    return day + timedelta(days={"day": 1, "week": 7}[kind])


def first_day(kind, day):
    return {
        "day": day,
        "week": date.fromisocalendar(*day.isocalendar()[:2], 1),
        "month": day.replace(day=1),
        "year": day.replace(month=1, day=1),
    }[kind]


def bucket(name, kind, instant):
    if kind == "hour":
        return hour(name, instant)
    day = wall(ZoneInfo(name), instant).date()
    if day_start(name, day) > instant:
        day -= timedelta(days=1)
    first = first_day(kind, day)
    return day_start(name, first), day_start(name, following(kind, first))


def label(name, kind, start):
    clock = wall(ZoneInfo(name), start)
    if kind == "hour":
        return clock.strftime("%I:%M%p" if clock.minute else "%I%p").lstrip("0").lower()
    if kind == "week":
        return "Week %02d" % clock.date().isocalendar()[1]
    return clock.strftime({"day": "%a", "month": "%b", "year": "%Y"}[kind])


GRIDS = [
    ("dayByHours", "day", "hour", 6),
    ("weekByDays", "week", "day", 7),
    ("monthByDays", "month", "day", 7),
    ("monthByWeeks", "month", "week", 5),
    ("yearByMonths", "year", "month", 4),
]


def grid(name, instant, period, kind, columns):
    start, end = bucket(name, period, instant)
    zone = ZoneInfo(name)
    dots = []
    at = start
    while at < end:
        low, high = bucket(name, kind, at)
        place = len(dots)
        if kind == "day":
            place = (wall(zone, low).date() - first_day("week", wall(zone, start).date())).days
        dots.append([low, high, place // columns, place % columns, label(name, kind, low)])
        at = high
    return dots


def answer(question):
    name, instant = question["zone"], question["instant"]
    said = {"buckets": [bucket(name, kind, instant) for kind in ("hour", "day", "week", "month", "year")]}
    if question.get("grids"):
        said["grids"] = {level: grid(name, instant, *form) for level, *form in GRIDS}
        start, end = bucket(name, "year", instant)
        days, at = [], start
        while at < end:
            days.append(wall(ZoneInfo(name), at).date().isoformat())
            at = bucket(name, "day", at)[1]
        said["year"] = days
    return said


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line)), separators=(",", ":")))
