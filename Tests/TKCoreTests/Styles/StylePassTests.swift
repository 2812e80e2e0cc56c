import Foundation
import Platform
import TestSupport
import Testing

@testable import TKCore

/// Right by Vale's documentation of each kind of rule.
@Suite("House rules")
struct StylePassTests {
    private let folder: TemporaryFolder
    private let quick: QuickPass

    init() throws {
        folder = try TemporaryFolder("styles")
        quick = try quickPass()
    }

    private func library(_ settings: String = "[*]\nBasedOnStyles = House\n") throws -> StyleLibrary {
        try StyleLibrary(
            settings: folder.write(".vale.ini", "StylesPath = styles\nMinAlertLevel = suggestion\n" + settings))
    }

    /// `Rule: quote -> replacement`, one per finding.
    private func lines(
        _ text: String, _ library: StyleLibrary, file: BytePath = "draft.md", checker: (any WordChecker)? = nil
    ) -> [String] {
        StylePass(library, quick: quick, checker: checker)
            .review(DraftText(text), file: folder.path.appending(file)).suggestions.map {
                "\($0.rule ?? "?"): \($0.originalText)" + ($0.hasReplacement ? " -> \($0.suggestedText)" : "")
            }
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        var rule: String
        var text: String
        var expected: [String]
        var testDescription: String { text }

        init(_ rule: String, _ text: String, _ expected: [String]) {
            self.rule = rule
            self.text = text
            self.expected = expected
        }
    }

    static let kinds = [
        Kind("extends: existence\ntokens: [very, 'ha(?:s|d)']", "A very, veryx has.", ["very", "has"]),
        Kind("extends: existence\nignorecase: true\ntokens: [will]", "Will it? `will` *will*.", ["Will", "will"]),
        Kind("extends: existence\nnonword: true\ntokens: ['\\.\\.\\.']", "And so on... it went", ["..."]),
        Kind(
            "extends: existence\nraw: ['\\b(?:is|are)\\b\\s*']\ntokens: ['\\w+ed']", "It is *used* here.",
            ["is *used"]),
        Kind(
            "extends: existence\nexceptions: [auto-save]\ntokens: ['auto-\\w+']", "auto-save auto-fill", ["auto-fill"]),
        Kind("extends: existence\nlimit: 1\ntokens: [so]", "so so\n\nso", ["so"]),
        // A lookbehind without a limit, which ICU does not have.
        Kind("extends: existence\nnonword: true\ntokens: ['(?<!:[^ ]+?):\\s[A-Z]']", "See: This", [": T"]),
        Kind(
            "extends: existence\nnonword: true\naction: {name: edit, params: [regex, '-', ' ']}\n"
                + "tokens: ['\\b\\w+ly-\\w+\\b']", "A newly-made thing", ["newly-made -> newly made"]),
        Kind(
            "extends: existence\nignorecase: true\naction: {name: remove}\ntokens: [really]",
            "Really, it is really good.", ["Really", "really  -> "]),
        Kind(
            "extends: substitution\nignorecase: true\nswap: {utilize: use, 'e-?mail': message|note}",
            "Utilize e-mail, and use it.", ["Utilize -> Use", "e-mail -> message"]),
        Kind(
            "extends: substitution\nswap: {'(\\w+) et al': $1 and others}", "Smith et al wrote",
            ["Smith et al -> Smith and others"]),
        Kind("extends: substitution\nswap: {Wifi: Wi-Fi}", "wifi or Wifi or Wi-Fi", ["Wifi -> Wi-Fi"]),
        Kind(
            "extends: occurrence\nscope: sentence\nmax: 3\ntoken: '\\b(\\w+)\\b'", "One two three. One two three four.",
            ["One two three four"]),
        Kind("extends: repetition\nalpha: true\ntokens: ['[^\\s]+']", "It is is 1 1 `a` `a`.", ["is is -> is"]),
        Kind(
            "extends: consistency\neither: {advisor: adviser}", "An advisor.\n\nAn adviser, an advisor.", ["adviser"]),
        Kind(
            "extends: conditional\nfirst: '\\b([A-Z]{3,5})\\b'\nsecond: '(?:\\b[A-Z][a-z]+ )+\\(([A-Z]{3,5})\\)'\n"
                + "exceptions: [API]", "The API. World Health Organization (WHO), WHO, DAFB.", ["DAFB"]),
        Kind(
            "extends: capitalization\nscope: heading\nmatch: $sentence\nexceptions: [Linux]",
            "# A Title In Capitals\n\n# Files on Linux\n\n# small\n\nNo Heading Here", ["A Title In Capitals", "small"]),
        Kind(
            "extends: capitalization\nscope: heading.h2\nmatch: $title",
            "# no title\n\n## A Walk in the Park\n\n## a walk", ["a walk"]),
        Kind("extends: spelling", "A tset of `tset` API2.", ["tset -> test"]),
        Kind("extends: existence\nscope: table.header\ntokens: [old]", "| old |\n|---|\n| old |\n\nold", ["old"]),
        Kind("extends: existence\nscope: [list, heading]\ntokens: [old]", "old\n\n- old\n\n# old", ["old", "old"]),
        Kind("extends: existence\nscope: paragraph\ntokens: [old]", "old\n\n- old\n\n# old", ["old"]),
        Kind("extends: existence\nscope: ~blockquote & ~heading\ntokens: [old]", "# old\n\nold\n\n> old", ["old"]),
        Kind("extends: existence\nscope: blockquote\ntokens: [old, an]", "old\n\n> an\n> old", ["an", "old"]),
        Kind("extends: existence\nscope: alt\ntokens: [old]", "old ![an old one](old.png)", ["old"]),
        Kind("extends: existence\nscope: text.md\ntokens: [old]", "old", ["old"]),
        Kind("extends: existence\nscope: text.rst\ntokens: [old]", "old", []),
        Kind("extends: existence\nscope: ~heading\ntokens: [old]", "# old\n\nold", ["old"]),
        Kind("extends: existence\nscope: raw\nnonword: true\ntokens: ['\\]\\(http:']", "[a](http://b)", ["](http:"]),
        Kind("extends: existence\ntokens: ['[[(]?odd[&\\w-]*']", "odd", ["odd"]),
        // Enough phrases to be looked up by their letters, among them patterns that cannot be; the first one counts.
        Kind(
            "extends: existence\nignorecase: true\ntokens: [at best, at worst, in all, '(?:of|on) the', in fact, "
                + "in a, 'i\\w+ short', in brief, in general, 'at (?:least|most)', 'best|worst', 'colou?r']",
            "In fact, at least. In short, on the color: at best the worst in general.",
            ["In fact", "at least", "In short", "on the", "color", "at best", "worst", "in general"]),
    ]

