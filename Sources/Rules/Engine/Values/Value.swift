import Platform

/// What a template can show. Names are dotted: `file.name`, `comic.pages`.
package typealias Values = [String: Value]

package enum Value: Sendable, Codable, Equatable {
    case text(String)
    case integer(Int)
    case boolean(Bool)
    case date(Timestamp)
    case list([Value])
}
