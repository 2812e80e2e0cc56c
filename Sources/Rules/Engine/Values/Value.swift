import Platform

/// What a template can show. Names are dotted: `file.name`, `comic.pages`.
package typealias Values = [String: Value]

package enum Value: Sendable, Codable, Equatable {
    case text(String)
    case integer(Int)
    case boolean(Bool)
    case date(Timestamp)
    case list([Value])

    /// Whether it holds more text than the ledger keeps where nobody needs it.
    var isLong: Bool {
        switch self {
        case .text(let text): text.utf8.count > IntentText.limit
        case .list(let values): values.contains(where: \.isLong) || values.count > IntentText.limit
        case .integer, .boolean, .date: false
        }
    }
}
