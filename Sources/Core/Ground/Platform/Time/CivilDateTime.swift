/// A date and a time of day, without a time zone: the reading of a wall clock.
package struct CivilDateTime: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let date: CivilDate
    /// Seconds since midnight, 0 to 86,399.
    package let secondOfDay: Int

    /// - Parameter secondOfDay: 0 to 86,399.
    package init(_ date: CivilDate, secondOfDay: Int = 0) { (self.date, self.secondOfDay) = (date, secondOfDay) }

    /// nil if there is no such time of day; there is no leap second 60.
    package init?(_ date: CivilDate, hour: Int, minute: Int, second: Int = 0) {
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second) else { return nil }
        self.init(date, secondOfDay: hour * 3_600 + minute * 60 + second)
    }

    /// The reading of a UTC clock that many seconds after 1970-01-01T00:00:00Z.
    package init(secondsSince1970 seconds: Int) {
        let second = ((seconds % 86_400) + 86_400) % 86_400
        self.init(CivilDate(daysSince1970: (seconds - second) / 86_400), secondOfDay: second)
    }

    /// Parses `2026-11-21` (meaning midnight), `2026-11-21T09:30` and `2026-11-21T09:30:15`, or with a space instead of
    /// the `T`; nil for anything else, and for a day or time that does not exist.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard [10, 16, 19].contains(bytes.count) else { return nil }
        let form = Array("0000-00-00 00:00:00".utf8)
        var numbers = [0, 0, 0, 0, 0, 0]
        var field = 0
        for (byte, wanted) in zip(bytes, form) {
            if wanted == UInt8(ascii: "0") {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                numbers[field] = numbers[field] * 10 + Int(byte - UInt8(ascii: "0"))
            } else {
                guard byte == wanted || wanted == UInt8(ascii: " ") && byte == UInt8(ascii: "T") else { return nil }
                field += 1
            }
        }
        guard let date = CivilDate(year: numbers[0], month: numbers[1], day: numbers[2]) else { return nil }
        self.init(date, hour: numbers[3], minute: numbers[4], second: numbers[5])
    }

    /// Seconds from 1970-01-01T00:00:00Z until a UTC clock shows it.
    package var secondsSince1970: Int { date.daysSince1970 * 86_400 + secondOfDay }

    /// 0 to 23.
    package var hour: Int { secondOfDay / 3_600 }
    /// 0 to 59.
    package var minute: Int { secondOfDay / 60 % 60 }
    /// 0 to 59.
    package var second: Int { secondOfDay % 60 }

    package static func < (left: CivilDateTime, right: CivilDateTime) -> Bool {
        (left.date, left.secondOfDay) < (right.date, right.secondOfDay)
    }

    /// `09:30:15`.
    package var time: String { "\(hour.padded(2)):\(minute.padded(2)):\(second.padded(2))" }

    /// ISO 8601 without an offset: `2026-11-21T09:30:15`.
    package var description: String { "\(date)T\(time)" }
}

/// The reading of a wall clock, and its offset from UTC.
package struct LocalTime: Hashable, Sendable {
    package let civil: CivilDateTime
    /// Seconds east of Greenwich.
    package let offset: Int

    package init(_ civil: CivilDateTime, offset: Int) { (self.civil, self.offset) = (civil, offset) }

    package var secondsSince1970: Int { civil.secondsSince1970 - offset }

    /// The point in time; nil if it is out of range for nanoseconds since 1970 (before 1677, after 2262).
    package var time: Timestamp? {
        let time = Timestamp(whole: secondsSince1970)
        return time.wholeSeconds == secondsSince1970 ? time : nil
    }
}
