/// The reading behind ``ComicName/parse(_:)``: brackets first, then markers (`v03`, `#12`, `第3卷`), at last a bare
/// number. What stands before the first marker is the series, what stands after the last one the title.
struct NameReading {
    private var text: String
    private var found = ComicName()
    /// Where the series ends, and where the title begins.
    private var cut: String.Index?
    private var rest: String.Index?
    private var hadBrackets = false
    private var bracketNumber: String?

    private let patterns = NamePatterns.shared
    /// What markers and dates have used, so that no bare number is taken from it.
    private var used: [Range<String.Index>] = []

    private static let years = 1900...2099
    private static let digitsClass = Set("0123456789")

    init(_ name: String) {
        var stem = name[...]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex,
            ComicFileType(name: Array(name.utf8)) != .unknown
        {
            stem = name[..<dot]
        }
        text = stem.contains(" ") ? String(stem) : String(stem.replacing("+", with: " "))
        text = text.replacing("_", with: " ")
        if !text.contains(" ") { text = Self.spaced(text) }
    }

    /// `Blue.Harbor.003` and `Blue-Harbor-003`, from where spaces are not wanted in names.
    private static func spaced(_ name: String) -> String {
        let words = name.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count > 2 else { return name.replacing(/-([0-9]{2,3})$/) { " \($0.output.1)" } }
        // An acronym.
        guard words.contains(where: { $0.count > 1 }) else { return name }
        return words.dropFirst().reduce(into: String(words[0])) { text, word in
            // A dot between digits is one of a number, but for that between a number and a year.
            let isDecimal = text.last?.isNumber == true && word.first?.isNumber == true && word.count < 3
            text += (isDecimal ? "." : " ") + word
        }
    }

    mutating func read() -> ComicName {
        takeBrackets()
        takeDate()
        takeVolume()
        takeNumber()
        if found.number == nil { takeBareNumber() }
        if found.number == nil, let bracketNumber {
            found.number = ComicName.withoutZeros(bracketNumber)
            found.isNumberedLikeACopy = true
        }
        let series = clean(text[..<(cut ?? text.endIndex)])
        found.series = series.isEmpty ? nil : series
        if let rest, rest < text.endIndex {
            let title = clean(text[rest...])
            if !title.isEmpty { found.title = title }
        }
        // "第03卷 Title", "001 - Title": nothing before the marker, so what follows is all the name there is.
        if found.series == nil, let title = found.title { (found.series, found.title) = (title, nil) }
        return found
    }

    // MARK: Brackets

    /// Takes each innermost bracket out of the text, leaving a mark so that words do not run together.
    private mutating func takeBrackets() {
        let closing: [Character: Character] = ["(": ")", "[": "]", "{": "}", "【": "】", "（": "）"]
        var kept = ""
        var cutOffset: Int?
        var open: [(character: Character, start: Int)] = []
        var characters: [Character] = []
        for character in text {
            characters.append(character)
            if closing[character] != nil {
                open.append((character, characters.count - 1))
            } else if let last = open.last, closing[last.character] == character {
                open.removeLast()
                let content = trimmed(String(characters[(last.start + 1)..<(characters.count - 1)]))
                characters.removeSubrange(last.start...)
                let before = String(characters).allSatisfy { $0.isWhitespace }
                characters.append(" ")
                hadBrackets = hadBrackets || !before
                if readBracket(content), !before { cutOffset = min(cutOffset ?? last.start, last.start) }
            }
        }
        kept = String(characters)
        text = kept
        if let cutOffset { mark(kept.index(kept.startIndex, offsetBy: min(cutOffset, kept.count)), nil) }
    }

    /// - Returns: whether it said something that ends the series' name.
    private mutating func readBracket(_ content: String) -> Bool {
        let lower = content.lowercased()
        if let match = lower.wholeMatch(of: patterns.bracketYears), found.year == nil {
            found.year = Int(match.output.1)
            return true
        }
        if let match = lower.wholeMatch(of: patterns.bracketYear),
            let year = Int(match.output.1), found.year == nil
        {
            let words = lower.split(separator: " ")
            let isYear = words.count <= 2 || lower.first?.isNumber == true
            if isYear {
                found.year = year
                found.month = match.output.2.flatMap { Int($0) }.flatMap { (1...12).contains($0) ? $0 : nil }
                return true
            }
        }
        if let match = lower.wholeMatch(of: patterns.bracketCount) {
            found.count = Int(match.output.2)
            if let number = match.output.1, found.number == nil {
                found.number = ComicName.withoutZeros(String(number))
            }
            return true
        }
        if let match = content.wholeMatch(of: patterns.bracketNumber) {
            if found.number == nil { found.number = ComicName.withoutZeros(String(match.output.1)) }
            return true
        }
        if content.wholeMatch(of: patterns.bracketDigits) != nil {
            bracketNumber = bracketNumber ?? content
            return true
        }
        if let match = lower.wholeMatch(of: patterns.bracketVolume) {
            found.volume = Int(match.output.1)
            return true
        }
        if !content.isEmpty { found.remarks.append(content) }
        return false
    }

    // MARK: Markers

    private mutating func takeDate() {
        guard let match = text.firstMatch(of: patterns.date), stands(match.range),
            let month = Int(match.output.2), (1...12).contains(month)
        else { return }
        found.year = found.year ?? Int(match.output.1)
        found.month = found.month ?? month
        mark(match.range.lowerBound, match.range.upperBound)
    }

