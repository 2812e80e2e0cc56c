import Foundation
import TestSupport
import Testing

@testable import TKCore

/// Looking for many quotes in one text.
@Suite("Positions of many quotes")
struct QuotePlacesTests {
    @Test("Many quotes need a few searches of the text, not one each")
    func cost() throws {
        let sentences = (0..<1_500).map { "Sentence \($0) was made in order to be number \($0), very clearly." }
        let draft = DraftText(sentences.joined(separator: " "))
        let resolver = AnchorResolver(draft)
        var position = 0
        for sentence in sentences {
            let anchor = draft.anchor(of: position..<position + sentence.unicodeScalars.count)
            #expect(resolver.distinct(anchor).twins == 0)
            position += sentence.unicodeScalars.count + 1
        }
        #expect(resolver.steps < 20 * draft.count, "\(resolver.steps) for \(draft.count) scalars")
    }

    @Test("The same positions are found for few quotes and for many")
    func sameAnswers() throws {
        var generator = SeededGenerator(for: "many quotes")
        let words = [
            "in", "order", "to", "(in", "order)", "a", "é", "e\u{301}", "—", "’tis", "very", "a-b", "x1", "12", ".",
        ]
        let text = (0..<3_000).map { _ in words[Int.random(in: words.indices, using: &generator)] }
            .joined(separator: " ")
        let draft = DraftText(text)
        let many = AnchorResolver(draft)
        for _ in 0..<400 {
            let start = Int.random(in: 0..<draft.count - 30, using: &generator)
            let range = start..<start + Int.random(in: 1...30, using: &generator)
            let anchor = draft.anchor(of: range)
            #expect(many.find(anchor.exact) == AnchorResolver(draft).find(anchor.exact), "\(anchor.exact)")
            #expect(many.distinct(anchor) == AnchorResolver(draft).distinct(anchor), "\(anchor.exact)")
        }
    }
}
