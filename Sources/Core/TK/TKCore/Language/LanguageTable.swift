import Foundation

/// The most common trigrams of languages, for language detection: `Resources/languages.json`.
struct LanguageTable: Sendable {
    private struct File: Decodable {
        /// By language, most common first; `_` is a word boundary.
        let trigrams: [String: String]
    }

    /// The likelihood of each language, by index.
    typealias Scores = [Float]

    /// The known languages, by index.
    let languages: [String]
    private var rows: [UInt64: Int] = [:]
    private var weights: [Float] = []

    /// Fewer trigrams, which is three or four words, are not conclusive.
    private static let least = 24
    /// Another language must be likelier than the usual one by this margin per trigram, and by more in a shorter text.
    private static let margin: Float = 0.12
    private static let chance: Float = 5

    /// Blocks briefly.
    ///
    /// - Throws: `Fault` if the file is missing or invalid.
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

    /// The language of a text; nil if undecided.
    ///
    /// - Parameter usual: the assumed language unless another is clearly likelier.
    func language(of text: some Sequence<Unicode.Scalar>, usual: String) -> String? {
        var sums = Scores(repeating: 0, count: languages.count)
        var count = 0
        var foreign = 0
        var first: UInt32 = 32
        var second: UInt32 = 32
        func add(_ third: UInt32) {
            // A single letter, or the space between two words, is not significant.
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

    /// A language that is not in the table.
    static let unknown = "und"

    private static func lower(_ scalar: Unicode.Scalar) -> UInt32 {
        scalar.properties.lowercaseMapping.unicodeScalars.first?.value ?? scalar.value
    }
}
