import Platform

/// Marks a text from outside as data within a prompt: it stands between two lines that begin with ``boundary``, which
/// occurs in none of the texts.
///
/// The boundary follows from the texts by a hash, so that the same request is the same bytes (a server's cache, and the
/// key of a stored answer, want that); a text that holds its own boundary cannot be made, and would be given another.
public struct DraftFence: Sendable, Hashable {
    /// `TEXT-` and 24 hexadecimal digits.
    public let boundary: String

    /// - Parameter texts: everything that will be fenced in one prompt.
    public init(for texts: [String]) {
        var key = ""
        for text in texts { key += "\(text.utf8.count):\(text)" }
        var boundary = Self.boundary(of: key, attempt: 0)
        var attempt = 1
        // Case counts for nothing to a model.
        let lowercased = texts.map { $0.lowercased() }
        while lowercased.contains(where: { $0.contains(boundary.lowercased()) }) {
            boundary = Self.boundary(of: key, attempt: attempt)
            attempt += 1
        }
        self.boundary = boundary
    }

    /// The text between its two lines.
    ///
    /// - Parameter label: what it is, in a word or two: `draft`, `selection`.
    public func enclose(_ text: String, label: String) -> String {
        "\(boundary) BEGIN \(label)\n\(text)\n\(boundary) END \(label)"
    }

    private static func boundary(of key: String, attempt: Int) -> String {
        "TEXT-\(hexadecimal(ContentHash(of: "\(attempt) \(key)".utf8).bytes.prefix(12)))"
    }
}
