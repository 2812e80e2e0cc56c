import Foundation
import Glibc
import OwnFiles
import Platform
import TKCore
import TestSupport
import Testing

@Suite("Searching drafts")
struct SearchTests {
    private let folder: TemporaryFolder
    private var drafts: BytePath { folder.path.appending("drafts") }

    init() throws { folder = try TemporaryFolder() }

    private func open() async throws -> DraftIndex {
        try await DraftIndex.open(folder.path.appending("search.sqlite")).index
    }

    private func find(_ index: DraftIndex, _ query: String) async throws -> [String] {
        try await index.search(SearchQuery(query)).map { $0.path.nameText }
    }

    private func library() async throws -> DraftIndex {
        try folder.write("drafts/one.md", "# Winter journey\n\nSnow fell on the quiet harbour all night.\n")
        try folder.write(
            "drafts/two.md", "---\ntitle: \"Harbour notes\"\n---\nBoats, ropes, and a revision of prices.\n")
        try folder.write("drafts/novel/three.txt", "Café at midnight. The snow had melted.\n")
        try folder.write("drafts/novel/.tk/config.json", "{}")
        let index = try await open()
        let walked = try await index.update(folder: drafts)
        #expect(walked == DraftIndex.Walked(indexed: 3))
        return index
    }

    @Test("Words in any order, prefixes, phrases, exclusions, columns")
    func queries() async throws {
        let index = try await library()
        #expect(try await find(index, "snow").sorted() == ["one.md", "three.txt"])
        #expect(try await find(index, "night snow") == ["one.md"])
        #expect(try await find(index, "revis") == ["two.md"])
        #expect(try await find(index, "\"snow fell\"") == ["one.md"])
        #expect(try await find(index, "\"fell snow\"").isEmpty)
        #expect(try await find(index, "snow -harbour") == ["three.txt"])
        #expect(try await find(index, "cafe") == ["three.txt"], "accents count for nothing")
        #expect(try await find(index, "title:harbour") == ["two.md"])
        #expect(try await find(index, "project:novel") == ["three.txt"])
        #expect(try await find(index, "novel") == ["three.txt"], "the project's name counts")
        #expect(try await find(index, "absent").isEmpty)
    }

    @Test(
        "Accents are found as one character and as two, in small letters and capitals",
        arguments: ["Достоевский", "κόσμος", "한국어", "がぎぐ", "café"])
    func accents(_ word: String) async throws {
        let forms = [word.precomposedStringWithCanonicalMapping, word.decomposedStringWithCanonicalMapping]
        for (number, form) in forms.enumerated() {
            try folder.write(BytePath("drafts/\(number).md"), "# \(form) one\n")
        }
        let index = try await open()
        _ = try await index.update(folder: drafts)
        for form in forms + forms.map({ $0.uppercased() }) + forms.map({ String($0.dropLast()) }) {
            for query in ["\(form) one", "title:\(form)"] {
                #expect(try await find(index, query).count == 2, "\(Array(query.unicodeScalars))")
            }
            #expect(try await find(index, "one -\(form)").isEmpty)
        }
    }

    @Test("A title counts more than the text, and the snippet shows the match")
    func ranking() async throws {
        let index = try await library()
        let hits = try await index.search(SearchQuery("harbour"))
        #expect(hits.map(\.title) == ["Harbour notes", "Winter journey"])
        #expect(hits[0].score > hits[1].score)
        #expect(hits[1].snippet.contains("quiet \(DraftIndex.matchStart)harbour\(DraftIndex.matchEnd) all night"))
        #expect(!hits[1].snippet.contains("\n"))
        #expect(try await index.search(SearchQuery("harbour"), limit: 1).count == 1)
        let within = try await index.search(SearchQuery("snow"), in: drafts.appending("novel"))
        #expect(within.map(\.project) == ["novel"])
    }

    @Test("Only changed files are read again; missing ones are forgotten")
    func update() async throws {
        let index = try await library()
        #expect(try await index.update(folder: drafts) == DraftIndex.Walked(unchanged: 3))
        try folder.write("drafts/one.md", "# Summer\n\nSun.\n")
        try Durable.remove(drafts.appending("two.md"))
        #expect(try await index.update(folder: drafts) == DraftIndex.Walked(indexed: 1, unchanged: 1, removed: 1))
        #expect(try await find(index, "winter").isEmpty)
        #expect(try await find(index, "summer") == ["one.md"])
        #expect(try await find(index, "ropes").isEmpty)
        // A touch, a new name for the same bytes.
        utimensat(AT_FDCWD, drafts.appending("one.md").text, [timespec(), timespec()], 0)
        #expect(try await index.update(folder: drafts) == DraftIndex.Walked(unchanged: 2))
    }

    @Test("Updating one folder keeps the drafts of others")
    func otherFolder() async throws {
        let index = try await library()
        try folder.write("elsewhere/four.md", "Snow again.")
        _ = try await index.update(folder: folder.path.appending("elsewhere"))
        #expect(try await find(index, "snow").count == 3)
        await #expect(throws: Fault.self) { try await index.update(folder: "/nowhere/at/all") }
    }