    private mutating func takeVolume() {
        if let match = text.firstMatch(of: patterns.cjkVolume) ?? text.firstMatch(of: patterns.cjkVolumeBefore) {
            found.volume = Int(match.output.1)
            return mark(match.range.lowerBound, match.range.upperBound)
        }
        for match in text.matches(of: patterns.volumeWord) where stands(match.range) {
            found.volume = Int(match.output.1)
            return mark(match.range.lowerBound, match.range.upperBound)
        }
        for match in text.matches(of: patterns.volumeLetter) where stands(match.range) {
            found.volume = Int(match.output.1)
            return mark(match.range.lowerBound, match.range.upperBound)
        }
        for match in text.matches(of: patterns.volumeRoman) where stands(match.range) {
            guard let value = Self.roman(match.output.1) else { continue }
            found.volume = value
            return mark(match.range.lowerBound, match.range.upperBound)
        }
    }

    private mutating func takeNumber() {
        guard found.number == nil else { return }
        if let match = text.firstMatch(of: patterns.cjkNumber) {
            return take(match.output.1, match.range)
        }
        if let match = text.firstMatch(of: patterns.hash) {
            return take(match.output.1, match.range)
        }
        for match in text.matches(of: patterns.chapterWord)
        where stands(match.range) {
            return take(match.output.1, match.range)
        }
        for match in text.matches(of: patterns.chapterLetter) where stands(match.range) {
            return take(match.output.1, match.range)
        }
        for match in text.matches(of: patterns.numberOf) where stands(match.range) {
            found.count = Int(match.output.2)
            return take(match.output.1, match.range)
        }
    }

    /// The last number that stands alone and is not part of the name: no year, not the first word, and of one digit
    /// only where something else says that a number is to be expected.
    private mutating func takeBareNumber() {
        let matches = text.matches(of: patterns.bare)
        for match in matches.reversed() where stands(match.range) && !used.contains(where: { $0.overlaps(match.range) })
        {
            var range = match.range
            if text[range].first == "-" {
                // A minus only where it follows a space and is not a dash between two words.
                let isDash = range.lowerBound == text.startIndex || text[..<range.lowerBound].last?.isWhitespace != true
                if isDash { range = text.index(after: range.lowerBound)..<range.upperBound }
            }
            let number = text[range]
            let digits = number.prefix { Self.digitsClass.contains($0) }
            if range.lowerBound == text.startIndex, clean(text[range.upperBound...]).isEmpty { continue }
            if clean(text[..<range.lowerBound]).isEmpty, digits.count < 2 { continue }
            if digits.count == 4, let year = Int(digits), Self.years.contains(year) { continue }
            let isPadded = digits.count >= 2 || digits.first == "0"
            let isLast = clean(text[range.upperBound...]).isEmpty
            guard isPadded || (hadBrackets && bracketNumber == nil || found.volume != nil) && isLast else { continue }
            // "100 Bullets" begins with a name, "001 - Title" with a number.
            if clean(text[..<range.lowerBound]).isEmpty, digits.first != "0" { continue }
            if let cut, range.lowerBound > cut, found.volume == nil, found.year != nil, !isLast { continue }
            return take(number, range)
        }
    }

    private mutating func take(_ number: Substring, _ range: Range<String.Index>) {
        found.number = ComicName.withoutZeros(String(number))
        mark(range.lowerBound, range.upperBound)
    }

    // MARK: Helpers

    private mutating func mark(_ start: String.Index, _ end: String.Index?) {
        cut = min(cut ?? start, start)
        if let end {
            rest = max(rest ?? end, end)
            used.append(start..<end)
        }
    }

    /// Whether no letter or digit touches the match.
    private func stands(_ range: Range<String.Index>) -> Bool {
        func touches(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber } ?? false }
        let before = range.lowerBound == text.startIndex ? nil : text[text.index(before: range.lowerBound)]
        let after = range.upperBound == text.endIndex ? nil : text[range.upperBound]
        let isDecimal =
            (before == "." || after == ".") && text[range].first?.isNumber == true
            && (touches(range.upperBound == text.endIndex ? nil : text[range.upperBound...].dropFirst().first))
        return !touches(before) && !touches(after) && !isDecimal && before != "'" && before != "’"
    }

    private func clean(_ part: Substring) -> String {
        let words = part.split { $0.isWhitespace }.joined(separator: " ")
        let noise = Set<Character>(" -–—_.,:;#+")
        guard let first = words.firstIndex(where: { !noise.contains($0) }) else { return "" }
        // A name may end in a dot ("Vol. 1" is gone by now, "S.H.I.E.L.D." is not).
        let ends = noise.subtracting(["."])
        let last = words.lastIndex { !ends.contains($0) } ?? first
        return String(words[first...max(first, last)])
    }

    private static func roman(_ text: Substring) -> Int? {
        let values: [Character: Int] = ["i": 1, "v": 5, "x": 10, "l": 50, "c": 100]
        var total = 0
        var before = 0
        for character in text.lowercased().reversed() {
            guard let value = values[character] else { return nil }
            total += value < before ? -value : value
            before = max(before, value)
        }
        return total > 0 ? total : nil
    }
}
