import Platform

/// A value for templates. Names are dotted: `file.name`, `comic.pages`.
package typealias Values = [String: Value]

package enum Value: Sendable, Equatable {
    case text(String)
    case integer(Int)
    case boolean(Bool)
    case date(Timestamp)
    /// Local time as it was written.
    case local(LocalTime)
    case list([Value])

    /// Whether it is too long for the ledger to keep after use.
    var isLong: Bool {
        switch self {
        case .text(let text): text.utf8.count > IntentText.limit
        case .list(let values): values.contains(where: \.isLong) || values.count > IntentText.limit
        case .integer, .boolean, .date, .local: false
        }
    }
}

/// Uses native JSON types where possible: strings and numbers. A time is an object: `{"date": …}` in nanoseconds, or
/// local time in seconds with its offset as `{"local":[…,…]}`. Compact, because a job has dozens of values, which the
/// ledger writes and reads for each step.
extension Value: Codable {
    private enum CodingKeys: String, CodingKey {
        case date, local
        // Used by earlier versions, which wrapped each value in an object.
        case text, integer, boolean, list
    }

    private enum ContentKeys: String, CodingKey { case content = "_0" }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let truth = try? container.decode(Bool.self) {
            self = .boolean(truth)
        } else if let number = try? container.decode(Int.self) {
            self = .integer(number)
        } else if let values = try? container.decode([Value].self) {
            self = .list(values)
        } else {
            self = try Self.named(in: decoder)
        }
    }

    private static func named(in decoder: any Decoder) throws -> Value {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let kind = container.allKeys.first else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "an object that is no value"))
        }
        if kind == .date, let time = try? container.decode(Int64.self, forKey: .date) {
            return .date(Timestamp(nanoseconds: time))
        }
        if kind == .local {
            var parts = try container.nestedUnkeyedContainer(forKey: .local)
            let civil = CivilDateTime(secondsSince1970: try parts.decode(Int.self))
            return .local(LocalTime(civil, offset: try parts.decode(Int.self)))
        }
        let content = try container.nestedContainer(keyedBy: ContentKeys.self, forKey: kind)
        return switch kind {
        case .date, .local: .date(try content.decode(Timestamp.self, forKey: .content))
        case .text: .text(try content.decode(String.self, forKey: .content))
        case .integer: .integer(try content.decode(Int.self, forKey: .content))
        case .boolean: .boolean(try content.decode(Bool.self, forKey: .content))
        case .list: .list(try content.decode([Value].self, forKey: .content))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let text): try text.encode(to: encoder)
        case .integer(let number): try number.encode(to: encoder)
        case .boolean(let truth): try truth.encode(to: encoder)
        case .list(let values): try values.encode(to: encoder)
        case .date(let time):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(time.nanoseconds, forKey: .date)
        case .local(let local):
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode([local.civil.secondsSince1970, local.offset], forKey: .local)
        }
    }
}
