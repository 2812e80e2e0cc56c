/// A day of the proleptic Gregorian calendar, in no time zone.
package struct CivilDate: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let year: Int
    /// From 1.
    package let month: Int
    /// From 1.
    package let day: Int

    /// nil if there is no such day.
    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.length(ofMonth: month, year)).contains(day) else { return nil }
        self.init(known: year, month, day)
    }

    private init(known year: Int, _ month: Int, _ day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// The day by its distance from 1970-01-01. Years start in March here, so that a leap day is the last of its year.
    package init(daysSince1970 days: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        self.init(
            known: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    package var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// 1 for Monday, 7 for Sunday.
    package var weekday: Int {
        let days = (daysSince1970 + 3) % 7
        return (days < 0 ? days + 7 : days) + 1
    }

    /// From 1.
    package var dayOfYear: Int { daysSince1970 - first(ofMonth: 1).daysSince1970 + 1 }

    /// The ISO 8601 week, which begins on Monday and belongs to the year of its Thursday.
    package var week: (year: Int, number: Int) {
        let thursday = adding(days: 4 - weekday)
        return (thursday.year, (thursday.dayOfYear - 1) / 7 + 1)
    }

    package var isLastOfMonth: Bool { day == Self.length(ofMonth: month, year) }

    /// The first day of a month of the same year.
    package func first(ofMonth month: Int) -> CivilDate { CivilDate(known: year, month, 1) }

    package func adding(days: Int) -> CivilDate { CivilDate(daysSince1970: daysSince1970 + days) }

    /// Adds months; if the resulting month is too short, its last day.
    package func adding(months: Int) -> CivilDate {
        let total = year * 12 + month - 1 + months
        let year = total >= 0 ? total / 12 : (total - 11) / 12
        let month = total - year * 12 + 1
        return CivilDate(known: year, month, min(day, Self.length(ofMonth: month, year)))
    }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    package static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    /// ISO 8601: `2026-11-21`.
    package var description: String { "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))" }
}
