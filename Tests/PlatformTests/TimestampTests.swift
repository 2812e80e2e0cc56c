import Foundation
import Platform
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "Written in UTC with milliseconds",
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_795_253_400_123_456_789, "2026-11-21T09:30:00.123Z"),
            (-1, "1969-12-31T23:59:59.999Z"), (-1_000_000_000, "1969-12-31T23:59:59.000Z"),
            (951_782_399_999_999_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        ] as [(Int64, String)])
    func text(nanoseconds: Int64, text: String) {
        #expect(Timestamp(nanoseconds: nanoseconds).description == text)
    }

    @Test("Adding keeps the nanoseconds")
    func adding() {
        let time = Timestamp(nanoseconds: 1_795_253_400_123_456_789)
        #expect(time.adding(seconds: 1.5).nanoseconds == 1_795_253_401_623_456_789)
        #expect(time < time.adding(seconds: 0.001))
        #expect(Timestamp(seconds: 2).nanoseconds == 2_000_000_000)
    }

    @Test(
        "A time outside the range of nanoseconds becomes the first or the last", arguments: [9.9e11, 1e300, .infinity])
    func far(seconds: Double) {
        #expect(Timestamp(seconds: seconds).nanoseconds == .max)
        #expect(Timestamp(seconds: -seconds).nanoseconds == .min)
        #expect(Timestamp(nanoseconds: .max).adding(seconds: 1).nanoseconds == .max)
        #expect(Timestamp(nanoseconds: 0).adding(seconds: -seconds).nanoseconds == .min)
    }

    @Test(
        "In JSON a text keeps every nanosecond",
        arguments: [0, 1, 1_795_253_400_123_456_789, -1_500_000_001])
    func json(nanoseconds: Int64) throws {
        let time = Timestamp(nanoseconds: nanoseconds)
        let text = try JSONEncoder().encode([time])
        #expect(try JSONDecoder().decode([Timestamp].self, from: text) == [time])
        #expect(String(decoding: text, as: UTF8.self).hasSuffix("Z\"]"))
    }
}
