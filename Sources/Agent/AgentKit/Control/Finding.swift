extension Examination {
    /// The result of one check.
    package struct Finding: Codable, Sendable {
        package let subject: String
        package let isWell: Bool
        package let message: String
        /// What to do about it; nil if all is well.
        package let remedy: String?

        package init(_ subject: String, _ message: String, remedy: String? = nil) {
            (self.subject, self.message, self.remedy) = (subject, message, remedy)
            isWell = remedy == nil
        }

        /// For the log and for `status`.
        var line: String { message + (remedy.map { "; \($0)" } ?? "") }

        /// For the terminal.
        package var lines: [String] {
            ["\(isWell ? "ok  " : "!   ") \(subject): \(message)"] + (remedy.map { ["     \($0)"] } ?? [])
        }
    }
}
