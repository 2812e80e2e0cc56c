"""Dates and time zones as Python has them: `datetime`, `calendar` and `zoneinfo`, which reads the system's own TZif files.

Reads questions from standard input, one a line as JSON, and answers each on a line with a list:

    {"zone": "Europe/Berlin", "instant": 1772727600}  what the clock shows then, and its offset
    {"zone": "Europe/Berlin", "civil": "2026-03-29T02:30:00"}  how often the clock shows it, and the offset that is taken
    {"day": 20778, "months": -24, "days": 3}  of a day so many days after 1970-01-01: its text, weekday, day of the year,
        year and number of its week, then the day so many months later, and the one so many days later

With the argument `zones` it prints the names of all zones.
"""

import calendar
import json
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def seconds(offset):
    return int(offset.total_seconds())


def after_months(day, months):
    total = day.year * 12 + day.month - 1 + months
    year, month = total // 12, total % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def answer(question):
    if "day" in question:
        day = date(1970, 1, 1) + timedelta(days=question["day"])
        week = day.isocalendar()
        return [
            str(day), day.isoweekday(), day.timetuple().tm_yday, week[0], week[1],
            str(after_months(day, question["months"])), str(day + timedelta(days=question["days"])),
        ]
    zone = ZoneInfo(question["zone"])
    if "instant" in question:
        shown = (EPOCH + timedelta(seconds=question["instant"])).astimezone(zone)
        return [shown.replace(tzinfo=None).isoformat(), seconds(shown.utcoffset())]
    civil = datetime.fromisoformat(question["civil"]).replace(tzinfo=zone)
    first, second = (seconds(civil.replace(fold=fold).utcoffset()) for fold in (0, 1))
    return [0 if first < second else 2 if first > second else 1, first]


if sys.argv[1:] == ["zones"]:
    # Those that count leap seconds are no zones of a person.
    print("\n".join(sorted(name for name in available_timezones() if not name.startswith(("right/", "posix/")))))
else:
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))))
