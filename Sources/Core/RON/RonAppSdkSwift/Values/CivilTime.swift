/// A second in the years 1 to 9999 of the proleptic Gregorian calendar, as in clients in other languages.
///
/// Foundation switches to the Julian calendar before 1582: it reads `0001-01-01T00:00:00Z`, which servers send for
/// "never", two days off.
struct CivilTime {
    /// The first second of the year 1.
    static let first = -63_113_904_000.0
    /// The first second of the year 10000.
    static let end = 252_423_993_600.0

    private static let secondsOfDay = 86_400
    /// From 1 March of the year 0, the epoch of the day count here, so that a leap day is the last of its year.
    private static let daysUntil2001 = 730_791
    /// Days in 400 years, after which the calendar repeats.
    private static let daysOfEra = 146_097

    /// Since the beginning of 2001, in UTC, like `Date`.
    let seconds: Int

    /// A second at or after ``first``.
    init(seconds: Int) { self.seconds = seconds }

    /// From the numbers of `2026-01-02T03:04:05`, in this order; nil if there is no such second.
    init?(_ parts: [Int]) {
        guard parts.count == 6, (1...9_999).contains(parts[0]), (1...12).contains(parts[1]),
            (1...31).contains(parts[2]),
            (0..<24).contains(parts[3]), (0..<60).contains(parts[4]), (0..<60).contains(parts[5])
        else { return nil }
        // A year starting in March.
        let year = parts[1] > 2 ? parts[0] : parts[0] - 1
        let month = (parts[1] + 9) % 12
        let yearOfEra = year % 400
        let dayOfYear = (153 * month + 2) / 5 + parts[2] - 1
        let day =
            year / 400 * Self.daysOfEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        seconds = (day - Self.daysUntil2001) * Self.secondsOfDay + parts[3] * 3_600 + parts[4] * 60 + parts[5]
        // 30 February would be a day in March.
        guard self.parts == parts else { return nil }
    }

    /// `2026-01-02T03:04:05`.
    var text: String {
        zip(parts, [("", 4), ("-", 2), ("-", 2), ("T", 2), (":", 2), (":", 2)]).map { number, form in
            let digits = String(number)
            return form.0 + String(repeating: "0", count: max(form.1 - digits.count, 0)) + digits
        }.joined()
    }

    /// Year, month, day, hour, minute and second.
    private var parts: [Int] {
        let (days, second) = (seconds + Self.daysUntil2001 * Self.secondsOfDay).quotientAndRemainder(
            dividingBy: Self.secondsOfDay)
        let dayOfEra = days % Self.daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = days / Self.daysOfEra * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        return [year, month, day, second / 3_600, second / 60 % 60, second % 60]
    }
}
