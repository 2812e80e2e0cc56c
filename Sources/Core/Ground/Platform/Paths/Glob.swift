/// A shell-like pattern over the bytes of a name or path; case-sensitive, with a worst case of pattern length times
/// name length.
///
/// `*` any characters but `/`; `**` any characters; `**/` any number of folders, including none; `?` one character but
/// `/`; `[a-z]`, `[!a-z]` one character of a set; `{a,b}` either; `\` takes the next character literally. A byte that
/// is not UTF-8 counts as one character, which only `?`, `*` and negated sets match.
package struct Glob: Sendable, Hashable, CustomStringConvertible {
    /// Why a pattern is invalid, and where.
    package struct Fault: Error, Sendable, Equatable {
        package let message: String
        /// Characters (Unicode scalars) before the error.
        package let offset: Int
    }

    private enum Token: Sendable, Hashable {
        case literal([UInt8])
        case one
        case set([ClosedRange<UInt32>], negated: Bool)
        case star
        case anything
        case folders
    }

    /// As written.
    package let pattern: String
    /// One for each combination of the `{a,b}` choices.
    private let alternatives: [[Token]]

    private static let most = 1_024
    private static let slash = UInt8(ascii: "/")

    /// - Throws: ``Fault`` for an unclosed `[` or `{`, a backwards range, or more than 1,024 combinations.
    package init(_ pattern: String) throws(Fault) {
        self.pattern = pattern
        let scalars = Array(pattern.unicodeScalars)
        var parsed: [[Token]] = []
        for choice in try Self.expand(scalars.enumerated().map { Mark(scalar: $1, offset: $0) }, depth: 0) {
            parsed.append(try Self.tokens(choice))
        }
        alternatives = parsed
    }

    package func matches(_ bytes: [UInt8]) -> Bool {
        alternatives.contains { Self.matches($0, bytes) }
    }

    package func matches(_ text: String) -> Bool { matches(Array(text.utf8)) }

    package var description: String { pattern }

    /// The literal suffixes of everything this can match (`.cbz`, `.cbr`); nil if an alternative has none.
    package var literalSuffixes: [[UInt8]]? {
        var suffixes: [[UInt8]] = []
        for tokens in alternatives {
            guard case .literal(let bytes)? = tokens.last else { return nil }
            suffixes.append(bytes)
        }
        return suffixes
    }

    /// The longest literal of each alternative: everything this matches contains one of them. nil if an alternative has
    /// none.
    package var literals: [[UInt8]]? {
        var longest: [[UInt8]] = []
        for tokens in alternatives {
            let found = tokens.compactMap { if case .literal(let bytes) = $0 { bytes } else { nil } }
            guard let most = found.max(by: { $0.count < $1.count }) else { return nil }
            longest.append(most)
        }
        return longest
    }

    // MARK: - Reading

    private struct Mark {
        let scalar: Unicode.Scalar
        let offset: Int
        var isEscaped = false
    }

    /// All combinations of the choices in braces.
    private static func expand(_ marks: [Mark], depth: Int) throws(Fault) -> [[Mark]] {
        guard depth < 16 else { throw Fault(message: "braces are nested too deeply", offset: marks.first?.offset ?? 0) }
        var results: [[Mark]] = [[]]
        var index = 0
        while index < marks.count {
            let mark = marks[index]
            if mark.scalar == "\\", index + 1 < marks.count {
                results = results.map { $0 + [mark, marks[index + 1]] }
                index += 2
            } else if mark.scalar == "[", let close = setEnd(marks, from: index) {
                results = results.map { $0 + marks[index...close] }
                index = close + 1
            } else if mark.scalar == "{" {
                let (choices, close) = try self.choices(marks, from: index)
                var expanded: [[Mark]] = []
                for choice in choices { expanded += try expand(choice, depth: depth + 1) }
                guard results.count * expanded.count <= most else {
                    throw Fault(message: "the braces make more than \(most) combinations", offset: mark.offset)
                }
                results = results.flatMap { head in expanded.map { head + $0 } }
                index = close + 1
            } else {
                for position in results.indices { results[position].append(mark) }
                index += 1
            }
        }
        return results
    }

    private static func setEnd(_ marks: [Mark], from open: Int) -> Int? {
        var index = open + 1
        if index < marks.count, marks[index].scalar == "!" || marks[index].scalar == "^" { index += 1 }
        if index < marks.count, marks[index].scalar == "]" { index += 1 }
        while index < marks.count {
            if marks[index].scalar == "\\" {
                index += 1
            } else if marks[index].scalar == "]" {
                return index
            }
            index += 1
        }
        return nil
    }

    private static func choices(_ marks: [Mark], from open: Int) throws(Fault) -> ([[Mark]], close: Int) {
        var choices: [[Mark]] = [[]]
        var depth = 0
        var index = open + 1
        while index < marks.count {
            let scalar = marks[index].scalar
            if scalar == "\\", index + 1 < marks.count {
                choices[choices.count - 1] += marks[index...(index + 1)]
                index += 2
                continue
            }
            if scalar == "}", depth == 0 { return (choices, index) }
            if scalar == ",", depth == 0 {
                choices.append([])
            } else {
                depth += scalar == "{" ? 1 : scalar == "}" ? -1 : 0
                choices[choices.count - 1].append(marks[index])
            }
            index += 1
        }
        throw Fault(message: "`{` is never closed", offset: marks[open].offset)
    }

    private static func tokens(_ marks: [Mark]) throws(Fault) -> [Token] {
        var tokens: [Token] = []
        var literal: [UInt8] = []
        func flushed(_ token: Token) -> [Token] {
            defer { literal = [] }
            return literal.isEmpty ? [token] : [.literal(literal), token]
        }
        var index = 0
        while index < marks.count {
            let mark = marks[index]
            switch mark.scalar {
            case "\\":
                guard index + 1 < marks.count else {
                    throw Fault(message: "there is nothing after `\\`", offset: mark.offset)
                }
                index += 1
                literal += Array(String(marks[index].scalar).utf8)
            case "?":
                tokens += flushed(.one)
            case "*":
                let isDouble = index + 1 < marks.count && marks[index + 1].scalar == "*"
                let startsFolder = index == 0 || marks[index - 1].scalar == "/"
                if isDouble, startsFolder, index + 2 < marks.count, marks[index + 2].scalar == "/" {
                    tokens += flushed(.folders)
                    index += 2
                } else if isDouble {
                    tokens += flushed(.anything)
                    index += 1
                } else {
                    tokens += flushed(.star)
                }
            case "[":
                guard let close = setEnd(marks, from: index) else {
                    throw Fault(message: "`[` is never closed", offset: mark.offset)
                }
                tokens += flushed(try set(Array(marks[(index + 1)..<close])))
                index = close
            default:
                literal += Array(String(mark.scalar).utf8)
            }
            index += 1
        }
        return literal.isEmpty ? tokens : tokens + [.literal(literal)]
    }

    private static func set(_ marks: [Mark]) throws(Fault) -> Token {
        var rest = marks[...]
        var negated = false
        if let first = rest.first, first.scalar == "!" || first.scalar == "^" {
            negated = true
            rest = rest.dropFirst()
        }
        var members: [Mark] = []
        while let mark = rest.popFirst() {
            if mark.scalar == "\\", let next = rest.popFirst() {
                members.append(Mark(scalar: next.scalar, offset: next.offset, isEscaped: true))
            } else {
                members.append(mark)
            }
        }
        var ranges: [ClosedRange<UInt32>] = []
        var index = 0
        while index < members.count {
            let low = members[index].scalar.value
            if index + 2 < members.count, members[index + 1].scalar == "-", !members[index + 1].isEscaped {
                let high = members[index + 2].scalar.value
                guard low <= high else {
                    throw Fault(message: "the range runs backwards", offset: members[index].offset)
                }
                ranges.append(low...high)
                index += 3
            } else {
                ranges.append(low...low)
                index += 1
            }
        }
        return .set(ranges, negated: negated)
    }

    // MARK: - Matching

    /// Tracks all positions reachable by the tokens so far, so that no name makes it slow.
    private static func matches(_ tokens: [Token], _ bytes: [UInt8]) -> Bool {
        var positions: [Int] = [0]
        for token in tokens {
            var next: [Int] = []
            switch token {
            case .literal(let wanted):
                next = positions.filter { bytes[$0...].starts(with: wanted) }.map { $0 + wanted.count }
            case .one:
                next = positions.compactMap { step(bytes, $0) { _ in true } }
            case .set(let ranges, let negated):
                next = positions.compactMap { position in
                    step(bytes, position) { value in
                        guard let value else { return negated }
                        return ranges.contains { $0.contains(value) } != negated
                    }
                }
            case .star:
                var reached = -1
                for position in positions where position > reached {
                    reached = position
                    next.append(position)
                    while reached < bytes.count, bytes[reached] != slash {
                        reached += 1
                        next.append(reached)
                    }
                }
            case .anything:
                next = positions.first.map { Array($0...bytes.count) } ?? []
            case .folders:
                guard let first = positions.first else { return false }
                let starts = (first..<bytes.count).filter { bytes[$0] == slash }.map { $0 + 1 }
                next = Set(positions + starts).sorted()
            }
            if next.isEmpty { return false }
            positions = next
        }
        return positions.last == bytes.count
    }

    /// The position after the character at `position`, if it is not `/` and `accepts` returns true (nil means not
    /// UTF-8).
    private static func step(_ bytes: [UInt8], _ position: Int, _ accepts: (UInt32?) -> Bool) -> Int? {
        guard position < bytes.count, bytes[position] != slash else { return nil }
        let first = bytes[position]
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        if let text = String(validating: bytes[position...].prefix(length), as: UTF8.self),
            let scalar = text.unicodeScalars.first, text.unicodeScalars.count == 1
        {
            return accepts(scalar.value) ? position + length : nil
        }
        return accepts(nil) ? position + 1 : nil
    }
}
