extension Examination {
    /// What was found out about one thing.
    package struct Finding: Codable, Sendable {
        package let subject: String
        package let isWell: Bool
        package let message: String
        /// What is to be done; nil where all is well.
        package let remedy: String?

        package init(_ subject: String, _ message: String, remedy: String? = nil) {
            (self.subject, self.message, self.remedy) = (subject, message, remedy)
            isWell = remedy == nil
        }

        /// For the log and for `status`.
        var line: String { message + (remedy.map { "; \($0)" } ?? "") }

        /// For a terminal.
        package var lines: [String] {
            ["\(isWell ? "ok  " : "!   ") \(subject): \(message)"] + (remedy.map { ["     \($0)"] } ?? [])
        }
    }
}
