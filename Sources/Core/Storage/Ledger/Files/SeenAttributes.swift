import Foundation
import JSONText
import Platform

/// What the attributes of a file were when rules last looked at them (docs/design/matching.md).
package struct SeenAttributes: Sendable, Equatable, Codable {
    /// Of each attribute, by name, what tells one value from another.
    package var digests: [String: String]
    /// Whether the agent has set some since: they are to be looked at once more, even where the fingerprint is the one that
    /// the agent left.
    package var isOpen: Bool

    package init(digests: [String: String], isOpen: Bool = false) {
        self.digests = digests
        self.isOpen = isOpen
    }

    /// After the agent has set attributes itself: what it set is known, what anybody else has set is yet to be seen.
    ///
    /// - Parameter own: what it set; nil where that is not known, so that nothing can be compared any more.
    package func afterOwn(_ own: [String: String]?) -> SeenAttributes {
        guard let own else { return SeenAttributes(digests: [:], isOpen: true) }
        return SeenAttributes(
            digests: digests.merging(own.filter { digests[$0.key] != nil }) { $1 }, isOpen: true)
    }

    /// What a newer program has written in another way is as good as not known.
    init?(json: String?) {
        guard let json, let read = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = read
    }

    var json: String { get throws { try JSONText.line(self) } }
}
