import Foundation
import TestSupport
import Testing

@testable import TKCore

/// Anchors over the histories of real texts: surviving words are never put in a wrong place.
@Suite("Anchors in changing texts")
struct AnchorHistoryTests {
    /// Results of the anchors; printed, since users feel the share of orphans.
    struct Tally: CustomStringConvertible {
        var placed = 0
        var ambiguous = 0
        var orphaned = 0
        var wrong: [String] = []
        var asked = 0

        mutating func count(_ resolution: AnchorResolution, truth: Range<Int>, _ text: DraftText) {
            switch resolution {
            case .unchanged(let range), .mapped(let range), .exact(let range), .normalised(let range):
                if range == truth {
                    placed += 1
                } else {
                    wrong.append("\(resolution), not \(truth): <\(text[range])> <\(text[truth])>")
                }
            case .fuzzy(let range, _):
                if range.overlaps(truth) { asked += 1 } else { wrong.append("\(resolution), not \(truth)") }
            case .ambiguous: ambiguous += 1
            case .orphan: orphaned += 1
            }
        }

        var description: String {
            let all = max(1, placed + ambiguous + orphaned + asked + wrong.count)
            func share(_ count: Int) -> String { String(format: "%.1f %%", 100 * Double(count) / Double(all)) }
            return
                "\(all) anchors: placed \(share(placed)), to be asked \(share(asked)), ambiguous \(share(ambiguous)), "
                + "orphaned \(share(orphaned)), wrong \(wrong.count)"
        }
    }

    @Test("Package changelogs: an entry keeps its identity while others are added before it")
    func changelogs() throws {
        var generator = SeededGenerator(for: "changelogs")
        var phrases = Tally()
        var lines = Tally()
        var mapped = Tally()
        for text in try ProseCorpora.changelogs(atMost: 6, scalars: 24_000) {
            let whole = Array(text.unicodeScalars)
            let starts = entryStarts(whole)
            guard starts.count > 4 else { continue }
            let new = DraftText(text)
            for from in [starts[1], starts[min(4, starts.count - 2)]] {
                let old = DraftText(new[from..<new.count])
                let first = AnchorResolver(old)
                let byContext = AnchorResolver(new)
                let byComparison = AnchorResolver(new, previous: old)
                for _ in 0..<20 {
                    let phrase = old.randomWords(Int.random(in: 1...3, using: &generator), &generator)
                    let truth = phrase.lowerBound + from..<phrase.upperBound + from
                    phrases.count(byContext.resolve(old.kept(phrase, first)), truth: truth, new)
                    mapped.count(byComparison.resolve(old.kept(phrase, first)), truth: truth, new)
                    let line = old.randomWords(12, &generator)
                    lines.count(
                        byContext.resolve(old.kept(line, first)),
                        truth: line.lowerBound + from..<line.upperBound + from,
                        new)
                }
            }
        }
        print("changelogs, phrases: \(phrases)\nchangelogs, 12 words: \(lines)\nchangelogs, compared: \(mapped)")
        #expect(phrases.wrong + lines.wrong + mapped.wrong == [])
    }

    @Test("Edited documentation: surviving text is found where it went, or not at all")
    func edits() throws {
        var generator = SeededGenerator(for: "edited documentation")
        var phrases = Tally()
        var sentences = Tally()
        var compared = Tally()
        var gone = (placed: 0, all: 0)
        for text in try ProseCorpora.documentation(atMost: 6, scalars: 12_000) {
            let old = DraftText(text)
            var history = EditHistory(old)
            for _ in 0..<Int.random(in: 3...12, using: &generator) { history.edit(&generator) }
            let new = DraftText(history.text)
            let first = AnchorResolver(old)
            let byContext = AnchorResolver(new)
            let byComparison = AnchorResolver(new, previous: old)
            for round in 0..<60 {
                let count = round % 2 == 0 ? Int.random(in: 1...3, using: &generator) : 14
                let range = old.randomWords(count, &generator)
                let anchor = old.kept(range, first)
                let resolution = byContext.resolve(anchor)
                guard let truth = history.place(of: range) else {
                    gone.all += 1
                    if resolution.isCertain { gone.placed += 1 }
                    continue
                }
                if count < 14 {
                    phrases.count(resolution, truth: truth, new)
                } else {
                    sentences.count(resolution, truth: truth, new)
                }
                compared.count(byComparison.resolve(anchor), truth: truth, new)
            }
        }
        print("edits, phrases: \(phrases)\nedits, 14 words: \(sentences)\nedits, compared: \(compared)")
        print("edits, gone: \(gone.placed) of \(gone.all) put somewhere for certain")
        #expect(phrases.wrong + sentences.wrong + compared.wrong == [])
    }

    private func entryStarts(_ scalars: [Unicode.Scalar]) -> [Int] {
        scalars.indices.filter { index in
            (index == 0 || scalars[index - 1] == "\n") && scalars[index].properties.isLowercase
        }
    }
}
