import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Conditions") struct ConditionTests {
    private let folder: TemporaryFolder
    private let known: [PlaceInfo]

    init() throws {
        folder = try TemporaryFolder()
        known = places(in: folder.path)
        for (name, bytes) in Self.files { try folder.write(BytePath("other/\(name)"), bytes) }
    }

    private static let files: [(String, [UInt8])] = [
        (
            "note.md",
            Array(
                """
                ---
                status: draft
                tags: [a, later]
                n: 7
                author: { name: X }
                empty: ""
                ---
                # The Title

                Body #inbox 42
                """.utf8)
        ),
        ("plain.txt", Array("just text\nsecond line\n".utf8)), ("link.txt", Array("https://example.org/a?b=c\n".utf8)),
        ("site.url", Array("[InternetShortcut]\nURL=https://example.org\n".utf8)),
        ("pic.txt", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        ("a.cbz", [0x50, 0x4B, 0x03, 0x04] + Array(repeating: 0, count: 60)),
        ("a.zip", [0x50, 0x4B, 0x03, 0x04, 0, 0]),
        ("b.pdf", Array("%PDF-1.7\n".utf8)), ("raw.bin", [0, 1, 2, 255]), (".hidden/deep/x.md", Array("x".utf8)),
        ("empty.txt", []), ("e\u{301}.txt", []), ("a\nb.txt", []),
        ("a.tar.gz", [0x1F, 0x8B, 8]), ("broken.md", Array("---\n: [\n---\nx\n".utf8)),
    ]

    private func facts(
        _ path: BytePath, now: Timestamp = .now(), blocks: [BlockFacts] = [], event: FileEvent = .arrived
    ) throws -> FileFacts {
        let place = known[4]
        let status = try FileStatus.of(place.root.appending(path))
        let file = status?.kind == .file ? try Descriptor(place.root.appending(path)) : nil
        return FileFacts(
            place: place, path: path, status: status, event: event, now: now,
            content: file.map { .open($0) } ?? .none, gainedBlocks: blocks)
    }

    private func holds(_ condition: String, _ path: BytePath) throws -> Bool {
        let rule = try rule(where: condition, in: "[other, drafts]", places: known)
        let set = RuleSet([rule])
        let matches = try !set.match(facts(path)).isEmpty
        let explained = set.explain(try facts(path))
        #expect((explained.first?.verdict == .matches) == matches, "explain says the same as match")
        return matches
    }

    @Test(
        "A precomposed letter equals a decomposed one, in the rule and in the file",
        arguments: [
            ("name: \"?é.md\"", "né/né.md"), ("name: \"[é-ü]*.md\"", "né/éa.md"), ("stem: né", "né/né.md"),
            ("path: \"né/*.md\"", "né/a.md"), ("extension: é", "a.é"), ("name-like: \"né.{end}\"", "né.md"),
            ("name-like: \"{start}é.md\"", "né.md"), ("name-matches: '^né?[.]md$'", "né.md"),
            ("text: { contains: \"#né\" }", "a.md"), ("text: { matches: \"^Né [é]$\" }", "a.md"),
            ("front-matter: { status: né, née: \"?é\" }", "a.md"), ("mime: text/markdown", "é.md"),
        ])
    func accents(_ condition: String, _ path: String) throws {
        let content = "---\nstatus: né\nnée: aé\n---\n#né\nNé é\n"
        let forms: [(String) -> String] = [
            { $0.precomposedStringWithCanonicalMapping }, { $0.decomposedStringWithCanonicalMapping },
        ]
        for (ruleForm, fileForm) in [(0, 1), (1, 0), (0, 0), (1, 1)] {
            let file = BytePath(forms[fileForm](path))
            try folder.write(BytePath("other").appending(file), forms[fileForm](content))
            #expect(try holds(forms[ruleForm](condition), file), "rule \(ruleForm), file \(fileForm)")
        }
    }

    @Test(
        "A condition holds",
        arguments: [
            ("name: \"*.md\"", "note.md", true), ("name: [\"*.txt\", \"n*\"]", "note.md", true),
            ("name: \"*.MD\"", "note.md", false),
            ("stem: note", "note.md", true), ("stem: \"*d\"", "note.md", false), ("stem: a.tar", "a.tar.gz", true),
            ("stem: a", "a.tar.gz", false), ("stem: e\u{301}", "e\u{301}.txt", true),
            ("stem: \u{E9}", "e\u{301}.txt", true),
            ("stem: \"e*\"", "e\u{301}.txt", false), ("stem: \"*\"", "a\nb.txt", false),
            ("path: \"**/deep/*\"", ".hidden/deep/x.md", true), ("path: \"deep/*\"", ".hidden/deep/x.md", false),
            ("extension: MD", "note.md", true), ("extension: [txt, .md]", "note.md", true),
            ("extension: tar.gz", "a.tar.gz", true),
            ("extension: md", "plain.txt", false), ("kind: note", "note.md", true), ("kind: text", "plain.txt", true),
            ("kind: link", "link.txt", true), ("kind: link", "site.url", true), ("kind: image", "pic.txt", true),
            ("kind: comic", "a.cbz", true),
            ("kind: archive", "a.zip", true), ("kind: pdf", "b.pdf", true), ("kind: other", "raw.bin", true),
            ("kind: [note, pdf]", "a.zip", false),
            ("kind: text", "empty.txt", true), ("mime: \"image/*\"", "pic.txt", true),
            ("mime: text/markdown", "note.md", true),
            ("mime: \"image/*\"", "b.pdf", false), ("size: \"> 0\"", "plain.txt", true),
            ("size: \"> 0\"", "empty.txt", false),
            ("size: 0", "empty.txt", true), ("size: [\"> 1\", \"<= 2 KiB\"]", "plain.txt", true),
            ("size: [\"> 1\", \"< 4\"]", "plain.txt", false),
            ("text: { contains: \"#inbox\" }", "note.md", true), ("text: { contains: \"#INBOX\" }", "note.md", false),
            ("text: { contains: [zzz, second] }", "plain.txt", true),
            ("text: { matches: \"^second\" }", "plain.txt", true),
            ("text: { matches: \"^line\" }", "plain.txt", false),
            ("text: { contains: just, matches: nothing }", "plain.txt", false),
            ("text: { contains: PDF }", "raw.bin", false), ("front-matter: { status: draft }", "note.md", true),
            ("front-matter: { status: [done, \"dr*\"] }", "note.md", true),
            ("front-matter: { tags: later }", "note.md", true),
            ("front-matter: { tags: never }", "note.md", false),
            ("front-matter: { n: 7, author.name: X }", "note.md", true),
            ("front-matter: { due: absent, status: present }", "note.md", true),
            ("front-matter: status", "note.md", true),
            ("front-matter: status", "plain.txt", false), ("front-matter: { empty: \"\" }", "note.md", true),
            ("front-matter: status", "broken.md", false),
            ("depth: 0", "note.md", true), ("depth: \">= 2\"", ".hidden/deep/x.md", true),
            ("depth: \"< 2\"", ".hidden/deep/x.md", false),
            ("hidden: true", ".hidden/deep/x.md", true), ("hidden: false", "note.md", true),
            ("hidden: true", "note.md", false),
            ("place: other", "note.md", true), ("place: drafts", "note.md", false),
            ("xattr: { user.none: absent }", "note.md", true),
            ("xattr: user.none", "note.md", false), ("age: \"< 1h\"", "note.md", true),
            ("age: \"> 1h\"", "note.md", false),
            ("any: [{ name: zzz }, { kind: note }]", "note.md", true),
            ("any: { name: zzz, kind: pdf }", "note.md", false),
            ("not: { name: zzz }", "note.md", true), ("not: { name: \"*.md\", kind: note }", "note.md", false),
            ("all: [{ name: \"n*\" }, { not: { kind: pdf } }]", "note.md", true), ("kind: note", "gone.md", false),
            ("size: \"> 0\"", "gone.md", false),
        ])
    func aConditionHolds(_ condition: String, _ path: String, _ expected: Bool) throws {
        #expect(try holds(condition, BytePath(path)) == expected)
    }

    @Test("The owner is compared by name and number") func ownerComparedName() throws {
        let mine = String(getuid())
        #expect(try holds("owner: \(mine)", "note.md"))
        #expect(try !holds("owner: \(getuid() + 1)", "note.md"))
        let user = try #require(getpwuid(getuid())).pointee
        #expect(try holds("owner: [\"\(String(cString: user.pw_name))\"]", "note.md"))
        let (rules, diagnostics) = parse("rule: R\nin: other\nwhere: { owner: nobody-has-this-name }\ndo: trash\n")
        #expect(rules.count == 1)
        #expect(diagnostics.map(\.severity) == [.warning])
    }

    @Test("Attributes are read from the file") func attributesReadFile() throws {
        let file = try Descriptor(folder.path.appending("other/note.md"))
        do {
            try ExtendedAttributes.set("user.tag", Array("later".utf8), on: file)
        } catch {
            return  // This file system has no user attributes.
        }
        #expect(try holds("xattr: { user.tag: \"l*\" }", "note.md"))
        #expect(try holds("xattr: user.tag", "note.md"))
        #expect(try !holds("xattr: { user.tag: absent }", "note.md"))
    }

    @Test("Age is measured from the given time") func ageCountedTime() throws {
        let rule = try rule(where: "age: [\"> 7d\", \"< 9d\"]", places: known)
        let set = RuleSet([rule])
        #expect(try set.match(facts("note.md", now: .now().adding(seconds: 8 * 86_400))).count == 1)
        #expect(try set.match(facts("note.md", now: .now().adding(seconds: 10 * 86_400))).isEmpty)
    }

    @Test("A time outside the range of nanoseconds has an age") func timeFartherNanoseconds() throws {
        for (seconds, condition) in [(-10_000_000_000, "age: \"> 7d\""), (10_000_000_000, "age: \"< 7d\"")] {
            let time = timespec(tv_sec: seconds, tv_nsec: 0)
            // A file system that cannot store such a time uses the nearest.
            let path = folder.path.appending("other/note.md")
            #expect(utimensat(AT_FDCWD, path.text, [time, time], 0) == 0)
            #expect(try holds(condition, "note.md"))
        }
    }

    @Test("Names that are not UTF-8 are matched by their bytes") func namesUtf8() throws {
        let name = BytePath(bytes: [0x66, 0xFE] + Array(".md".utf8))
        try folder.write(BytePath("other").appending(name), "x")
        #expect(try holds("name: \"f?.md\"", name))
        #expect(try holds("kind: note", name))
    }

    @Test("A link or a pipe has no content") func linkPipeContent() throws {
        #expect(symlink("note.md", known[4].root.appending("link.md").text) == 0)
        #expect(mkfifo(known[4].root.appending("pipe.md").text, 0o600) == 0)
        #expect(try !holds("kind: note", "link.md"))
        #expect(try !holds("text: { contains: x }", "pipe.md"))
    }

    @Test("An anchor holds once for each new block") func anchorHoldsOnce() throws {
        func block(_ prefix: String, _ time: String) -> BlockFacts {
            BlockFacts(prefix: prefix, time: time, text: "t", heading: "h", token: "^\(prefix)-\(time)")
        }
        let blocks = [block("jrnl", "0930"), block("todo", "1000"), block("jrnl", "1100")]
        let set = RuleSet([try rule(where: "anchor: jrnl\nextension: md", places: known)])
        let matches = try set.match(facts("note.md", blocks: blocks))
        #expect(matches.map { $0.hits.map(\.block?.time) } == [["0930", "1100"]])
        #expect(try set.match(facts("note.md")).isEmpty)
        #expect(try set.match(facts("plain.txt", blocks: blocks)).isEmpty)
        let either = RuleSet([try rule(where: "any: [{ anchor: \"t*\" }, { name: plain.txt }]", places: known)])
        #expect(try either.match(facts("note.md", blocks: blocks)).first?.hits.map(\.block?.time) == ["1000"])
        #expect(try either.match(facts("plain.txt")).first?.hits.map(\.block) == [nil])
        #expect(blocks[0].values["block.token"] == .text("^jrnl-0930"))
    }

    @Test("An endless pattern match is abandoned") func patternWithoutEnd() throws {
        try folder.write("other/bad.txt", String(repeating: "a", count: 40) + "!")
        let set = RuleSet([try rule(where: "text: { matches: \"^(a+)+$\" }", places: known)])
        #expect(try set.match(facts("bad.txt")).isEmpty)
        let seen = set.explain(try facts("bad.txt")).first?.conditions.last?.seen
        #expect(seen?.contains("abandoned") == true, "\(seen ?? "")")
    }

    @Test("A pattern is looked for in all of a long text") func patternFarInText() throws {
        try folder.write("other/long.txt", String(repeating: "word ", count: 20_000) + "INV-0042")
        let set = RuleSet([try rule(where: #"text: { matches: "INV-\\d+$" }"#, places: known)])
        #expect(try set.match(facts("long.txt")).count == 1)
    }

    @Test("Named groups of a pattern are values if the condition holds") func groupsAreValues() throws {
        try folder.write("other/invoice.txt", "Invoice INV-0042 of ACME\n")
        func found(_ condition: String) throws -> [Values]? {
            let set = RuleSet([try rule(where: condition, places: known)])
            return try set.match(facts("invoice.txt")).first?.hits.map(\.values)
        }
        let number = #"text: { matches: "INV-(?<number>\\d+)( for (?<reader>\\w+))?" }"#
        #expect(try found(number) == [["match.number": .text("0042")]])
        #expect(try found("any: [{ \(number) }, { name: \"*\" }]") == [["match.number": .text("0042")]])
        #expect(try found("any: [{ name: \"*\" }, { \(number) }]") == [[:]])
        #expect(try found("not: { \(number.replacing("INV", with: "BILL")) }") == [[:]])
        func template(_ condition: String) -> [String] {
            complaints(
                "rule: R\nin: other\nwhere: { \(condition) }\ndo: [{ append-block: { text: \"{{ match.number }}\" } }]\n"
            )
        }
        #expect(template(number).isEmpty)
        #expect(template("not: { \(number) }").contains { $0.contains("unknown value `match.number`") })
    }

    @Test("Invalid patterns are reported at their position") func invalidPatternsReported() {
        #expect(
            complaints("rule: R\nin: other\nwhere:\n  text: { matches: \"(\" }\n  kind: [note, pfd]\ndo: trash\n") == [
                "4:20 `(` is not a valid regular expression",
                "5:16 `kind` must be one of `note`, `text`, `link`, `image`, `comic`, `pdf`, `archive`, `other`, "
                    + "not `pfd`; did you mean `pdf`?",
            ])
    }

    @Test("Values come from the file") func valuesComeFile() throws {
        let values = try BuiltInValues.values(of: facts("note.md"))
        #expect(values["file.title"] == .text("The Title"))
        #expect(values["front.status"] == .text("draft"))
        #expect(values["front.n"] == .integer(7))
        #expect(values["front.author.name"] == .text("X"))
        #expect(values["file.kind"] == .text("note"))
        #expect(values["file.hash"] == .text(ContentHash(of: Self.files[0].1).description))
        #expect(values["file.stem"] == .text("note"))
        #expect(values["file.folder"] == .text(""))
        #expect(try BuiltInValues.values(of: facts("note.md"), names: ["file.name"]).keys.sorted() == ["file.name"])
        let named = Set(BuiltInValues.file.map(\.name) + ["event"])
        #expect(Set(values.keys.filter { !$0.hasPrefix("front.") }) == named)
    }

    @Test("A title is found after front matter of any length") func titleBehindLongFrontMatter() throws {
        let entries = (0..<400).map { "key\($0): some value\n" }.joined()
        try folder.write("other/long.md", "---\n\(entries)---\n\n# Behind it\n")
        #expect(try BuiltInValues.values(of: facts("long.md"))["file.title"] == .text("Behind it"))
    }

    @Test("`explain` shows each condition and the value seen") func explainShowsEach() throws {
        let set = RuleSet(
            try rules(
                """
                - rule: First
                  in: other
                  where: { extension: md, size: "> 1 GiB", any: [{ kind: pdf }, { kind: note }] }
                  do: trash
                - { rule: Stopper, in: other, then: stop, do: trash }
                - { rule: After, in: other, do: trash }
                - { rule: Elsewhere, in: notes, do: trash }
                """, places: known))
        let explained = set.explain(try facts("note.md"))
        #expect(explained.map(\.verdict) == [.doesNotMatch, .matches, .stopped, .doesNotMatch])
        let size = Self.files[0].1.count
        #expect(
            explained[0].lines == [
                "First: does not match  [rules.d/10-x.yaml:1]", "  ✓ in: other  (other)", "  ✓ on: arrived  (arrived)",
                "  ✓ extension: md  (md)", "  ✗ size: > 1 GiB  (\(size) bytes)", "  ✓ any", "    ✗ kind: pdf  (note)",
                "    ✓ kind: note  (note)",
            ])
        #expect(explained[2].stoppedBy == "Stopper")
        #expect(explained[3].conditions.first == ConditionResult(text: "in: notes", held: false, seen: "other"))
        #expect(try set.match(facts("note.md")).map(\.rule.name) == ["Stopper"])
    }
}
