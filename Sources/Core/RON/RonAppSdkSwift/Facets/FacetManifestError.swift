/// Why a facet's manifest cannot be written or read.
public struct FacetManifestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A violated rule.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// The facet's id, and the route if it concerns one: `facet "docs", route 2 (GET /hello)`.
        public let place: String
        /// The rule, and the actual value.
        public let rule: String

        /// Place and rule.
        public var description: String { "\(place): \(rule)" }
    }

    /// All findings.
    public let findings: [Finding]

    /// One line per finding.
    public var description: String { findings.map(\.description).joined(separator: "\n") }
}