    @Test("Each kind of rule finds what Vale documents", arguments: kinds)
    func findings(kind: Kind) throws {
        try folder.write("styles/House/Rule.yml", "message: \"'%s'\"\n" + kind.rule + "\n")
        let library = try library()
        #expect(library.problems == [])
        #expect(lines(kind.text, library, checker: FewWords()) == kind.expected.map { "House.Rule: \($0)" })
    }

    private struct FewWords: WordChecker {
        func isCorrect(_ word: String) -> Bool { word != "tset" }
        func proposals(_ word: String) -> [String] { ["test"] }
    }

    @Test("The work of rules grows no faster than the draft")
    func isLinear() throws {
        var random = SeededGenerator(for: "work of styles")
        let words = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
        for round in 0..<12 {
            let tokens = words.shuffled(using: &random).prefix(Int.random(in: 2...8, using: &random))
            let scope = ["text", "raw", "summary", "sentence"][round % 4]
            let list = (tokens + (round % 3 == 0 ? ["'(?:nine|ten)x?'"] : [])).joined(separator: ", ")
            try folder.write(
                "styles/House/Rule.yml", "extends: existence\nmessage: x\nscope: \(scope)\ntokens: [\(list)]\n")
            let pass = StylePass(try library(), quick: quick)
            let unit = (0..<4).map { _ in (words.randomElement(using: &random) ?? "") + " " }.joined()
            let steps = [100, 200].map {
                pass.review(DraftText(String(repeating: unit, count: $0)), file: "draft.md").steps
            }
            #expect(steps[1] <= 2 * steps[0] + 2_000, "\(scope) [\(list)] in \(unit): \(steps)")
        }
        // Proposals for which the draft is read again.
        try folder.write("styles/House/Rule.yml", "extends: substitution\nmessage: x\nswap: {ten: '10'}\n")
        let pass = StylePass(try library(), quick: quick)
        let found = [50, 100].map {
            pass.review(DraftText(String(repeating: "All ten.\n\n", count: $0)), file: "draft.md")
        }
        #expect(found[1].suggestions.count == 100 && found[1].suggestions[0].suggestedText == "10")
        #expect(found[1].steps <= 2 * found[0].steps + 2_000, "\(found.map(\.steps))")
    }

