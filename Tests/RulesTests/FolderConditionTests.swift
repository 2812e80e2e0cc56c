import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Conditions on a file's surroundings") struct FolderConditionTests {
    private let folder: TemporaryFolder
    private let bench: Bench

    init() throws {
        folder = try TemporaryFolder()
        bench = try Bench(folder.path, rules: "- { rule: none, in: out, do: { probe: {} } }")
    }

    /// Whether a rule with this condition wants the file.
    private func wants(_ condition: String, _ path: BytePath) async throws -> Bool {
        let reader = ContentReader(pool: BlockingPool("test", threads: 1))
        let around = PlaceSurroundings(ledger: bench.ledger, presence: bench.journal.presence, reader: reader)
        let place = try bench.place()
        let set = RuleSet([try rule(where: condition, in: "inbox", places: [place])])
        let facts = FileFacts(
            place: place, path: path, status: try FileStatus.of(place.root.appending(path)), event: .arrived,
            now: .now(),
            content: .none, sources: FactSources(surroundings: around))
        return try !set.match(facts).isEmpty
    }

    private func setModified(_ path: BytePath, _ seconds: Int) {
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        #expect(utimensat(AT_FDCWD, bench.path(path).text, [time, time], 0) == 0)
    }

    @Test("The files of its folder are counted, except hidden ones and those in subfolders") func count() async throws {
        for name in ["a/1", "a/2", "a/.hidden", "a/below/3", "4"] {
            try bench.write(BytePath("inbox/\(name)"), "12345")
        }
        #expect(symlink("1", bench.path("inbox/a/link").text) == 0)
        #expect(try await wants("count: 2", "a/1"))
        #expect(try await wants("count: 1", "a/below/3"))
        #expect(try await wants("count: [\"> 0\", \"< 2\"]", "4"))
        #expect(try await wants("total-size: 10 B", "a/1"))
        #expect(try await !wants("total-size: \"> 10\"", "a/1"))
        #expect(try await wants("count: 0", "gone/x"))
    }

    @Test("The first of its folder is determined by name, time or size") func first() async throws {
        let files: [(name: BytePath, size: Int, time: Int)] = [
            ("b.jpg", 30, 100), ("a.jpg", 20, 300), ("c.jpg", 10, 200), ("x.txt", 1, 400), ("y.txt", 1, 400),
        ]
        for file in files {
            let path = BytePath("inbox").appending(file.name)
            try bench.write(path, String(repeating: "x", count: file.size))
            setModified(path, file.time)
        }
        func order(_ condition: String, _ count: Int = 1) async throws -> [String] {
            var found: [String] = []
            for file in files where try await wants("first-of: { \(condition), count: \(count) }", file.name) {
                found.append(file.name.text)
            }
            return found
        }
        #expect(try await order("by: name, matching: \"*.jpg\"") == ["a.jpg"])
        #expect(try await order("by: name, order: descending") == ["y.txt"])
        #expect(try await order("by: modified, matching: \"*.jpg\"") == ["b.jpg"])
        #expect(try await order("by: modified, order: descending") == ["y.txt"], "where two are the same, names decide")
        #expect(try await order("by: modified") == ["b.jpg"])
        #expect(try await order("by: size, order: descending", 2) == ["b.jpg", "a.jpg"])
        #expect(try await order("by: size", 2) == ["x.txt", "y.txt"])
        #expect(try await order("by: name, matching: [\"*.gif\", \"*.png\"]").isEmpty)
    }

    @Test("Invalid uses of `first-of` are reported") func complaint() {
        #expect(
            complaints("rule: R\nin: other\nwhere:\n  first-of: { by: age, count: 0 }\ndo: trash\n") == [
                "4:19 `by` must be one of `name`, `modified`, `size`, not `age`",
                "4:31 `count` must be between 1 and 1000000, not 0",
            ])
        #expect(
            complaints("rule: R\nin: other\nwhere:\n  first-of: { order: descending }\ndo: trash\n") == [
                "4:13 `first-of` needs `by`; say `by: name`, `modified` or `size`"
            ])
    }

    @Test("Without access to the surroundings, nothing is known about them") func unread() throws {
        try bench.write("inbox/a", "x")
        let facts = FileFacts(
            place: places()[4], path: "a", status: try FileStatus.of(bench.path("inbox/a")), event: .arrived,
            now: .now(),
            content: .unread)
        for condition in ["count: 0", "total-size: 0", "first-of: { by: name }", "duplicate-of: here"] {
            #expect(try rule(where: condition).condition.mightHold(facts), "\(condition)")
        }
    }
}

@Suite("Duplicates") struct DuplicateConditionTests {
    private let folder: TemporaryFolder
    private let bench: Bench

    init() throws {
        folder = try TemporaryFolder()
        bench = try Bench(folder.path, rules: Self.rule("duplicate-of: here"))
    }

    private static func rule(_ condition: String) -> String {
        """
        - rule: twin
          in: [inbox, in]
          on: [arrived, changed, renamed]
          where: { \(condition) }
          do: { probe: { text: "{{ duplicate.place }}:{{ duplicate.name }}" } }
        - { rule: reads, in: out, where: { text: { contains: never } }, do: { probe: {} } }
        """
    }

    /// The actions after the files have been looked at in this order.
    private func process(_ paths: String..., in place: String = "inbox") async throws -> [String] {
        bench.script.forget()
        for path in paths { try await bench.process(BytePath(path), in: place) }
        return bench.script.lines
    }

