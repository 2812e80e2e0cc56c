import Foundation
import Platform

// Text is compared as people read it: a letter with its accent is the same in one character as in two. So both sides of a
// comparison of bytes, by a glob or by a regular expression are composed (NFC) first; Swift's `==` of strings does that by
// itself. A name on the disk stays the bytes that it is.

extension String {
    /// The text in composed form.
    package var composed: String {
        utf8.allSatisfy { $0 < 0x80 } ? self : precomposedStringWithCanonicalMapping
    }

    /// The text in composed form and in decomposed form, for what is compared byte by byte.
    package var bothForms: [String] {
        utf8.allSatisfy { $0 < 0x80 } ? [self] : [composed, decomposedStringWithCanonicalMapping]
    }
}

extension [UInt8] {
    /// The text in composed form; bytes that are no UTF-8 as they are.
    package var composed: [UInt8] {
        if allSatisfy({ $0 < 0x80 }) { return self }
        return String(validating: self, as: UTF8.self).map { Array($0.composed.utf8) } ?? self
    }
}

/// A glob that is compared with composed text.
package struct TextGlob: Sendable {
    private let glob: Glob

    package init(_ pattern: String) throws(Glob.Fault) { glob = try Glob(pattern.composed) }

    var pattern: String { glob.pattern }
    var literals: [[UInt8]]? { glob.literals }
    var literalSuffixes: [[UInt8]]? { glob.literalSuffixes }

    package func matches(_ bytes: [UInt8]) -> Bool { glob.matches(bytes.composed) }
    package func matches(_ text: String) -> Bool { glob.matches(text.composed) }
}
