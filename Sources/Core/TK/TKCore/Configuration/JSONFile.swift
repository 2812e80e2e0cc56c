import Platform

/// A problem in a data file, with its line.
package struct FileProblem: Sendable, Hashable, CustomStringConvertible {
    package let path: BytePath
    /// Counted from 1; nil for the whole file.
    package let line: Int?
    package let message: String

    /// `/home/me/.tk/roles/custom_poet.json:3: …`
    package var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(message)" }

    var fault: Fault { Fault(.usage, description, path: path) }
}

extension FileProblem: Error {}

extension JSON {
    /// The type's name in messages.
    var kind: String {
        switch self {
        case .string: "a text"
        case .integer, .number: "a number"
        case .bool: "true or false"
        case .array: "a list"
        case .object: "an object"
        case .null: "null"
        case .verbatim: "JSON"
        }
    }
}

/// A JSON file that holds one object with known keys; every error names the file, the line and the expected value.
struct JSONFile {
    let path: BytePath
    let members: [String: JSON]
    private let text: String

    init(_ bytes: [UInt8], path: BytePath) throws {
        self.path = path
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw FileProblem(path: path, line: nil, message: "is not UTF-8; save it as UTF-8")
        }
        self.text = text
        let value: JSON
        do throws(JSON.Mistake) {
            value = try JSON(parsing: bytes)
        } catch {
            throw FileProblem(path: path, line: error.line, message: "is not JSON: \(error.message)")
        }
        guard let members = value.members else {
            throw FileProblem(path: path, line: 1, message: "must hold one object in braces, not \(value.kind)")
        }
        self.members = members
    }

    /// An error about a key's value.
    func problem(_ key: String, _ message: String) -> FileProblem {
        FileProblem(path: path, line: line(of: key), message: message)
    }

    /// The line of the key, counted from 1.
    func line(of key: String) -> Int? { line(holding: "\"\(key)\"") }

    func line(holding sought: String) -> Int? {
        text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains(sought) }.map { $0 + 1 }
    }

    /// Refuses unknown keys.
    func allowOnly(_ keys: [String]) throws {
        for key in members.keys.sorted() where !keys.contains(key) {
            throw problem(
                key, "unknown key `\(BytePath.escape(key.utf8))`; \(NearMiss.hint(for: key, among: keys))")
        }
    }

    func text(_ key: String) throws -> String? {
        switch members[key] {
        case nil, .null?: return nil
        case .string(let value)?: return value
        case let other?: throw problem(key, "`\(key)` must be a text, not \(other.kind)")
        }
    }

    func requiredText(_ key: String) throws -> String {
        guard let value = try text(key), !value.isEmpty else {
            throw problem(key, "`\(key)` is missing; it must be a text")
        }
        return value
    }

    func texts(_ key: String) throws -> [String] {
        switch members[key] {
        case nil, .null?: return []
        case .array(let values)?:
            return try values.map { value in
                guard case .string(let text) = value else {
                    throw problem(key, "`\(key)` must be a list of texts, and holds \(value.kind)")
                }
                return text
            }
        case let other?: throw problem(key, "`\(key)` must be a list of texts, not \(other.kind)")
        }
    }

    func number(_ key: String) throws -> Double? {
        switch members[key] {
        case nil, .null?: return nil
        case let value?:
            guard let number = value.double else { throw problem(key, "`\(key)` must be a number, not \(value.kind)") }
            return number
        }
    }
}
