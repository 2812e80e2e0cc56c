import Foundation

/// A text without insignificant differences: runs of white space become one space, quotation marks and dashes become
/// ASCII, invisible scalars are removed, composed letters are decomposed (`é` is `e` and its accent, in either
/// encoding). Every scalar knows its source position.
struct NormalisedText: Sendable {
    private(set) var scalars: [Unicode.Scalar] = []
    /// The source position of each scalar, plus one for the end.
    private(set) var sources: [Int] = []

    init(_ source: some Sequence<Unicode.Scalar>) {
        scalars.reserveCapacity(source.underestimatedCount)
        sources.reserveCapacity(source.underestimatedCount + 1)
        var position = 0
        var known: [Unicode.Scalar: [Unicode.Scalar]] = [:]
        for scalar in source {
            defer { position += 1 }
            if scalar.value >= 0xC0, !Self.isPunctuation(scalar) {
                let parts = known[scalar] ?? Array(String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars)
                known[scalar] = parts
                if parts.count > 1 || parts.first != scalar {
                    for part in parts {
                        scalars.append(part)
                        sources.append(position)
                    }
                    continue
                }
            }
            guard let plain = Self.plain(scalar) else { continue }
            if plain == " ", scalars.last == " " { continue }
            scalars.append(plain)
            sources.append(position)
        }
        sources.append(position)
    }

    /// Without the spaces at its ends.
    var trimmed: ArraySlice<Unicode.Scalar> {
        var slice = scalars[...]
        if slice.first == " " { slice.removeFirst() }
        if slice.last == " " { slice.removeLast() }
        return slice
    }

    /// The source range of a range of normalised scalars, without white space that only the source has at its end.
    func sourceRange(of range: Range<Int>) -> Range<Int> {
        guard !range.isEmpty else { return sources[range.lowerBound]..<sources[range.lowerBound] }
        return sources[range.lowerBound]..<sources[range.upperBound - 1] + 1
    }

    /// The first normalised position at or after a source position.
    func position(ofSource offset: Int) -> Int {
        var low = 0
        var high = scalars.count
        while low < high {
            let middle = (low + high) / 2
            if sources[middle] < offset { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Whether a position is between two parts of one source scalar.
    func splitsScalar(_ position: Int) -> Bool {
        position > 0 && position < scalars.count && sources[position] == sources[position - 1]
    }

    /// General punctuation and similar. Only some spaces in it can be decomposed, and those become spaces here.
    private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool { (0x2000...0x206F).contains(scalar.value) }

    private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        if scalar.value < 127 { return scalar.value == 32 || (9..<14).contains(scalar.value) ? " " : scalar }
        switch scalar.value {
        case 0x2018, 0x2019, 0x201A, 0x201B, 0x2032, 0x02BC: return "'"
        case 0x201C, 0x201D, 0x201E, 0x201F, 0x2033, 0xAB, 0xBB: return "\""
        case 0x2010...0x2015, 0x2212: return "-"
        case 0xAD, 0x200B...0x200D, 0x2060, 0xFEFF, 0xFE0F: return nil
        case 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000: return " "
        default: return scalar
        }
    }
}
