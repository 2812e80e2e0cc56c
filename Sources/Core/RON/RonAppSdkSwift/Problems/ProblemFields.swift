import Foundation

/// The fields of a problem in any of the shapes that servers send; a field of the wrong type is interpreted if
/// possible, or counts as absent.
struct ProblemFields {
    private let outer: [String: JSONValue]
    private let inner: [String: JSONValue]

    /// - Parameter object: The problem itself, or an object that contains it under `error` or `problem`.
    init(_ object: [String: JSONValue]) {
        outer = object
        inner =
            ["error", "problem"].lazy.compactMap { name in
                if case .object(let inner) = object[name] { inner } else { nil }
            }.first ?? [:]
    }

    private func value(_ names: [String]) -> JSONValue? {
        for fields in [outer, inner] {
            for name in names {
                if let value = fields[name], value != .null { return value }
            }
        }
        return nil
    }

    /// A text that is not empty; numbers count as texts.
    func text(_ names: String...) -> String? {
        switch value(names) {
        case .string(let text): text.isEmpty ? nil : text
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .number(let number): String(number)
        default: nil
        }
    }

    /// A non-negative integer, saturated at the largest one.
    func count(_ names: String...) -> Int? {
        switch value(names) {
        case .integer(let number): number < 0 ? nil : Int(number)
        case .unsigned: .max
        case .number(let number): Self.whole(number)
        case .string(let text): Int(text).map { $0 < 0 ? nil : $0 } ?? Double(text).flatMap(Self.whole)
        default: nil
        }
    }

    private static func whole(_ number: Double) -> Int? {
        guard number >= 0 else { return nil }
        return Int(exactly: number.rounded(.up)) ?? .max
    }

    func flag(_ names: String...) -> Bool? {
        switch value(names) {
        case .bool(let flag): flag
        case .integer(0): false
        case .integer(1): true
        case .string(let text):
            switch text.lowercased() {
            case "true", "1": true
            case "false", "0": false
            default: nil
            }
        default: nil
        }
    }

    func object(_ names: String...) -> [String: JSONValue]? {
        if case .object(let object) = value(names) { object } else { nil }
    }
}
