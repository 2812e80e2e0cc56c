import A4CoreSwift
import Foundation

/// Queries on a note's bytes.
package enum NoteText {
    /// The tokens of its anchored blocks, without `^`.
    package static func tokens(_ bytes: [UInt8]) -> Set<String> {
        Set(Anchors.tokens(in: Data(bytes)).map(\.token.description))
    }

    /// The note without the block of this token; nil if it is missing or its text is no longer `content`.
    static func removing(_ token: String, content: String, from bytes: [UInt8]) -> [UInt8]? {
        let wanted = content.trimmingCharacters(in: .newlines)
        guard
            let block = Anchors.tokens(in: Data(bytes)).first(where: { $0.token.description == token }),
            block.text == wanted
        else { return nil }
        var out = bytes
        out.removeSubrange(block.range)
        return out
    }
}
