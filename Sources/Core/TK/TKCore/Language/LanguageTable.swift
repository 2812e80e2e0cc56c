import Foundation

/// The commonest trigrams of languages, by which a passage's language is told: `Resources/languages.json`.
struct LanguageTable: Sendable {
    private struct File: Decodable {
        /// By language, the commonest first; `_` is a word's edge.
        let trigrams: [String: String]
    }

    /// How likely each language is, by its number.
    typealias Scores = [Float]

    /// The languages that it knows, by their number.
    let languages: [String]
    private var rows: [UInt64: Int] = [:]
    private var weights: [Float] = []

    /// Fewer trigrams tell nothing: three or four words.
    private static let least = 24
    /// By so much a trigram another language must be likelier than the usual one, and by more the shorter a text is.
    private static let margin: Float = 0.12
    private static let chance: Float = 5

    /// Blocks for a moment.
    ///
    /// - Throws: `Fault` where the file is missing or does not have its shape.
    init(_ resources: TKResources) throws {
        let file = try JSONDecoder().decode(File.self, from: Data(try resources.read("languages.json")))
        languages = file.trigrams.keys.sorted()
        for (number, language) in languages.enumerated() {
            let list = (file.trigrams[language] ?? "").split(separator: " ")
            for (rank, trigram) in list.enumerated() {
                let scalars = trigram.unicodeScalars.map { $0 == "_" ? " " : $0 }
                guard scalars.count == 3 else { continue }
                let key = Self.key(scalars[0].value, scalars[1].value, scalars[2].value)
                let row: Int
                if let known = rows[key] {
                    row = known
                } else {
                    row = weights.count
                    rows[key] = row
                    weights += Array(repeating: 0, count: languages.count)
                }
                weights[row + number] = Float(log(Double(list.count + 100) / Double(rank + 20)))
            }
        }
    }

    private static func key(_ first: UInt32, _ second: UInt32, _ third: UInt32) -> UInt64 {
        UInt64(first) << 42 | UInt64(second) << 21 | UInt64(third)
    }

    /// The language of a text; nil where that cannot be said.
    ///
    /// - Parameter usual: the language that it is in unless another is clearly likelier.
    func language(of text: some Sequence<Unicode.Scalar>, usual: String) -> String? {
        var sums = Scores(repeating: 0, count: languages.count)
        var count = 0
        var foreign = 0
        var first: UInt32 = 32
        var second: UInt32 = 32
        func add(_ third: UInt32) {
            // A letter alone, or the space between two words, says nothing.
            if second != 32 {
                count += 1
                if let row = rows[Self.key(first, second, third)] {
                    for number in sums.indices { sums[number] += weights[row + number] }
                }
            }
            (first, second) = (second, third)
        }
        for scalar in text {
            if scalar.properties.isAlphabetic {
                let lower = scalar.value < 128 ? scalar.value | 32 : Self.lower(scalar)
                if lower > 0x2AF { foreign += 1 }
                add(lower)
            } else if second != 32 {
                add(32)
            }
        }
        add(32)
        guard count >= Self.least else { return nil }
        // Another script.
        if foreign * 2 > count { return Self.unknown }
        guard let best = sums.indices.max(by: { sums[$0] < sums[$1] }) else { return nil }
        if languages[best] == usual { return usual }
        let own = languages.firstIndex(of: usual).map { sums[$0] } ?? 0
        return (sums[best] - own) / Float(count) >= Self.margin + Self.chance / Float(count) ? languages[best] : nil
    }

    /// A language that the table does not have.
    static let unknown = "und"

    private static func lower(_ scalar: Unicode.Scalar) -> UInt32 {
        scalar.properties.lowercaseMapping.unicodeScalars.first?.value ?? scalar.value
    }
}
