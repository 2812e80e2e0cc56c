import A4CoreSwift
import Foundation
import Ledger
import Platform

/// A person's answer in a question's box.
package enum QuestionBox {
    /// The answer in the block with this anchor; nil if its box is still open or there is no such block.
    ///
    /// - Parameter note: the note's bytes.
    package static func answer(to token: String, in note: [UInt8]) -> Bool? {
        // A text that is not an anchor cannot be in a note.
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

    /// The note with the open box of this anchor closed. The block of a withdrawn question is removed if it is
    /// unmodified.
    ///
    /// - Parameter answer: nil for a withdrawn question.
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

    /// Index of the first open box at the start of a list item.
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
    /// Closes the box of a question that was answered elsewhere or withdrawn, and records that in the same transaction.
    ///
    /// - Throws: as ``remove(_:token:resumes:)``.
    package func closeBox(of question: QuestionRecord, in note: BytePath, _ token: String) async throws {
        try await change(note) {
            QuestionBox.closed(token, question.answer, in: $0)
        } finish: { transaction in
            // If a later save loses it, it need not come back.
            try transaction.dropKeptBlock(note, step: question.step)
            try transaction.setBoxClosed(question.step)
        }
    }
}
