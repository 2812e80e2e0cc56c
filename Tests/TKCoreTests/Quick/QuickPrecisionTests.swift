import Testing

@testable import TKCore

/// What a good copy editor leaves alone, and what remains a finding.
@Suite("The quick pass: precision")
struct QuickPrecisionTests {
    private let pass: QuickPass

    init() throws { pass = try quickPass() }

    /// `rule: quote -> replacement`, one per finding.
    private func lines(_ text: String, _ syntax: DraftSyntax = .markdown) -> [String] {
        pass.suggestions(
            for: DraftText(text, syntax: syntax), settings: .init(strictRules: QuickPass.strictRules)
        ).map {
            "\($0.rule ?? "?"): \($0.originalText)" + ($0.hasReplacement ? " -> \($0.suggestedText)" : "")
        }
    }

    @Test(
        "Quotations are not the writer's to polish",
        arguments: [
            "“It is a very nice house, so to speak,” she said.", "He wrote: \"We did it in order to win.\"",
            "She asked, «was it written by the team?»",
            "“It is a very nice house, and it goes on.\n\n“It is a very nice garden, too.”",
        ])
    func speech(text: String) {
        #expect(lines(text) == [])
    }

    @Test("Slips count in direct speech, but not in words being discussed")
    func slipsInSpeech() {
        #expect(lines("“I went to the the house,” she said.") == ["repeated-word: the the -> the"])
        #expect(lines("A slip like \"the the\" is found.") == [])
        #expect(lines("A screen of 19\" is a very nice one.") == ["weak-words: very nice -> nice"])
    }

    @Test(
        "Repeated words in columns, code and verse are not slips",
        arguments: [
            "single  single lines between the cells", "always\n    always show in columns", "AND and OR join two rules",
            "use FROM from the list", "all\tAll events of it", "    Bind key key to a command of the table",
            "make\nmake install",
            "it takes a display, Window window, and its name",
            "The river runs down to the\nThe sea that waits for the\nThe ship",
        ])
    func columns(text: String) {
        #expect(lines(text, .plain) == [])
    }

    @Test("A repeated word across a line break is one")
    func acrossLines() {
        #expect(lines("We went down to the\nthe sea, and stayed.", .plain) == ["repeated-word: the\nthe -> the"])
        #expect(lines("We have have been there.", .plain) == ["repeated-word: have have -> have"])
        #expect(lines("I assure you you are quite mistaken.") == [])
    }

    @Test(
        "No wording is proposed that would not fit",
        arguments: [
            ("We must have the ability to read it.", ["wordy: must have the ability to -> must be able to"]),
            ("The vast majority of the users like it.", ["wordy: The vast majority of the -> Most of the"]),
            ("The vast majority of users like it.", ["wordy: The vast majority of -> Most"]),
            ("We test for the purpose of finding errors.", ["wordy: for the purpose of"]),
            ("It is done whether or not it is set.", []),
            ("We determine whether or not it is set.", ["wordy: determine whether or not -> determine whether"]),
            ("Thanks are in order for them.", []), ("It differs in the amount of work.", []),
            ("She thinks of the nature of women.", []), ("His endeavours were in vain.", []),
            ("She endeavoured to sleep.", ["wordy: endeavoured to -> tried to"]),
            ("Ask if it is clear that he came.", []),
            (
                "Our situation with regard to her is odd.",
                ["wordy: with regard to -> regarding"]
            ),
            ("It is basically the same file.", []), ("The argument is taken literally.", []),
            ("It really changes the file.", []), ("It is a really nice file.", ["weak-words: really nice -> nice"]),
            ("If you will wait, we come.", []), ("He is, if you will, a fool.", ["hedging: if you will"]),
            ("Press the bottom line of the screen.", []), ("He had his hands full of toys.", []),
            ("Stop prior to the tool touching the bed.", []), ("Prior to it being off, we asked.", []),
            ("Stop prior to the meeting.", ["wordy: prior to -> before"]),
            ("Stop prior to running Syncthing.", ["wordy: prior to -> before"]),
            ("It writes files, which in the end results in more.", []),
            ("We like the end results.", ["redundancy: end results -> results"]),
            ("The game is called Head Over Heels.", []), ("Be head over heels.", ["cliche: head over heels"]),
            ("He fell for her Head over heels.", ["cliche: Head over heels"]),
            ("IT HAS NO END RESULTS.", []), ("HERE ARE END RESULTS.", ["redundancy: END RESULTS -> RESULTS"]),
            ("It reduces the reach of their house in order to hide.", []),
            ("All of it is sent to the other house again, in order to save it.", []),
            ("Therefore, in order to win, we play.", ["wordy: in order to -> to"]),
            ("In order for there to be a file, write one.", []),
            ("To a guest it would seem that it works.", []),
            ("It would seem that it works.", ["hedging: It would seem that"]),
            ("It shows how you use it on a regular basis.", []),
            ("We use it on a regular basis.", ["wordy: on a regular basis -> regularly"]),
        ])
    func fitting(text: String, expected: [String]) {
        #expect(lines(text) == expected)
    }

