import DotLifeDomain
import Foundation
import Platform

/// Times as people write them into a capture.
package enum CaptureTime {
    /// Reads ISO 8601 (`2026-11-21T09:30:00Z`, `2026-11-21`), `2026-11-21 09:30`, or `09:30` on the day of `arrival`.
    ///
    /// A time without an offset is in `timeZone`. An hour that the clocks skip is read as the one after it; of an hour
    /// that comes twice the first is used; a day alone means its first instant.
    ///
    /// - Returns: nil if the text has none of these forms or names a day or an hour that does not exist.
    package static func parse(_ text: String, arrival: Date, _ timeZone: Zone) -> Date? {
        var scanner = Scanner(text.trimmingCharacters(in: .whitespaces))
        var date = timeZone.local(at: arrival).civil.date
        var (hour, minute, second, fraction) = (0, 0, 0, 0.0)
        var offset: Int?
        var hasClock = true
        if scanner.next(is: ":", after: 2) == false {
            guard let year = scanner.digits(4), scanner.consume("-"), let month = scanner.digits(2),
                scanner.consume("-"), let day = scanner.digits(2), (1700...2260).contains(year),
                let found = CivilDate(year: year, month: month, day: day)
            else { return nil }
            date = found
            hasClock = scanner.consume("T") || scanner.consume("t") || scanner.consume(" ")
        }
        if hasClock {
            guard let hours = scanner.digits(2), scanner.consume(":"), let minutes = scanner.digits(2) else {
                return nil
            }
            (hour, minute) = (hours, minutes)
            if scanner.consume(":") {
                guard let seconds = scanner.digits(2) else { return nil }
                second = seconds
                if scanner.consume(".") || scanner.consume(",") {
                    guard let value = scanner.fraction() else { return nil }
                    fraction = value
                }
            }
            _ = scanner.consume(" ")
            offset = scanner.offset()
        }
        guard scanner.isAtEnd, let civil = CivilDateTime(date, hour: hour, minute: minute, second: second) else {
            return nil
        }
        let local = offset.map { LocalTime(civil, offset: $0) } ?? timeZone.resolve(civil)
        return Date(timeIntervalSince1970: Double(local.secondsSince1970) + fraction)
    }

    /// Reads `now`, `today` or `this week`.
    package static func moment(_ text: String) -> MomentType? {
        let plain = text.lowercased().filter { $0.isLetter }
        return MomentType.allCases.first { $0.label.filter { $0.isLetter } == plain }
    }

    /// Reads `note`, `link`, `photo` or `dot`.
    package static func kind(_ text: String) -> ExperienceType? {
        ExperienceType.allCases.first { $0.label == text.lowercased() }
    }
}

/// Reads ASCII from left to right; a step that fails consumes nothing.
private struct Scanner {
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    var isAtEnd: Bool { rest.isEmpty }

    func next(is character: Unicode.Scalar, after count: Int) -> Bool {
        rest.dropFirst(count).first == UInt8(ascii: character)
    }

    mutating func consume(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    mutating func digits(_ count: Int) -> Int? {
        let part = rest.prefix(count)
        guard part.count == count, part.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = rest.dropFirst(count)
        return part.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    mutating func fraction() -> Double? {
        let part = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(part.count)
        return part.isEmpty ? nil : Double("0." + String(decoding: part.prefix(9), as: UTF8.self))
    }

    /// Seconds of `Z`, `+01:00`, `+0100` or `+01`.
    mutating func offset() -> Int? {
        if consume("Z") || consume("z") { return 0 }
        var ahead = self
        let sign = ahead.consume("+") ? 1 : ahead.consume("-") ? -1 : 0
        guard sign != 0, let hours = ahead.digits(2) else { return nil }
        _ = ahead.consume(":")
        let minutes = ahead.isAtEnd ? 0 : ahead.digits(2)
        guard let minutes, minutes < 60, hours * 60 + minutes <= 18 * 60 else { return nil }
        self = ahead
        return sign * (hours * 3600 + minutes * 60)
    }
}
