import Foundation
import Platform
import Rules
import TestSupport
import Testing

@Suite("Schedules and wall clocks")
struct TimeScheduleTests {
    /// A UTC time: `2026-03-29 01:00`.
    private func utcTime(_ text: String) throws -> Timestamp {
        try #require(DateFormat.date(.text(text), .gmt))
    }

    private func zone(_ name: String) throws -> Zone { try #require(Zone(identifier: name)) }

    @Test(
        "A time skipped by the clock means the moment of the change, and a repeated one means the first",
        arguments: [
            // Put forward: 2026-03-29 02:00 becomes 03:00 in Berlin.
            ("Europe/Berlin", "2026-03-29", "02:30", "2026-03-29 01:00"),
            ("Europe/Berlin", "2026-03-29", "03:00", "2026-03-29 01:00"),
            ("Europe/Berlin", "2026-10-25", "02:30", "2026-10-25 00:30"),
            ("America/New_York", "2026-03-08", "02:30", "2026-03-08 07:00"),
            ("America/New_York", "2026-11-01", "01:30", "2026-11-01 05:30"),
            // Half an hour only.
            ("Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-03 15:30"),
            ("Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04 14:45"),
            ("Asia/Kolkata", "2026-03-29", "02:30", "2026-03-28 21:00"),
            // At midnight: the day begins at one.
            ("America/Santiago", "2026-09-06", "00:30", "2026-09-06 04:00"),
            ("America/Santiago", "2026-04-04", "23:30", "2026-04-05 02:30"),
            // A skipped day.
            ("Pacific/Apia", "2011-12-30", "03:00", "2011-12-30 10:00"),
        ])
    func odd(_ name: String, _ day: String, _ clock: String, _ expected: String) throws {
        let schedule = try #require(Schedule(at: "every day \(clock)", timeZone: try zone(name)))
        let expected = try utcTime(expected)
        let next = schedule.next(after: Timestamp(nanoseconds: expected.nanoseconds - 1), anchor: expected)
        #expect(next == expected, "\(next) for \(day) \(clock) in \(name)")
        #expect(schedule.latest(upTo: expected, anchor: expected) == expected)
    }

    @Test(
        "Every day of eleven years has one time, in order, whatever the clock changes",
        arguments: [
            "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Santiago",
        ], ["00:15", "01:45", "02:30", "23:30"])
    func eachDayOnce(_ name: String, _ clock: String) throws {
        let schedule = try #require(Schedule(at: "every day \(clock)", timeZone: try zone(name)))
        let start = try utcTime("2020-01-01")
        let end = try utcTime("2031-01-01")
        var (time, times) = (start, [Timestamp]())
        while true {
            time = schedule.next(after: time, anchor: start)
            if time >= end { break }
            times.append(time)
        }
        #expect(abs(times.count - 4_018) <= 1)
        let gaps = zip(times, times.dropFirst()).map { ($1.nanoseconds - $0.nanoseconds) / 60_000_000_000 }
        #expect(gaps.allSatisfy { (22 * 60...26 * 60).contains($0) })
        for (one, two) in zip(times, times.dropFirst()).prefix(400) {
            let between = Timestamp(nanoseconds: (one.nanoseconds + two.nanoseconds) / 2)
            #expect(schedule.latest(upTo: between, anchor: start) == one)
            #expect(schedule.next(after: between, anchor: start) == two)
        }
    }

    @Test(
        "Weekdays and days of the month are found, and in a short month the last day counts",
        arguments: [
            ("every monday 03:00", "2026-11-23 04:00", "2026-11-30 03:00"),
            ("every Mon 3:00", "2026-11-23 02:00", "2026-11-23 03:00"),
            ("every month 1 03:00", "2026-11-23 04:00", "2026-12-01 03:00"),
            ("every month 31 03:00", "2026-02-01", "2026-02-28 03:00"),
            ("every month 30 00:00", "2028-02-01", "2028-02-29 00:00"), ("day 00:00", "2026-12-31 12:00", "2027-01-01"),
        ])
    func days(_ text: String, _ after: String, _ expected: String) throws {
        let schedule = try #require(Schedule(at: text, timeZone: .gmt))
        let start = try utcTime(after)
        #expect(schedule.next(after: start, anchor: start) == (try utcTime(expected)))
    }

    @Test(
        "Invalid schedules are rejected",
        arguments: [
            "03:00", "every day", "every day 24:00", "every day 3", "every month 03:00", "every month 32 03:00",
            "every fortnight 03:00", "every day 03:60", "",
        ])
    func refused(_ text: String) { #expect(Schedule(at: text, timeZone: .gmt) == nil) }

    @Test("An interval counts from its beginning, over any gap")
    func interval() throws {
        let schedule = Schedule(every: 7 * 86_400, text: "7d")
        let anchor = try utcTime("2026-11-02 10:00")
        #expect(schedule.latest(upTo: try utcTime("2026-11-09 09:59"), anchor: anchor) == nil)
        #expect(schedule.next(after: anchor, anchor: anchor) == (try utcTime("2026-11-09 10:00")))
        #expect(schedule.latest(upTo: try utcTime("2026-12-01"), anchor: anchor) == (try utcTime("2026-11-30 10:00")))
        #expect(
            schedule.next(after: try utcTime("2026-11-30 10:00"), anchor: anchor) == (try utcTime("2026-12-07 10:00")))
        // A clock that was put back behind the start.
        let before = try utcTime("2026-10-20")
        #expect(schedule.latest(upTo: before, anchor: anchor) == (try utcTime("2026-10-19 10:00")))
        #expect(schedule.next(after: before, anchor: anchor) == (try utcTime("2026-10-26 10:00")))
        #expect(schedule.next(after: try utcTime("2026-10-26 10:00"), anchor: anchor) == anchor)
    }

    @Test("Days and day numbers convert both ways, as in Foundation")
    func civilDates() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        for days in stride(from: -100_000, through: 100_000, by: 37) {
            let date = CivilDate(daysSince1970: days)
            #expect(date.daysSince1970 == days)
            guard days > -100_000 + 30_000 else { continue }
            let parts = calendar.dateComponents(
                [.year, .month, .day, .weekday], from: Date(timeIntervalSince1970: Double(days) * 86_400))
            #expect(parts.year == date.year && parts.month == date.month && parts.day == date.day)
            #expect(parts.weekday == date.weekday % 7 + 1)
        }
    }

    @Test(
        "A month is a calendar month, by the wall clock",
        arguments: [
            ("1 month", "2026-01-31 09:00", "2026-02-28 09:00"), ("1 year", "2028-02-29 09:00", "2029-02-28 09:00"),
            // Berlin is an hour ahead in winter and two in summer.
            ("1 month", "2026-03-15 09:00", "2026-04-15 08:00"), ("30d", "2026-03-15 09:00", "2026-04-14 09:00"),
            ("2 weeks", "2026-11-01", "2026-11-15"), ("12 months", "2026-11-23 09:00", "2027-11-23 09:00"),
        ])
    func spans(_ text: String, _ start: String, _ end: String) throws {
        let span = try #require(Span(text))
        #expect(span.after(try utcTime(start), in: try zone("Europe/Berlin")) == (try utcTime(end)))
    }

    @Test(
        "Invalid durations are rejected",
        arguments: ["", "30", "1.5 months", "month", "-1d", "1 moon", "99999 years"])
    func noSpans(_ text: String) { #expect(Span(text) == nil) }
}
