import Rules

/// Rule or configuration files that cannot be used.
package struct Complaints: Error, Sendable, CustomStringConvertible {
    package let diagnostics: [Diagnostic]

    package init(diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }

    package var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}
