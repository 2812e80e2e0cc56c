import Foundation

/// Any JSON value; whole numbers keep every digit that 64 bits hold.
public enum JSONValue: Codable, Sendable, Equatable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number that is not whole, or larger than 64 bits hold.
    case number(Double)
    /// A whole number.
    case integer(Int64)
    /// A whole number above the largest ``integer(_:)``.
    case unsigned(UInt64)
    /// A text.
    case string(String)
    /// A list.
    case array([JSONValue])
    /// Values by their names.
    case object([String: JSONValue])

    /// Reads a value.
    ///
    /// - Parameter decoder: Where it is read from.
    /// - Throws: `DecodingError`, where it is no JSON value, as a number that is larger than a `Double` holds.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Writes the value.
    ///
    /// - Parameter encoder: Where it is written to.
    /// - Throws: What the encoder throws, as for a ``number(_:)`` that is not finite.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
