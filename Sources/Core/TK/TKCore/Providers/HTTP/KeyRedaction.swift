import Foundation

/// Redacts keys in texts for people or logs.
package struct KeyRedaction: Sendable {
    private static let shortest = 4
    private let key: Secret?

    package init(key: Secret?) { self.key = key }

    /// `text` with the key, and anything that looks like one, replaced; control characters become spaces, and the
    /// result is truncated to `limit` characters.
    package func clean(_ text: String, limit: Int = 300) -> String {
        var text = text
        if let key = key?.reveal(), key.utf8.count >= Self.shortest {
            text = text.replacingOccurrences(of: key, with: "[key]")
            for form in [key.addingPercentEncoding(withAllowedCharacters: .alphanumerics), Self.base64(key)] {
                if let form { text = text.replacingOccurrences(of: form, with: "[key]") }
            }
        }
        text = text.replacing(/\b(?:sk|pk|rk|gsk|xai|key|api)-[A-Za-z0-9_\-*.]{8,}/, with: "[key]")
        text = text.replacing(/(?i)bearer\s+[A-Za-z0-9_\-.~+\/=]{8,}/, with: "Bearer [key]")
        let line = String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
        return line.count > limit ? line.prefix(limit) + "…" : line
    }

    private static func base64(_ text: String) -> String? { Data(text.utf8).base64EncodedString() }
}
