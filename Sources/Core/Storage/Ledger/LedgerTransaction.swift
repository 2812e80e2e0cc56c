import Platform

/// The ledger's tables within one transaction; each method is next to the record it works on. Blocks.
package struct LedgerTransaction {
    package var connection: any SQLConnection
    /// Paths of hidden files are clear in records, and tokens in the tables.
    package let names: HiddenNames
    /// Collects the due times that it writes; nil for a read.
    var notice: DueNotice?

    /// - Returns: how many rows were inserted, changed or deleted.
    @discardableResult
    func execute(_ sql: String, _ arguments: [any SQLConvertible] = []) throws -> Int {
        try connection.execute(sql, arguments)
    }

    /// Maps the first row with `body`; nil if there is none.
    func first<R>(
        _ sql: String, _ arguments: [any SQLConvertible] = [], _ body: (any SQLRow) throws -> R
    ) throws -> R? {
        var found: R?
        try connection.query(sql, arguments) {
            found = try body($0)
            return false
        }
        return found
    }

    /// Maps each row with `body`.
    func all<R>(
        _ sql: String, _ arguments: [any SQLConvertible] = [], _ body: (any SQLRow) throws -> R
    ) throws -> [R] {
        var found: [R] = []
        try connection.query(sql, arguments) {
            found.append(try body($0))
            return true
        }
        return found
    }

    /// The first column of the first row; nil if there is no row or it is NULL.
    func value<T: SQLConvertible>(_ sql: String, _ arguments: [any SQLConvertible] = []) throws -> T? {
        try first(sql, arguments) { try $0[0] as T? } ?? nil
    }

    /// The first column of each row.
    func values<T: SQLConvertible>(_ sql: String, _ arguments: [any SQLConvertible] = []) throws -> [T] {
        try all(sql, arguments) { try $0[0] as T }
    }

    /// Executes an INSERT of one row and returns the column named by its RETURNING clause.
    func inserted<T: SQLConvertible>(_ sql: String, _ arguments: [any SQLConvertible]) throws -> T {
        let rows: [T] = try values(sql, arguments)
        guard let value = rows.first else { throw Fault(.failed, "the ledger took no row") }
        return value
    }

    /// Whether a query returns a row.
    func exists(_ sql: String, _ arguments: [any SQLConvertible] = []) throws -> Bool {
        try first(sql, arguments) { _ in true } ?? false
    }

    /// An INSERT that updates an existing row with the same key.
    ///
    /// - Parameters:
    ///   - key: the columns of the primary key.
    ///   - columns: the other columns.
    static func upsert(_ table: String, key: [String], _ columns: [String]) -> String {
        let all = key + columns
        return """
            INSERT INTO \(table) (\(all.joined(separator: ", "))) VALUES (\(marks(all.count)))
            ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET
            \(columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
            """
    }

    /// Placeholders for that many arguments: `?, ?, ?`.
    static func marks(_ count: Int) -> String { Array(repeating: "?", count: count).joined(separator: ", ") }

    /// A persistent setting of the agent: `paused`, `created`.
    package func meta(_ key: String) throws -> String? {
        try value("SELECT value FROM meta WHERE key = ?", [key])
    }

    /// The keys of settings with this prefix.
    package func metaKeys(_ start: String) throws -> [String] {
        try values("SELECT key FROM meta WHERE key >= ? AND key < ? ORDER BY key", [start, start + "\u{10FFFF}"])
    }

    private static let metaUpsert = upsert("meta", key: ["key"], ["value"])

    /// Sets a value, or removes it if nil.
    package func setMeta(_ key: String, _ value: String?) throws {
        if let value {
            try execute(Self.metaUpsert, [key, value])
        } else {
            try execute("DELETE FROM meta WHERE key = ?", [key])
        }
    }
}
