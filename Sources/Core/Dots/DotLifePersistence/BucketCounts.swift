import Foundation
import GRDB

/// Counts experiences in many time ranges with one statement.
enum BucketCounts {
    /// `[start, end)` in nanoseconds since 1970.
    struct Span {
        let start: Int64
        let end: Int64

        init(_ start: Int64, _ end: Int64) {
            self.start = start
            self.end = end
        }

        /// The whole quarter-hours within it; the times before and after them are counted individually.
        fileprivate var values: String {
            let first = quarter(of: start) + (start % CaptureSchema.quarter == 0 ? 0 : 1)
            let last = quarter(of: end)
            guard first < last else { return "[\(start),\(end),0,0,0,0]" }
            let from = first * CaptureSchema.quarter
            let to = last * CaptureSchema.quarter
            return "[\(start),\(from),\(first),\(last),\(to),\(end)]"
        }

        /// Rounded down, also before 1970.
        private func quarter(of time: Int64) -> Int64 {
            time / CaptureSchema.quarter - (time % CaptureSchema.quarter < 0 ? 1 : 0)
        }
    }

    static func of(_ spans: [Span], _ db: Database) throws -> [Int] {
        let statement = try db.cachedStatement(sql: query)
        let list = "[" + spans.map(\.values).joined(separator: ",") + "]"
        return try Int.fetchAll(statement, arguments: [list])
    }

    private static let query = """
        WITH span AS (
            SELECT key,
                value ->> 0 AS start, value ->> 1 AS whole, value ->> 2 AS first, value ->> 3 AS last,
                value ->> 4 AS rest, value ->> 5 AS end
            FROM json_each(?)
        )
        SELECT
            (SELECT COUNT(*) FROM experience WHERE timestamp >= start AND timestamp < whole)
            + (SELECT COALESCE(SUM(count), 0) FROM experience_count WHERE quarter >= first AND quarter < last)
            + (SELECT COUNT(*) FROM experience WHERE timestamp >= rest AND timestamp < end)
        FROM span ORDER BY key
        """
}
