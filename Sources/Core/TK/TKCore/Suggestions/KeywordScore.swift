/// Scores topics of a text by their keywords.
enum KeywordScore {
    /// - Parameter keywords: a single word matches all that begin with it; several words match exactly, in this order.
    /// - Returns: the topics found, highest score first, equal ones by name.
    static func scores(_ text: String, _ keywords: [String: [String]]) -> [(name: String, score: Int)] {
        let words = text.lowercased().unicodeScalars
            .split { !$0.properties.isAlphabetic && $0.properties.numericType == nil && $0 != "'" }
            .map { String(String.UnicodeScalarView($0)) }
        let joined = " " + words.joined(separator: " ") + " "
        let scores = keywords.map { name, list in
            let score = list.reduce(0) { sum, keyword in
                if keyword.contains(" ") { return sum + (joined.contains(" \(keyword) ") ? 2 : 0) }
                return sum + (words.contains { $0.hasPrefix(keyword) } ? 1 : 0)
            }
            return (name: name, score: score)
        }
        return scores.filter { $0.score > 0 }.sorted { ($1.score, $0.name) < ($0.score, $1.name) }
    }
}
