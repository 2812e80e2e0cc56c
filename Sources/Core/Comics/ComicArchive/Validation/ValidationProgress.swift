/// How far a validation has come, as the worker reports it.
package struct ValidationProgress: Sendable, Equatable {
    /// Pages read so far.
    package var pages = 0
    /// Bytes of them, inflated.
    package var bytes: Int64 = 0

    package init() {}

    /// Counts a record.
    ///
    /// - Returns: whether it was one that changes anything.
    mutating func consume(_ record: WorkerRecord) -> Bool {
        guard case .content(let content) = record else { return false }
        pages += 1
        // What a worker claims must not be able to end the agent.
        bytes = bytes.addingReportingOverflow(max(0, content.size)).partialValue
        return true
    }
}
