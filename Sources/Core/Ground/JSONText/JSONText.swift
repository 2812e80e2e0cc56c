import FoundationEssentials
import Platform

/// How values are written as JSON, wherever that is done: members in the order of their names, so that equal values are
/// equal texts, and slashes as they are. ``JSON`` is for what keeps an order of its own.
package enum JSONText {
    /// In one line: for the ledger, other databases, and what two programs say to each other.
    ///
    /// - Parameter userInfo: for the values' own `encode(to:)`.
    package static func line(
        _ value: some Encodable, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws -> String {
        try encode(value) { $0.userInfo = userInfo }
    }

    /// Indented, without a line end at its end.
    package static func indented(_ value: some Encodable) throws -> String {
        try encode(value) { $0.outputFormatting.insert(.prettyPrinted) }
    }

    /// A file that a person may read: indented, with a line end at its end.
    package static func document(_ value: some Encodable) throws -> String { try indented(value) + "\n" }

    /// What a command or the log prints: in one line, safe to print, with dates that a person can read. What is stored
    /// keeps them as the numbers that are read back.
    package static func shownLine(_ value: some Encodable) throws -> String {
        ShownText.json(try encode(value) { $0.dateEncodingStrategy = .iso8601 })
    }

    /// As ``shownLine(_:)``, indented, without a line end at its end.
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
