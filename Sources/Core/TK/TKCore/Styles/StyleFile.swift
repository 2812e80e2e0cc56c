import Platform
import Yams

/// A rule's YAML file: its keys with their lines.
struct StyleFile {
    let path: BytePath
    private let members: [String: Node]

    /// No rule nests more, and the parser's stack is limited.
    private static let mostNesting = 64

    /// - Throws: ``FileProblem`` for text that is not YAML, or is no mapping.
    init(_ text: String, path: BytePath) throws {
        self.path = path
        guard Self.nesting(text) <= Self.mostNesting else {
            throw FileProblem(path: path, line: nil, message: "its values are nested too deeply")
        }
        let root: Node?
        do {
            // The basic resolver keeps scalars as text.
            root = try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
        } catch {
            throw Self.problem(error, path)
        }
        guard let mapping = root?.mapping else {
            throw FileProblem(path: path, line: nil, message: "a rule is a mapping with `extends` and `message`")
        }
        members = Dictionary(mapping.map { ($0.key.scalar?.string ?? "", $0.value) }) { $1 }
    }

    private static func problem(_ error: any Error, _ path: BytePath) -> FileProblem {
        switch error {
        case YamlError.scanner(_, let problem, let mark, _), YamlError.parser(_, let problem, let mark, _),
            YamlError.composer(_, let problem, let mark, _):
            FileProblem(path: path, line: mark.line, message: "this is not valid YAML: \(problem)")
        case YamlError.duplicatedKeysInMapping(let keys, let context):
            FileProblem(
                path: path, line: context.mark.line,
                message: "the key `\(keys.first ?? "")` is repeated; keep one of them")
        default: FileProblem(path: path, line: nil, message: "this is not valid YAML")
        }
    }

    /// An upper bound: unclosed brackets, or the dashes and blanks that a line begins with.
    private static func nesting(_ text: String) -> Int {
        var (open, most, marks) = (0, 0, 0)
        var isStart = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "{"): open += 1
            case UInt8(ascii: "]"), UInt8(ascii: "}"): open = max(0, open - 1)
            case UInt8(ascii: "\n"): (isStart, marks) = (true, 0)
            case UInt8(ascii: "-"), UInt8(ascii: "?"): if isStart { marks += 1 }
            case UInt8(ascii: " "): break
            default: isStart = false
            }
            most = max(most, open, marks)
        }
        return most
    }

    func problem(_ key: String, _ message: String) -> FileProblem {
        FileProblem(path: path, line: members[key]?.mark?.line, message: message)
    }

    func holds(_ key: String) -> Bool { members[key] != nil }

    func text(_ key: String) throws -> String? {
        guard let node = members[key] else { return nil }
        guard let text = node.scalar?.string else { throw problem(key, "`\(key)` must be a text") }
        return text
    }

    func flag(_ key: String) throws -> Bool? {
        guard let text = try text(key)?.lowercased() else { return nil }
        switch text {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw problem(key, "`\(key)` must be true or false")
        }
    }

    func number(_ key: String) throws -> Double? {
        guard let text = try text(key) else { return nil }
        guard let number = Double(text) else { throw problem(key, "`\(key)` must be a number") }
        return number
    }

    func count(_ key: String) throws -> Int? { try number(key).map { Int($0.clamped(to: 0...1_000_000)) } }

    /// A list of texts; one text is a list of one.
    func texts(_ key: String) throws -> [String] { try list(key).map(\.text) }

    /// A list of texts with their lines.
    func list(_ key: String) throws -> [(text: String, line: Int?)] {
        guard let node = members[key], !(node.scalar?.string.isEmpty ?? false) else { return [] }
        if let scalar = node.scalar { return [(scalar.string, node.mark?.line)] }
        guard let nodes = node.sequence else { throw problem(key, "`\(key)` must be a list") }
        return try nodes.map { item in
            guard let text = item.scalar?.string else {
                throw FileProblem(path: path, line: item.mark?.line, message: "`\(key)` must be a list of texts")
            }
            return (text, item.mark?.line)
        }
    }

    /// The pairs of a mapping with their lines.
    func pairs(_ key: String) throws -> [(key: String, value: String, line: Int?)] {
        guard let node = members[key] else { return [] }
        let mappings = node.mapping.map { [$0] } ?? node.sequence?.compactMap(\.mapping) ?? []
        guard !mappings.isEmpty else { throw problem(key, "`\(key)` must be a mapping") }
        return try mappings.flatMap { mapping in
            try mapping.map { name, value in
                guard let name = name.scalar?.string, let text = value.scalar?.string else {
                    throw FileProblem(
                        path: path, line: value.mark?.line, message: "`\(key)` must be a mapping of texts")
                }
                return (name, text, value.mark?.line)
            }
        }
    }

    /// The name and the parameters of `action`.
    func action() throws -> (name: String, parameters: [String])? {
        guard let node = members["action"] else { return nil }
        guard let mapping = node.mapping, let name = mapping["name"]?.scalar?.string else {
            throw problem("action", "`action` must be a mapping with a `name`")
        }
        let parameters = mapping["params"].map { $0.sequence.map(Array.init) ?? [$0] } ?? []
        return (name, parameters.compactMap { $0.scalar?.string })
    }
}

extension Double {
    fileprivate func clamped(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : min(max(self, range.lowerBound), range.upperBound)
    }
}
