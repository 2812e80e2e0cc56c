import Foundation
import Testing

@testable import TKCore

/// How often good prose is flagged. Each figure is findings per thousand words.
@Suite("Noise of the quick pass")
struct QuickNoiseTests {
    private let pass: QuickPass

    init() throws { pass = try quickPass() }

    private func noise(_ name: String, _ texts: [String], _ syntax: DraftSyntax = .markdown) throws -> Double {
        var rules: [String: Int] = [:]
        var words = 0
        for text in texts {
            let draft = DraftText(text, syntax: syntax)
            let mask = DraftMask(draft)
            words += mask.blocks.reduce(0) { $0 + mask.text(in: $1.range).split(whereSeparator: \.isWhitespace).count }
            for finding in pass.suggestions(for: draft, mask: mask) {
                rules[finding.rule ?? "?", default: 0] += 1
                #expect(draft[finding.anchor.range] == finding.originalText)
                if ProcessInfo.processInfo.environment["STEWARD_SHOW_FINDINGS"] != nil {
                    print(
                        "  \(finding.rule ?? "?")\t\(finding.originalText.replacing("\n", with: " ").prefix(90))\t\(finding.suggestedText.prefix(40))"
                    )
                }
            }
        }
        let all = Double(rules.values.reduce(0, +)) * 1_000 / Double(max(1, words))
        let parts = rules.sorted { $0.value > $1.value }
            .map { String(format: "%@ %.2f", $0.key, Double($0.value) * 1_000 / Double(max(1, words))) }
        print(
            String(
                format: "noise %@: %.2f findings in 1,000 of %d words (%@)", name, all, words,
                parts.joined(separator: ", ")))
        return all
    }

    @Test("At most 4 findings per thousand words of documentation")
    func documentation() throws {
        let files = try ProseCorpora.markdownFiles().map(\.text)
        let plain = try ProseCorpora.plainFiles()
        if !plain.isEmpty { #expect(try noise("plain READMEs", plain, .plain) <= 4) }
        #expect(try noise("this repository's documentation", files) <= 4)
        #expect(try noise("handbook", [ProseCorpora.handbook(words: 25_000)]) <= 4)
    }

    @Test("At most 2 findings per thousand words of narrative")
    func narrative() throws {
        #expect(try noise("a novel of 1817", [ProseCorpora.novel()], .plain) <= 2)
        let bible = try ProseCorpora.bible(["gen1:1-gen40:1", "mark1:1-mark16:20"])
        #expect(try noise("King James Bible", [bible]) <= 2)
    }

    @Test("Nothing is found in the code and the addresses of real documentation", arguments: [false, true])
    func codeAndAddresses(isHandbook: Bool) throws {
        let texts =
            try isHandbook ? [ProseCorpora.handbook(words: 25_000)] : ProseCorpora.markdownFiles().map(\.text)
        var (spans, findings) = (0, 0)
        for text in texts {
            let draft = DraftText(text)
            let outside = NotProse(draft).ranges
            spans += outside.count
            for finding in pass.suggestions(for: draft) {
                findings += 1
                let range = finding.anchor.range
                // A long sentence may contain code; a phrase may not touch any.
                let isSentence = ["long-sentence", "passive-density"].contains(finding.rule)
                let wrong = outside.first {
                    isSentence
                        ? $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound : $0.overlaps(range)
                }
                if let wrong { Issue.record("\(finding.rule ?? "?") <\(finding.originalText)> in <\(draft[wrong])>") }
            }
        }
        print("noise: \(findings) findings, none of them in \(spans) pieces of code and addresses")
    }

    @Test("Front matter, fences, inline code and addresses inserted into real documentation change no finding")
    func putIn() throws {
        let bad = "the the very very in order to, at this point in time it was done by me"
        let paragraphs = try ProseCorpora.handbook(words: 8_000).components(separatedBy: "\n\n")
        let plain = pass.suggestions(for: DraftText(paragraphs.joined(separator: "\n\n")))
        #expect(!pass.suggestions(for: DraftText(bad)).isEmpty)
        var text = "---\ntitle: \(bad)\nsummary: |\n  \(bad)\n---\n"
        for (index, paragraph) in paragraphs.enumerated() {
            text += "\n\n" + paragraph
            switch index % 4 {
            case 0: text += "\n\n```sh\n\(bad)\n```"
            case 1: text += "\n\n`\(bad)`"
            case 2: text += "\n\nhttps://example.org/\(bad.replacing(" ", with: "/"))"
            default: text += "\n\n    \(bad)"
            }
        }
        let found = pass.suggestions(for: DraftText(text))
        // Without findings about a share of the whole document, which are attached to its first sentence.
        func quotes(_ suggestions: [Suggestion]) -> [String] {
            suggestions.filter { $0.rule != "passive-density" }.map { "\($0.rule ?? "?"): \($0.originalText)" }
        }
        #expect(quotes(found) == quotes(plain))
    }
}

/// The parts of a Markdown draft that are clearly not prose, found without the masker: fenced code, code between single
/// backticks in one paragraph, addresses with a scheme.
private struct NotProse {
    private(set) var ranges: [Range<Int>] = []
    private let scalars: [Unicode.Scalar]

    init(_ draft: DraftText) {
        scalars = draft.scalars
        var fence: Unicode.Scalar?
        var start = 0
        var paragraph = 0..<0
        while start < scalars.count {
            let end = scalars[start...].firstIndex(of: "\n") ?? scalars.count
            let content = scalars[start..<end].drop { $0 == " " }
            let mark = content.prefix(3)
            if let open = fence {
                ranges.append(start..<end)
                if mark.count == 3, mark.allSatisfy({ $0 == open }), content.allSatisfy({ $0 == open }) { fence = nil }
            } else if mark.count == 3, mark.allSatisfy({ $0 == "`" }) || mark.allSatisfy({ $0 == "~" }) {
                fence = mark.first
                inline(paragraph)
                paragraph = 0..<0
            } else if content.isEmpty {
                inline(paragraph)
                paragraph = 0..<0
            } else {
                paragraph = (paragraph.isEmpty ? start : paragraph.lowerBound)..<end
            }
            start = end + 1
        }
        inline(paragraph)
    }

    private mutating func inline(_ paragraph: Range<Int>) {
        var index = paragraph.lowerBound
        while index < paragraph.upperBound {
            let rest = scalars[index..<paragraph.upperBound]
            if scalars[index] == "`", !rest.dropFirst().starts(with: ["`"]),
                let close = rest.dropFirst().firstIndex(of: "`"),
                close + 1 == paragraph.upperBound || scalars[close + 1] != "`",
                index == paragraph.lowerBound || scalars[index - 1] != "\\"
            {
                ranges.append(index..<close + 1)
                index = close + 1
            } else if rest.starts(with: "://".unicodeScalars) {
                let scheme = scalars[paragraph.lowerBound..<index].reversed().prefix { $0.properties.isAlphabetic }
                    .count
                let end = rest.firstIndex { $0.properties.isWhitespace || "<>()[]\"'`".unicodeScalars.contains($0) }
                if scheme > 1 { ranges.append(index - scheme..<(end ?? paragraph.upperBound)) }
                index = end ?? paragraph.upperBound
            } else {
                // A run of backticks that opens nothing here.
                index += max(1, scalars[index] == "`" ? rest.prefix { $0 == "`" }.count : 1)
            }
        }
    }
}
