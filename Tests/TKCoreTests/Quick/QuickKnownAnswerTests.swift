import Foundation
import Testing

@testable import TKCore

/// Sentences that proselint and write-good publish with their answers, for the rules that we share. proselint's come
/// from its source distribution, which `Peers/prose-peers.sh` fetches once into the build folder; write-good's are
/// written here as facts.
@Suite("Known answers of other linters")
struct QuickKnownAnswerTests {
    private let pass: QuickPass

    init() throws { pass = try quickPass() }

    private func rules(_ text: String) -> Set<String> {
        let settings = QuickPass.Settings(strictRules: QuickPass.strictRules)
        return Set(pass.suggestions(for: DraftText(text), settings: settings).compactMap(\.rule))
    }

    /// proselint's check, our rules, and what we leave out on purpose.
    private static let shared: [(check: String, rules: Set<String>)] = [
        ("hedging", ["hedging"]),
        ("lexical_illusions", ["repeated-word"]),
        ("uncomparables", ["uncomparable"]),
        ("cliches.hell", ["cliche"]),
        ("cliches.misc", ["cliche"]),
        ("redundancy.misc", ["redundancy"]),
        ("redundancy.ras_syndrome", ["redundancy"]),
        ("weasel_words", ["weak-words"]),
    ]

    private struct Example: Decodable {
        struct Case: Decodable {
            var text: String
            /// proselint's checks that flag it when the whole program runs.
            var said: [String]
        }

        var check: String
        var bad: [Case]
        var good: [Case]
    }

    @Test(
        "Proselint's cases",
        .enabled("Python and proselint's sources are wanted (see Peers/prose-peers.sh)") {
            await Peers.proseAnswers != nil
        })
    func proselint() async throws {
        let file = try #require(await Peers.proseAnswers)
        let examples = try JSONDecoder().decode([Example].self, from: Data(contentsOf: URL(fileURLWithPath: file)))
        var (ours, theirs, total) = (0, 0, 0)
        for (check, own) in Self.shared {
            let example = try #require(examples.first { $0.check == check })
            let misses = example.bad.map(\.text).filter { rules($0).isDisjoint(with: own) }
            let said = example.bad.count { $0.said.contains { $0 == check || $0.hasPrefix(check + ".") } }
            let count = example.bad.count
            print("\(check): \(count - misses.count) of \(count) flagged, proselint \(said); not by us: \(misses)")
            ours += count - misses.count
            theirs += said
            total += count
        }
        // None of our rules flags a sentence that must not be flagged, whichever check it belongs to.
        let shared = examples.filter { example in Self.shared.contains { $0.check == example.check } }.flatMap(\.good)
        let good = examples.flatMap(\.good)
        let wrong = good.filter { !rules($0.text).isEmpty }
        let wronglyShared = shared.count { !rules($0.text).isEmpty }
        print(
            """
            proselint's cases: we flag \(ours) of \(total) that must be, proselint \(theirs); of \(shared.count) that \
            must not be we flag \(wronglyShared), proselint \(shared.count { !$0.said.isEmpty }); of the \(good.count) of \
            all its checks we flag \(wrong.count): \(wrong.map { ($0.text, rules($0.text)) }), proselint \
            \(good.count { !$0.said.isEmpty })
            """)
        #expect(wronglyShared == 0)
        #expect(Double(ours) / Double(total) >= 0.8)
    }

    @Test(
        "Write-good's negatives",
        arguments: [
            "He was indeed tall.", "There are too many of them.", "There are too few of them.", "It is a check-in.",
            "A read-only file.", "I like it only.", "We don't want just this.", "He went home early.",
        ])
    func writeGood(text: String) {
        #expect(rules(text).isEmpty)
    }

    @Test(
        "Write-good's passives with an agent",
        arguments: ["The script was killed by the shell.", "It has been told by others.", "They were beaten by us."])
    func passives(text: String) {
        #expect(rules(text) == ["passive"])
    }
}
