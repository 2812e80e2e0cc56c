import Foundation

/// Words for comparison: in lower case, without punctuation and markup, however their accents are encoded.
enum PlainWords {
    static func of(_ text: String) -> [String] {
        text.lowercased().precomposedStringWithCanonicalMapping.unicodeScalars
            .split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
            .map { String(String.UnicodeScalarView($0)) }
    }
}
