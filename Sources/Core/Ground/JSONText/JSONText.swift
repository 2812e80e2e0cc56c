import FoundationEssentials
import Platform

/// The project's JSON encoding: members in the order of their names, so that equal values give equal texts, and slashes
/// unescaped. For a custom member order, use ``JSON``.
package enum JSONText {
    /// In one line: for the ledger, other databases, and messages between programs.
    ///
    /// - Parameter userInfo: for the values' own `encode(to:)`.
    package static func line(
        _ value: some Encodable, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> String {
        try encode(value) { $0.userInfo = userInfo }
    }

    /// Indented, without a final line end.
    package static func indented(_ value: some Encodable) throws -> String {
        try encode(value) { $0.outputFormatting.insert(.prettyPrinted) }
    }

    /// A file that people may read: indented, with a final line end.
    package static func document(_ value: some Encodable) throws -> String { try indented(value) + "\n" }

    /// For output of commands and the log: in one line, safe to print, with human-readable dates. Stored values keep
    /// dates as numbers.
    package static func shownLine(_ value: some Encodable) throws -> String {
        ShownText.json(try encode(value) { $0.dateEncodingStrategy = .iso8601 })
    }

    /// Like ``shownLine(_:)``, but indented, without a final line end.
    package static func shown(_ value: some Encodable) throws -> String {
        ShownText.json(
            try encode(value) {
                $0.dateEncodingStrategy = .iso8601
                $0.outputFormatting.insert(.prettyPrinted)
            })
    }

    private static func encode(_ value: some Encodable, _ prepare: (JSONEncoder) -> Void) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        prepare(encoder)
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
