import Foundation

/// Keeps credentials out of logs and hooks (docs/design/ron.md, "Decisions").
public enum Redaction {
    /// Replaces a credential.
    public static let mark = "[redacted]"

    private static let names: Set<String> = [
        "auth", "cookie", "proxy-authorization", "set-cookie",
    ]
    private static let parts = [
        "api-key", "api_key", "apikey", "assertion", "auth-", "auth_", "authentic", "authoriz", "bearer", "capab",
        "credential", "dpop", "jwt", "macaroon", "passport", "passw", "pwd", "secret", "session", "signature", "token",
    ]
    /// RON's own headers: the existing ones carry credentials, and future ones may too.
    private static let prefix = "x-ron-"

    /// Whether a header or a query field is a credential, judging by its name.
    ///
    /// - Parameter name: The name, in any case.
    /// - Returns: True for `Authorization`, cookies, names that begin with `X-RON-`, and names that suggest it, such as
    ///   `X-Client-Secret`.
    public static func isSensitive(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains(name) || name.hasPrefix(prefix) || parts.contains { name.contains($0) }
    }

    /// Replaces credentials in headers or a query with a mark.
    ///
    /// - Parameter fields: Names and values.
    /// - Returns: All names, with the values of those that are not sensitive (``isSensitive(_:)``).
    public static func redact(_ fields: [String: String]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: fields.map { ($0, isSensitive($0) ? mark : $1) })
    }

    /// A URL for a log: without user and fragment, and with only the names of its query.
    ///
    /// - Parameter url: The URL.
    /// - Returns: For example `https://node.example.com/app/search?q=[redacted]`.
    public static func describe(_ url: URL) -> String {
        var text = "\(url.scheme ?? "")://\(url.host(percentEncoded: true) ?? "")"
        if let port = url.port { text += ":\(port)" }
        return text + target(of: url)
    }

    /// Path and query of a URL for a log, with only the names of the query.
    static func target(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        guard let query = url.query(percentEncoded: true), !query.isEmpty else { return path }
        let items = query.split(separator: "&").map { item in
            "\(item.prefix { $0 != "=" })=\(mark)"
        }
        return "\(path)?\(items.joined(separator: "&"))"
    }
}
