import TestSupport
import Testing

@testable import TKCore

@Suite("The quick pass and languages", .timeLimit(.minutes(30)))
struct LanguageTests {
    private let pass: QuickPass

    init() throws { pass = try quickPass() }

    private func lines(_ text: String, _ syntax: DraftSyntax = .markdown) -> [String] {
        pass.suggestions(
            for: DraftText(text, syntax: syntax), settings: .init(strictRules: QuickPass.strictRules)
        ).map {
            "\($0.rule ?? "?"): \($0.originalText)" + ($0.hasReplacement ? " -> \($0.suggestedText)" : "")
        }
    }

    @Test(
        "English rules say nothing about other languages",
        arguments: [
            "On utilise ce programme pour traiter les données, et vous vous en servez chaque jour.",
            "Les élèves utilise souvent ce logiciel pour écrire, et nous nous en réjouissons.",
            "Die Leute, die die Tür geöffnet haben, gingen weiter, weil sie sie nicht sahen.",
            "Er sagte, dass die Frauen, die die Kinder betreuen, müde sind.",
            "Hij zegt dat dat niet kan, en dat ze het niet weet.",
            "Il libro che si si legge in fretta non resta nella memoria di nessuno.",
        ])
    func others(_ text: String) { #expect(lines(text) == []) }

    @Test("A passage in another language is recognised in an English draft")
    func passage() {
        let english = "The house stood at the end of the road, and nobody had been there for a long time."
        let french = "Vous vous souvenez que l'on utilise encore cette vieille maison pour les réunions."
        #expect(lines("\(english)\n\n\(french)\n\nWe did it in order to win.\n") == ["wordy: in order to -> to"])
    }

    @Test(
        "Front matter overrides the detected language",
        arguments: [
            ("---\nlang: fr\n---\n\nWe did it in order to win.\n", [String]()),
            ("---\nlanguage: en-GB\n---\n\nWe did it in order to win.\n", ["wordy: in order to -> to"]),
            ("+++\nlang = \"de\"\n+++\n\nWe did it in order to win.\n", []),
        ])
    func stated(text: String, expected: [String]) { #expect(lines(text) == expected) }

    @Test(
        "Repeated words are a slip by each language's own rules",
        arguments: [
            (
                "---\nlang: fr\n---\n\nIl est dans dans la maison, et vous vous trompez.\n",
                ["repeated-word: dans dans -> dans"]
            ),
            ("---\nlang: de\n---\n\nSie ging mit mit ihm, die die Tür schloss.\n", ["repeated-word: mit mit -> mit"]),
            ("---\nlang: fi\n---\n\nSe se on on hyvä hyvä.\n", []),
        ])
    func repeated(text: String, expected: [String]) { #expect(lines(text) == expected) }

    @Test(
        "Under a negation a degree word is a remark, and a double one is meant",
        arguments: [
            ("It is not absolutely required.", ["weak-words: absolutely"]),
            ("It isn't absolutely necessary.", ["weak-words: absolutely"]),
            ("Nothing here is extremely large.", ["weak-words: extremely"]),
            ("It is absolutely required.", ["weak-words: absolutely required -> required"]),
            ("It is not here, but it is extremely large.", ["weak-words: extremely large -> large"]),
        ])
    func negated(text: String, expected: [String]) { #expect(lines(text) == expected) }

    @Test(
        "“About” is not proposed where it would mean “nearly”",
        arguments: [
            ("We agree at least in regards to the cost.", ["wordy: in regards to"]),
            ("We wrote in regards to 5 houses.", ["wordy: in regards to"]),
            ("We wrote in regards to the cost.", ["wordy: in regards to -> about"]),
        ])
    func about(text: String, expected: [String]) { #expect(lines(text) == expected) }
}
