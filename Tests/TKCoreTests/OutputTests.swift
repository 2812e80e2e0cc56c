import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import TKCore

/// The output of findings and texts: what a terminal and a program can rely on.
@Suite("Output of findings", .timeLimit(.minutes(30)))
struct OutputTests {
    private static func reviewed(_ text: String, _ quote: String, _ replacement: String?) throws -> ReviewedDraft {
        let draft = DraftText(text)
        let start = try #require(text.range(of: quote)?.lowerBound)
        let offset = text.unicodeScalars.distance(from: text.startIndex, to: start)
        let range = offset..<(offset + quote.unicodeScalars.count)
        let suggestion = Suggestion(
            id: "id", advisorID: "editor", type: .fix, category: "grammar", priority: 1, confidence: 0.5,
            originalText: quote, suggestedText: replacement ?? "", hasReplacement: replacement != nil,
            reasoning: "Because\nof \u{1B}[31mthis.", anchor: draft.anchor(of: range))
        return ReviewedDraft(name: "d é.md", draft: draft, suggestions: [MergedSuggestion(suggestion: suggestion)])
    }

    private static let setting = ReviewSetting(advisors: [], prices: ModelTable(models: []))

    private static func output(_ format: SuggestionFormat, _ draft: ReviewedDraft, colour: Bool = false) -> String {
        let formatter = format.formatter(setting, style: TerminalStyle(hasColour: colour), version: "1")
        return formatter.piece(draft) + formatter.end([draft])
    }

    @Test("JSON ranges and columns count Unicode scalars, rdjsonl and line columns UTF-8 bytes")
    func units() throws {
        // A family emoji of seven scalars precedes the quote.
        let draft = try Self.reviewed("x\n👨‍👩‍👧‍👦é wrong\n", "wrong", "right")
        let json = try Answer(parsing: Self.output(.json, draft))["suggestions"].items[0]
        #expect(json["range_start"].number == 11 && json["range_end"].number == 16)
        #expect(json["line"].number == 2 && json["column"].number == 10)
        let diagnostic = try Answer(parsing: Self.output(.rdjsonl, draft))
        #expect(diagnostic["location"]["range"]["start"]["column"].number == 29)
        #expect(Self.output(.line, draft).hasPrefix("d é.md:2:29: "))
        let region = try Answer(parsing: Self.output(.sarif, draft))["runs"].items[0]["results"].items[0]["locations"]
            .items[0]["physicalLocation"]
        #expect(region["region"]["startColumn"].number == 10 && region["region"]["charOffset"].number == 11)
        #expect(region["artifactLocation"]["uri"].text == "d%20%C3%A9.md")
        #expect(SARIFFormatter.uri("/tmp/a b:c.md") == "file:///tmp/a%20b%3Ac.md")
    }

