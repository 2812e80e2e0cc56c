import Foundation
import TestSupport
import Testing

/// Zones in which buckets go wrong: shifts at midnight, a minute after it (Newfoundland, 1987 to 2011), of half an
/// hour, a skipped day, offsets off the hour.
enum DotZones {
    static let names = [
        "America/Sao_Paulo", "Asia/Beirut", "Africa/Cairo", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu",
        "Europe/Berlin", "America/New_York", "America/St_Johns", "UTC",
    ]

    static func all() throws -> [TimeZone] { try names.map { try #require(TimeZone(identifier: $0), "\($0)") } }

    /// 1 January 1970 to 1 January 2101.
    static let span = 0..<4_133_980_800

    /// An instant of 1970 to 2100; half of them are near a clock change, where bugs hide.
    static func instant(in zone: TimeZone, using random: inout SeededGenerator) -> Date {
        let date = Date(timeIntervalSince1970: Double(Int.random(in: span, using: &random)))
        guard Bool.random(using: &random), let shift = zone.nextDaylightSavingTimeTransition(after: date),
            shift.timeIntervalSince1970 < Double(span.upperBound - 90_000)
        else { return date }
        return shift.addingTimeInterval(Double(Int.random(in: -90_000...90_000, using: &random)))
    }
}
