/// The parser behind ``ComicName/parse(_:)``: brackets first, then markers (`v03`, `#12`, `第3卷`), finally a bare
/// number. The text before the first marker is the series, the text after the last one the title.
struct NameReading {
    private var text: String
    private var found = ComicName()
    /// The end of the series, and the start of the title.
    private var cut: String.Index?
    private var rest: String.Index?
    private var hadBrackets = false
    private var bracketNumber: String?
    /// Whether the number followed a `#`.
    private var isMarked = false
    /// A word of the series between volume and number.
    private var addition: String?

    private let patterns = ComicNamePatterns.shared
    /// Ranges used by markers and dates, where no bare number is taken from.
    private var used: [Range<String.Index>] = []

    private static let years = 1900...2099
    private static let digitsClass = Set("0123456789")

    /// Whether a single digit may be the number: in a folder's name it is part of the name.
    private let acceptsDigits: Bool

    init(_ name: String, isFolder: Bool = false) {
        acceptsDigits = !isFolder
        var stem = name[...]
        if let dot = name.lastIndex(of: "."), dot != name.startIndex,
            ComicFileType(name: Array(name.utf8)) != .unknown
        {
            stem = name[..<dot]
        }
        text = trimmed(stem)
        // "52 Monster_Island_v1_2": a private number before a name without spaces.
        if let match = text.wholeMatch(of: patterns.foreignNumber) { text = String(match.output.1) }
        if !text.contains(" ") { text = text.replacing("+", with: " ") }
        text = text.replacing("_", with: " ")
        if text.contains(" ") {
            text = text.replacing(patterns.dotBetweenWords) { "\($0.output.1) \($0.output.2)" }
        } else {
            text = Self.spaced(text)
        }
    }

    /// `Blue.Harbor.003` and `Blue-Harbor-003`, from sources that avoid spaces in names.
    private static func spaced(_ name: String) -> String {
        let words = name.split(separator: ".", omittingEmptySubsequences: false)
        guard words.count > 2 else {
            return name.replacing(/-([vV][0-9]{1,4})-([0-9]{1,4})$/) { " \($0.output.1) \($0.output.2)" }
                .replacing(/-([0-9]{2,3})$/) { " \($0.output.1)" }
        }
        // An acronym.
        guard words.contains(where: { $0.count > 1 }) else { return name }
        return words.dropFirst().reduce(into: String(words[0])) { text, word in
            // A dot between digits belongs to a decimal, except between a number and a year.
            let isDecimal = text.last?.isNumber == true && word.first?.isNumber == true && word.count < 3
            text += (isDecimal ? "." : " ") + word
        }
    }

    mutating func read() -> ComicName {
        parseBrackets()
        parseDate()
        parseVolume()
        parseNumber()
        if found.number == nil { parseBareNumber() }
        if found.number == nil { parseLooseNumber() }
        if found.number == nil, let bracketNumber {
            found.number = ComicName.withoutZeros(bracketNumber)
            found.isNumberedLikeACopy = true
        }
        var series = clean(text[..<(cut ?? text.endIndex)])
        if let word = addition, !series.isEmpty { series += " \(word)" }
        found.series = series.isEmpty ? nil : series
        if let rest, rest < text.endIndex {
            let title = clean(text[rest...])
            if !title.isEmpty { found.title = title }
        }
        parsePartOfTitle()
        splitSeries()
        // "第03卷 Title", "001 - Title": with nothing before the marker, the text after it is the name.
        if found.series == nil, let title = found.title { (found.series, found.title) = (title, nil) }
        return found
    }

    /// "008 - Simple Truth 03 (of 06)": both the story and the issue are numbered.
    private mutating func parsePartOfTitle() {
        guard found.count != nil, found.number != nil, let title = found.title,
            let match = title.wholeMatch(of: patterns.titleAndPart)
        else { return }
        (found.title, found.volume, found.count) = (String(match.output.1), found.volume ?? Int(match.output.2), nil)
    }

    /// "Cyberpunk 2077 - You Have My Word 02" and "Name: Story #001", where the number has no title.
    private mutating func splitSeries() {
        guard found.number != nil, found.title == nil, let series = found.series else { return }
        let match =
            series.wholeMatch(of: patterns.yearAndStory)
            ?? (isMarked ? series.wholeMatch(of: patterns.nameAndStory) : nil)
        if let match { (found.series, found.title) = (String(match.output.1), String(match.output.2)) }
    }

    // MARK: Brackets

