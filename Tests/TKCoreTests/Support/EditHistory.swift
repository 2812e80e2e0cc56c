import TKCore
import TestSupport

extension DraftText {
    /// An anchor as stored until the text changes.
    func kept(_ range: Range<Int>, _ resolver: AnchorResolver) -> TextAnchor { resolver.distinct(anchor(of: range)) }

    /// Whole words anywhere in the text, fewer if the text ends.
    func randomWords(_ count: Int, _ generator: inout SeededGenerator) -> Range<Int> {
        func isLetter(_ offset: Int) -> Bool { scalars[offset].properties.isAlphabetic }
        var start = Int.random(in: 0..<self.count, using: &generator)
        while start > 0, !(isLetter(start) && !isLetter(start - 1)) { start -= 1 }
        var end = start
        var words = 0
        while end < self.count {
            if isLetter(end), end + 1 == self.count || !isLetter(end + 1) {
                words += 1
                if words == count { break }
            }
            end += 1
        }
        return graphemeRange(around: start..<min(self.count, end + 1))
    }
}

/// A text that remembers where each of its scalars came from.
struct EditHistory {
    private var scalars: [(scalar: Unicode.Scalar, origin: Int)]

    init(_ draft: DraftText) { scalars = draft.scalars.enumerated().map { ($1, $0) } }

    var text: String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars.map(\.scalar))
        return String(view)
    }

    /// Where a range of the first text is still intact; nil if any of it was changed, or if adjacent letters have
    /// changed its first or last word.
    func place(of range: Range<Int>) -> Range<Int>? {
        guard let start = scalars.firstIndex(where: { $0.origin == range.lowerBound }),
            start + range.count <= scalars.count,
            scalars[start..<start + range.count].map(\.origin) == Array(range)
        else { return nil }
        let place = start..<start + range.count
        return isWithinWord(place.lowerBound) || isWithinWord(place.upperBound) ? nil : place
    }

    private func isWithinWord(_ offset: Int) -> Bool {
        offset > 0 && offset < scalars.count
            && scalars[offset - 1...offset].allSatisfy { $0.scalar.properties.isAlphabetic }
    }

    mutating func edit(_ generator: inout SeededGenerator) {
        let paragraphs = paragraphs()
        guard paragraphs.count > 3, let one = paragraphs.randomElement(using: &generator),
            let other = paragraphs.randomElement(using: &generator)
        else { return }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: insert("\n\nThis is a very new paragraph, and the file is used in it. ", at: one.lowerBound)
        case 1: scalars.removeSubrange(one)
        case 2:
            let moved = Array(scalars[one])
            if other.lowerBound >= one.upperBound {
                scalars.insert(contentsOf: moved, at: other.lowerBound)
                scalars.removeSubrange(one)
            }
        case 3: insert(" really", at: Int.random(in: one, using: &generator))
        case 4:
            let start = Int.random(in: one, using: &generator)
            scalars.replaceSubrange(
                start..<min(one.upperBound, start + 9), with: "reworded".unicodeScalars.map { ($0, -1) })
        default:
            // Reflowed: spaces become line ends and the other way round.
            for index in one where scalars[index].scalar == " " || scalars[index].scalar == "\n" {
                let isParagraphEnd =
                    index + 1 < scalars.count && scalars[index + 1].scalar == "\n"
                    || index > 0 && scalars[index - 1].scalar == "\n"
                if !isParagraphEnd {
                    scalars[index].scalar = Int.random(in: 0..<8, using: &generator) == 0 ? "\n" : " "
                }
            }
        }
    }

    private mutating func insert(_ text: String, at offset: Int) {
        scalars.insert(contentsOf: text.unicodeScalars.map { ($0, -1) }, at: offset)
    }

    private func paragraphs() -> [Range<Int>] {
        var found: [Range<Int>] = []
        var start = 0
        for index in 1..<scalars.count where scalars[index].scalar == "\n" && scalars[index - 1].scalar == "\n" {
            if index > start + 40 { found.append(start..<index) }
            start = index
        }
        return found
    }
}
