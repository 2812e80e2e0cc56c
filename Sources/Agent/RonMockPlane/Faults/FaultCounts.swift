import Hummingbird
import Synchronization

/// How often each fault has struck.
final class FaultCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// Whether the fault strikes this request: always, or the first `times` that the query names. Requests to one path with
    /// one `fault-id` count together.
    ///
    /// - Throws: ``Refusal`` where `times` is no number.
    func strikes(_ request: Request) throws -> Bool {
        let query = try request.query()
        guard query.text("times") != nil else { return true }
        let times = try query.integer("times", default: 1, in: 0...1_000_000)
        let name = [request.method.rawValue, request.uri.path, query.text("fault") ?? "", query.text("fault-id") ?? ""]
        return counts.withLock { counts in
            counts[name.joined(separator: " "), default: 0] += 1
            return counts[name.joined(separator: " "), default: 0] <= times
        }
    }
}
