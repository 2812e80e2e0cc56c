import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Loading folder rules") struct FolderRuleTests {
    private static func rule(_ keys: String) -> String { "- rule: R\n  in: other\n  match: folders\n\(keys)" }

    @Test("A rule declares that it is about folders; others are about files") func subject() throws {
        #expect(try rules(Self.rule("  do: trash\n")).map(\.subject) == [.folders])
        #expect(try rules("- { rule: R, in: other, do: trash }").map(\.subject) == [.files])
        #expect(complaints("- { rule: R, in: other, match: things, do: trash }").count == 1)
    }

    @Test("An action for files only is rejected at its position, with alternatives") func actions() {
        let found = complaints(Self.rule("  do:\n    - import-comic: { into: main }\n"))
        #expect(
            found == [
                "5:7 `import-comic` cannot be done with a folder; a rule with `match: folders` may use `append-block`, "
                    + "`trash`"
            ])
    }

    @Test("A condition on files is rejected, and one on folders in a file rule") func conditions() {
        let found = complaints(Self.rule("  where: { kind: image }\n  do: trash\n"))
        #expect(found.count == 1 && found[0].hasPrefix("4:12 `kind` cannot be asked of a folder"), "\(found)")
        let other = complaints("- rule: R\n  in: other\n  where: { holds: \"*.jpg\" }\n  do: trash\n")
        #expect(other.count == 1 && other[0].hasPrefix("3:12 `holds` cannot be asked of a file"), "\(other)")
    }

    @Test(
        "Events that folders do not have are rejected",
        arguments: [
            ("on: [arrived, removed]", "4:17"), ("every: 7d", "4:10"), ("at: every day 03:00", "4:7"),
            ("refused: quarantine", "4:12"),
        ])
    func keys(_ key: String, _ position: String) {
        let found = complaints(Self.rule("  \(key)\n  do: trash\n"))
        #expect(found.count == 1 && found[0].hasPrefix(position), "\(found)")
    }

    @Test("File values are unknown in it, and folder values elsewhere") func values() {
        let file = complaints("- { rule: R, in: other, do: { append-block: { text: \"{{ folder.name }}\" } } }")
        #expect(file.count == 1 && file[0].contains("`folder.*` needs `match: folders`"), "\(file)")
        #expect(complaints(Self.rule("  do: [{ append-block: { text: \"{{ file.name }}\" } }]\n")).count == 1)
    }

    @Test("Without a depth it is about folders directly in the place, and so is `otherwise`") func depth() throws {
        func takes(_ rule: Rule, _ path: BytePath) throws -> Bool {
            let folder = try TemporaryFolder()
            let contents = try FolderContents(Folder(try Descriptor(folder.path)))
            let facts = FileFacts(
                place: places()[4], path: path, status: try FileStatus.of(folder.path), event: .arrived, now: .now(),
                content: .folder(contents))
            return try !RuleSet([rule]).match(facts).isEmpty
        }
        let direct = try rules(Self.rule("  do: trash\n"))[0]
        #expect(try takes(direct, "a") && !takes(direct, "a/b"))
        let named = try rules(Self.rule("  where: { any: [{ name: a }, { path: x/y }] }\n  do: trash\n"))[0]
        #expect(try takes(named, "a") && takes(named, "x/y"))
        let both = try rules(Self.rule("  where: { name: a }\n  otherwise: trash\n  do: trash\n"))
        #expect(both.map(\.subject) == [.folders, .folders])
        #expect(try takes(both[0], "a") && !takes(both[0], "z/a"))
        #expect(try takes(both[1], "b") && !takes(both[1], "z/b") && !takes(both[1], "a"))
    }

    @Test(
        "Conditions examine everything inside, at any depth, except hidden files",
        arguments: [
            ("count: 3", true), ("count: \"> 3\"", false), ("total-size: 6 B", true), ("empty: true", false),
            ("holds: \"*.jpg\"", true), ("holds: [\"*.png\", \"below/*\"]", true), ("holds: \"*.png\"", false),
            ("holds: below.jpg", false), ("name: \"Lisbon*\"", true), ("name-like: \"{city} {year:0000}\"", true),
            ("age: \"< 1h\"", true), ("age: \"> 1h\"", false), ("not: { holds: \".hidden\" }", false),
        ])
    func looks(_ condition: String, _ expected: Bool) throws {
        let folder = try TemporaryFolder()
        for name in ["1.jpg", "below/2.jpg", "below/deep/3.txt", ".hidden", ".cache/x.dat", "Thumbs.db"] {
            try folder.write(BytePath(name), "ab")
        }
        let rule = try rules(Self.rule("  where: { \(condition) }\n  do: trash\n"))[0]
        let contents = try FolderContents(Folder(try Descriptor(folder.path)))
        let facts = FileFacts(
            place: places()[4], path: "Lisbon 2024", status: try FileStatus.of(folder.path), event: .arrived,
            now: .now(), content: .folder(contents))
        #expect(try !RuleSet([rule]).match(facts).isEmpty == expected)
    }

    @Test("Contents are identified by names, sizes and times, not by location or litter") func digest()
        throws
    {
        let home = try TemporaryFolder()
        try home.write("a/x/1.txt", "one")
        func digest(_ name: BytePath) throws -> ContentHash {
            try FolderContents(Folder(try Descriptor(home.path.appending(name)))).digest
        }
        let first = try digest("a")
        try home.write("a/.DS_Store", "litter")
        #expect(try digest("a") == first)
        #expect(try Durable.renameNew(home.path.appending("a"), to: home.path.appending("b")))
        #expect(try digest("b") == first)
        try home.write("b/x/1.txt", "three")
        let changed = try digest("b")
        #expect(changed != first)
        try Durable.makeDirectory(home.path.appending("b/new"))
        #expect(try digest("b") != changed)
    }

    @Test("A folder with too many names is refused as a whole") func tooMany() throws {
        let folder = try TemporaryFolder()
        for number in 0..<5 { try folder.write(BytePath("\(number)"), "") }
        let opened = Folder(try Descriptor(folder.path))
        #expect(throws: Fault.self) { try FolderContents(opened, most: 4) }
        #expect(try FolderContents(opened, most: 5).files.count == 5)
    }

    @Test("A folder rule says that a file is not a folder, and vice versa") func explained() throws {
        let set = RuleSet(
            try rules(Self.rule("  where: { count: 1 }\n  do: trash\n") + "- { rule: F, in: other, do: trash }\n"))
        let folder = try TemporaryFolder()
        try folder.write("1", "")
        let facts = FileFacts(
            place: places()[4], path: "a", status: try FileStatus.of(folder.path), event: .arrived, now: .now(),
            content: .folder(try FolderContents(Folder(try Descriptor(folder.path)))))
        #expect(set.explain(facts).map(\.verdict) == [.matches, .doesNotMatch])
        let file = FileFacts(
            place: places()[4], path: "1", status: try FileStatus.of(folder.path.appending("1")), event: .arrived,
            now: .now(), content: .none)
        let said = set.explain(file)
        #expect(said.map(\.verdict) == [.doesNotMatch, .matches])
        #expect(said[0].lines.contains("  ✗ match: folders  (a file)"))
    }
}
