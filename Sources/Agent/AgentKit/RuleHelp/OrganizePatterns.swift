import Foundation

/// Converts Python's patterns to equivalent ones. Returns nil unless the meaning is known to be the same.
enum OrganizePatterns {
    /// Converts an `fnmatch` pattern to a glob; nil for character sets that may be read differently.
    static func glob(_ pattern: String) -> String? {
        var out = ""
        var rest = pattern[...]
        while let character = rest.popFirst() {
            switch character {
            case "*": if !out.hasSuffix("*") || out.hasSuffix("\\*") { out.append("*") }
            case "?": out.append("?")
            case "[":
                guard let close = setEnd(rest) else {
                    out += "\\["
                    continue
                }
                guard let set = set(rest[..<close]) else { return nil }
                out += set
                rest = rest[rest.index(after: close)...]
            default: out += OrganizeText.literal(String(character))
            }
        }
        return out
    }

    private static func setEnd(_ rest: Substring) -> Substring.Index? {
        var index = rest.startIndex
        for first in ["!", "]"] where index < rest.endIndex && String(rest[index]) == first {
            index = rest.index(after: index)
        }
        return rest[index...].firstIndex(of: "]")
    }

    /// Letters, digits and a few symbols, and ranges of letters or digits.
    private static func set(_ inside: Substring) -> String? {
        let isNegated = inside.first == "!"
        let members = Array(isNegated ? inside.dropFirst() : inside)
        func isPlain(_ character: Character) -> Bool {
            character.isASCII && (character.isLetter || character.isNumber)
        }
        guard !members.isEmpty, members.allSatisfy({ isPlain($0) || "_ .-".contains($0) }) else { return nil }
        for (index, member) in members.enumerated() where member == "-" && index > 0 && index < members.count - 1 {
            guard isPlain(members[index - 1]), isPlain(members[index + 1]), members[index - 1] <= members[index + 1]
            else { return nil }
        }
        return "[\(isNegated ? "!" : "")\(String(members))]"
    }

    /// A case-insensitive glob; nil if a letter has more than two forms.
    static func anyCase(_ glob: String) -> String? {
        guard !glob.contains("["), glob.allSatisfy({ $0.isASCII || !$0.isLetter }) else { return nil }
        return glob.map { $0.isLetter ? "[\($0.lowercased())\($0.uppercased())]" : String($0) }.joined()
    }

    /// Converts a regular expression of Python's `re`; nil if another engine may read it differently.
    static func expression(_ pattern: String) -> String? {
        var reader = ExpressionReader(rest: Array(pattern)[...])
        guard reader.read(), (try? NSRegularExpression(pattern: reader.out)) != nil else { return nil }
        return reader.out
    }
}

/// Copies constructs known to mean the same in Python and ICU, and stops at anything else.
private struct ExpressionReader {
    var rest: ArraySlice<Character>
    var out = ""
    /// Whether a quantifier may follow.
    private var hasAtom = false

    init(rest: ArraySlice<Character>) { self.rest = rest }

    mutating func read() -> Bool {
        if rest.starts(with: "(?i)") {
            rest = rest.dropFirst(4)
            out = "(?i)"
        }
        while let character = rest.popFirst() {
            switch character {
            case "\\": guard escape(inSet: false) else { return false }
            case "(": guard group() else { return false }
            case "[": guard set() else { return false }
            case "*", "+", "?": guard quantifier(String(character)) else { return false }
            case "{": guard count() else { return false }
            case "|", "^":
                out.append(character)
                hasAtom = false
            case "]", "}": return false
            default:
                out.append(character)
                hasAtom = character != "$"
            }
        }
        return true
    }

    private mutating func escape(inSet: Bool) -> Bool {
        guard let character = rest.popFirst(), character.isASCII else { return false }
        switch character {
        case "Z" where !inSet: out += "\\z"
        case "b" where !inSet, "B" where !inSet, "A" where !inSet: out += "\\\(character)"
        case "d", "D", "w", "W", "s", "S", "n", "t", "r", "f": out += "\\\(character)"
        case _ where !character.isLetter && !character.isNumber: out += "\\\(character)"
        default: return false
        }
        hasAtom = !"ZbBA".contains(character)
        return true
    }

    private mutating func group() -> Bool {
        hasAtom = false
        guard rest.first == "?" else {
            out += "("
            return true
        }
        for opening in ["?:", "?=", "?!", "?<=", "?<!"] where rest.starts(with: opening) {
            out += "(" + opening
            rest = rest.dropFirst(opening.count)
            return true
        }
        guard rest.starts(with: "?P<"), let end = rest.firstIndex(of: ">") else { return false }
        let name = String(rest[(rest.startIndex + 3)..<end])
        guard let first = name.first, first.isLetter,
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") })
        else { return false }
        out += "(?<\(OrganizeText.group(name))>"
        rest = rest[(end + 1)...]
        return true
    }

    private mutating func quantifier(_ text: String) -> Bool {
        guard hasAtom else { return false }
        out += text
        if rest.first == "?" {
            rest = rest.dropFirst()
            out += "?"
        }
        hasAtom = false
        return true
    }

    private mutating func count() -> Bool {
        guard let end = rest.firstIndex(of: "}") else { return false }
        let text = String(rest[..<end])
        guard text.wholeMatch(of: /[0-9]{1,4}(,([0-9]{1,4})?)?/) != nil else { return false }
        rest = rest[(end + 1)...]
        return quantifier("{\(text)}")
    }

    private mutating func set() -> Bool {
        out += "["
        if rest.first == "^" {
            rest = rest.dropFirst()
            out += "^"
        }
        var previous: Character?
        while let character = rest.popFirst() {
            switch character {
            case "]":
                guard previous != nil else { return false }
                out += "]"
                hasAtom = true
                return true
            case "\\":
                guard escape(inSet: true) else { return false }
            case "-":
                // At either end it is literal; a backslash makes that clear to both engines.
                if previous == nil || rest.first == "]" {
                    out += "\\-"
                } else {
                    guard let low = previous, let high = rest.first, isPlain(low), isPlain(high), low <= high else {
                        return false
                    }
                    out += "-"
                }
            case _ where isPlain(character) || !character.isASCII || "_ .,+*?()|/@!#%'".contains(character):
                out.append(character)
            default: return false
            }
            previous = character
        }
        return false
    }

    private func isPlain(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }
}
