import A4CoreSwift
import Foundation

/// What a person has made of a question's box.
package enum QuestionBox {
    /// The answer in the block of this anchor; nil where its box is as it was, or there is no such block.
    ///
    /// - Parameter note: the note's bytes.
    package static func answer(to token: String, in note: [UInt8]) -> Bool? {
        // What is no anchor stands in no note.
        guard let anchor = try? AnchorToken(parse: token),
            let block = Anchors.tokens(in: Data(note)).first(where: { $0.token == anchor })
        else { return nil }
        for line in block.text.split(whereSeparator: \.isNewline) {
            let text = line.drop { $0 == " " || $0 == "\t" }
            guard let first = text.first, "-*+".contains(first) else { continue }
            let box = text.dropFirst().drop { $0 == " " }.prefix(3)
            switch box {
            case "[x]", "[X]": return true
            case "[-]": return false
            case "[ ]": return nil
            default: continue
            }
        }
        return nil
    }
}
