import Foundation
import Platform

/// Converts letters of any script to ASCII.
enum Transliteration {
    /// Language-specific exceptions to the general table.
    private static let languages: [String: [Character: String]] = [
        "de": german, "da": nordic, "nb": nordic, "nn": nordic, "no": nordic, "sv": swedish, "fi": swedish,
        "et": ["Õ": "O", "õ": "o", "Ä": "Ae", "ä": "ae", "Ö": "Oe", "ö": "oe", "Ü": "Ue", "ü": "ue"],
    ]

    private static let german: [Character: String] = [
        "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ä": "ae", "ö": "oe", "ü": "ue", "ẞ": "SS", "ß": "ss",
    ]
    private static let nordic: [Character: String] = [
        "Æ": "Ae", "Ø": "Oe", "Å": "Aa", "æ": "ae", "ø": "oe", "å": "aa",
    ]
    private static let swedish: [Character: String] = [
        "Å": "Aa", "Ä": "Ae", "Ö": "Oe", "å": "aa", "ä": "ae", "ö": "oe",
    ]

    /// - Parameter language: empty for none.
    static func fault(_ language: String) -> String? {
        language.isEmpty || languages[language] != nil
            ? nil
            : "`ascii` knows no letters of its own for `\(printable(language))`, but for "
                + "\(languages.keys.sorted().joined(separator: ", ")); leave it out"
    }

    /// - Parameter language: one without a ``fault(_:)``.
    static func ascii(_ text: String, language: String) -> String {
        var text = text.composed
        if let own = languages[language] { text = text.map { own[$0] ?? String($0) }.joined() }
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        let latin = text.applyingTransform(StringTransform("Any-Latin; Latin-ASCII"), reverse: false) ?? text
        return String(String.UnicodeScalarView(latin.unicodeScalars.filter(\.isASCII)))
    }
}