    @Test("No format lets a draft or a model control the terminal", arguments: SuggestionFormat.allCases)
    func hostileText(format: SuggestionFormat) throws {
        let draft = try Self.reviewed("bad \u{1B}]0;x\u{7} \u{202E}words", "\u{1B}]0;x\u{7} \u{202E}words", "\u{9B}31m")
        for scalar in Self.output(format, draft).unicodeScalars {
            let isPlain = scalar == "\n" || (scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value))
            #expect(isPlain && scalar != "\u{202E}", "\(format): U+\(String(scalar.value, radix: 16))")
        }
    }

    @Test("Quiet prints a line for each wording, and none for remarks and removals")
    func quiet() throws {
        #expect(Self.output(.quiet, try Self.reviewed("a wrong b", "wrong", "two\nlines")) == "two lines\n")
        #expect(Self.output(.quiet, try Self.reviewed("a wrong b", "wrong", "")) == "")
        #expect(Self.output(.quiet, try Self.reviewed("a wrong b", "wrong", nil)) == "")
    }

    @Test("Colours only if the style has them")
    func colours() throws {
        let draft = try Self.reviewed("a wrong b", "wrong", "right")
        #expect(Self.output(.text, draft, colour: true).contains("\u{1B}[31m- wrong\u{1B}[0m"))
        #expect(!Self.output(.text, draft).contains("\u{1B}"))
        let terminal = ["TERM": "xterm"]
        #expect(TerminalStyle.suited(isTerminal: true, columns: 80, environment: terminal).hasColour)
        #expect(!TerminalStyle.suited(isTerminal: false, columns: nil, environment: terminal).hasColour)
        for quiet in [["NO_COLOR": "1"], ["TERM": "dumb"], ["TERM": ""]] {
            let environment = terminal.merging(quiet) { $1 }
            #expect(!TerminalStyle.suited(isTerminal: true, columns: 80, environment: environment).hasColour)
        }
    }

    @Test("A filter keeps the most important findings, in text order, and counts the rest")
    func filter() throws {
        let draft = DraftText("one two three")
        let all = [("one", 3, 0.9), ("two", 1, 0.2), ("three", 2, 0.9)].map { word, priority, confidence in
            let range = AnchorResolver(draft).find(word).range ?? 0..<0
            return MergedSuggestion(
                suggestion: Suggestion(
                    id: word, advisorID: "editor", type: .fix, category: "grammar", priority: priority,
                    confidence: confidence, originalText: word, suggestedText: "", hasReplacement: true, reasoning: "",
                    anchor: draft.anchor(of: range)))
        }
        var dropped = DroppedFindings()
        let two = SuggestionFilter(maximum: 2).apply(all, dropped: &dropped)
        #expect(two.map(\.id) == ["two", "three"] && dropped.beyondMaximum == 1)
        let sure = SuggestionFilter(categories: ["grammar"], minConfidence: 0.5).apply(all, dropped: &dropped)
        #expect(sure.map(\.id) == ["one", "three"] && dropped.filtered == 1)
    }

    @Test("A product keeps the mode and the link of the file it replaces")
    func products() throws {
        let folder = try TemporaryFolder("tk-output")
        let page = folder.path.appending("page.html")
        try DraftWriting.write(page, Array("one".utf8))
        // More than any usual umask leaves for a new file.
        #expect(chmod(page.text, 0o666) == 0)
        let link = folder.path.appending("link.html")
        #expect(symlink("page.html", link.text) == 0)
        try DraftWriting.write(link, Array("two".utf8))
        #expect(try folder.read("page.html") == "two" && FileStatus.of(link)?.kind == .link)
        #expect(try FileStatus.of(page)?.mode == 0o666)
        #expect(try listDirectory(folder.path).count == 2, "nothing is left behind")
        #expect(throws: Fault.self) { try DraftWriting.write(folder.path, []) }
        let lock = try folder.write(".page.html.swp", "")
        let refused = #expect(throws: Fault.self) { try DraftWriting.write(link, []) }
        #expect(refused?.kind == .refused && refused?.message.contains(".page.html.swp") == true)
        try Durable.remove(lock)
        for (folder, name) in [(folder.path.appending("none"), "none/x.html"), (page, "page.html/x.html")] {
            let target = folder.appending("x.html")
            let fault = #expect(throws: Fault.self) { try DraftWriting.write(target, []) }
            #expect(
                fault?.message
                    == "\(target) cannot be written, because the folder \(folder) does not exist; create it first",
                "\(name)")
        }
        #expect(try folder.read("page.html") == "two")
    }

    @Test("A draft is replaced only if it is unchanged since it was read; links and modes are kept")
    func writing() throws {
        let folder = try TemporaryFolder("tk-output")
        let draft = try folder.write("draft.md", "old\n")
        let link = folder.path.appending("link.md")
        #expect(draft.withCString { target in link.withCString { symlink(target, $0) } } == 0)
        #expect(chmod(draft.text, 0o604) == 0)
        try DraftWriting.replace(link, Array("old\n".utf8), with: Array("new\n".utf8))
        #expect(try folder.read("draft.md") == "new\n")
        #expect(try FileStatus.of(link)?.kind == .link && FileStatus.of(draft)?.mode == 0o604)
        #expect(throws: Fault.self) {
            try DraftWriting.replace(draft, Array("old\n".utf8), with: Array("lost\n".utf8))
        }
        #expect(try folder.read("draft.md") == "new\n")
        let other = folder.path.appending("other.md")
        #expect(Glibc.link(draft.text, other.text) == 0)
        try DraftWriting.replace(draft, Array("new\n".utf8), with: Array("both\n".utf8))
        #expect(try folder.read("other.md") == "both\n", "a file with two names stays one file")
        #expect(try listDirectory(folder.path).count == 3, "nothing is left behind")
    }
}
