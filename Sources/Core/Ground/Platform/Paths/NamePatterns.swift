/// Patterns for single names, over their bytes: `*` any run, `?` any one byte, `NNN` three digits, `XXXXXX` at the end
/// a random part as from mkstemp(3) (six letters and digits, including a capital or a digit), anything else literally.
///
/// Grouped by shape, so that a name is compared only with the few patterns that can match it.
package struct NamePatterns: Sendable {
    private var exact: [[UInt8]: String] = [:]
    private var prefixes: [(bytes: [UInt8], pattern: String)] = []
    private var suffixes: [(bytes: [UInt8], pattern: String)] = []
    private var others: [(shape: Shape, pattern: String)] = []

    private struct Shape: Sendable {
        enum Token: Sendable, Equatable {
            case byte(UInt8)
            case any
            case digit
            case random
            case run
        }

        var tokens: [Token]
        var hasRandomEnd: Bool
    }

    private static let randomEnd = Array("XXXXXX".utf8)
    private static let digits = Array("NNN".utf8)
    private static let star = UInt8(ascii: "*")
    private static let question = UInt8(ascii: "?")

    package init(_ patterns: [String]) {
        for pattern in patterns where !pattern.isEmpty {
            let bytes = Array(pattern.utf8)
            let stars = bytes.count { $0 == Self.star }
            let shape = Self.shape(bytes)
            let isPlain = shape.tokens.allSatisfy { if case .byte = $0 { true } else { $0 == .run } }
            if isPlain, stars == 0 {
                exact[bytes] = pattern
            } else if isPlain, stars == 1, bytes.last == Self.star {
                prefixes.append((Array(bytes.dropLast()), pattern))
            } else if isPlain, stars == 1, bytes.first == Self.star {
                suffixes.append((Array(bytes.dropFirst()), pattern))
            } else {
                others.append((shape, pattern))
            }
        }
    }

    /// The first pattern that matches the name; nil if none does.
    package func first(matching name: [UInt8]) -> String? {
        if let pattern = exact[name] { return pattern }
        if let found = prefixes.first(where: { name.starts(with: $0.bytes) }) { return found.pattern }
        if let found = suffixes.first(where: { Self.ends(name, with: $0.bytes) }) { return found.pattern }
        return others.first { Self.matches(name, $0.shape) }?.pattern
    }

    package static func ends(_ name: [UInt8], with suffix: [UInt8]) -> Bool {
        name.count >= suffix.count && name[(name.count - suffix.count)...].elementsEqual(suffix)
    }

    private static func shape(_ bytes: [UInt8]) -> Shape {
        let hasRandomEnd = ends(bytes, with: randomEnd)
        var rest = bytes[..<(bytes.count - (hasRandomEnd ? randomEnd.count : 0))]
        var tokens: [Shape.Token] = []
        while let byte = rest.first {
            if rest.starts(with: digits) {
                tokens += [Shape.Token](repeating: .digit, count: digits.count)
                rest.removeFirst(digits.count)
                continue
            }
            tokens.append(byte == star ? .run : byte == question ? .any : .byte(byte))
            rest.removeFirst()
        }
        if hasRandomEnd { tokens += [Shape.Token](repeating: .random, count: randomEnd.count) }
        return Shape(tokens: tokens, hasRandomEnd: hasRandomEnd)
    }

    /// Backtracks only to the last star, so no pattern makes it exponential.
    private static func matches(_ name: [UInt8], _ shape: Shape) -> Bool {
        // Six lower-case letters may well be a word: `sedentary`, `.env.sample`.
        if shape.hasRandomEnd, name.suffix(randomEnd.count).allSatisfy(isSmall) { return false }
        let tokens = shape.tokens
        var at = 0
        var inShape = 0
        var lastRun: (token: Int, name: Int)?
        while at < name.count {
            if inShape < tokens.count, tokens[inShape] == .run {
                lastRun = (inShape, at)
                inShape += 1
            } else if inShape < tokens.count, accepts(tokens[inShape], name[at]) {
                inShape += 1
                at += 1
            } else if let back = lastRun {
                lastRun = (back.token, back.name + 1)
                inShape = back.token + 1
                at = back.name + 1
            } else {
                return false
            }
        }
        return tokens[inShape...].allSatisfy { $0 == .run }
    }

    private static func accepts(_ token: Shape.Token, _ byte: UInt8) -> Bool {
        switch token {
        case .byte(let wanted): byte == wanted
        case .any: true
        case .digit: isDigit(byte)
        case .random: isSmall(byte) || isDigit(byte) || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        case .run: false
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
    private static func isSmall(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
}
