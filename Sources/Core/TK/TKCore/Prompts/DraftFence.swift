import Platform

/// Marks untrusted text as data within a prompt: it is placed between two lines that begin with ``boundary``, which
/// occurs in none of the texts.
///
/// The boundary is derived from a hash of the texts, so that equal requests have equal bytes, as a server's cache and
/// the key of a stored answer require. A text cannot be crafted to contain its own boundary, which would change with
/// it.
public struct DraftFence: Sendable, Hashable {
    /// `TEXT-` and 24 hexadecimal digits.
    public let boundary: String

    /// - Parameter texts: all texts to be fenced in one prompt.
    public init(for texts: [String]) {
        var key = ""
        for text in texts { key += "\(text.utf8.count):\(text)" }
        var boundary = Self.boundary(of: key, attempt: 0)
        var attempt = 1
        // Models ignore case.
        let lowercased = texts.map { $0.lowercased() }
        while lowercased.contains(where: { $0.contains(boundary.lowercased()) }) {
            boundary = Self.boundary(of: key, attempt: attempt)
            attempt += 1
        }
        self.boundary = boundary
    }

    /// The text between its two lines.
    ///
    /// - Parameter label: one or two words: `draft`, `selection`.
    public func enclose(_ text: String, label: String) -> String {
        "\(boundary) BEGIN \(label)\n\(text)\n\(boundary) END \(label)"
    }

    private static func boundary(of key: String, attempt: Int) -> String {
        "TEXT-\(hexadecimal(ContentHash(of: "\(attempt) \(key)".utf8).bytes.prefix(12)))"
    }
}