    @Test(
        "Settings choose rules by file, and the last word counts",
        arguments: [
            ("[*.md]\nBasedOnStyles = House\n", "draft.md", ["House.One: one", "House.Two: two"]),
            ("[*.md]\nBasedOnStyles = House\n", "draft.txt", []),
            ("MinAlertLevel = warning\n[*]\nBasedOnStyles = House # all\n", "draft.md", ["House.One: one"]),
            (
                "[*]\nBasedOnStyles = Vale, \\\n  House\nHouse.Two = NO ; for now\n", "draft.md", ["House.One: one"]
            ),
            ("[*]\nBasedOnStyles = House\nHouse.One = NO\n", "draft.md", ["House.Two: two"]),
            ("[*]\nHouse.One = YES\n", "draft.md", ["House.One: one"]),
            ("MinAlertLevel = error\n[*]\nBasedOnStyles = House\nHouse.Two = error\n", "draft.md", ["House.Two: two"]),
            ("[*]\nBasedOnStyles = House\n[notes/*]\nHouse.One = NO\n", "notes/draft.md", ["House.Two: two"]),
            ("[*]\nBasedOnStyles = House\nTokenIgnores = (o\\w{1,2})\n", "draft.md", ["House.Two: two"]),
            ("Vocab = Own\n[*]\nBasedOnStyles = Vale\n", "draft.md", ["Vale.Terms: own -> Own", "Vale.Avoid: two"]),
        ])
    func settings(settings: String, file: String, expected: [String]) throws {
        try folder.write("styles/House/One.yml", "extends: existence\nmessage: one\ntokens: [one]\n")
        try folder.write("styles/House/Two.yml", "extends: existence\nmessage: two\nlevel: suggestion\ntokens: [two]\n")
        try folder.write("styles/config/vocabularies/Own/accept.txt", "Own\n")
        try folder.write("styles/config/vocabularies/Own/reject.txt", "# a comment\ntwo\n")
        let library = try library(settings)
        #expect(library.problems == [])
        #expect(lines("one, own and two", library, file: BytePath(file)) == expected)
    }

    @Test("Comments silence rules")
    func comments() throws {
        try folder.write("styles/House/One.yml", "extends: existence\nmessage: one\ntokens: [one]\n")
        let text = """
            <!-- vale off -->

            one

            <!-- vale on -->

            <!-- vale House.One = NO -->

            one

            <!-- vale House.One = YES -->

            <!-- tk: ignore House.One -->
            one

            only one
            """
        let found = StylePass(try library(), quick: quick).review(DraftText(text), file: "draft.md")
        #expect(found.suggestions.map(\.anchor.line) == [16])
    }

    @Test(
        "A rule that cannot be used is named with its line, and the others are in force",
        arguments: [
            ("extends: script\nmessage: x\n", 1, "script"), ("extends: sequence\nmessage: x\n", 1, "sequence"),
            ("extends: existence\nmessage: x\ntokens:\n  - fine\n  - 'wrong('\n", 5, "wrong("),
            ("extends: existence\nmessage: x\nscope: link\ntokens: [a]\n", 3, "link"),
            ("extends: metric\nmessage: x\n", 1, "metric"),
            ("extends: spelling\nmessage: x\nignore: none.txt\n", 3, "none.txt"),
            ("extends: substitution\nmessage: x\nswap:\n  fine: a\n  a(b: c\n", 5, "a(b"),
            ("extends: existence\nmessage: x\nlevel: loud\ntokens: [a]\n", 3, "loud"),
            ("extends: [existence\n", 1, "YAML"),
        ])
    func problems(rule: String, line: Int, word: String) throws {
        try folder.write("styles/House/Bad.yml", rule)
        try folder.write("styles/House/One.yml", "extends: existence\nmessage: one\ntokens: [one]\n")
        let library = try library()
        let problem = try #require(library.problems.first)
        #expect(library.problems.count == 1)
        #expect(problem.path == folder.path.appending("styles/House/Bad.yml"))
        #expect(word == "YAML" || problem.line == line)
        #expect(problem.message.contains(word))
        #expect(lines("one", library) == ["House.One: one"])
    }

    @Test("A pattern that would take forever ends, and is named")
    func endless() throws {
        try folder.write("styles/House/Bad.yml", "extends: existence\nmessage: x\ntokens: ['(?:a+)+b']\n")
        try folder.write("styles/House/One.yml", "extends: existence\nmessage: one\ntokens: [one]\n")
        let text = String(repeating: "a", count: 5_000) + " one"
        let found = StylePass(try library(), quick: quick).review(DraftText(text), file: "draft.md")
        #expect(found.suggestions.map(\.rule) == ["House.One"])
        #expect(found.notices.count == 1)
        #expect(found.notices.first?.contains("House.Bad") ?? false)
    }

