/// What libarchive says where an archive may be sound and it is the one that cannot: fetching the file again would not
/// help.
package enum UnsupportedPacking {
    /// Parts of its messages, lower-case: a way of packing, a filter, a link that RAR 5 alone has, and dictionaries that
    /// are larger than it or its cage takes.
    private static let words = [
        "compression method", "codec", "unsupported filter", "redir type", "dictionary size", "memory",
    ]

    /// The part of the message that tells it; nil for any other message.
    package static func word(in message: String) -> String? {
        let message = message.lowercased()
        return words.first { message.contains($0) }
    }

    package static func isNamed(in message: String) -> Bool { word(in: message) != nil }

    /// To follow what cannot be unpacked.
    package static func text(_ message: String) -> String {
        "is packed in a way that cannot be read here (\(message)); pack its pages again as CBZ"
    }
}
