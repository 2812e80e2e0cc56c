/// libarchive's messages about archives that may be intact but that it does not support: downloading the file again
/// would not help.
package enum UnsupportedPacking {
    /// Parts of its messages, in lower case: a compression method, a filter, a kind of link only RAR 5 has, and
    /// dictionaries larger than libarchive or its cage allows.
    private static let words = [
        "compression method", "codec", "unsupported filter", "redir type", "dictionary size", "memory",
    ]

    /// The part of the message that shows this; nil for any other message.
    package static func word(in message: String) -> String? {
        let message = message.lowercased()
        return words.first { message.contains($0) }
    }

    package static func isNamed(in message: String) -> Bool { word(in: message) != nil }

    /// To follow the name of the archive or entry that cannot be unpacked.
    package static func text(_ message: String) -> String {
        "is packed in a way that cannot be read here (\(message)); pack its pages again as CBZ"
    }
}
