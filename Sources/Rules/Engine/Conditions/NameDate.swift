import Platform

/// A date format for names: `yyyy-MM-dd`, `yyyyMMdd_HHmmss`. Each letter matches one digit; all other characters
/// match themselves.
struct NameDate: Sendable {
    private enum Part: Sendable {
        case digits(Character, Int)
        case literal(Character)
    }

    /// How often each letter may occur.
    private static let widths: [Character: Set<Int>] = [
        "y": [2, 4], "M": [2], "d": [2], "H": [2], "m": [2], "s": [2],
    ]

    private let parts: [Part]
    /// In characters.
    let length: Int

    /// nil for a format without year, month and day, which is not a date.
    ///
    /// - Parameter offset: of the format in its pattern.
    /// - Throws: ``NamePattern/Fault`` for an invalid date format.
    init?(_ form: String, offset: Int) throws(NamePattern.Fault) {
        guard form.contains(where: { "yMd".contains($0) }) else { return nil }
        var parts: [Part] = []
        var seen: Set<Character> = []
        var rest = form[...]
        while let letter = rest.first {
            let count = rest.prefix { $0 == letter }.count
            let at = offset + form.distance(from: form.startIndex, to: rest.startIndex)
            if letter.isLetter {
                guard let allowed = Self.widths[letter] else {
                    throw NamePattern.Fault(
                        message: "`\(printable(String(letter)))` is not a letter of a date; use `yyyy`, `yy`, `MM`, "
                            + "`dd`, `HH`, `mm` and `ss`", offset: at)
                }
                guard allowed.contains(count) else {
                    let right = allowed.sorted(by: >).map { "`\(String(repeating: letter, count: $0))`" }
                    throw NamePattern.Fault(
                        message:
                            "`\(String(repeating: letter, count: count))` must be \(right.joined(separator: " or "))",
                        offset: at)
                }
                guard seen.insert(letter).inserted else {
                    throw NamePattern.Fault(message: "`\(letter)` is in the date twice", offset: at)
                }
                parts.append(.digits(letter, count))
            } else {
                parts += rest.prefix(count).map { Part.literal($0) }
            }
            rest = rest.dropFirst(count)
        }
        guard seen.isSuperset(of: ["y", "M", "d"]) else {
            throw NamePattern.Fault(
                message: "a date needs a year, a month and a day, as in `yyyy-MM-dd`", offset: offset)
        }
        self.parts = parts
        length = form.count
    }

    /// The time in that zone; nil if it does not exist, such as 30 February.
    func read(_ text: ArraySlice<Character>, _ timeZone: Zone) -> Timestamp? {
        var found: [Character: Int] = [:]
        var rest = text
        for part in parts {
            switch part {
            case .literal(let character): guard rest.popFirst() == character else { return nil }
            case .digits(let letter, let count):
                let digits = rest.prefix(count)
                guard digits.count == count, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
                found[letter] = Int(String(digits))
                rest = rest.dropFirst(count)
            }
        }
        guard rest.isEmpty, var year = found["y"], let month = found["M"], let day = found["d"] else { return nil }
        // As in strptime(3): two-digit years are 1969 to 2068.
        if year < 100, length(of: "y") == 2 { year += year < 69 ? 2000 : 1900 }
        guard let date = CivilDate(year: year, month: month, day: day),
            let civil = CivilDateTime(date, hour: found["H"] ?? 0, minute: found["m"] ?? 0, second: found["s"] ?? 0)
        else { return nil }
        return timeZone.resolve(civil).time
    }

    private func length(of wanted: Character) -> Int? {
        for case .digits(let letter, let count) in parts where letter == wanted { return count }
        return nil
    }
}
