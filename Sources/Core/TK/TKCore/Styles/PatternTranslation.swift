/// Writes a .NET regular expression in ICU's syntax, where the two differ.
struct PatternTranslation {
    private let source: [Character]
    private var index = 0
    private var result = ""
    /// For each open group, whether it is (in) a lookbehind.
    private var groups: [Bool] = []

    /// Whether groups capture as written; otherwise only named ones do.
    private let isCapturing: Bool

    /// ICU limits the length of lookbehinds.
    private static let longestLookbehind = 99

    init(_ pattern: String, isCapturing: Bool = true) {
        source = Array(pattern)
        self.isCapturing = isCapturing
    }

    /// nil if a construct has no counterpart.
    mutating func text() -> String? {
        while index < source.count {
            let character = source[index]
            switch character {
            case "\\": escape()
            case "[": set()
            case "(":
                guard open() else { return nil }
            case ")":
                _ = groups.popLast()
                take(")")
            case "*", "+":
                if groups.last == true {
                    take("{\(character == "*" ? 0 : 1),\(Self.longestLookbehind)}")
                } else {
                    take(String(character))
                }
            case "{": brace()
            case "}", "]": take("\\\(character)")
            default: take(String(character))
            }
        }
        return result
    }

    private mutating func take(_ text: String, _ count: Int = 1) {
        result += text
        index += count
    }

    private func follows(_ text: String, at start: Int) -> Bool { source[start...].starts(with: text) }

    private mutating func escape() {
        guard index + 1 < source.count else { return take("\\\\") }
        let next = source[index + 1]
        switch next {
        case "p", "P":
            // `\pL`.
            guard index + 2 < source.count, source[index + 2] != "{" else { return take("\\\(next)", 2) }
            take("\\\(next){\(source[index + 2])}", 3)
        case "_", "<", ">": take(String(next), 2)
        default:
            // ICU refuses letters that mean nothing.
            let isKnown = !next.isLetter || !next.isASCII || "abcdDefkGnNprsStuUvwWxXAzZQERhHBbP0".contains(next)
            take(isKnown ? "\\\(next)" : String(next), 2)
        }
    }

    private mutating func open() -> Bool {
        var isBehind = groups.last ?? false
        if follows("(?<=", at: index) || follows("(?<!", at: index) { isBehind = true }
        // Conditionals and comments.
        if follows("(?(", at: index) || follows("(?<-", at: index) { return false }
        groups.append(isBehind)
        if follows("(?P<", at: index) {
            take("(?<", 4)
        } else if follows("(?'", at: index), let end = source[(index + 3)...].firstIndex(of: "'") {
            take("(?<\(String(source[(index + 3)..<end]))>", end - index + 1)
        } else if !isCapturing, !follows("(?", at: index) {
            take("(?:", 1)
        } else {
            take("(")
        }
        return true
    }

    /// A quantifier, or the character itself.
    private mutating func brace() {
        guard let end = source[index...].firstIndex(of: "}") else { return take("\\{") }
        let parts = source[(index + 1)..<end].split(separator: ",", omittingEmptySubsequences: false)
        let isQuantifier =
            (1...2).contains(parts.count) && !parts[0].isEmpty
            && parts.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isNumber } }
        guard isQuantifier else { return take("\\{") }
        let isOpen = parts.count == 2 && parts[1].isEmpty && groups.last == true
        take(
            isOpen ? "{\(String(parts[0])),\(Self.longestLookbehind)}" : String(source[index...end]), end - index + 1)
    }

    /// In ICU's sets, brackets nest, and `&&` and `--` are operators.
    private mutating func set() {
        take("[")
        if index < source.count, source[index] == "^" { take("^") }
        var isFirst = true
        /// Whether the last character can start a range.
        var canStart = false
        while index < source.count {
            let character = source[index]
            switch character {
            case "]" where !isFirst:
                return take("]")
            case "\\":
                let isClass = index + 1 < source.count && "dDwWsSpPhH".contains(source[index + 1])
                escape()
                if isClass, index < source.count, source[index] == "{", result.last == "p" || result.last == "P" {
                    let end = source[index...].firstIndex(of: "}") ?? source.count - 1
                    take(String(source[index...end]), end - index + 1)
                }
                canStart = !isClass
            case "[":
                if follows("[:", at: index), let end = source[index...].firstIndex(of: "]") {
                    take(String(source[index...end]), end - index + 1)
                } else {
                    take("\\[")
                }
                canStart = true
            case "-":
                let isRange = canStart && index + 1 < source.count && source[index + 1] != "]"
                take(isRange ? "-" : "\\-")
                canStart = false
                // The range's end starts none.
                if isRange, index < source.count, !"\\[".contains(source[index]) { take(literal(source[index])) }
            case "]", "&", "{", "}", "$", "^", "\"":
                take("\\\(character)")
                canStart = true
            default:
                take(literal(character))
                canStart = true
            }
            isFirst = false
        }
    }

    private func literal(_ character: Character) -> String {
        "&{}$^]\"".contains(character) ? "\\\(character)" : String(character)
    }
}
