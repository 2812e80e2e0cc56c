import Platform

/// A value in a database's representation.
package enum SQLValue: Sendable, Equatable {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])
}

/// A type that can be bound to a statement and read from a column.
package protocol SQLConvertible {
    var sqlValue: SQLValue { get }
    /// nil if the value has another type.
    init?(sqlValue: SQLValue)
}

/// A row of a result, valid until the next one is read.
package protocol SQLRow {
    /// - Throws: `Fault(.failed)` if there is no such column.
    func value(_ column: String) throws -> SQLValue
    /// - Throws: `Fault(.failed)` if there is no such column.
    func value(at index: Int) throws -> SQLValue
}

/// A connection within a transaction. Every call blocks. Database errors are thrown as they are, for ``LedgerDatabase``
/// to translate.
///
/// Statements use the SQL common to SQLite and PostgreSQL, with `?` for each argument, or `?1`, `?2` … for all of them.
/// Column names are not case-sensitive. Text is compared byte by byte.
package protocol SQLConnection {
    /// Executes a statement that returns no rows.
    ///
    /// - Returns: how many rows it inserted, changed or deleted.
    /// - Throws: ``SQLUniqueViolation`` if a unique index already has the values.
    @discardableResult func execute(_ sql: String, _ arguments: [any SQLConvertible]) throws -> Int

    /// Calls `body` with each row of the result until it returns false.
    func query(_ sql: String, _ arguments: [any SQLConvertible], _ body: (any SQLRow) throws -> Bool) throws
}

/// A row violates a unique index and was not written.
package struct SQLUniqueViolation: Error {}

extension SQLRow {
    /// - Throws: `Fault(.failed)` if there is no such column, or its value has another type.
    subscript<T: SQLConvertible>(column: String) -> T {
        get throws { try Self.converted(value(column), column) }
    }

    /// - Throws: as for the subscript by name.
    subscript<T: SQLConvertible>(index: Int) -> T {
        get throws { try Self.converted(value(at: index), "\(index)") }
    }

    private static func converted<T: SQLConvertible>(_ value: SQLValue, _ column: String) throws -> T {
        guard let converted = T(sqlValue: value) else {
            throw Fault(.failed, "the ledger's column \(column) has a value that is no \(T.self)")
        }
        return converted
    }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
    package var sqlValue: SQLValue { self?.sqlValue ?? .null }

    package init?(sqlValue: SQLValue) {
        if case .null = sqlValue {
            self = .none
        } else if let wrapped = Wrapped(sqlValue: sqlValue) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }
}

extension Int64: SQLConvertible {
    package var sqlValue: SQLValue { .integer(self) }

    package init?(sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self = number
    }
}

extension Int: SQLConvertible {
    package var sqlValue: SQLValue { .integer(Int64(self)) }

    package init?(sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self.init(exactly: number)
    }
}

/// Devices and inodes, stored as the signed integer with the same bits.
extension UInt64: SQLConvertible {
    package var sqlValue: SQLValue { .integer(Int64(bitPattern: self)) }

    package init?(sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self.init(bitPattern: number)
    }
}

/// Stored as 0 or 1.
extension Bool: SQLConvertible {
    package var sqlValue: SQLValue { .integer(self ? 1 : 0) }

    package init?(sqlValue: SQLValue) {
        guard case .integer(let number) = sqlValue else { return nil }
        self = number != 0
    }
}

extension String: SQLConvertible {
    package var sqlValue: SQLValue { .text(self) }

    package init?(sqlValue: SQLValue) {
        guard case .text(let text) = sqlValue else { return nil }
        self = text
    }
}

extension [UInt8]: SQLConvertible {
    package var sqlValue: SQLValue { .blob(self) }

    package init?(sqlValue: SQLValue) {
        guard case .blob(let bytes) = sqlValue else { return nil }
        self = bytes
    }
}

extension BytePath: SQLConvertible {
    package var sqlValue: SQLValue { .blob(bytes) }

    package init?(sqlValue: SQLValue) {
        guard case .blob(let bytes) = sqlValue else { return nil }
        self.init(bytes: bytes)
    }
}

extension ContentHash: SQLConvertible {
    package var sqlValue: SQLValue { .blob(bytes) }

    package init?(sqlValue: SQLValue) {
        guard case .blob(let bytes) = sqlValue else { return nil }
        self.init(bytes: bytes)
    }
}

/// Stored as nanoseconds.
extension Timestamp: SQLConvertible {
    package var sqlValue: SQLValue { .integer(nanoseconds) }

    package init?(sqlValue: SQLValue) {
        guard case .integer(let nanoseconds) = sqlValue else { return nil }
        self.init(nanoseconds: nanoseconds)
    }
}