    @Test(
        "Messages are worded like Vale's",
        arguments: [
            (
                "extends: substitution\nmessage: Use '%s' for '%s'.\nswap: {phone: cell|mobile}",
                "Use 'cell' or 'mobile' for 'phone'."
            ),
            (
                "extends: substitution\nmessage: Use '%s' for '%s'.\nignorecase: true\nswap: {phone: cell}",
                "Use 'cell' for 'Phone'."
            ),
            (
                "extends: substitution\nmessage: Use '%s' for '%s'.\nignorecase: true\ncapitalize: true\nswap: {phone: cell}",
                "Use 'Cell' for 'Phone'."
            ),
            (
                "extends: existence\nmessage: \"100%% '%s' %[1]s\"\nignorecase: true\nnonword: true\ntokens: ['phone ']",
                "100% 'Phone ' Phone "
            ),
        ])
    func messages(rule: String, expected: String) throws {
        try folder.write("styles/House/Rule.yml", rule + "\n")
        let text = expected.contains("Phone") ? "Phone  me." : "The phone."
        let found = StylePass(try library(), quick: quick).review(DraftText(text), file: "draft.md")
        #expect(found.suggestions.map(\.reasoning) == [expected])
    }

    @Test("A rule's lists of words and the project's own are spelled correctly")
    func words() throws {
        try folder.write("styles/House/Rule.yml", "extends: spelling\nmessage: \"'%s'\"\nignore: terms.txt\n")
        try folder.write("styles/terms.txt", "Foobar\n")
        try folder.write("styles/config/ignore/more/names.txt", "bazqux\n")
        struct Nothing: WordChecker {
            func isCorrect(_ word: String) -> Bool { false }
            func proposals(_ word: String) -> [String] { [] }
        }
        let pass = StylePass(
            try library("[*]\nHouse.Rule = YES\nVale.Spelling = YES\n"), quick: quick, checker: Nothing())
        let found = pass.review(DraftText("foobar bazqux own"), file: "draft.md", knownWords: ["Own"])
        #expect(
            found.suggestions.map { "\($0.rule ?? ""): \($0.originalText)" }
                == ["Vale.Spelling: foobar", "House.Rule: bazqux"])
    }

    @Test("Styles are read again when one of their files has changed, or a new one is there")
    func changes() throws {
        let styles = ProjectStyles(quick: quick)
        func rules() throws -> [String] {
            let (pass, _) = try #require(try styles.pass(for: folder.path.appending("draft.md")))
            return pass.review(DraftText("one two"), file: folder.path.appending("draft.md")).suggestions
                .map(\.originalText)
        }
        try folder.write(".vale.ini", "StylesPath = styles\n[*]\nBasedOnStyles = House\n")
        try folder.write("styles/House/One.yml", "extends: existence\nmessage: x\ntokens: [one]\n")
        #expect(try rules() == ["one"])
        try folder.write("styles/House/One.yml", "extends: existence\nmessage: x\ntokens: [two, three]\n")
        #expect(try rules() == ["two"])
        try folder.write("styles/House/Other.yml", "extends: existence\nmessage: x\ntokens: [one]\n")
        #expect(try rules() == ["one", "two"])
    }

    /// Google, Microsoft, proselint and write-good as published, each a folder with a style of that name.
    private static let published = ProcessInfo.processInfo.environment["STEWARD_STYLES"]

    @Test(
        "Published styles are read without a complaint",
        .enabled(if: published != nil, "STEWARD_STYLES names no folder with styles as published"),
        arguments: ["Google", "Microsoft", "proselint", "write-good"])
    func publishedStyles(style: String) throws {
        let path = BytePath(Self.published ?? "").appending(style)
        let settings = try folder.write(".vale.ini", "StylesPath = \(path)\n[*]\nBasedOnStyles = \(style)\n")
        let library = try StyleLibrary(settings: settings)
        #expect(library.problems == [])
        #expect(library.rules.count > 5)
    }

    @Test("Two rules about the same words stay two findings")
    func overlapping() throws {
        try folder.write("styles/House/One.yml", "extends: existence\nmessage: one\ntokens: [one]\n")
        try folder.write("styles/House/Two.yml", "extends: existence\nmessage: two\ntokens: [one two]\n")
        let draft = DraftText("one two")
        let found = StylePass(try library(), quick: quick).review(draft, file: "draft.md").suggestions
        #expect(SuggestionMerger.merge(found, of: draft).map(\.suggestion.rule) == ["House.One", "House.Two"])
    }

    @Test("Settings are found above a draft")
    func nearest() throws {
        let settings = try folder.write(".vale.ini", "")
        let draft = try folder.write("notes/deep/draft.md", "one")
        #expect(try StyleLibrary.settings(for: draft) == settings)
        let nearer = try folder.write("notes/_vale.ini", "")
        #expect(try StyleLibrary.settings(for: draft) == nearer)
    }
}