    @Test("Hidden names, work files, links, binaries and other kinds are omitted")
    func leftOut() async throws {
        try folder.write("drafts/.secret.md", "needle")
        try folder.write("drafts/.git/x.md", "needle")
        try folder.write("drafts/x.md~", "needle")
        try folder.write("drafts/x.md.part", "needle")
        try folder.write("drafts/image.png", "needle")
        for (name, start) in [("x.review.md", ""), ("renamed.md", "\u{FEFF}")] {
            try folder.write(
                BytePath("drafts/\(name)"), "\(start)\(SidecarMark.line("x.md"))\n# Review of x.md\n\nneedle")
        }
        try folder.write("drafts/binary.md", [0x6E, 0x00, 0x01])
        try folder.write("outside.md", "needle")
        symlink(folder.path.appending("outside.md").text, drafts.appending("link.md").text)
        symlink(folder.path.text, drafts.appending("loop").text)
        mkfifo(drafts.appending("pipe.md").text, 0o600)
        let name = BytePath(bytes: Array("caf".utf8) + [0xE9] + Array(".md".utf8))
        try folder.write(BytePath("drafts").appending(name), "needle")
        let index = try await open()
        let walked = try await index.update(folder: drafts)
        #expect(walked == DraftIndex.Walked(indexed: 1))
        #expect(try await index.search(SearchQuery("needle")).map(\.path) == [drafts.appending(name)])
    }

    @Test("A file that has become a review's sidecar is no longer a draft")
    func sidecar() async throws {
        try folder.write("drafts/a.review.md", "needle")
        let index = try await open()
        #expect(try await index.update(folder: drafts) == DraftIndex.Walked(indexed: 1))
        try folder.write("drafts/a.review.md", SidecarMark.line("a.md") + "\nneedle")
        #expect(try await index.update(folder: drafts) == DraftIndex.Walked(removed: 1))
    }

    @Test(
        "No query is an error",
        arguments: [
            "", " ", "\"", "\"\"", "*", "(", ")", "AND", "OR NOT", "NEAR(a b)", "a AND", "-", "--", "-a", "a -", "^a",
            "title:", "title:\"", "content : x", "nope:x", "{a b}: c", "a*b", "+", "'; DROP TABLE draft; --", "a\u{0}b",
            "\u{1F600}", "“curly”", "日本語", "a\"b\"c", "\\", "%_", "title:-x", "-title:\"a b",
        ])
    func hostileQueries(_ query: String) async throws {
        let index = try await library()
        #expect(throws: Never.self) { SearchQuery(query) }
        _ = try await index.search(SearchQuery(query))
        #expect(try await index.search(SearchQuery("snow")).count == 2)
    }

    @Test("No random query is an error, and every word of a draft finds it")
    func random() async throws {
        var generator = SeededGenerator(for: "search queries")
        let alphabet = Array("ab \"\"*()-+^:{}'\\NEARORNOT,.;%_\u{0}é日\u{301}\u{200D}😀“”title:")
        let index = try await library()
        for _ in 0..<500 {
            let count = Int.random(in: 0...24, using: &generator)
            let query = String((0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
            _ = try await index.search(SearchQuery(query))
        }
        for word in "Snow fell on the quiet harbour all night".split(separator: " ") {
            #expect(try await find(index, String(word)).contains("one.md"))
        }
    }

    @Test("An index that is not a database is set aside, and can be rebuilt")
    func corrupt() async throws {
        try folder.write("search.sqlite", String(repeating: "x", count: 5000))
        let (index, notices) = try await DraftIndex.open(folder.path.appending("search.sqlite"))
        #expect(notices.count == 1)
        try folder.write("drafts/a.md", "needle")
        _ = try await index.update(folder: drafts)
        #expect(try await find(index, "needle") == ["a.md"])
    }

    @Test(
        "The title is the front matter's, or else the first heading, or the name",
        arguments: [
            ("---\ntitle: A b\n---\n# C\n", "A b"), ("---\r\ntitle: A b\r\n---\r\n# C\r\n", "A b"),
            ("text\r\n\r\n# C\r\n", "C"), ("\u{FEFF}--- \ntitle: A b\n...\n# C\n", "A b"),
            ("+++\ntitle = 'A b'\n+++\n# C\n", "A b"), ("---\nbook:\n  title: A b\n---\n# C\n", "C"),
            ("---\ntitle: \"A \\\"b\\\" c\"\n---\n", "A \"b\" c"), ("text\n\n## Heading ##\n", "Heading"),
            ("no heading", "draft"),
            ("---\ntitle:\n---\n", "draft"), ("#hashtag\n", "draft"), ("", "draft"), ("---\nopen: x\n", "draft"),
        ])
    func titles(_ text: String, _ title: String) async throws {
        try folder.write("drafts/draft.md", text + "\nneedle")
        let index = try await open()
        _ = try await index.update(folder: drafts)
        #expect(try await index.search(SearchQuery("needle")).map(\.title) == [title])
    }
}
