import Foundation

/// A date of the Gregorian calendar, counted in days.
struct CivilDay: Hashable {
    /// Days since 1 January 1970.
    let number: Int

    init(number: Int) { self.number = number }

    init(year: Int, month: Int, day: Int) {
        // Years that begin in March have their leap day at the end; 400 of them are an era of 146,097 days.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        number = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Monday is 0.
    var weekday: Int { ((number + 3) % 7 + 7) % 7 }

    var parts: (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// ISO 8601: a week belongs to the year of its Thursday.
    var week: ISOWeek {
        let thursday = CivilDay(number: number - weekday + 3)
        let year = thursday.parts.year
        return ISOWeek(year: year, number: (thursday.number - CivilDay(year: year, month: 1, day: 1).number) / 7 + 1)
    }
}

/// What the clock on the wall shows at an instant. Years of more than six digits are not told apart.
struct WallClock {
    let day: CivilDay
    let hour: Int
    let minute: Int
    /// Seconds east of Greenwich.
    let offset: Int

    init(_ date: Date, in zone: TimeZone) {
        offset = zone.secondsFromGMT(for: date)
        let most = Double(365 * 86_400) * 1_000_000
        // `minimum` and `maximum` leave out what is no number.
        let seconds = Int(Double.minimum(.maximum(date.timeIntervalSince1970.rounded(.down), -most), most)) + offset
        let second = (seconds % 86_400 + 86_400) % 86_400
        day = CivilDay(number: (seconds - second) / 86_400)
        hour = second / 3600
        minute = second % 3600 / 60
    }
}
