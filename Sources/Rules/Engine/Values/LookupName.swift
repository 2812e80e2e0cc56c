/// `lookup:customers.email[match.id]`: the value in the column `email` of the table `customers`, in the row whose key
/// is the value `match.id`.
struct LookupName: Sendable, Equatable {
    static let prefix = "lookup:"

    let table: String
    let column: String
    /// The name of the value that holds the key.
    let key: String

    /// In canonical form.
    var value: String { "\(Self.prefix)\(table).\(column)[\(key)]" }

    /// - Parameter value: the name of a value. The result is nil if it is not a well-formed lookup.
    init?(value: String) {
        guard value.hasPrefix(Self.prefix), value.hasSuffix("]") else { return nil }
        let text = value.dropFirst(Self.prefix.count).dropLast()
        guard let dot = text.firstIndex(of: "."), let bracket = text.firstIndex(of: "["), dot < bracket else {
            return nil
        }
        table = String(text[..<dot]).trimmedSpaces
        column = String(text[text.index(after: dot)..<bracket]).trimmedSpaces
        key = String(text[text.index(after: bracket)...]).trimmedSpaces
        guard !table.isEmpty, !column.isEmpty, !key.isEmpty else { return nil }
    }
}
