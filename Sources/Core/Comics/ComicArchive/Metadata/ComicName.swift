/// Metadata parsed from a file's name: series, number, volume, year, title.
package struct ComicName: Sendable, Equatable {
    package var series: String?
    package var number: String?
    package var count: Int?
    package var volume: Int?
    package var year: Int?
    package var month: Int?
    package var title: String?
    /// The content of other brackets: `digital`, the group that scanned it.
    package var remarks: [String] = []
    /// The number is only a trailing `(1)`, which may also mark a copy.
    package var isNumberedLikeACopy = false

    package var metadata: ComicMetadata {
        var known = ComicMetadata()
        (known.series, known.number, known.count, known.volume) = (series, number, count, volume)
        (known.year, known.month, known.title) = (year, month, title)
        return known
    }

    /// Longer names are truncated before parsing; a file system allows 255 bytes.
    private static let lengthLimit = 512

    /// - Parameter name: a file's or folder's name, with or without an extension that ``ComicFileType`` knows.
    /// - Parameter isFolder: whether it names the comic's folder.
    package static func parse(_ name: String, isFolder: Bool = false) -> ComicName {
        var reading = NameReading(String(name.prefix(lengthLimit)), isFolder: isFolder)
        return reading.read()
    }

    /// `001` becomes `1` and `078.BEY` becomes `78.BEY`; `0.5` and `½` are unchanged.
    package static func withoutZeros(_ number: String) -> String {
        let isNegative = number.hasPrefix("-")
        let digits = isNegative ? number.dropFirst() : number[...]
        let kept = digits.drop { $0 == "0" }
        let value = kept.first.map { $0.isASCII && $0.isNumber || $0 == "½" } == true ? String(kept) : "0" + kept
        return (isNegative ? "-" : "") + (digits.first == "0" ? value : String(digits))
    }

    /// The number's sort order; nil if it does not begin with a number.
    package static func order(of number: String) -> Double? {
        let fractions: [Character: Double] = ["½": 0.5, "¼": 0.25, "¾": 0.75]
        let isNegative = number.hasPrefix("-")
        let rest = isNegative ? number.dropFirst() : number[...]
        let whole = rest.prefix { $0.isASCII && $0.isNumber }
        var value = Double(whole)
        let tail = rest.dropFirst(whole.count)
        if let first = tail.first, let fraction = fractions[first] {
            value = (value ?? 0) + fraction
        } else if tail.first == ".",
            let exact = Double(whole + "." + tail.dropFirst().prefix { $0.isASCII && $0.isNumber })
        {
            value = exact
        }
        return value.map { isNegative ? -$0 : $0 }
    }
}