    /// Removes each innermost bracket from the text, leaving a mark so that words do not run together.
    private mutating func parseBrackets() {
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

    /// - Returns: whether its content ends the series' name.
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

    private mutating func parseDate() {
        if let match = text.firstMatch(of: patterns.monthAndYear), stands(match.range),
            match.range.lowerBound != text.startIndex
        {
            found.year = found.year ?? Int(match.output.1)
            mark(match.range.lowerBound, match.range.upperBound)
        }
        guard let match = text.firstMatch(of: patterns.date), stands(match.range),
            let month = Int(match.output.2), (1...12).contains(month)
        else { return }
        found.year = found.year ?? Int(match.output.1)
        found.month = found.month ?? month
        mark(match.range.lowerBound, match.range.upperBound)
    }

    private mutating func parseVolume() {
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

    private mutating func parseNumber() {
        guard found.number == nil else { return }
        if let match = text.firstMatch(of: patterns.cjkNumber) {
            return accept(match.output.1, match.range)
        }
        if let match = text.firstMatch(of: patterns.hash) {
            isMarked = true
            return accept(match.output.1, match.range)
        }
        for match in text.matches(of: patterns.chapterWord)
        where stands(match.range) {
            return accept(match.output.1, match.range)
        }
        for match in text.matches(of: patterns.chapterLetter) where stands(match.range) {
            return accept(match.output.1, match.range)
        }
        for match in text.matches(of: patterns.numberOf) where stands(match.range) {
            // The part number of a story told in several issues.
            if text[..<match.range.lowerBound].lowercased().hasSuffix("part ") {
                used.append(match.range)
                continue
            }
            found.count = Int(match.output.2)
            return accept(match.output.1, match.range)
        }
    }

    /// The last free-standing number that is not part of the name: not a year, not the first word, and a single digit
    /// only if something else suggests that a number follows.
    private mutating func parseBareNumber() {
        let matches = text.matches(of: patterns.bare)
        if parseNumberBesideVolume(matches.map(\.range)) || parseNumberBeforeStory() { return }
        for match in matches.reversed() where stands(match.range) && !used.contains(where: { $0.overlaps(match.range) })
        {
            var range = match.range
            if text[range].first == "-" {
                // A minus sign only if it follows a space and is not a dash between two words.
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
            let isExpected = acceptsDigits || hadBrackets || found.volume != nil
            guard isPadded || isLast && isExpected && bracketNumber == nil else { continue }
            // "100 Bullets" begins with a name, "001 - Title" with a number.
            if clean(text[..<range.lowerBound]).isEmpty, digits.first != "0" { continue }
            if isLast, parseBook(number, range) { return }
            if let cut, range.lowerBound > cut, found.volume == nil, found.year != nil, !isLast { continue }
            return accept(number, range)
        }
    }

    /// "v1 3", "v1 Annual 01": the number after the volume, regardless of the text after it.
    private mutating func parseNumberBesideVolume(_ ranges: [Range<String.Index>]) -> Bool {
        guard found.volume != nil, let rest, let range = ranges.first(where: { $0.lowerBound >= rest && stands($0) })
        else { return false }
        let between = clean(text[rest..<range.lowerBound])
        guard between.isEmpty || ["annual", "special"].contains(between.lowercased()) else { return false }
        if text[range].first == "-" { return false }
        if !between.isEmpty { addition = between }
        accept(text[range], range)
        return true
    }

    /// "008 - Simple Truth 03": of two numbers the padded one before a dash is the issue's.
    private mutating func parseNumberBeforeStory() -> Bool {
        guard let number = text.firstMatch(of: patterns.numberAndDash)?.output.1 else { return false }
        let range = number.startIndex..<number.endIndex
        guard stands(range), !clean(text[..<range.lowerBound]).isEmpty else { return false }
        accept(number, range)
        return true
    }

    /// "Bloodshot Book 03": a volume under another name, and the only number.
    private mutating func parseBook(_ number: Substring, _ range: Range<String.Index>) -> Bool {
        guard found.volume == nil, let match = text[..<range.lowerBound].firstMatch(of: patterns.book) else {
            return false
        }
        let title = clean(text[match.range.lowerBound..<range.upperBound])
        accept(number, range)
        mark(match.range.lowerBound, nil)
        (found.volume, found.title) = (Int(number), title)
        return true
    }

    /// "batman 3 title": a digit between words, if there is no other number; "52" alone.
    private mutating func parseLooseNumber() {
        guard acceptsDigits, bracketNumber == nil, found.volume == nil, used.isEmpty else { return }
        let ranges = text.matches(of: patterns.bare).map(\.range).filter { stands($0) }
        if let range = ranges.first, ranges.count == 1, text[range].allSatisfy({ Self.digitsClass.contains($0) }) {
            let isAlone = clean(text[..<range.lowerBound] + text[range.upperBound...]).isEmpty
            if isAlone {
                let isYear = Int(text[range]).map { Self.years.contains($0) } ?? true
                if !isYear { found.number = ComicName.withoutZeros(String(text[range])) }
                return
            }
            let isBetween = !clean(text[..<range.lowerBound]).isEmpty && !clean(text[range.upperBound...]).isEmpty
            if isBetween, text[range].count == 1 { accept(text[range], range) }
        }
    }

    private mutating func accept(_ number: Substring, _ range: Range<String.Index>) {
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
        // A name may end in a dot ("Vol. 1" is already removed, "S.H.I.E.L.D." is not).
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
