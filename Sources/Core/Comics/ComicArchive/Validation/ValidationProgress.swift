/// The progress of a validation, as reported by the worker.
package struct ValidationProgress: Sendable, Equatable {
    /// Pages read so far.
    package var pages = 0
    /// Bytes of them, inflated.
    package var bytes: Int64 = 0

    package init() {}

    /// Counts a record.
    ///
    /// - Returns: whether it changes anything.
    mutating func consume(_ record: WorkerRecord) -> Bool {
        guard case .content(let content) = record else { return false }
        pages += 1
        // Saturate: a worker's claim must not be able to crash the agent.
        bytes = bytes.addingReportingOverflow(max(0, content.size)).partialValue
        return true
    }
}
