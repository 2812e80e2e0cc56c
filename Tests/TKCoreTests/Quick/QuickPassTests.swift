import Platform
import TestSupport
import Testing

@testable import TKCore

/// The quick pass with the data files of the source tree, which tests find wherever they are built.
func quickPass() throws -> QuickPass {
    try QuickPass(resources: TKResources(folder: Checkout.root.appending("Sources/Core/TK/TKCore/Resources")))
}

@Suite("The quick pass")
struct QuickPassTests {
    let pass: QuickPass

    init() throws { pass = try quickPass() }

    private func found(
        _ text: String, _ settings: QuickPass.Settings = .init(strictRules: QuickPass.strictRules)
    ) -> [Suggestion] {
        pass.suggestions(for: DraftText(text), settings: settings)
    }

    /// `rule: quote -> replacement`, one per finding.
    private func lines(
        _ text: String, _ settings: QuickPass.Settings = .init(strictRules: QuickPass.strictRules)
    ) -> [String] {
        found(text, settings).map {
            "\($0.rule ?? "?"): \($0.originalText)" + ($0.hasReplacement ? " -> \($0.suggestedText)" : "")
        }
    }

    @Test(
        "Findings have their quote and a replacement",
        arguments: [
            ("The report was written by the team.", ["passive: was written by"]),
            ("It has not yet been fully checked by anybody.", ["passive: been fully checked by"]),
            ("It's made by hand in Wales by experts.", []),
            ("We did it in order to win.", ["wordy: in order to -> to"]),
            ("In order to win we did it.", ["wordy: In order to -> To"]),
            ("IN ORDER TO WIN", ["wordy: IN ORDER TO -> TO"]),
            ("The system can be utilized to process data", ["wordy: utilized -> used"]),
            ("It is a very old house.", ["weak-words: a very old -> an old"]),
            ("It is an extremely nice house.", ["weak-words: an extremely nice -> a nice"]),
            ("It is a very useful thing.", ["weak-words: very useful -> useful"]),
            ("It is a very honest man.", ["weak-words: a very honest -> an honest"]),
            ("Very good work came out of it.", ["weak-words: Very good -> Good"]),
            ("In order\nto win *in order to* lose.", ["wordy: In order\nto -> To", "wordy: in order to -> to"]),
            ("It should be noted that, the end is near.", ["wordy: It should be noted that, the -> The"]),
            ("Paris in the the spring.", ["repeated-word: the the -> the"]),
            ("Paris in the\nthe spring.", ["repeated-word: the\nthe -> the"]),
            ("Please enter your PIN number.", ["redundancy: PIN number -> PIN"]),
            ("This is more unique.", ["uncomparable: more unique -> unique"]),
            ("She left no stone unturned in it.", ["cliche: no stone unturned"]),
            ("He was, so to speak, at home.", ["hedging: so to speak"]),
        ])
    func findings(text: String, expected: [String]) {
        #expect(lines(text) == expected)
    }

    @Test(
        "Good text has no findings",
        arguments: [
            "This is indeed a good thing.", "He was pleased by the way.", "It is used by default.",
            "It is done by hand.", "The file is created by running make.", "It was finished by the time we came.",
            "It grew by a factor of two, and was reduced by the same amount.", "It was read by 2020.",
            "There were too many people and too few chairs.", "The very same man.", "Not very good.",
            "She had had dessert. I know that that is right.", "Bye bye. No, no. Well, well.",
            "Duran Duran played in Walla Walla.", "The long long type of C; a big, big house.", "Use the `the` the.",
            "See [the](https://very.org) the end.", "She had coffee at the Foo-bar bar.", "A check-in is free.",
            "It has a read-only mode.", "Run `in order to` now.", "We were there at the very least.",
            "Green greenery and the theory.", "Play the game - play the game.", "She sat at the table. The the",
            "Die Die ist der der.",
        ].dropLast(2))
    func fine(text: String) {
        #expect(lines(text) == [])
    }

    @Test("Nothing is found in code, URLs, front matter, quotations and comments")
    func masked() {
        let bad = "in order to utilize the the very best of it, which was written by them"
        let text = """
            ---
            title: \(bad)
            ---
            # \(bad.prefix(0))Title

            ```
            \(bad)
            ```

                \(bad)

            Text `\(bad)` and <!-- \(bad) --> more <span title="\(bad)">here</span>.
            See [a page](https://x.y "\(bad)") and $very x$.

            > \(bad)

            <div>
            \(bad)
            </div>

            [x]: https://x.y '\(bad)'
            """
        #expect(lines(text) == [])
    }

    @Test("A sentence of 51 words is long; one of 41 is if it is tangled, one of 40 is not")
    func longSentences() {
        func sentence(_ count: Int) -> String {
            "It " + (2...count).map { $0 % 2 == 0 ? "goes" : "there" }.joined(separator: " ") + "."
        }
        func rules(_ text: String) -> [String] { found(text).compactMap(\.rule).filter { $0 == "long-sentence" } }
        #expect(rules(sentence(40)) == [])
        #expect(rules(sentence(50)) == [])
        #expect(rules(sentence(51)) == ["long-sentence"])
        #expect(rules("The file is read, it " + sentence(36).dropFirst(3)) == [])
        for beginning in [
            "The file is read, it", "For this you need a key, you", "On Monday we can see it, however",
            "It goes where that goes if it", "It goes (as far as we know) and",
        ] {
            #expect(rules(beginning + " " + sentence(41).dropFirst(3)) == ["long-sentence"], "\(beginning)")
        }
        for beginning in [
            "If it is read, it", "In most cases, you", "Where we need it, this", "The file is read, and it",
            "The file is read; it", "It goes (mostly) where that", "For each file, they",
        ] {
            #expect(rules(beginning + " " + sentence(42).dropFirst(3)) == [], "\(beginning)")
        }
        #expect(rules(sentence(30).dropLast() + "; " + sentence(25)) == [])
        #expect(rules(sentence(30).dropLast() + "; " + sentence(31)) == ["long-sentence"])
        #expect(rules("See e.g. the one. " + sentence(39)) == [])
        #expect(found(sentence(51)).first?.originalText == sentence(51))
        #expect(rules("# " + sentence(60)) == [])
    }

