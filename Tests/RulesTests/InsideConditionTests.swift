import OwnFiles
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

/// Returns the test's findings, and counts the calls.
final class KnownFindings: ContentInspector {
    private let findings: ContentFindings
    private let asked = Mutex<[ContentAspect]>([])

    init(_ findings: ContentFindings) { self.findings = findings }

    var questions: [ContentAspect] { asked.withLock { $0 } }

    func inspect(
        _ aspect: ContentAspect, of file: Descriptor, mime: String, hash: ContentHash?
    ) throws -> ContentFindings {
        asked.withLock { $0.append(aspect) }
        return findings
    }
}

@Suite("Conditions on parsed content") struct InsideConditionTests {
    private let folder: TemporaryFolder
    private let known: [PlaceInfo]

    init() throws {
        folder = try TemporaryFolder()
        known = places(in: folder.path)
        let bytes: [(BytePath, [UInt8])] = [
            ("other/a.pdf", Array("%PDF-1.7\n".utf8)), ("other/a.jpg", [0xFF, 0xD8, 0xFF, 0xE0]),
            ("other/a.mp3", Array("ID3\u{3}\0".utf8)), ("other/a.zip", [0x50, 0x4B, 3, 4, 0, 0]),
            ("other/a.txt", Array("Plain Invoice\n".utf8)), ("other/raw.bin", [0, 1, 2, 255]),
        ]
        for (name, content) in bytes { try folder.write(name, content) }
    }

    private static let findings = ContentFindings(
        values: ["document.language": .text("de"), "document.pages": .integer(3)],
        written: [
            "photo.model": "Canon EOS R5", "photo.taken": "2026-07-01 10:00:05", "photo.latitude": "52.520000",
            "photo.width": "640", "media.duration": "180.500", "media.artist": "The Trio", "media.year": "1999",
        ], text: "Your\nInvoice  INV-42\nTotal",
        entries: [
            .init(path: "a/b.cbz", isFolder: false, isEncrypted: false),
            .init(path: "cover.jpg", isFolder: false, isEncrypted: true),
        ])

    private func facts(_ path: BytePath, _ inspector: (any ContentInspector)?) throws -> FileFacts {
        let place = known[4]
        let file = try Descriptor(place.root.appending(path))
        return FileFacts(
            place: place, path: path, status: try file.status(), event: .arrived, now: .now(), content: .open(file),
            sources: FactSources(inspector: inspector))
    }

    @Test(
        "A condition holds",
        arguments: [
            ("contains: invoice", "a.pdf", true), ("contains: \"your invoice inv-42\"", "a.pdf", true),
            ("contains: [nothing, total]", "a.pdf", true), ("contains: nothing", "a.pdf", false),
            ("contains: { text: invoice, case: match }", "a.pdf", false),
            ("contains: { text: Invoice, matches: \"inv-[0-9]+\" }", "a.pdf", true),
            ("contains: { matches: \"inv-[0-9]+\", case: match }", "a.pdf", false),
            ("contains: invoice", "a.txt", true), ("contains: invoice", "raw.bin", false),
            ("exif: { model: \"Canon*\", taken: present, gps: present }", "a.jpg", true),
            ("exif: { taken: \"2026-07-*\", width: \"> 600\" }", "a.jpg", true),
            ("exif: { width: [\"> 600\", \"< 640\"] }", "a.jpg", false), ("exif: { lens: absent }", "a.jpg", true),
            ("exif: gps", "a.jpg", true), ("exif: gps", "a.pdf", false),
            ("media: { duration: \"> 3m\", artist: \"*Trio\" }", "a.mp3", true),
            ("media: { duration: \"> 4m\" }", "a.mp3", false), ("media: { year: 1999 }", "a.mp3", true),
            ("media: { duration: present }", "raw.bin", false), ("archive: { holds: \"*.cbz\" }", "a.zip", true),
            ("archive: { holds: \"*.pdf\" }", "a.zip", false), ("archive: { type: \"image/*\" }", "a.zip", true),
            ("archive: { encrypted: false }", "a.zip", false), ("archive: { encrypted: true }", "a.pdf", false),
            ("pages: \"> 2\"", "a.pdf", true), ("pages: [\"> 2\", \"< 3\"]", "a.pdf", false),
            ("pages: 3", "a.pdf", true),
            ("pages: \"> 0\"", "a.txt", false), ("language: de", "a.pdf", true), ("language: [en, fr]", "a.pdf", false),
        ])
    func holds(_ condition: String, _ name: String, _ expected: Bool) throws {
        let path = BytePath(name)
        let rule = try rule(where: condition, in: "[other, drafts]", places: known)
        let inspector = KnownFindings(Self.findings)
        #expect(try RuleSet([rule]).match(facts(path, inspector)).isEmpty != expected)
        let explained = RuleSet([rule]).explain(try facts(path, inspector))
        #expect((explained.first?.verdict == .matches) == expected, "explain says the same as match")
    }

