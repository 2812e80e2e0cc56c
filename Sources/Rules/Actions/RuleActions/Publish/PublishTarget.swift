import Foundation

/// A named destination of events: an entry of `publish:` in the configuration.
package struct PublishTarget: Sendable, Equatable {
    /// Protocol of a target.
    package enum Kind: String, Sendable, CaseIterable {
        /// The app plane of a RON node.
        case ron
        /// A POST to a URL.
        case webhook
    }

    /// What to do with the events behind one that was given up.
    package enum OnDead: String, Sendable, CaseIterable {
        /// Continue with them.
        case `continue`
        /// Hold them until a person retries or drops it.
        case hold
    }

    package let name: String
    package let kind: Kind
    /// Of the node or the webhook.
    package let url: URL
    /// Name of the credential sent in `Authorization`; nil for none.
    package var token: String?
    /// Name of the credential that signs bodies; nil for no signature. Webhooks only.
    package var secret: String?
    /// Facet of the node's app plane; nil for none. Nodes only.
    package var facet: String?
    /// Where a node's facets are, below `/app`; empty, or starts with a slash.
    package var facetPrefix = "/facets"
    /// Prefix of the rule's path; empty, or starts with a slash.
    package var path = ""
    /// Whether `http://` is allowed.
    package var allowsInsecureHTTP = false
    /// Timeout of one attempt in seconds.
    package var timeout: Double = 10
    /// Attempts before an event is given up; nil for no limit.
    package var attempts: Int?
    /// Seconds of trying before an event is given up.
    package var giveUpAfter: Double = 7 * 86_400
    /// Maximum size of a body in bytes.
    package var limit: Int = 1 << 20
    package var onDead = OnDead.continue

    /// A target with default settings.
    ///
    /// - Parameters:
    ///   - name: as rules spell it.
    ///   - kind: its protocol.
    ///   - url: of the node or the webhook.
    package init(name: String, kind: Kind, url: URL) {
        self.name = name
        self.kind = kind
        self.url = url
    }
}
