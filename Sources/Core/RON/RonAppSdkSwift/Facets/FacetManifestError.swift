/// Why a facet's manifest cannot be written or read.
public struct FacetManifestError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A rule that is broken.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// Where: the facet's id, and the route if it is about one: `facet "docs", route 2 (GET /hello)`.
        public let place: String
        /// The rule, and what is there instead.
        public let rule: String

        /// Place and rule.
        public var description: String { "\(place): \(rule)" }
    }

    /// All that is wrong.
    public let findings: [Finding]

    /// A line for each finding.
    public var description: String { findings.map(\.description).joined(separator: "\n") }
}
