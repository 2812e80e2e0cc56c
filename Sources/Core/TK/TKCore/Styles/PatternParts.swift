/// What can be said of a regular expression without compiling it.
enum PatternParts {
    /// The parts of `a|b`, each with the flags that `(?i)` at the beginning sets for all.
    static func alternatives(_ choice: StyleAlternation.Choice) -> [StyleAlternation.Choice] {
        let scalars = Array(choice.pattern.unicodeScalars)
        let flags = String(String.UnicodeScalarView(scalars[..<flagsEnd(scalars)]))
        var parts: [String] = []
        var part = String.UnicodeScalarView()
        var depth = 0
        var isInSet = false
        var index = 0
        while index < scalars.count {
            let scalar = scalars[index]
            switch scalar {
            case "\\":
                part.append(scalar)
                index += 1
                if index < scalars.count { part.append(scalars[index]) }
                index += 1
                continue
            case "[": isInSet = true
            case "]": isInSet = false
            case "(" where !isInSet: depth += 1
            case ")" where !isInSet: depth -= 1
            case "|" where !isInSet && depth == 0:
                parts.append(String(part))
                part = String.UnicodeScalarView()
                index += 1
                continue
            default: break
            }
            part.append(scalar)
            index += 1
        }
        parts.append(String(part))
        return parts.enumerated().map { number, part in
            StyleAlternation.Choice(pattern: number == 0 ? part : flags + part, index: choice.index)
        }
    }

    /// Whether it refers to what a group has matched: `\1`, `\k<name>`.
    static func refersToGroups(_ pattern: String) -> Bool {
        pattern.contains("\\") && pattern.contains(/(?:^|[^\\])(?:\\\\)*\\(?:[1-9]|k)/)
    }

    /// The letters and other marks that every match begins with, in lower case; empty if that is not known.
    static func beginning(of pattern: String, most: Int) -> [UInt16] {
        let scalars = Array(pattern.unicodeScalars)
        var index = flagsEnd(scalars)
        var found: [Unicode.Scalar] = []
        while index < scalars.count, found.count < most {
            var next = index + 1
            var scalar = scalars[index]
            if scalar == "\\" {
                guard next < scalars.count else { break }
                scalar = scalars[next]
                next += 1
                if scalar == "b" {
                    index = next
                    continue
                }
                guard !scalar.properties.isAlphabetic, scalar.properties.numericType == nil else { break }
            } else if "^$.|?*+()[]{}".unicodeScalars.contains(scalar) {
                break
            }
            let quantifier = next < scalars.count ? scalars[next] : "a"
            if "?*{".unicodeScalars.contains(quantifier) { break }
            found.append(scalar)
            if quantifier == "+" { break }
            index = next
        }
        return found.flatMap { scalar in UTF16.encode(scalar).map { Array($0) } ?? [] }.map(StyleMarks.folded)
    }

    /// Behind `(?i)` and the like at the beginning.
    private static func flagsEnd(_ scalars: [Unicode.Scalar]) -> Int {
        guard scalars.starts(with: "(?".unicodeScalars), let end = scalars.firstIndex(of: ")") else { return 0 }
        return scalars[2..<end].allSatisfy { "imsx-".unicodeScalars.contains($0) } ? end + 1 : 0
    }
}

/// Tells which beginnings of words a text does not hold: one bit for all groups of up to three letters with the same
/// mark.
struct StyleMarks: Sendable {
    typealias Mark = UInt16

    private var bits = [UInt64](repeating: 0, count: 128)

    /// - Parameter text: folded.
    init(_ text: [UInt16]) {
        for start in text.indices {
            for end in start + 1...min(start + 3, text.count) { insert(Self.mark(text[start..<end])) }
        }
    }

    private mutating func insert(_ mark: Mark) { bits[Int(mark >> 6)] |= 1 << UInt64(mark & 63) }

    func contains(_ mark: Mark) -> Bool { bits[Int(mark >> 6)] & 1 << UInt64(mark & 63) != 0 }

    static func mark(_ letters: ArraySlice<UInt16>) -> Mark {
        var hash: UInt32 = 2_166_136_261
        for letter in letters { hash = (hash ^ UInt32(letter)) &* 16_777_619 }
        return Mark(truncatingIfNeeded: (hash ^ hash >> 13) & 8191)
    }

    /// In lower case.
    static func folded(_ unit: UInt16) -> UInt16 {
        if unit < 128 { return (65...90).contains(unit) ? unit + 32 : unit }
        guard let scalar = Unicode.Scalar(unit), let lower = scalar.properties.lowercaseMapping.utf16.first,
            scalar.properties.lowercaseMapping.utf16.count == 1
        else { return unit }
        return lower
    }
}
