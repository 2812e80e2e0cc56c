import Foundation
import Platform

// Text is compared as people read it: an accented letter is the same as one character or as two. So both sides of a
// comparison by bytes, glob or regular expression are normalised to NFC first. Swift's `==` for strings already
// compares that way. Names on disk keep their bytes.

extension String {
    /// The text in NFC.
    package var composed: String {
        utf8.allSatisfy { $0 < 0x80 } ? self : precomposedStringWithCanonicalMapping
    }

    /// The text in NFC and NFD, for comparisons by bytes.
    package var bothForms: [String] {
        utf8.allSatisfy { $0 < 0x80 } ? [self] : [composed, decomposedStringWithCanonicalMapping]
    }
}

extension [UInt8] {
    /// The text in NFC; bytes that are not valid UTF-8 stay unchanged.
    package var composed: [UInt8] {
        if allSatisfy({ $0 < 0x80 }) { return self }
        return String(validating: self, as: UTF8.self).map { Array($0.composed.utf8) } ?? self
    }
}

/// A glob for text in NFC.
package struct TextGlob: Sendable {
    private let glob: Glob

    package init(_ pattern: String) throws(Glob.Fault) { glob = try Glob(pattern.composed) }

    var pattern: String { glob.pattern }
    var literals: [[UInt8]]? { glob.literals }
    var literalSuffixes: [[UInt8]]? { glob.literalSuffixes }

    package func matches(_ bytes: [UInt8]) -> Bool { glob.matches(bytes.composed) }
    package func matches(_ text: String) -> Bool { glob.matches(text.composed) }
}