    @Test(
        "A passive is reported only where a few known words end it",
        arguments: [
            ("The order is determined by the user.", []), ("The end is marked by a dot.", []),
            ("It was exposed by a new change that uses these names in its output.", []),
            ("It can be accessed by their name.", []), ("We saw the command being run by the shell.", []),
            ("The exception is caught by the outer block.", []),
            ("The file is then removed by the shell.", ["passive: is then removed by"]),
            ("The page is maintained by Charles Campbell.", ["passive: is maintained by"]),
        ])
    func passives(text: String, expected: [String]) {
        #expect(lines(text) == expected)
    }

    private func words(_ count: Int, _ last: String) -> String {
        (1..<count).map { $0 % 2 == 0 ? "goes" : "it" }.joined(separator: " ") + last
    }

    @Test("Brackets, series, tables and verse do not make a sentence long")
    func sentences() {
        func isLong(_ text: String) -> Bool { lines(text).contains { $0.hasPrefix("long-sentence") } }
        #expect(isLong("It " + words(55, " on.")))
        #expect(!isLong("It " + words(20, " on (") + words(20, " on) ") + words(18, " on.")))
        #expect(
            !isLong(
                "It takes " + (1...15).map { "some kind of n\($0 % 2 == 0 ? "uts" : "oodle"), " }.joined() + "it does.")
        )
        #expect(!isLong("It " + (1...22).map { _ in "goes | it " }.joined() + "on."))
        #expect(
            !isLong((1...8).map { _ in "We go down to the sea in ships\n" }.joined() + "And there is the end of it."))
        #expect(isLong("We saw it. reset-failed " + words(55, " on.")))
        #expect(!isLong("We saw it " + words(20, " there") + ". systemctl " + words(30, " on.")))
        #expect(!isLong("We saw it " + words(28, " there") + " [it](x.md).\nsystemctl " + words(30, " on.")))
        #expect(!isLong("There are\n" + (1...4).map { _ in words(14, " on,") + "\n" }.joined() + "and so on."))
    }

    @Test("In a story phrases count only in clusters, and long sentences from three times the limit")
    func narrative() {
        let story = String(repeating: "She went to him, and he told her what he had seen of his sister. ", count: 30)
        #expect(lines(story) == [])
        #expect(lines(story + "He had a very nice house.") == [])
        #expect(
            lines(story + "She was a very idle girl, but then her mother had always been a very nice woman.")
                == ["weak-words: very nice -> nice"])
        #expect(lines(story + "It was very noble, very grand.") == [])
        #expect(lines(story + "He was, so to speak, at home.") == [])
        #expect(lines(story + "She sold it in order to help, and left no stone unturned.") == [])
        func isLong(_ text: String) -> Bool { lines(text).contains { $0.hasPrefix("long-sentence") } }
        #expect(!isLong(story + "She " + words(115, " on.")))
        #expect(isLong(story + "She " + words(125, " on.")))
        #expect(lines("He had a very nice house.") == ["weak-words: very nice -> nice"])
    }

    @Test(
        "A chapter is a story with or without people; a tutorial, a diary of work and a reference are none",
        arguments: [
            ("The sky was red, and smoke had hidden the hills above the road to the river. ", true),
            ("She knows that he waits for her, and the train leaves without them tonight. ", true),
            ("I open the window, and you can see that we use the same old lock as before. ", false),
            ("We had set port 8080 in app.conf, and v2.1 was slow until main.c was built with -O2. ", false),
            ("The file is opened, its blocks are read, and each of them is sent to the server. ", false),
        ])
    func stories(sentence: String, isStory: Bool) {
        let text = String(repeating: sentence, count: 40) + "We did it in order to win."
        #expect(lines(text).contains("wordy: in order to -> to") != isStory)
    }
}
