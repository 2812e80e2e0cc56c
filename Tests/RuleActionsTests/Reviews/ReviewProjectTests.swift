import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// The action `review` in a project with styles and lists of words of its own.
@Suite("Reviews in a project") struct ReviewProjectTests {
    private static let draft: BytePath = "dropbox/Idea 1.md"
    private static let sidecar: BytePath = "dropbox/Idea 1.review.md"
    private let scene: ActionScene

    init() throws {
        scene = try ActionScene()
        try scene.home.write("dropbox/.vale.ini", "StylesPath = styles\n[*]\nBasedOnStyles = House, Vale\n")
        try scene.home.write(
            "dropbox/styles/House/One.yml",
            "extends: substitution\nmessage: Use '%s' instead of '%s'.\nswap: {one: two}\n")
    }

    private func open(dictionaries: BytePath? = nil) throws -> ActionWorld {
        var options = ActionWorld.Options()
        options.models = dictionaries.map { ["DICPATH": $0.text] } ?? [:]
        return try scene.open(options)
    }

    @Test("A finding of a style in .vale.ini is taken like any other") func taken() async throws {
        try scene.home.write(Self.draft, "Say one word.\n")
        let world = try open()
        try await world.run("review", on: "Idea 1.md")
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("1 finding.") && text.contains("** styles/House.One · fix · "), "\(text)")
        try write(scene.path(Self.sidecar), ReviewSample.answer(text, ["x"]))
        try await world.run("review", on: "Idea 1.review.md")
        #expect(try scene.home.read(Self.draft) == "Say two word.\n")
        #expect(try scene.home.read(Self.sidecar).contains("1 accepted."))
    }

    @Test("A rule that runs out of its time is named in the sidecar, and once in the log") func endless() async throws {
        try scene.home.write(
            "dropbox/styles/House/Bad.yml", "extends: existence\nmessage: x\ntokens: ['(?:a+)+b']\n")
        let endless = String(repeating: "a", count: 5_000) + "\n"
        let words = "House rules: House.Bad ran out of its time"
        let world = try open()
        try scene.home.write(Self.draft, endless)
        var deed = try await world.run("review", on: "Idea 1.md")
        #expect(deed.receipt.summary.contains(words), "\(deed.receipt.summary)")
        #expect(try FileStatus.of(scene.path(Self.sidecar)) == nil)
        try write(scene.path(Self.draft), "Say one word.\n\n" + endless)
        deed = try await world.run("review", on: "Idea 1.md", step: "other.0")
        #expect(!deed.receipt.summary.contains(words), "\(deed.receipt.summary)")
        #expect(try scene.home.read(Self.sidecar).contains("> \(words)"))
        try write(scene.path(Self.draft), "Say one word.\n")
        try await world.run("review", on: "Idea 1.md", step: "third.0")
        #expect(try !scene.home.read(Self.sidecar).contains(words))
    }

    @Test("The user's words and the project's are correct, and a new one counts at the next save")
    func words() async throws {
        try scene.home.write("dictionaries/xx_XX.aff", "SET UTF-8\n")
        try scene.home.write("dictionaries/xx_XX.dic", "1\neins\n")
        try scene.home.write(".tk/words.txt", "zwei\n")
        try scene.home.write("dropbox/.tk/words.txt", "drei\n")
        try scene.home.write(Self.draft, "---\nlang: xx\n---\neins zwei drei vier\n")
        let world = try open(dictionaries: scene.path("dictionaries"))
        try await world.run("review: { strict-style: true }", on: "Idea 1.md")
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("2 findings."), "\(text)")
        #expect(text.contains("** quick/unknown-word · ") && text.contains("** styles/Vale.Spelling · "), "\(text)")
        #expect(text.occurrences(of: "  > vier\n") == 2, "\(text)")
        try write(scene.path("dropbox/.tk/words.txt"), "drei\nvier\n")
        try await world.run("review: { strict-style: true }", on: "Idea 1.md", step: "other.0")
        #expect(try scene.home.read(Self.sidecar).contains("No findings."))
    }

    @Test("A missing dictionary is named with its package in the sidecar, and once in the log")
    func missing() async throws {
        try scene.home.write(Self.draft, "---\nlang: yy\n---\nSay one word.\n")
        let world = try open(dictionaries: scene.path("dictionaries"))
        let deed = try await world.run("review", on: "Idea 1.md")
        let text = try scene.home.read(Self.sidecar)
        #expect(deed.receipt.summary.occurrences(of: "hunspell-yy") == 1, "\(deed.receipt.summary)")
        #expect(text.contains("> Spelling is not checked: ") && text.occurrences(of: "hunspell-yy") == 1, "\(text)")
        try write(scene.path(Self.draft), "---\nlang: yy\n---\nSay one word more.\n")
        let again = try await world.run("review", on: "Idea 1.md", step: "other.0")
        #expect(!again.receipt.summary.contains("hunspell-yy"))
        #expect(try scene.home.read(Self.sidecar).contains("hunspell-yy"))
    }

    @Test("What Vale reports by the same styles is one finding with both names") func vale() async throws {
        try scene.home.write(Self.draft, "Say one word.\n")
        func alert(_ rule: String, _ span: String, _ words: String) -> String {
            "{\"Action\":{\"Name\":\"\",\"Params\":null},\"Span\":\(span),\"Check\":\"\(rule)\",\"Description\":\"\","
                + "\"Link\":\"\",\"Message\":\"Vale says so.\",\"Severity\":\"warning\",\"Match\":\"\(words)\","
                + "\"Line\":1}"
        }
        let report =
            "{\"stdin.md\":[\(alert("House.One", "[5,7]", "one")),\(alert("House.Other", "[5,7]", "one"))]}"
        let path = try scene.home.write("vale", "#!/bin/sh\ncat << 'EOF'\n\(report)\nEOF\n")
        #expect(chmod(path.text, 0o755) == 0)
        let world = try open()
        try await world.run("review: { passes: [quick, program], command: [\(path.text)] }", on: "Idea 1.md")
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("2 findings."), "\(text)")
        #expect(text.contains("** styles/House.One, vale · ") && text.contains("** vale · "), "\(text)")
        #expect(text.occurrences(of: "Vale says so.") == 1, "only the other rule's words are news")
    }
}