    @Test(
        "A precomposed letter equals a decomposed one, in the rule and in the content",
        arguments: [
            ("contains: NÉ", "a.pdf"), ("contains: { text: né, case: match }", "a.pdf"),
            ("contains: { matches: \"^né$\" }", "a.pdf"), ("archive: { holds: \"?é.*\" }", "a.zip"),
            ("media: { artist: né }", "a.mp3"),
        ])
    func accents(_ condition: String, _ name: String) throws {
        let forms = ["n\u{E9}", "ne\u{301}"]
        for (inRule, inFile) in [(0, 1), (1, 0)] {
            let findings = ContentFindings(
                written: ["media.artist": forms[inFile]], text: forms[inFile],
                entries: [.init(path: "\(forms[inFile]).cbz", isFolder: false, isEncrypted: false)])
            let condition = condition.replacing("né", with: forms[inRule])
                .replacing("NÉ", with: forms[inRule].uppercased()).replacing("é", with: forms[inRule].dropFirst())
            let rule = try rule(where: condition, in: "[other, drafts]", places: known)
            let held = try !RuleSet([rule]).match(facts(BytePath(name), KnownFindings(findings))).isEmpty
            #expect(held, "\(inRule) in the rule, \(inFile) in the file")
        }
    }

    @Test("A named group becomes a value") func groups() throws {
        let rule = try rule(
            where: "contains: { matches: \"(?<number>INV-[0-9]+)\" }", in: "[other, drafts]", places: known)
        let found = try RuleSet([rule]).match(facts("a.pdf", KnownFindings(Self.findings)))
        #expect(found.first?.hits.first?.values["match.number"] == .text("INV-42"))
    }

    @Test("A named group captures the text as written", arguments: ["n\u{E9}", "ne\u{301}"])
    func writtenGroups(_ word: String) throws {
        let rule = try rule(where: "contains: { matches: \"^(?<word>.+)$\" }", in: "[other, drafts]", places: known)
        let found = try RuleSet([rule]).match(facts("a.pdf", KnownFindings(ContentFindings(text: word))))
        guard case .text(let taken)? = found.first?.hits.first?.values["match.word"] else {
            Issue.record("no group")
            return
        }
        #expect(Array(taken.utf8) == Array(word.utf8))
    }

    @Test("A file that cannot be read matches nothing, and explain says why")
    func trouble() throws {
        let rule = try rule(where: "exif: { model: present }", in: "[other, drafts]", places: known)
        let facts = try facts("a.jpg", KnownFindings(ContentFindings(trouble: "reading it takes too long")))
        let explained = try #require(RuleSet([rule]).explain(facts).first)
        #expect(explained.verdict == .doesNotMatch)
        #expect(explained.conditions.last?.seen == "reading it takes too long")
    }

    @Test("Several rules parse once; plain text and unrelated files need no parser")
    func once() throws {
        let rules = try ["contains: invoice", "contains: total", "exif: gps"].map {
            try rule(where: $0, in: "[other, drafts]", places: known)
        }
        let inspector = KnownFindings(Self.findings)
        _ = try RuleSet(rules).match(facts("a.pdf", inspector))
        #expect(inspector.questions == [.document])
        _ = try RuleSet(rules).match(facts("a.txt", inspector))
        #expect(inspector.questions == [.document])
    }

    @Test("Unopened content might match") func unread() throws {
        let rule = try rule(where: "contains: invoice", in: "[other, drafts]", places: known)
        let inspector = KnownFindings(Self.findings)
        let closed = FileFacts(
            place: known[4], path: "a.pdf", status: nil, event: .arrived, now: .now(), content: .unread,
            sources: FactSources(inspector: inspector))
        #expect(RuleSet([rule]).mightMatch(closed))
        #expect(inspector.questions.isEmpty)
    }

    @Test(
        "An error is reported",
        arguments: [
            ("contains: { case: match }", "needs `text` or `matches`"), ("contains: { matches: \"(\" }", "regular"),
            ("exif: { colour: red }", "colour"), ("media: { duration: long }", "comparison"),
            ("archive: {}", "nothing to look for"), ("language: German", "two or three small letters"),
        ])
    func mistakes(_ condition: String, _ complaint: String) throws {
        let diagnostics = complaints("rule: R\nin: other\nwhere:\n  \(condition)\ndo: trash\n")
        #expect(diagnostics.contains { $0.contains(complaint) }, "\(diagnostics)")
    }

    @Test("Content values are read only if a rule uses them") func values() throws {
        let inspector = KnownFindings(
            ContentFindings(values: ["photo.model": .text("R5"), "photo.make": .text("Canon")]))
        let file = try facts("a.jpg", inspector)
        #expect(try BuiltInValues.values(of: file, names: ["file.name"]) == ["file.name": .text("a.jpg")])
        #expect(inspector.questions.isEmpty)
        #expect(try BuiltInValues.values(of: file, names: ["photo.model"]) == ["photo.model": .text("R5")])
        #expect(inspector.questions == [.picture])
    }
}
