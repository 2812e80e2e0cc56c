import A4CoreSwift
import Foundation
import Testing

@Suite("Dates")
struct DateTests {
    private struct Fixed: DateProvider {
        func now() -> Date { Date(timeIntervalSince1970: 1_757_836_692.9) }
    }

    @Test("A daily note is named by the UTC day, whatever the local one is")
    func dailyName() throws {
        let day = Dates.utcDay(from: Fixed().now())
        #expect(day == UtcDay(year: 2025, month: 9, day: 14))
        #expect(Dates.dailyPathComponents(for: day) == ("2025", "2025-09", "2025-09-14.md"))
        #expect(Daily.relativePath(for: day) == "capture/2025/2025-09/2025-09-14.md")
        #expect(Daily.relativePath(for: UtcDay(year: 7, month: 1, day: 2)) == "capture/0007/0007-01/0007-01-02.md")
    }

    @Test("Days agree with Foundation's calendar from 1600 to 2500")
    func calendarAgrees() throws {
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for seconds in stride(from: -11_670_000_000.5, to: 16_725_000_000, by: 86_399 * 97) {
            let date = Date(timeIntervalSince1970: seconds)
            let parts = calendar.dateComponents([.year, .month, .day], from: date)
            let day = Dates.utcDay(from: date)
            #expect([day.year, day.month, day.day] == [parts.year, parts.month, parts.day])
        }
    }

    @Test(
        "The time is local to the given zone",
        arguments: [("UTC", "0758"), ("Europe/Berlin", "0958"), ("Asia/Kolkata", "1328"), ("Pacific/Honolulu", "2158")])
    func localTime(_ zone: String, _ expected: String) throws {
        let zone = try #require(TimeZone(identifier: zone))
        #expect(Dates.localHHMM(from: Fixed().now(), timeZone: zone) == expected)
    }

    @Test("Times before 1970 and dates that are not numbers do no harm")
    func oddDates() throws {
        let utc = try #require(TimeZone(identifier: "UTC"))
        #expect(Dates.localHHMM(from: Date(timeIntervalSince1970: -60), timeZone: utc) == "2359")
        #expect(Dates.utcDay(from: Date(timeIntervalSince1970: -1)) == UtcDay(year: 1969, month: 12, day: 31))
        #expect(Dates.utcDay(from: Date(timeIntervalSince1970: .infinity)) == UtcDay(year: 1970, month: 1, day: 1))
        #expect(Dates.utcDay(from: Date(timeIntervalSince1970: .nan)) == UtcDay(year: 1970, month: 1, day: 1))
        #expect(abs(SystemDateProvider().now().timeIntervalSinceNow) < 3600)
    }

    @Test("A template's three placeholders are filled in; everything else stays")
    func template() throws {
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        let template = Data("a {{now_utc}} {{{hhmm}}} {{YYYY-MM-DD}}{{other}} { é {{hhmm".utf8) + Data([0xFF, 0x7B])
        let filled = Daily.fill(template: template, date: Fixed().now(), timeZone: zone)
        #expect(
            filled == Data("a 2025-09-14T07:58:12Z {0958} 2025-09-14{{other}} { é {{hhmm".utf8) + Data([0xFF, 0x7B]))
    }
}
