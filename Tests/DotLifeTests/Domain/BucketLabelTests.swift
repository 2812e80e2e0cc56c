import DotLifeDomain
import Foundation
import TestSupport
import Testing

@Suite("Names of buckets")
struct BucketLabelTests {
    private let utc = TimeBucketingService.utc

    private func bucket(_ type: TimeBucketType, _ zone: String, _ date: String) throws -> TimeBucket {
        let zone = try #require(TimeZone(identifier: zone))
        return TimeBucketingService(timeZone: zone).bucket(type, containing: try at(date))
    }

    @Test(
        "Labels, extended labels and titles",
        arguments: [
            (TimeBucketType.hour, "3pm", "Mon 3pm", "Mon 3pm"), (.day, "Mon", "Mon, Jan 15", "Monday, January 15"),
            (.week, "Week 03", "Week 03: Jan 15 - Jan 21", "Jan 15 - Jan 21"),
            (.month, "Jan", "January 2024", "January 2024"), (.year, "2024", "2024", "2024"),
        ])
    func labels(type: TimeBucketType, label: String, extended: String, title: String) throws {
        let bucket = utc.bucket(type, containing: try at("2024-01-15T15:20:00Z"))
        #expect(bucket.label == label)
        #expect(bucket.extendedLabel == extended)
        #expect(bucket.title == title)
    }

    @Test("Midnight is 12am and noon 12pm")
    func twelve() throws {
        #expect(utc.bucket(.hour, containing: try at("2026-01-05T00:30:00Z")).label == "12am")
        #expect(utc.bucket(.hour, containing: try at("2026-01-05T12:30:00Z")).label == "12pm")
        #expect(utc.bucket(.hour, containing: try at("2026-01-05T23:30:00Z")).label == "11pm")
    }

    @Test(
        "A week's number and year follow from its Thursday",
        arguments: [
            ("2024-12-31T12:00:00Z", "2025-W01"), ("2021-01-03T12:00:00Z", "2020-W53"),
            ("2026-12-31T12:00:00Z", "2026-W53"), ("2023-01-01T12:00:00Z", "2022-W52"),
            ("2018-01-01T12:00:00Z", "2018-W01"),
        ])
    func isoWeeks(date: String, week: String) throws {
        let bucket = utc.bucket(.week, containing: try at(date))
        #expect(bucket.week.description == week)
        #expect(bucket.label == "Week \(week.suffix(2))")
    }

    @Test("A zone off the hour has whole hours on its own clock")
    func kathmandu() throws {
        let hour = try bucket(.hour, "Asia/Kathmandu", "2026-01-05T10:00:00Z")
        #expect(hour.extendedLabel == "Mon 3pm")
        #expect(hour.start == (try at("2026-01-05T09:15:00Z")))
    }

    @Test("An hour begun late by a half-hour shift shows its minute")
    func lordHowe() throws {
        let hour = try bucket(.hour, "Australia/Lord_Howe", "2026-10-03T15:45:00Z")
        #expect(hour.label == "2:30am")
        #expect(hour.end.timeIntervalSince(hour.start) == 1800)
        #expect(hour.name == "2026-10-04T02:30")
    }

    @Test("A shift a minute after midnight cuts that minute off, and the next hour begins a minute late")
    func newfoundland() throws {
        let cut = try bucket(.hour, "America/St_Johns", "2000-04-02T03:30:30Z")
        let late = try bucket(.hour, "America/St_Johns", "2000-04-02T03:45:00Z")
        #expect([cut.name, late.name] == ["2000-04-02T00", "2000-04-02T01:01"])
        #expect([cut.label, late.label] == ["12am", "1:01am"])
        #expect(cut.end == late.start)
    }

    @Test("Hours that the clock shows twice differ by their offset")
    func repeatedHour() throws {
        let hours = try [
            "2026-11-01T04:30:00Z", "2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-01T07:30:00Z",
        ]
        .map { try bucket(.hour, "America/New_York", $0) }
        #expect(hours.map(\.label) == ["12am", "1am", "1am", "2am"])
        #expect(hours.map(\.extendedLabel) == ["Sun 12am", "Sun 1am (UTC-4)", "Sun 1am (UTC-5)", "Sun 2am"])
        #expect(hours[2].name == "2026-11-01T01-05:00")
    }

    @Test("Every name and id leads back to its bucket")
    func names() throws {
        var random = SeededGenerator(for: "BucketLabelTests.names")
        for zone in try DotZones.all() {
            let service = TimeBucketingService(timeZone: zone)
            for _ in 0..<60 {
                let date = DotZones.instant(in: zone, using: &random)
                for type in TimeBucketType.allCases {
                    let bucket = service.bucket(type, containing: date)
                    #expect(service.bucket(named: bucket.name) == bucket, "\(zone.identifier) \(bucket.name)")
                    #expect(service.bucket(named: bucket.id) == bucket, "\(zone.identifier) \(bucket.id)")
                }
            }
        }
    }

    @Test(
        "Any other name means no bucket",
        arguments: [
            "", "2026-02-30", "2026-13", "2026-00", "2026-W00", "2026-W54", "2025-W53", "2026-01-05T24", "2026-01-05T3",
            "2026-01-05T15:30", "2026-01-05T15+05:00", "20260105", "1_1767571201", "5_0", "1_99999999999999", "today",
        ])
    func unknownNames(_ name: String) { #expect(utc.bucket(named: name) == nil) }

    @Test("A day or an hour skipped by a zone is not a bucket")
    func leftOut() throws {
        let samoa = TimeBucketingService(timeZone: try #require(TimeZone(identifier: "Pacific/Apia")))
        #expect(samoa.bucket(named: "2011-12-30") == nil)
        #expect(samoa.bucket(named: "2011-12-31")?.label == "Sat")
        #expect(TimeBucketingService(timeZone: newYork).bucket(named: "2026-03-08T02") == nil)
    }

    @Test("A bucket is decoded unchanged, and rejected if none begins there")
    func coding() throws {
        let week = try bucket(.week, "America/New_York", "2026-03-05T12:00:00Z")
        let bytes = try JSONEncoder().encode(week)
        #expect(try JSONDecoder().decode(TimeBucket.self, from: bytes) == week)
        let object = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let start = try #require(object["start"] as? Double)
        for change: [String: Any] in [
            ["start": start + 1], ["start": start + 86_400], ["type": 3], ["start": 1e300],
            ["timeZone": ["identifier": "Europe/Berlin"]],
        ] {
            let changed = object.merging(change) { $1 }
            let bytes = try JSONSerialization.data(withJSONObject: changed)
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(TimeBucket.self, from: bytes) }
        }
    }
}
