import Foundation

/// Keeps credentials out of logs and hooks (docs/design/ron.md, "Decisions").
public enum Redaction {
    /// What stands where a credential was.
    public static let mark = "[redacted]"

    private static let names: Set<String> = [
        "auth", "cookie", "proxy-authorization", "set-cookie",
    ]
    private static let parts = [
        "api-key", "api_key", "apikey", "assertion", "auth-", "auth_", "authentic", "authoriz", "bearer", "capab",
        "credential", "dpop", "jwt", "macaroon", "passport", "passw", "pwd", "secret", "session", "signature", "token",
    ]
    /// RON's own headers: those that there are carry credentials, and so may those to come.
    private static let prefix = "x-ron-"

    /// Whether a header or a part of a query is a credential, by its name.
    ///
    /// - Parameter name: The name, in any case.
    /// - Returns: True for `Authorization`, cookies, everything that begins with `X-RON-`, and names that say so, as
    ///   `X-Client-Secret` does.
    public static func isSensitive(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || name.hasPrefix(prefix) || parts.contains { name.contains($0) }
    }

    /// Headers, or a query, with a mark instead of credentials.
    ///
    /// - Parameter fields: Names and values.
    /// - Returns: All names; the values of those that ``isSensitive(_:)`` does not name.
    public static func redact(_ fields: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: fields.map { ($0, isSensitive($0) ? mark : $1) })
    }

    /// A URL for a log: without user and fragment, and with the names of its query alone.
    ///
    /// - Parameter url: The URL.
    /// - Returns: As `https://node.example.com/app/search?q=[redacted]`.
    public static func describe(_ url: URL) -> String {
        var text = "\(url.scheme ?? "")://\(url.host(percentEncoded: true) ?? "")"
        if let port = url.port { text += ":\(port)" }
        return text + target(of: url)
    }

    /// Path and query of a URL for a log, with the names of the query alone.
    static func target(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        guard let query = url.query(percentEncoded: true), !query.isEmpty else { return path }
        let items = query.split(separator: "&").map { item in
            "\(item.prefix { $0 != "=" })=\(mark)"
        }
        return "\(path)?\(items.joined(separator: "&"))"
    }
}
