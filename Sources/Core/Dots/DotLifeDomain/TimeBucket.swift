import Foundation

/// The length of a bucket.
public enum TimeBucketType: Int, Codable, CaseIterable, Sendable {
    /// An hour of the wall clock.
    case hour = 0
    /// A calendar day: 23, 24 or 25 hours.
    case day = 1
    /// Monday to Sunday.
    case week = 2
    /// A calendar month.
    case month = 3
    /// A calendar year.
    case year = 4
}

/// A half-open time range, `[start, end)`, in a time zone.
///
/// It carries its zone, so that ``end`` does not depend on the context. Only ``TimeBucketingService`` makes one, so
/// that it always begins at a bucket boundary; decoding checks the same.
public struct TimeBucket: Hashable, Sendable, Identifiable {
    /// Its length.
    public let type: TimeBucketType
    /// Its first instant.
    public let start: Date
    /// Divides time in the zone of its days, weeks and hours.
    let service: TimeBucketingService

    /// The zone of its days, weeks and hours.
    public var timeZone: TimeZone { service.timeZone }

    /// - Parameter start: the first instant of such a bucket, from `service`.
    init(type: TimeBucketType, start: Date, service: TimeBucketingService) {
        self.type = type
        self.start = start
        self.service = service
    }

    /// `"<type>_<seconds since 1970>"`.
    public var id: String { "\(type.rawValue)_\(Int64(start.timeIntervalSince1970.rounded(.down)))" }

    /// The first instant after it.
    public var end: Date { service.end(of: type, startingAt: start) }

    /// Whether `start <= date < end`.
    public func contains(_ date: Date) -> Bool { start <= date && date < end }
}

extension TimeBucket: Codable {
    private enum CodingKeys: String, CodingKey {
        case type
        case start
        case timeZone
    }

    /// - Throws: `DecodingError` if no such bucket begins at the start.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let type = try container.decode(TimeBucketType.self, forKey: .type)
        let start = try container.decode(Date.self, forKey: .start)
        let service = TimeBucketingService(timeZone: try container.decode(TimeZone.self, forKey: .timeZone))
        guard let bucket = service.bucket(type, startingAt: start) else {
            throw DecodingError.dataCorruptedError(
                forKey: .start, in: container,
                debugDescription: "no \(type) of \(service.timeZone.identifier) begins at this time")
        }
        self = bucket
    }

    /// Type, start and zone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(type, forKey: .type)
        try container.encode(start, forKey: .start)
        try container.encode(timeZone, forKey: .timeZone)
    }
}

/// The number of experiences in a bucket.
public struct TimeBucketSummary: Hashable, Codable, Sendable, Identifiable {
    /// The time range.
    public let bucket: TimeBucket
    /// The number of experiences in it.
    public let count: Int

    /// A bucket and its count.
    public init(bucket: TimeBucket, count: Int) {
        self.bucket = bucket
        self.count = count
    }

    /// A bucket without experiences.
    public static func empty(_ bucket: TimeBucket) -> TimeBucketSummary { TimeBucketSummary(bucket: bucket, count: 0) }

    /// The bucket's id.
    public var id: String { bucket.id }

    /// Whether its dot is filled: at least one experience.
    public var hasMoments: Bool { count > 0 }
}
