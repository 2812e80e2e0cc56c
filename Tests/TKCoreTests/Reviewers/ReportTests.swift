import Platform
import TKCore
import TestSupport
import Testing

/// Reports of other reviewers become suggestions at the words that they mean, in whatever unit they count.
@Suite("Reports of other reviewers") struct ReportTests {
    static let draft = DraftText("Größe 😀 is the the Käse.\nA naïve idea is naïve.\n\n    rm -rf naïve\n")
    static let file: BytePath = "/home/ann/docs/essay.md"

    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var report: String
        /// `author: words → wording (P1)`, or with `:` and the message for a remark.
        var placed: [String] = []
        /// The reasons.
        var unplaced: [String] = []
    }

    private static func shown(_ suggestion: Suggestion) -> String {
        let words = "\(suggestion.advisorID): \(suggestion.anchor.line) \(suggestion.originalText)"
        guard suggestion.hasReplacement else { return "\(words): \(suggestion.reasoning)" }
        return "\(words) → \(suggestion.suggestedText) (P\(suggestion.priority))"
    }

    private static func diagnostic(_ start: String, _ end: String = "", more: String = "") -> String {
        #"{"message":"Hm.","location":{"path":"docs/essay.md","range":{"start":{\#(start)}\#(end)}}\#(more)}"#
    }

    private static func document(_ diagnostics: String...) -> String {
        #"{"source":{"name":"linter"},"diagnostics":[\#(diagnostics.joined(separator: ","))]}"#
    }

    private static func lines(_ diagnostics: String...) -> String { diagnostics.map { $0 + "\n" }.joined() }

    private static func sarif(_ region: String, kind: String = "", more: String = "", uri: String = "essay.md")
        -> String
    {
        #"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"lint","rules":[{"id":"R1","shortDescription":"#
            + #"{"text":"Short."}}]}},\#(kind)"results":[{"ruleId":"R1","level":"error","message":{"text":"Hm."},"#
            + #""locations":[{"physicalLocation":{"artifactLocation":{"uri":"\#(uri)"},"region":{\#(region)}}}]\#(more)}]}]}"#
    }

    private static func vale(_ alerts: String..., file: String = "stdin.md") -> String {
        #"{"\#(file)":[\#(alerts.joined(separator: ","))]}"#
    }

    private static func alert(_ line: Int, _ span: String, _ match: String, action: String = #"{"Name":""}"#) -> String
    {
        #"{"Action":\#(action),"Check":"House.Word","Line":\#(line),"Link":"","Message":"Hm.","Severity":"warning","#
            + #""Span":[\#(span)],"Match":"\#(match)"}"#
    }

    private static func languageTool(_ match: String) -> String {
        #"{"software":{"name":"LanguageTool","version":"6.6"},"matches":[\#(match)]}"#
    }

    private static func match(_ offset: Int, _ length: Int, _ context: String = "", words: String = "") -> String {
        #"{"message":"Hm.","offset":\#(offset),"length":\#(length),"replacements":[\#(words)],"#
            + #""rule":{"id":"RULE","issueType":"grammar"}\#(context)}"#
    }

    static let cases: [Case] = [
        Case(
            testDescription: "rdjson counts UTF-8, and its change may be elsewhere",
            report: document(
                diagnostic(
                    #""line":1,"column":17"#, #","end":{"line":1,"column":24}"#,
                    more:
                        #","severity":"ERROR","code":{"value":"X1"},"suggestions":[{"range":{"start":{"line":1,"column":17},"end":{"line":1,"column":21}},"text":""}]"#
                ), diagnostic(#""line":2,"column":3"#, #","end":{"line":2,"column":9}"#)),
            placed: ["linter: 1 the  →  (P1)", "linter: 2 naïve: Hm."]),
        Case(
            testDescription: "rdjsonl without an end means a word, without a column a line",
            report: lines(diagnostic(#""line":2,"column":3"#), diagnostic(#""line":2"#)),
            placed: ["other: 2 naïve: Hm.", "other: 2 A naïve idea is naïve.: Hm."]),
        Case(
            testDescription: "An insertion takes a word with it",
            report: diagnostic(
                #""line":2,"column":3"#,
                more: #","suggestions":[{"range":{"start":{"line":2,"column":3}},"text":"rather "}]"#),
            placed: ["other: 2 naïve → rather naïve (P3)"]),
        Case(
            testDescription: "A place that does not exist, and a place that is missing",
            report: lines(
                diagnostic(#""line":9,"column":1"#), #"{"message":"Hm.","location":{"path":"essay.md"}}"#),
            unplaced: ["the draft has no place 9:1", "it names no place"]),
        Case(
            testDescription: "SARIF counts UTF-16",
            report: sarif(
                #""startLine":1,"startColumn":13,"endColumn":20"#,
                more:
                    #","fixes":[{"artifactChanges":[{"artifactLocation":{"uri":"essay.md"},"replacements":[{"deletedRegion":{"startLine":1,"startColumn":13,"endColumn":20},"insertedContent":{"text":"the"}}]}]}]"#
            ), placed: ["lint: 1 the the → the (P1)"]),
        Case(
            testDescription: "SARIF that says so counts code points, also from the beginning",
            report: sarif(#""charOffset":27,"charLength":5"#, kind: #""columnKind":"unicodeCodePoints","#),
            placed: ["lint: 2 naïve: Hm. (R1)"]),
        Case(
            testDescription: "A snippet decides over a position, whole lines in it do not",
            report: sarif(#""startLine":2,"startColumn":1,"endColumn":4,"snippet":{"text":"the the"}"#),
            placed: ["lint: 1 the the: Hm. (R1)"]),
        Case(
            testDescription: "The line as snippet",
            report: sarif(#""startLine":2,"startColumn":3,"endColumn":8,"snippet":{"text":"A naïve idea is naïve."}"#),
            placed: ["lint: 2 naïve: Hm. (R1)"]),
        Case(
            testDescription: "Another file",
            report: sarif(#""startLine":1"#, uri: "file:///src/docs/other.md"),
            unplaced: ["it is about file:///src/docs/other.md"]),
        Case(
            testDescription: "Vale counts characters from 1 with both ends",
            report: vale(
                alert(1, "12,18", "the the", action: #"{"Name":"replace","Params":["the","that"]}"#),
                alert(2, "17,21", "naïve", action: #"{"Name":"remove","Params":null}"#)),
            placed: ["vale: 1 the the → the (P3)", "vale: 2  naïve →  (P3)"]),
        Case(
            testDescription: "Vale's words count more than its place; twice in a line they have none",
            report: vale(alert(7, "1,7", "the the"), alert(2, "1,5", "naïve"), file: "docs/essay.md"),
            placed: ["vale: 1 the the: Hm. (House.Word)"], unplaced: ["these words are in 3 places"]),
        Case(
            testDescription: "LanguageTool counts UTF-16 from the beginning",
            report: languageTool(match(28, 5, words: #"{"value":"naive"},{"value":"native"}"#)),
            placed: ["LanguageTool: 2 naïve → naive (P2)"]),
        Case(
            testDescription: "LanguageTool's context finds a place in another version",
            report: languageTool(
                match(90, 5, #","context":{"text":"...idea is naïve. ","offset":11,"length":5}"#)),
            placed: ["LanguageTool: 2 naïve: Hm. (RULE)"]),
        Case(
            testDescription: "Code stays code",
            report: languageTool(match(54, 2, words: #"{"value":"remove"}"#)),
            placed: ["LanguageTool: 4 rm: Hm. (RULE) (The wording is left out: it would change code.)"]),
        Case(
            testDescription: "Numbers that are too large for any text name no place",
            report: sarif(
                #""charOffset":\#(huge),"charLength":\#(huge)"#, kind: #""columnKind":"unicodeCodePoints","#),
            unplaced: ["it names no place"]),
        Case(
            testDescription: "Nor do they in a context",
            report: languageTool(
                match(28, 5, #","context":{"text":"a naïve","offset":\#(huge),"length":\#(huge)}"#)),
            placed: ["LanguageTool: 2 naïve: Hm. (RULE)"]),
        Case(
            testDescription: "A line behind the end is no end",
            report: sarif(#""startLine":1,"startColumn":13,"endLine":99,"endColumn":1"#),
            unplaced: ["the draft has no place 1:13"]),
        Case(
            testDescription: "Nor is one before the start",
            report: lines(diagnostic(#""line":2,"column":3"#, #","end":{"line":0,"column":1}"#)),
            unplaced: ["the draft has no place 2:3"]),
        Case(testDescription: "Nothing to say", report: " \n"),
        Case(testDescription: "Vale has nothing to say", report: "{}"),
    ]

    /// The largest number that JSON's readers agree on.
    private static let huge = 9_223_372_036_854_774_784

    @Test("An end that no number can hold is none") func overflow() throws {
        let draft = DraftText(String(repeating: "Some words. ", count: 200))
        let findings = try ReportFormat.read(
            Array(Self.languageTool(Self.match(1_500, Self.huge)).utf8), about: draft)
        #expect(findings.map(\.range) == [nil])
    }

    @Test("The arguments of a message are put in once") func arguments() throws {
        let report = #"""
            {"runs":[{"results":[{"message":{"text":"{0} and {1}, {7}","arguments":["{1}{1}","b"]}}]}]}
            """#
        #expect(try ReportFormat.read(Array(report.utf8), about: Self.draft).map(\.message) == ["{1}{1} and b, {7}"])
    }

    @Test("Each format, with its own way of counting", arguments: cases) func formats(_ one: Case) throws {
        let findings = try ReportFormat.read(Array(one.report.utf8), about: Self.draft)
        let (placed, unplaced) = FindingPlacer(Self.draft, name: Self.file).place(findings, origin: .added)
        #expect(placed.map(Self.shown) == one.placed)
        #expect(unplaced.map(\.reason) == one.unplaced)
        for suggestion in placed {
            #expect(Self.draft[suggestion.anchor.range] == suggestion.originalText && suggestion.origin == .added)
        }
        let again = FindingPlacer(Self.draft, name: Self.file).place(findings + findings, origin: .added).placed
        #expect(again == placed, "each once, with the same id")
    }

    @Test(
        "A report in no known format is refused with the place of the mistake",
        arguments: [
            ("No findings, all is well.", nil, "none of the known formats"),
            (#"{"Code":"E100","Text":"no config"}"#, nil, "vale says: no config"),
            (#"{"diagnostics":[{"message":"m","location":{}},7]}"#, nil, "not rdjson"),
            (#"{"diagnostics":7}"#, .rdjson, "not rdjson"), (#"{"runs":{}}"#, nil, "not sarif"),
            (#"{"a":1}"#, ReportFormat.sarif, "not sarif"), ("{\n,}", .rdjson, "line 2"),
            ("{\"message\":\"x\",\"location\":{}}\nnonsense\n", .rdjsonl, "line 2"),
        ] as [(String, ReportFormat?, String)])
    func refused(_ report: String, _ format: ReportFormat?, _ message: String) throws {
        let fault = #expect(throws: Fault.self) {
            _ = try ReportFormat.read(Array(report.utf8), as: format, about: Self.draft)
        }
        #expect(fault?.message.contains(message) == true, "\(fault?.message ?? "")")
    }

    @Test("A program may say something before and after its report") func noise() throws {
        let report = "warming up\n" + Self.vale(Self.alert(1, "12,18", "the the")) + "\n1 error\n"
        #expect(try ReportFormat.read(output: Array(report.utf8), about: Self.draft).count == 1)
        #expect(throws: Fault.self) { _ = try ReportFormat.read(output: Array("it failed\n".utf8), about: Self.draft) }
    }

    @Test("A message without end is cut") func endless() {
        let finding = ReportedFinding(message: String(repeating: "word ", count: 20_000), quote: "naïve idea")
        let placed = FindingPlacer(Self.draft).place([finding], author: "ann", origin: .added).placed
        #expect(placed.map(\.reasoning.unicodeScalars.count) == [16_384])
    }

    @Test("What the draft silences is not placed") func silenced() {
        let draft = DraftText("<!-- tk: off -->\nWe met.\n<!-- tk: on -->\n")
        let finding = ReportedFinding(message: "Hm.", quote: "We met")
        let (placed, unplaced) = FindingPlacer(draft).place([finding], author: "ann", origin: .added)
        #expect(placed.isEmpty && unplaced.map(\.reason) == ["the draft silences findings there"])
    }
}
