import DotLifeDomain
import Foundation
import TestSupport
import Testing

/// All buckets of 1970 to 2100 with `STEWARD_TEST_WHOLE=1`, otherwise those around random instants.
@Suite("Buckets tile time")
struct BucketTilingTests {
    @Test(
        "They follow one another without gap or overlap, and contain each instant once", arguments: DotZones.names,
        TimeBucketType.allCases)
    func tiling(name: String, type: TimeBucketType) throws {
        let zone = try #require(TimeZone(identifier: name))
        let service = TimeBucketingService(timeZone: zone)
        var random = SeededGenerator(for: "BucketTilingTests.tiling \(name) \(type)")
        if Thoroughness.isWhole {
            let first = Date(timeIntervalSince1970: Double(DotZones.span.lowerBound))
            try walk(from: first, to: Double(DotZones.span.upperBound), type, service, using: &random)
        } else {
            for _ in 0..<40 {
                let date = DotZones.instant(in: zone, using: &random)
                try walk(from: date, to: date.timeIntervalSince1970 + 40 * 86_400, type, service, using: &random)
            }
        }
    }

    /// From bucket to bucket; errors are thrown, since there are millions.
    private func walk(
        from date: Date, to end: Double, _ type: TimeBucketType, _ service: TimeBucketingService,
        using random: inout SeededGenerator
    ) throws {
        var bucket = service.bucket(type, containing: date)
        guard bucket.contains(date) else { throw wrong(bucket, "does not hold \(date)") }
        while bucket.start.timeIntervalSince1970 < end {
            let length = bucket.end.timeIntervalSince(bucket.start)
            guard Self.lengths[type]?.contains(length) == true else { throw wrong(bucket, "has \(length) seconds") }
            let within = bucket.start.addingTimeInterval(Double.random(in: 0..<length, using: &random))
            for date in [within, bucket.end.addingTimeInterval(-0.001), bucket.start] {
                guard service.bucket(type, containing: date) == bucket else {
                    throw wrong(bucket, "is not the one of \(date.timeIntervalSince1970)")
                }
            }
            let next = service.bucket(type, containing: bucket.end)
            guard next.start == bucket.end else { throw wrong(bucket, "is followed by \(next.id)") }
            bucket = next
        }
    }

    /// Including the effect of a shift (two hours in Newfoundland, 1988) or a skipped day.
    private static let lengths: [TimeBucketType: ClosedRange<Double>] = [
        .hour: 60...3600, .day: (22 * 3600)...(26 * 3600), .week: (5.9 * 86_400)...(7.1 * 86_400),
        .month: (27.9 * 86_400)...(31.1 * 86_400), .year: (363.9 * 86_400)...(366.1 * 86_400),
    ]

    private func wrong(_ bucket: TimeBucket, _ what: String) -> TestFailure {
        TestFailure("\(bucket.timeZone.identifier) \(bucket.type) \(bucket.id) \(what)")
    }
}
