import Foundation
import Platform
import TestSupport
import Testing

/// The JSON of every command, byte by byte, in Tests/Fixtures/tk; docs/tk.md names every field of it.
///
/// `STEWARD_UPDATE_GOLDEN=1` rewrites the files.
@Suite("JSON of every command", .timeLimit(.minutes(30)))
struct GoldenTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = root.appendingPathComponent("Tests/Fixtures/tk")

    static let commands: [(String, [String])] = [
        ("suggest-quick.json", ["suggest", "draft.md", "--quick", "--json"]),
        (
            "suggest.json",
            ["suggest", "draft.md", "--advisors", "technical_writer,editor", "--stage", "late", "--json"]
        ),
        ("suggest.ndjson", ["suggest", "draft.md", "--story-type", "technical_docs", "--ndjson"]),
        ("suggest.rdjsonl", ["suggest", "draft.md", "--format", "rdjsonl"]),
        ("suggest.sarif", ["suggest", "draft.md", "--format", "sarif"]),
        ("suggest.line.txt", ["suggest", "draft.md", "--format", "line"]),
        ("suggest.txt", ["suggest", "draft.md", "--advisors", "technical_writer,editor"]),
        (
            "council.json",
            ["council", "draft.md", "--advisors", "technical_writer,editor,academic", "-q", "Clear?", "--json"]
        ),
        ("council.txt", ["council", "draft.md", "--advisors", "technical_writer,editor,academic", "-q", "Clear?"]),
        ("ask.json", ["ask", "What first?", "--file", "draft.md", "--json", "--no-keep"]),
        ("roles-list.json", ["roles", "list", "--json"]), ("roles-show.json", ["roles", "show", "editor", "--json"]),
        ("story-types-list.json", ["story-types", "list", "--json"]),
        ("story-types-show.json", ["story-types", "show", "brd_prd", "--json"]),
        ("story-types-assemble.json", ["story-types", "assemble", "a manual", "--json"]),
        ("config-show.json", ["config", "show", "--json"]), ("config-get.json", ["config", "get", "model", "--json"]),
        ("usage.json", ["usage", "--by", "model", "--json"]),
        ("search.json", ["search", "utilized", "--in", "drafts", "--json"]),
        (
            "roles-create.json",
            [
                "roles", "create", "--name", "Plain", "--expertise", "Words", "--focus", "Jargon", "--perspective",
                "A reader in a hurry", "--guideline", "Be plain", "--json",
            ]
        ),
        ("roles-delete.json", ["roles", "delete", "custom_plain", "--force", "--json"]),
    ]

    @Test("Every command's output matches the golden file")
    func golden() throws {
        let stub = try MessagesStub()
        let fixture = try CommandFixture(stub)
        try fixture.write("draft.md", sampleDraft)
        try fixture.write("drafts/manual.md", sampleDraft)
        for (name, arguments) in Self.commands {
            let result = try fixture.tk(arguments)
            #expect(result.status == 0, "\(arguments): \(result.errors)")
            let output = result.output.replacingOccurrences(of: fixture.home.path.text, with: "/home/user")
                .replacingOccurrences(of: stub.url, with: "http://127.0.0.1:8080")
                .replacing(/"month": "\d{4}-\d{2}"/, with: #""month": "2026-11""#)
            let file = Self.folder.appendingPathComponent(name)
            if ProcessInfo.processInfo.environment["STEWARD_UPDATE_GOLDEN"] != nil {
                try Data(output.utf8).write(to: file)
            }
            #expect(try output == String(contentsOf: file, encoding: .utf8), "\(name)")
        }
    }

    @Test("Every field is described in docs/tk.md")
    func described() throws {
        let manual = try String(contentsOf: Self.root.appendingPathComponent("docs/tk.md"), encoding: .utf8)
        for (name, _) in Self.commands where name.hasSuffix("json") && !name.hasSuffix("rdjsonl") {
            let text = try String(contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
            let documents = name.hasSuffix(".ndjson") ? text.split(separator: "\n").map(String.init) : [text]
            for field in try documents.reduce(
                into: Set<String>(), { $0.formUnion(Self.fields(try Answer(parsing: $1))) })
            {
                #expect(manual.contains("`\(field)`"), "\(field) of \(name)")
            }
        }
    }

    private static func fields(_ answer: Answer) -> Set<String> {
        answer.items.reduce(into: answer.keys.reduce(into: answer.keys) { $0.formUnion(fields(answer[$1])) }) {
            $0.formUnion(fields($1))
        }
    }
}
