import Foundation
import Platform
import TestSupport
import Testing

@testable import DotLifeDomain

@Suite("Time buckets")
struct TimeBucketingTests {
    private let inNewYork = TimeBucketingService(timeZone: newYork)

    @Test(
        "A day has as many hour buckets as its clock shows",
        arguments: [("2026-03-08T12:00:00Z", 23), ("2026-11-01T12:00:00Z", 25), ("2026-11-21T12:00:00Z", 24)])
    func hoursOfShiftedDays(noon: String, hours: Int) throws {
        let buckets = inNewYork.hourBuckets(ofDayContaining: try at(noon))
        let day = inNewYork.bucket(.day, containing: try at(noon))
        #expect(buckets.count == hours)
        #expect(Set(buckets.map(\.id)).count == hours)
        #expect(buckets.first?.start == day.start)
        #expect(buckets.last?.end == day.end)
        #expect(zip(buckets, buckets.dropFirst()).allSatisfy { $0.end == $1.start })
        #expect(day.end.timeIntervalSince(day.start) == Double(hours) * 3600)
    }

    @Test("A zone unknown to Foundation keeps its daylight saving time in a service and its buckets")
    func systemZone() throws {
        let name = "EST5EDT,M3.2.0,M11.1.0"
        try #require(TimeZone(identifier: name) == nil)
        let service = TimeBucketingService(zone: try #require(Zone(identifier: name)))
        for date in ["2026-03-08T12:00:00Z", "2026-11-01T12:00:00Z", "2026-06-15T03:00:00Z"] {
            let date = try at(date)
            for type in TimeBucketType.allCases {
                let (bucket, same) = (service.bucket(type, containing: date), inNewYork.bucket(type, containing: date))
                #expect(bucket.start == same.start && bucket.end == same.end && bucket.title == same.title)
            }
        }
    }

    @Test("A zone unknown to the system has Foundation's clock changes", arguments: DotZones.names)
    func foundationZone(name: String) throws {
        let zone = try #require(TimeZone(identifier: name))
        let copy = Zone(foundation: zone)
        #expect(copy.identifier == zone.identifier)
        var random = SeededGenerator(for: "TimeBucketingTests.foundationZone \(name)")
        for _ in 0..<200 {
            let date = DotZones.instant(in: zone, using: &random)
            #expect(copy.local(at: date).offset == zone.secondsFromGMT(for: date), "\(date)")
        }
    }

    @Test("A shift of half an hour ends an hour bucket early")
    func halfHourShift() throws {
        let lordHowe = TimeBucketingService(timeZone: try #require(TimeZone(identifier: "Australia/Lord_Howe")))
        let shiftBack = lordHowe.hourBuckets(ofDayContaining: try at("2026-04-05T02:00:00Z"))
        #expect(shiftBack.count == 25)
        #expect(shiftBack.filter { $0.end.timeIntervalSince($0.start) == 1800 }.count == 1)
    }

    @Test("A day skipped by a zone is in no list, and moves no week")
    func omittedDay() throws {
        let samoa = TimeBucketingService(timeZone: try #require(TimeZone(identifier: "Pacific/Apia")))
        let days = samoa.dayBuckets(ofWeekContaining: try at("2011-12-28T00:00:00Z"))
        #expect(days.count == 6)
        #expect(zip(days, days.dropFirst()).allSatisfy { $0.end == $1.start })
        let week = samoa.bucket(.week, containing: try at("2011-12-28T00:00:00Z"))
        #expect(week.end == samoa.bucket(.week, containing: week.end).start)
        #expect(days.last?.end == week.end)
    }

    @Test("The end of a bucket follows its own zone, not the process's")
    func endInItsZone() throws {
        let week = inNewYork.bucket(.week, containing: try at("2026-03-05T12:00:00Z"))
        #expect(week.start == (try at("2026-03-02T05:00:00Z")))
        #expect(week.end == (try at("2026-03-09T04:00:00Z")))
        let month = inNewYork.bucket(.month, containing: try at("2026-03-05T12:00:00Z"))
        #expect(month.start == (try at("2026-03-01T05:00:00Z")))
        #expect(month.end == (try at("2026-04-01T04:00:00Z")))
        let year = TimeBucketingService.utc.bucket(.year, containing: try at("2024-12-31T23:59:59Z"))
        #expect(year.id == "4_1704067200")
        #expect(year.end == (try at("2025-01-01T00:00:00Z")))
    }

    @Test("Weeks begin on Monday; those of a month may begin before it")
    func lists() throws {
        let date = try at("2026-11-21T12:00:00Z")
        let days = TimeBucketingService.utc.dayBuckets(ofWeekContaining: date)
        #expect(days.count == 7)
        #expect(days.first?.start == (try at("2026-11-16T00:00:00Z")))
        let weeks = TimeBucketingService.utc.weekBuckets(ofMonthContaining: date)
        #expect(weeks.first?.start == (try at("2026-10-26T00:00:00Z")))
        #expect(weeks.count == 6)
        #expect(TimeBucketingService.utc.dayBuckets(ofMonthContaining: date).count == 30)
        #expect(TimeBucketingService.utc.monthBuckets(ofYearContaining: date).count == 12)
        #expect(TimeBucketingService.utc.dayBuckets(ofYearContaining: date).count == 365)
        #expect(TimeBucketingService.utc.dayBuckets(ofYearContaining: try at("2028-05-05T00:00:00Z")).count == 366)
    }

    @Test("A bucket is a half-open interval")
    func halfOpen() throws {
        let day = TimeBucketingService.utc.bucket(.day, containing: try at("2026-11-21T12:00:00Z"))
        #expect(day.contains(day.start))
        #expect(!day.contains(day.end))
        #expect(!TimeBucketSummary.empty(day).hasMoments)
        #expect(TimeBucketSummary(bucket: day, count: 1).hasMoments)
    }

    @Test("Every instant of every zone is in exactly one bucket of a type")
    func partition() throws {
        var random = SeededGenerator(for: "TimeBucketingTests.partition")
        let names = [
            "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Beirut",
            "America/Havana",
            "Asia/Kathmandu", "Africa/Cairo", "Pacific/Apia", "Antarctica/Troll", "Asia/Gaza", "GMT",
        ]
        for _ in 0..<1500 {
            let zone = try #require(TimeZone(identifier: names.randomElement(using: &random) ?? "GMT"))
            let service = TimeBucketingService(timeZone: zone)
            // Half of the instants are near a clock change, where bugs hide.
            var date = Date(timeIntervalSince1970: Double(Int.random(in: 0..<2_000_000_000, using: &random)))
            if Bool.random(using: &random), let shift = zone.nextDaylightSavingTimeTransition(after: date) {
                date = shift.addingTimeInterval(Double(Int.random(in: -90_000...90_000, using: &random)))
            }
            for type in TimeBucketType.allCases {
                let bucket = service.bucket(type, containing: date)
                let place = "\(zone.identifier) \(type) \(date.timeIntervalSince1970)"
                #expect(bucket.contains(date), "\(place): \(bucket.start)..<\(bucket.end)")
                #expect(service.bucket(type, containing: bucket.start) == bucket, "\(place)")
                #expect(service.bucket(type, containing: bucket.end).start == bucket.end, "\(place)")
                #expect(service.bucket(type, containing: bucket.end.addingTimeInterval(-1)) == bucket, "\(place)")
            }
        }
    }

    @Test("If the clock is set back across midnight, the first minute of the next day belongs to this one")
    func interruptedDay() throws {
        let newfoundland = TimeBucketingService(timeZone: try #require(TimeZone(identifier: "America/St_Johns")))
        // On 1 November 2009 the clock showed 00:00, and a minute later 23:01 of 31 October.
        for instant in ["2009-11-01T02:29:59Z", "2009-11-01T02:30:30Z", "2009-11-01T02:31:00Z", "2009-11-01T03:29:59Z"]
        {
            let date = try Date(instant, strategy: .iso8601)
            #expect(newfoundland.bucket(.day, containing: date).name == "2009-10-31", "\(instant)")
            #expect(newfoundland.bucket(.month, containing: date).name == "2009-10", "\(instant)")
            #expect(newfoundland.bucket(.day, containing: date).contains(date))
        }
        let november = newfoundland.bucket(.month, containing: try Date("2009-11-01T03:30:00Z", strategy: .iso8601))
        #expect(november.name == "2009-11")
        #expect(november.start == (try Date("2009-11-01T03:30:00Z", strategy: .iso8601)))
    }
}
