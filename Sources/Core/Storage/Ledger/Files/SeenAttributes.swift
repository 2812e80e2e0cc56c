import Foundation
import JSONText
import Platform

/// A file's attributes as rules last saw them (docs/design/matching.md).
package struct SeenAttributes: Sendable, Equatable, Codable {
    /// A digest of each attribute's value, by name.
    package var digests: [String: String]
    /// Whether the agent has set attributes since. They must then be read again, even if the fingerprint is the one the
    /// agent left.
    package var isOpen: Bool

    package init(digests: [String: String], isOpen: Bool = false) {
        self.digests = digests
        self.isOpen = isOpen
    }

    /// The state after the agent has set attributes: its own are known, changes by others have yet to be seen.
    ///
    /// - Parameter own: the attributes it set; nil if unknown, so that nothing can be compared.
    package func afterOwn(_ own: [String: String]?) -> SeenAttributes {
        guard let own else { return SeenAttributes(digests: [:], isOpen: true) }
        return SeenAttributes(
            digests: digests.merging(own.filter { digests[$0.key] != nil }) { $1 }, isOpen: true)
    }

    /// An encoding from a newer version counts as unknown.
    init?(json: String?) {
        guard let json, let read = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = read
    }

    var json: String { get throws { try JSONText.line(self) } }
}
