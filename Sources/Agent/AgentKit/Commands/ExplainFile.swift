import Platform

/// `steward explain FILE`.
package struct ExplainFile: Query {
    package static let name = "explain"
    private let path: BytePath
    /// The event to assume; nil for the one that applies now.
    private let event: String?

    /// - Parameter path: absolute.
    package init(_ path: BytePath, event: String?) { (self.path, self.event) = (path, event) }

    package func read(_ records: Records) async throws -> Explanation {
        let configuration = try records.requireConfiguration()
        // Reads rules and the file itself, possibly on a disk that hangs.
        return try await BlockingPool.run(for: Bulkhead("the file to explain")) {
            try await .of(path, event: event, configuration, records.directories)
        }
    }

    package func lines(_ answer: Explanation) -> [String] { answer.lines }
}
