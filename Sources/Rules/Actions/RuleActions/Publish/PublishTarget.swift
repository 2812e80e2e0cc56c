import Foundation

/// Where events can be published, by name: an entry of `publish:` in the configuration.
package struct PublishTarget: Sendable, Equatable {
    /// How a target is spoken to.
    package enum Kind: String, Sendable, CaseIterable {
        /// The app plane of a RON node.
        case ron
        /// A POST to a URL.
        case webhook
    }

    /// What becomes of the events behind one that is given up.
    package enum OnDead: String, Sendable, CaseIterable {
        /// They go on.
        case `continue`
        /// They wait until somebody has retried or dropped it.
        case hold
    }

    package let name: String
    package let kind: Kind
    /// Of the node, or of the webhook itself.
    package let url: URL
    /// The name of the credential that says who asks, sent as it is in `Authorization`; nil to say nothing.
    package var token: String?
    /// The name of the credential that bodies are signed with; nil for no signature. Of webhooks alone.
    package var secret: String?
    /// The facet of the node's app plane that is meant; nil for none. Of nodes alone.
    package var facet: String?
    /// Where a node's facets lie below `/app`; begins with a slash, or is empty.
    package var facetPrefix = "/facets"
    /// What comes before the path that a rule gives; begins with a slash, or is empty.
    package var path = ""
    /// Whether `http://` will do.
    package var allowsInsecureHTTP = false
    /// Seconds that one try may take.
    package var timeout: Double = 10
    /// Tries after which an event is given up; nil for any number.
    package var attempts: Int?
    /// Seconds after its first try when an event is given up.
    package var giveUpAfter: Double = 7 * 86_400
    /// Bytes that a body may have.
    package var limit: Int = 1 << 20
    package var onDead = OnDead.continue

    /// A target with the standard settings.
    ///
    /// - Parameters:
    ///   - name: as rules write it.
    ///   - kind: how it is spoken to.
    ///   - url: of the node, or of the webhook itself.
    package init(name: String, kind: Kind, url: URL) {
        self.name = name
        self.kind = kind
        self.url = url
    }
}