    @Test("The second file with a content is the duplicate, the first never") func second() async throws {
        for name in ["b.txt", "a.txt", "other.txt"] { try bench.write(BytePath("inbox/\(name)"), "same") }
        try bench.write("inbox/other.txt", "some")
        #expect(try await process("b.txt", "other.txt", "a.txt") == ["perform p a.txt inbox:b.txt"])
        #expect(try await process("b.txt", "a.txt") == [], "what was judged is known")
        let place = try bench.place()
        for (path, count) in [("b.txt", 0), ("a.txt", 1)] {
            let record = try #require(try await bench.ledger.read { try $0.file("inbox", BytePath(path)) })
            #expect(try await bench.planner.plan(record, in: place, rules: nil, again: true).count == count)
        }
    }

    @Test("A file that later gets another's content is the duplicate, and the other stays the original")
    func laterContent() async throws {
        try bench.write("inbox/a.txt", "once")
        try bench.write("inbox/b.txt", "same")
        #expect(try await process("a.txt", "b.txt") == [])
        try bench.write("inbox/a.txt", "same")
        #expect(try await process("a.txt") == ["perform p a.txt inbox:b.txt"])
    }

    @Test("A rename makes nothing a duplicate") func renamed() async throws {
        try bench.write("inbox/a.txt", "same")
        try bench.write("inbox/b.txt", "same")
        #expect(try await process("a.txt", "b.txt") == ["perform p b.txt inbox:a.txt"])
        #expect(try Durable.renameNew(bench.path("inbox/a.txt"), to: bench.path("inbox/z.txt")))
        #expect(try await process("z.txt") == [])
    }

    @Test("A hard link is not a duplicate, nor is an empty file") func ownNames() async throws {
        try bench.write("inbox/a.txt", "same")
        #expect(link(bench.path("inbox/a.txt").text, bench.path("inbox/b.txt").text) == 0)
        try bench.write("inbox/c.txt", "")
        try bench.write("inbox/d.txt", "")
        #expect(try await process("a.txt", "b.txt", "c.txt", "d.txt") == [])
    }

    @Test("An original that is gone or has changed does not count") func originalGone() async throws {
        for name in ["a.txt", "b.txt", "c.txt"] { try bench.write(BytePath("inbox/\(name)"), "same") }
        #expect(try await process("a.txt") == [])
        try Durable.remove(bench.path("inbox/a.txt"))
        #expect(try await process("b.txt") == [], "the ledger has yet to learn that it is gone")
        try folder.write("inbox/b.txt", "else")
        #expect(try await process("c.txt") == [], "the ledger has yet to learn what it holds")
    }

    @Test("If another place is given, files there are always the original") func otherPlace() async throws {
        try bench.setRules(Self.rule("duplicate-of: out"))
        for path in ["inbox/a.txt", "inbox/b.txt", "out/kept.txt"] { try bench.write(BytePath(path), "same") }
        #expect(try await process("a.txt") == [], "nothing is known of the other place")
        #expect(try await process("kept.txt", in: "out") == [])
        #expect(try await process("b.txt") == ["perform p b.txt out:kept.txt"])
        try bench.setRules(Self.rule("duplicate-of: { in: everywhere, original: shortest-path }"))
        try bench.write("in/x.txt", "same")
        #expect(try await process("x.txt", in: "in") == [], "`in/x.txt` is the shortest")
        try bench.write("in/much longer.txt", "same")
        #expect(try await process("much longer.txt", in: "in") == ["perform p much longer.txt in:x.txt"])
        try bench.setRules(Self.rule("duplicate-of: { in: [inbox, in], original: first-by-name }"))
        try bench.write("in/aa.txt", "same")
        #expect(try await process("aa.txt", in: "in") == ["perform p aa.txt inbox:a.txt"])
    }

    @Test("A file that no rule has read is read if its size is the same") func neverRead() async throws {
        try bench.setRules(
            """
            - { rule: twin, in: inbox, where: { duplicate-of: everywhere }, do: { probe: { text: "{{ duplicate.name }}" } } }
            - { rule: large, in: out, where: { size: "> 1 GiB" }, do: { probe: {} } }
            """)
        try bench.write("out/unread.txt", "same")
        try bench.write("out/another.txt", "some")
        #expect(try await process("unread.txt", "another.txt", in: "out") == [])
        #expect(try await bench.ledger.read { try $0.file("out", "unread.txt")?.hash } == nil)
        try bench.write("inbox/a.txt", "same")
        #expect(try await process("a.txt") == ["perform p a.txt unread.txt"])
    }

    @Test("Of two judged concurrently, one is the other's duplicate") func atTheSameTime() async throws {
        for round in 0..<8 {
            for name in ["a", "b"] { try bench.write(BytePath("inbox/\(name)\(round).txt"), "same \(round)") }
            let bench = bench
            let jobs = try await withThrowingTaskGroup(of: Int.self) { group in
                for name in ["a", "b"] {
                    group.addTask {
                        while true {
                            let verdict = try await bench.see(BytePath("\(name)\(round).txt"))
                            if verdict != .again { return Bench.rules(verdict).count }
                        }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(jobs == 1)
        }
    }

    @Test("Invalid uses of `duplicate-of` are reported") func complaint() {
        #expect(
            complaints("rule: R\nin: other\nwhere: { duplicate-of: othr }\ndo: trash\n") == [
                "3:24 unknown place `othr`; did you mean `other`?"
            ])
        #expect(
            complaints("rule: R\nin: other\nwhere: { duplicate-of: { original: oldest } }\ndo: trash\n") == [
                "3:24 `duplicate-of` needs `in`; say `here`, `everywhere` or names of places"
            ])
    }
}
