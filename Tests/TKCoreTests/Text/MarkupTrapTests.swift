import TestSupport
import Testing

@testable import TKCore

@Suite("Drafts full of unclosed marks", .timeLimit(.minutes(30)))
struct MarkupTrapTests {
    static let pieces = [
        "$$", "`", "``", "<!--", "-->", "[", "](", "[[", "%%", "<", "<code>", "<a href=\"", "{", "{{", "{++", "|", "*",
        "_", ":a", "::\n", "~", "=", "\\(", "\\[", "\\a{", "\\begin{a}", "src_", "<<", "+++", "word ", "   ", "\n",
        "\n\n", "(#", "</code", "://", "@", ".)", "- ", "{\n", "> ", "^", "\\",
    ]

    @Test("A mask examines no more than a few scalars for each of the draft's", arguments: DraftSyntax.allCases)
    func isLinear(_ syntax: DraftSyntax) {
        var random = SeededGenerator(for: "work of \(syntax)")
        var units = Self.pieces
        for _ in 0..<10 {
            units.append((0..<3).map { _ in Self.pieces.randomElement(using: &random) ?? "" }.joined())
        }
        for unit in units {
            let steps = [800, 1_600].map { size in
                let text = String(repeating: unit, count: size / unit.utf8.count)
                return DraftMask(DraftText(text, syntax: syntax)).steps
            }
            #expect(steps[1] <= 2 * steps[0] + 400 && steps[1] < 20 * 1_600, "\(unit.debugDescription): \(steps)")
        }
        // Runs of backticks of many lengths.
        let runs = DraftText((1...120).map { String(repeating: "`", count: $0) + " " }.joined(), syntax: syntax)
        #expect(DraftMask(runs).steps < 20 * runs.count)
    }

    @Test("An exempt place is found among hundreds")
    func exemptions() {
        let text = String(repeating: "<!-- tk: ignore wordy -->\n\nOne.\n\nTwo.\n\n", count: 500)
        let mask = DraftMask(DraftText(text))
        #expect(mask.exemptions.count == 500)
        let ones = text.unicodeScalars.enumerated().filter { $0.element == "O" }.map { $0.offset..<$0.offset + 3 }
        let twos = text.unicodeScalars.enumerated().filter { $0.element == "T" }.map { $0.offset..<$0.offset + 3 }
        #expect(ones.allSatisfy { mask.isExempt($0, rule: "wordy") && !mask.isExempt($0, rule: "passive") })
        #expect(!twos.contains { mask.isExempt($0, rule: "wordy") || mask.isExempt($0) })
    }
}
