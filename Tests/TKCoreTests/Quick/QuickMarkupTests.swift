import Foundation
import TestSupport
import Testing

@testable import TKCore

@Suite("Quick pass replacements keep markup intact")
struct QuickMarkupTests {
    private let pass: QuickPass

    init() throws { pass = try quickPass() }

    private func lines(_ text: String) -> [String] {
        pass.suggestions(for: DraftText(text), settings: .init(strictRules: QuickPass.strictRules)).map {
            "\($0.rule ?? "?"): \($0.originalText)" + ($0.hasReplacement ? " -> \($0.suggestedText)" : "")
        }
    }

    @Test(
        "With markup among the words, the finding is a remark",
        arguments: [
            ("The the [the](http://x.y) end.", ["repeated-word: The the [the"]),
            ("It is very **quickly** done.", ["weak-words: very"]),
            ("It is a very *old* house.", ["weak-words: very"]),
            ("In **order to** win.", ["wordy: In **order to"]),
            ("It is very [quickly](http://x.y) done.", ["weak-words: very"]),
            ("See [[target|the]] the end.", ["repeated-word: the]] the"]),
            ("It is {==very==} quickly done.", ["weak-words: very"]),
            ("## The **the** end", ["repeated-word: The **the"]),
            ("Paris in the  \nthe spring.", ["repeated-word: the  \nthe"]),
            ("Paris in the  \r\nthe spring.", ["repeated-word: the  \r\nthe"]),
            ("Paris in the\\\nthe spring.", ["repeated-word: the\\\nthe"]),
            ("It should be noted that **the** end is near.", ["wordy: It should be noted that"]),
            ("See [each and every] page.\n\n[each and every]: http://x.y", ["wordy: each and every"]),
            ("See [each and every][] page.\n\n[each and every]: http://x.y", ["wordy: each and every"]),
        ])
    func remarks(text: String, expected: [String]) {
        #expect(lines(text) == expected)
    }

    @Test(
        "With markup around the words, or only a line break among them, the replacement stays",
        arguments: [
            ("In **the the** end.", ["repeated-word: the the -> the"]),
            (
                "See [each and every](http://x.y) [each and every][x] page.",
                Array(repeating: "wordy: each and every -> each", count: 2)
            ),
            ("See [[target|each and every]] page.", ["wordy: each and every -> each"]),
            ("- [x] We did it in order to win.", ["wordy: in order to -> to"]),
            ("- Paris in the\n  the spring.", ["repeated-word: the\n  the -> the"]),
            ("> [!NOTE]\n> Paris in the\n> the spring.", ["repeated-word: the\n> the -> the"]),
        ])
    func replacements(text: String, expected: [String]) {
        #expect(lines(text) == expected)
    }

    @Test(
        "Real documentation with inserted slips and markup has the same tree after applying everything",
        arguments: [false, true])
    func trees(isHandbook: Bool) throws {
        var generator = SeededGenerator(for: "quick findings among markup")
        let texts =
            try isHandbook
            ? [ProseCorpora.handbook(words: 8_000)] : ProseCorpora.documentation(atMost: 60, scalars: 40_000)
        var (findings, applied) = (0, 0)
        // Twice, with other slips: what is drawn has to be enough with every seed.
        for text in texts + texts {
            let marked = text.components(separatedBy: "\n\n").map { marking($0, &generator) }.joined(separator: "\n\n")
            let draft = DraftText(marked)
            let found = pass.suggestions(for: draft, settings: .init(strictRules: QuickPass.strictRules))
            let result = SuggestionApplier.apply(found, to: draft)
            findings += found.count
            applied += result.appliedCount
            let (old, new) = (MarkdownNode(marked).marks, MarkdownNode(result.text).marks)
            if let difference = zip(old, new).first(where: { $0 != $1 }) {
                Issue.record("\(difference.0) became \(difference.1)")
            }
            #expect(old.count == new.count)
        }
        print("markup: \(applied) of \(findings) findings were applied")
        #expect(applied > 100 && findings > applied)
    }

    /// A paragraph with errors inserted among its words, and marks around some of them.
    private func marking(_ paragraph: String, _ generator: inout SeededGenerator) -> String {
        guard paragraph.first?.isLetter ?? false, !paragraph.contains("`"), !paragraph.contains("\n ") else {
            return paragraph
        }
        let slips = ["very good", "in order to", "the the", "it should be noted that the", "a very old", "quite"]
        var words: [String] = []
        for word in paragraph.split(separator: " ", omittingEmptySubsequences: false) {
            if Int.random(in: 0..<6, using: &generator) == 0, let slip = slips.randomElement(using: &generator) {
                words += slip.split(separator: " ").map(String.init)
            }
            words.append(String(word))
        }
        var start = 0
        while start < words.count {
            let end = min(words.count, start + Int.random(in: 1...3, using: &generator))
            let inside = words[start..<end]
            if inside.allSatisfy({ $0.allSatisfy(\.isLetter) && !$0.isEmpty }) {
                switch Int.random(in: 0..<12, using: &generator) {
                case 0: mark("**", "**", start..<end, &words)
                case 1: mark("*", "*", start..<end, &words)
                case 2: mark("[", "](http://x.y)", start..<end, &words)
                case 3: mark("~~", "~~", start..<end, &words)
                case 4: mark("", "  \n", start..<end, &words)
                case 5: mark("", "\\\n", start..<end, &words)
                case 6: mark("", "\n", start..<end, &words)
                case 7: mark("", " `code`", start..<end, &words)
                default: break
                }
            }
            start = end
        }
        return words.joined(separator: " ").replacing("\n ", with: "\n")
    }

    private func mark(_ opening: String, _ closing: String, _ range: Range<Int>, _ words: inout [String]) {
        words[range.lowerBound] = opening + words[range.lowerBound]
        words[range.upperBound - 1] += closing
    }
}

extension MarkdownNode {
    /// Every mark in text order, without the words.
    fileprivate var marks: [String] {
        func all(_ nodes: [MarkdownNode], _ name: String) -> [String] {
            ["(\(name)"] + nodes.flatMap(\.marks) + [")"]
        }
        switch self {
        case .document(let nodes): return all(nodes, "document")
        case .paragraph(let nodes): return all(nodes, "paragraph")
        case .heading(let level, let nodes): return all(nodes, "heading \(level)")
        case .quotation(let nodes): return all(nodes, "quotation")
        case .list(let start, let isTight, let nodes): return all(nodes, "list \(start ?? -1) \(isTight)")
        case .item(let isDone, let nodes): return all(nodes, "item \(isDone.map(String.init) ?? "")")
        case .code(let language, let text): return ["code \(language) \(text)"]
        case .rule: return ["rule"]
        case .table(let rows): return rows.flatMap { $0.flatMap { all($0, "cell") } }
        case .footnote(let label, let nodes): return all(nodes, "footnote \(label)")
        case .text, .softBreak: return []
        case .lineBreak: return ["break"]
        case .codeSpan(let text): return ["span \(text)"]
        case .emphasis(let nodes): return all(nodes, "emphasis")
        case .strong(let nodes): return all(nodes, "strong")
        case .strike(let nodes): return all(nodes, "strike")
        case .link(let target, let nodes): return all(nodes, "link \(target)")
        case .image(let target, let nodes): return all(nodes, "image \(target)")
        case .footnoteReference(let label): return ["reference \(label)"]
        }
    }
}
