import Foundation

/// What a full-text search has to look for, because the tokenizer `unicode61` takes an accented letter as it is encoded:
/// as one character or as two.
package enum SearchedForms {
    /// The text in NFC and, if that makes other tokens, in NFD.
    package static func of(_ text: String) -> [String] {
        let composed = text.precomposedStringWithCanonicalMapping
        let decomposed = text.decomposedStringWithCanonicalMapping
        // Of Latin letters the tokenizer drops the accents.
        let isLatin = decomposed.unicodeScalars.allSatisfy { $0.isASCII || (0x300...0x36F).contains($0.value) }
        let isSame = isLatin || composed.unicodeScalars.elementsEqual(decomposed.unicodeScalars)
        return isSame ? [composed] : [composed, decomposed]
    }
}
