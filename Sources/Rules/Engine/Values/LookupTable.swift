import Foundation
import Platform

/// A lookup table: the first line names the columns, and the first column is the key (`docs/design/values.md`).
package struct LookupTable: Sendable, Equatable {
    /// In file order; the first one is the key.
    package let columns: [String]
    private let rows: [String: [String]]

    package var count: Int { rows.count }

    /// Maximum size of a table in bytes.
    package static let limit = 4 << 20

    /// An error in a table, with its position.
    package struct Fault: Error, Sendable, Equatable {
        package let position: SourcePosition
        package let message: String
        package let hint: String?
    }

    /// Reads RFC 4180 in UTF-8: quoted fields may contain separators, line breaks and doubled quotes. Blank lines are
    /// skipped.
    ///
    /// - Parameter isTabbed: whether fields are separated by tabs, with quotes as plain text. Otherwise the separator
    ///   is a comma, or a semicolon if the first line has semicolons and no comma.
    /// - Throws: ``Fault``, the first one.
    package init(_ bytes: [UInt8], isTabbed: Bool) throws(Fault) {
        guard bytes.count <= Self.limit else {
            throw Fault(.start, "the table has \(bytes.count) bytes, more than the \(Self.limit) that are read")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Fault(
                SourcePosition(line: Self.lineOfFault(bytes), column: 1), "this line is not UTF-8",
                hint: "save the table as UTF-8")
        }
        var reader = DelimitedReader(text, isTabbed: isTabbed)
        guard let header = try reader.record() else {
            throw Fault(.start, "the table is empty", hint: "its first line names the columns: `id,name`")
        }
        columns = try Self.columns(header)
        var rows: [String: [String]] = [:]
        var lines: [String: Int] = [:]
        while let record = try reader.record() {
            guard record.fields.count == columns.count else {
                throw Fault(
                    record.position,
                    "this row has \(record.fields.count) fields, and there are \(columns.count) columns",
                    hint: "put a field that holds a separator in quotes")
            }
            let key = Self.key(record.fields[0])
            guard !key.isEmpty else { throw Fault(record.position, "this row has no key in its first field") }
            if let earlier = lines[key] {
                throw Fault(
                    record.position, "the key `\(printable(key))` is that of line \(earlier) as well",
                    hint: "leave one of the two")
            }
            lines[key] = record.position.line
            rows[key] = record.fields
        }
        self.rows = rows
    }

    /// The field of `column` in the row of `key`; nil if there is no such row or column, or the field is empty.
    /// Ignores spaces around keys and differences in Unicode composition.
    package func value(_ column: String, of key: String) -> String? {
        guard let index = columns.firstIndex(of: column), let field = rows[Self.key(key)]?[index] else { return nil }
        return field.isEmpty ? nil : field
    }

    private static func key(_ text: String) -> String {
        text.trimmingCharacters(in: .whitespacesAndNewlines).composed
    }

    private static func columns(_ header: DelimitedReader.Record) throws(Fault) -> [String] {
        let columns = header.fields.map { $0.trimmingCharacters(in: .whitespaces) }
        for (number, column) in columns.enumerated() {
            if column.isEmpty { throw Fault(header.position, "column \(number + 1) has no name") }
            if columns[..<number].contains(column) {
                throw Fault(header.position, "there are two columns `\(printable(column))`")
            }
        }
        return columns
    }

    private static func lineOfFault(_ bytes: [UInt8]) -> Int {
        let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
        return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
    }
}

extension LookupTable.Fault {
    init(_ position: SourcePosition, _ message: String, hint: String? = nil) {
        self.init(position: position, message: message, hint: hint)
    }
}
