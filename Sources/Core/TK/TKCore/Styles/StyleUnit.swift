/// A text that rules are matched against, with the places of its scalars in the draft.
///
/// Emphasis marks, brackets and destinations of links are left out, as in Vale; code is asterisks.
struct StyleUnit {
    /// Of Vale's scopes: `text`, `heading`, `h1` and so on.
    let sections: Set<String>
    let scalars: [Unicode.Scalar]
    /// Of each scalar, in the draft.
    let places: [Int]
    /// The text in UTF-16.
    let units: [UInt16]
    /// The same in lower case.
    let folded: [UInt16]
    let marks: StyleMarks
    /// Whether it is what the mask calls the author's prose; otherwise it is the source, a quotation or a table.
    let isProse: Bool
    /// The scalar at each UTF-16 offset; nil if they are the same.
    private let wide: [Int]?

    init(_ sections: Set<String>, _ scalars: [Unicode.Scalar], _ places: [Int], isProse: Bool = true) {
        (self.sections, self.scalars, self.places, self.isProse) = (sections, scalars, places, isProse)
        var units: [UInt16] = []
        units.reserveCapacity(scalars.count)
        for scalar in scalars { units.append(contentsOf: UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter) }
        self.units = units
        folded = units.map(StyleMarks.folded)
        marks = StyleMarks(folded)
        wide =
            units.count == scalars.count
            ? nil
            : scalars.indices.flatMap { Array(repeating: $0, count: UTF16.width(scalars[$0])) } + [scalars.count]
    }

    var text: String { self[scalars.indices] }

    subscript(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }

    /// A part, with other sections.
    func part(_ range: Range<Int>, _ sections: Set<String>) -> StyleUnit {
        StyleUnit(sections, Array(scalars[range]), Array(places[range]))
    }

    /// The scalars at UTF-16 offsets.
    func scalarRange(_ range: Range<Int>) -> Range<Int> {
        guard let wide else { return range }
        let end = range.upperBound > range.lowerBound ? wide[range.upperBound - 1] + 1 : wide[range.lowerBound]
        return wide[range.lowerBound]..<end
    }

    /// The draft's range of a range in the text, which must not be empty. Of words in several lines of a cell, those in
    /// the first: other cells are between them.
    func place(_ range: Range<Int>) -> Range<Int> {
        var end = range.upperBound
        if sections.contains("table") {
            end = range.dropFirst().first { places[$0] == places[$0 - 1] } ?? end
        }
        return places[range.lowerBound]..<places[end - 1] + 1
    }
}
