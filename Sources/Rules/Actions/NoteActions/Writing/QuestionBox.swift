import A4CoreSwift
import Foundation
import Ledger
import Platform

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

    /// The note with the box of this anchor closed, where it is open. A question that is asked no more goes as a whole, if
    /// nobody has written into its block.
    ///
    /// - Parameter answer: nil for a question that is asked no more.
    static func closed(_ token: String, _ answer: QuestionRecord.Answer?, in note: [UInt8]) -> [UInt8] {
        guard let anchor = try? AnchorToken(parse: token), self.answer(to: token, in: note) == nil,
            let block = Anchors.tokens(in: Data(note)).first(where: { $0.token == anchor })
        else { return note }
        let isUntouched = block.text.hasPrefix("- [ ] ") && !block.text.contains(where: \.isNewline)
        if answer == nil, isUntouched { return NoteText.removing(token, content: block.text, from: note) ?? note }
        guard let box = openBox(in: note[block.range]) else { return note }
        var closed = note
        closed[box + 1] = UInt8(ascii: answer == .confirmed ? "x" : "-")
        return closed
    }

    /// Where the first open box begins that a line is led by.
    private static func openBox(in block: ArraySlice<UInt8>) -> Int? {
        for line in block.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            guard let first = text.first, Array("-*+".utf8).contains(first) else { continue }
            let box = text.dropFirst().drop { $0 == UInt8(ascii: " ") }
            if box.starts(with: Array("[ ]".utf8)) { return box.startIndex }
        }
        return nil
    }
}

extension NoteWriter {
    /// Closes the box of a question that was answered elsewhere, or is asked no more, and notes that in the same transaction.
    ///
    /// - Throws: as ``remove(_:token:resumes:)``.
    package func closeBox(of question: QuestionRecord, in note: BytePath, _ token: String) async throws {
        try await change(note) {
            QuestionBox.closed(token, question.answer, in: $0)
        } finish: { transaction in
            // A save that loses it has no need to get it back.
            try transaction.dropKeptBlock(note, step: question.step)
            try transaction.setBoxClosed(question.step)
        }
    }
}