    @Test("A draft full of passives gets one finding about them")
    func density() {
        let text = String(repeating: "The file was opened. It was then read. ", count: 6)
        #expect(found(text).filter { $0.rule == "passive-density" }.count == 1)
        #expect(found(text + String(repeating: "We like it. They do too. ", count: 20)).isEmpty)
    }

    @Test("Rules about matters of taste are off, and each is on by its name")
    func strict() {
        let text = String(repeating: "It is a very old house, and was built by us. ", count: 12)
        func rules(_ strict: Set<String>) -> Set<String> {
            Set(found(text, .init(strictRules: strict)).compactMap(\.rule))
        }
        #expect(rules([]) == [])
        // This pass has no dictionary.
        let strict = QuickPass.strictRules.subtracting([QuickPass.unknownWordRule])
        for rule in strict { #expect(rules([rule]) == [rule]) }
        #expect(rules(QuickPass.strictRules) == strict)
        #expect(QuickPass.strictRules.isSubset(of: pass.rules.map(\.id)))
    }

    @Test("A role adds its own rules, and only its own")
    func roles() {
        let text = "Click here to simply leverage our world-class product. I don't mind."
        #expect(lines(text) == [])
        #expect(lines(text, .init(roles: ["technical_writer"])) == ["technical_writer.easy: simply"])
        #expect(lines(text, .init(roles: ["ux_writer"])) == ["ux_writer.link: Click here"])
        #expect(lines(text, .init(roles: ["product_executive"])) == ["product_executive.jargon: leverage"])
        #expect(lines(text, .init(roles: ["copywriter"])) == ["copywriter.empty: world-class"])
        #expect(lines(text, .init(roles: ["academic"])) == ["academic.contraction: don't -> do not"])
        #expect(lines("[Click here](https://x.y)", .init(roles: ["ux_writer"])) == ["ux_writer.link: Click here"])
        #expect(lines("I don’t mind.", .init(roles: ["academic"])) == ["academic.contraction: don’t -> do not"])
    }

    @Test("A rule can be ignored, in settings and in the draft")
    func ignoring() {
        let text = "We did it in order to win the the cup."
        #expect(lines(text, .init(ignoredRules: ["wordy"])) == ["repeated-word: the the -> the"])
        #expect(lines("<!-- tk: ignore wordy -->\n" + text) == ["repeated-word: the the -> the"])
        #expect(lines("<!-- tk: off -->\n\n" + text) == [])
        #expect(lines("<!-- tk: off -->\n\n\(text)\n\n<!-- tk: on -->\n\n\(text)").count == 2)
    }

    @Test("A rule whose findings are always skipped mutes itself")
    func muting() {
        #expect(
            RuleAnswers.mutedRules([
                "never": RuleAnswers(skipped: 8), "seldom": RuleAnswers(accepted: 1, skipped: 20),
                "new": RuleAnswers(skipped: 7), "sometimes": RuleAnswers(accepted: 1, skipped: 10),
                "liked": RuleAnswers(accepted: 5, skipped: 50),
            ]) == ["never", "seldom"])
    }

    @Test("Every quote is at its range, findings are in order, and ids are unique and stable")
    func contract() {
        let text =
            "We utilize it.\r\n\r\nWe utilize it.\r\n\r\nWe 👨‍👩‍👧 utilize it in order to win; the the end was made by us."
        let draft = DraftText(text)
        let first = found(text)
        #expect(first.count == 6)
        for finding in first {
            #expect(draft[finding.anchor.range] == finding.originalText)
            #expect(finding.advisorID == Suggestion.quickPass)
            #expect(AnchorResolver(draft).resolve(finding.anchor) == .unchanged(finding.anchor.range))
        }
        #expect(first.map(\.anchor.start) == first.map(\.anchor.start).sorted())
        #expect(Set(first.map(\.id)).count == first.count)
        #expect(found(text).map(\.id) == first.map(\.id))
        let moved = found("A new first paragraph.\n\n" + text)
        #expect(Set(first.dropFirst().map(\.id)).isSubset(of: Set(moved.map(\.id))))
    }

    @Test("Every rule has a unique name, and every rule's role exists")
    func names() {
        #expect(Set(pass.rules.map(\.id)).count == pass.rules.count)
        let roles: Set = [
            "general", "technical_writer", "editor", "creative_writer", "ux_writer", "product_executive",
            "business_analyst", "recent_graduate", "academic", "data_scientist", "copywriter",
        ]
        #expect(Set(pass.rules.compactMap(\.role)).isSubset(of: roles))
    }

    @Test("No replacement causes another one")
    func replacementsAreFine() {
        for rule in pass.lexicon.rules {
            for case let (phrase, replacement?) in rule.phrases where !replacement.isEmpty {
                #expect(
                    !lines("we \(replacement) it").contains { $0.hasPrefix("\(rule.id):") },
                    "\(phrase) -> \(replacement)")
            }
        }
    }

    @Test(
        "Odd texts do no harm",
        arguments: ["", "\n", "\r\n\r\n", "\u{0}", "the the", "...", "é é", "👍🏽 👍🏽", "\u{301}the the\u{301}"])
    func oddTexts(text: String) {
        for finding in found(text) { #expect(DraftText(text)[finding.anchor.range] == finding.originalText) }
    }
}
