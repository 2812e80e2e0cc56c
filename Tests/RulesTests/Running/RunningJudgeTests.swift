import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Judging settled files")
struct RunningJudgeTests {
    private let folder: TemporaryFolder
    private let bench: Bench

    private static let everything = """
        - { rule: inbox, in: inbox, on: [arrived, changed, renamed, removed], do: { probe: { text: "{{ file.oldName }}" } } }
        - { rule: notes, in: notes, on: [arrived, changed], do: { probe: {} } }
        """

    init() throws {
        folder = try TemporaryFolder()
        bench = try Bench(folder.path, rules: Self.everything)
    }

    private func event(_ verdict: ChangeClassifier.Verdict) -> FileEvent? {
        if case .news(let event, _) = verdict { event } else { nil }
    }

    @Test("A file arrives once, and is known from then on")
    func arrival() async throws {
        try bench.write("inbox/a.txt", "A")
        #expect(event(try await bench.see("a.txt")) == .arrived)
        #expect(try await bench.see("a.txt") == .known)
        #expect(try await bench.jobs().map(\.event) == ["arrived"])
        #expect(try await bench.ledger.read { try $0.file("inbox", "a.txt")?.hash } == ContentHash(of: Array("A".utf8)))
    }

    @Test("New content under the same name is a change, whether written in place or renamed over")
    func change() async throws {
        try bench.write("inbox/a.txt", "A")
        try await bench.see("a.txt")
        try bench.write("inbox/a.txt", "B")
        #expect(event(try await bench.see("a.txt")) == .changed)
        try folder.write("inbox/a.txt", "CC")
        #expect(event(try await bench.see("a.txt")) == .changed)
        #expect(try await bench.jobs().map(\.event) == ["arrived", "changed", "changed"])
    }

    @Test("Saving the same content again is a touch: no job, and known from then on")
    func touch() async throws {
        try bench.write("inbox/a.txt", "A")
        try await bench.see("a.txt")
        try bench.write("inbox/a.txt", "A")
        #expect(try await bench.see("a.txt") == .touched)
        #expect(try await bench.see("a.txt") == .known)
        chmod(bench.path("inbox/a.txt").text, 0o600)
        #expect(try await bench.see("a.txt") == .touched)
        #expect(try await bench.jobs().count == 1)
    }

    @Test("A new name for the same file is a rename, and the old name is gone")
    func renaming() async throws {
        try bench.write("inbox/old.txt", "A")
        try await bench.see("old.txt")
        #expect(try Durable.renameNew(bench.path("inbox/old.txt"), to: bench.path("inbox/new.txt")))
        let verdict = try await bench.see("new.txt")
        #expect(event(verdict) == .renamed)
        #expect(try await bench.see("old.txt") == .known, "no removal for a file that was renamed")
        await bench.submit(verdict)
        await bench.runner.idle()
        #expect(bench.script.lines == ["perform p new.txt old.txt"])
    }

    @Test("A second name of a file that keeps its first is an arrival")
    func hardLink() async throws {
        try bench.write("inbox/a.txt", "A")
        try await bench.see("a.txt")
        link(bench.path("inbox/a.txt").text, bench.path("inbox/b.txt").text)
        #expect(event(try await bench.see("b.txt")) == .arrived)
    }

    @Test("A removal is reported once, with what the file was")
    func removal() async throws {
        try bench.write("inbox/a.txt", "A")
        try await bench.see("a.txt")
        try Durable.remove(bench.path("inbox/a.txt"))
        #expect(event(try await bench.see("a.txt")) == .removed)
        #expect(try await bench.see("a.txt") == .known)
        #expect(try await bench.see("never-there.txt") == .known)
        #expect(try await bench.jobs().map(\.event) == ["arrived", "removed"])
        #expect(try await bench.jobs().last?.hash == ContentHash(of: Array("A".utf8)))
    }

    @Test("The same content that disappears and comes back is another version, and another job")
    func returning() async throws {
        for _ in 0..<3 {
            try bench.write("inbox/a.txt", "A")
            #expect(event(try await bench.see("a.txt")) == .arrived)
            try Durable.remove(bench.path("inbox/a.txt"))
            #expect(event(try await bench.see("a.txt")) == .removed)
        }
        let jobs = try await bench.jobs()
        #expect(jobs.count == 6)
        #expect(Set(jobs.map(\.id)).count == 6)
    }

    @Test("Going back to earlier content is a change with its own job")
    func backAndForth() async throws {
        for text in ["A", "B", "A", "B"] {
            try bench.write("inbox/a.txt", text)
            try await bench.see("a.txt")
        }
        #expect(try await bench.jobs().count == 4)
    }

    @Test("Links, folders and pipes are not files, and one in a file's place is its removal")
    func noFiles() async throws {
        symlink("/etc/passwd", bench.path("inbox/link").text)
        mkdir(bench.path("inbox/folder").text, 0o700)
        mkfifo(bench.path("inbox/pipe").text, 0o600)
        for name in ["link", "folder", "pipe"] { #expect(try await bench.see(BytePath(name)) == .known) }
        try bench.write("inbox/a", "A")
        try await bench.see("a")
        try Durable.remove(bench.path("inbox/a"))
        symlink("/etc/passwd", bench.path("inbox/a").text)
        #expect(event(try await bench.see("a")) == .removed)
    }

    @Test("If something is being worked on, the answer is to look again")
    func inWork() async throws {
        try bench.write("inbox/a", "A")
        bench.inWork.begin([bench.path("inbox/a")])
        #expect(try await bench.see("a") == .again)
        bench.inWork.end([bench.path("inbox/a")])
        #expect(event(try await bench.see("a")) == .arrived)
    }

    @Test("A name that is not UTF-8 is judged and processed like any other")
    func bytes() async throws {
        let name = BytePath(bytes: [0xFF, 0x0A, 0x2E, 0xC3])
        try folder.write(BytePath("inbox").appending(name), "A")
        try await bench.process(name)
        let job = try await bench.onlyJob()
        #expect(job.path == name)
        #expect(job.state == .done)
    }

    @Test("In a first baseline `existing` decides, in a silent one nothing runs, and neither is news later")
    func baselines() async throws {
        try bench.setRules(
            """
            - { rule: takes, in: inbox, existing: process, do: { probe: {} } }
            - { rule: skips, in: inbox, existing: skip, do: { probe: {} } }
            - { rule: by place, in: inbox, do: { probe: {} } }
            - { rule: by place out, in: out, do: { probe: {} } }
            """)
        try bench.write("inbox/first", "1")
        try bench.write("inbox/silent", "2")
        try bench.write("inbox/later", "3")
        try bench.write("out/first", "4")
        #expect(Bench.rules(try await bench.see("first", baseline: .first)) == ["takes", "by place"])
        #expect(Bench.rules(try await bench.see("first", in: "out", baseline: .first)) == [])
        #expect(Bench.rules(try await bench.see("silent", baseline: .silent)) == [])
        #expect(Bench.rules(try await bench.see("later")) == ["takes", "skips", "by place"])
        #expect(try await bench.see("first") == .known)
        #expect(try await bench.see("silent") == .known)
    }

    @Test("After a rule with `then: stop`, later rules do not see the file")
    func stop() async throws {
        try bench.setRules(
            """
            - { rule: one, in: inbox, do: { probe: {} } }
            - { rule: two, in: inbox, where: { extension: md }, then: stop, do: { probe: {} } }
            - { rule: three, in: inbox, do: { probe: {} } }
            """)
        try bench.write("inbox/a.md", "1")
        try bench.write("inbox/a.txt", "2")
        #expect(Bench.rules(try await bench.see("a.md")) == ["one", "two"])
        #expect(Bench.rules(try await bench.see("a.txt")) == ["one", "three"])
    }

    @Test("A rule about blocks runs once for each new block of a note, and never for one seen before")
    func blocks() async throws {
        try bench.setRules(
            """
            - rule: todo
              in: notes
              on: [arrived, changed]
              where: { anchor: todo }
              do: { probe: { text: "{{ block.text }}" } }
            """)
        try bench.write("notes/n.md", "^todo-0900 old\n^jrnl-0901 x\n")
        try await bench.see("n.md", in: "notes", baseline: .silent)
        try bench.write("notes/n.md", "^todo-0900 old\n^jrnl-0901 x\n^todo-0930 one\n^todo-0931 two\n^jrnl-0932 y\n")
        try await bench.process("n.md", in: "notes")
        #expect(Set(bench.script.lines) == ["perform p n.md one", "perform p n.md two"])
        bench.script.forget()
        try bench.write("notes/n.md", "^todo-0931 two\n^todo-0930 one, edited\n^todo-0940 three\n")
        try await bench.process("n.md", in: "notes")
        #expect(bench.script.lines == ["perform p n.md three"])
        bench.script.forget()
        #expect(try Durable.renameNew(bench.path("notes/n.md"), to: bench.path("notes/m.md")))
        try await bench.process("m.md", in: "notes")
        #expect(bench.script.lines == [])
    }

    @Test("A job's id is the same for the same work, and different for any other")
    func ids() async throws {
        try bench.write("inbox/a", "A")
        try await bench.see("a")
        let first = try await bench.onlyJob().id
        let other = try TemporaryFolder()
        let again = try Bench(other.path, rules: Self.everything)
        try again.write("inbox/a", "A")
        try await again.see("a")
        #expect(try await again.onlyJob().id == first)
        var ids: Set<String> = [first]
        for (path, text) in [("b", "A"), ("c", "B")] {
            try again.write(BytePath("inbox/\(path)"), text)
            try await again.see(BytePath(path))
        }
        ids.formUnion(try await again.jobs().map(\.id))
        #expect(ids.count == 3)
        #expect(ids.allSatisfy { $0.count == 32 })
    }

    @Test("Facts the ledger learns while a file is judged are not overwritten: it is judged again")
    func learntMeanwhile() async throws {
        try bench.write("notes/a.md", "^cap-0900 one\n")
        let print = try #require(try FileStatus.of(bench.path("notes/a.md"))).fingerprint
        let learnt = FileRecord(
            place: "notes", path: "a.md", fingerprint: print, hash: ContentHash(of: Array("another".utf8)), version: 7)
        let ledger = bench.ledger
        bench.script.onBlocks = {
            do {
                try ledger.writeBlocking { try $0.setFile(learnt) }
            } catch { Issue.record(error) }
        }
        #expect(try await bench.see("a.md", in: "notes") == .again)
        #expect(try await bench.ledger.read { try $0.file("notes", "a.md")?.version } == 7)
        #expect(try await bench.jobs().isEmpty)
    }

    @Test("A file that takes the old name while the renamed one is judged does not count as gone")
    func oldNameTakenMeanwhile() async throws {
        try bench.write("notes/a.md", "^cap-0900 one\n")
        try await bench.see("a.md", in: "notes")
        try FileManager.default.moveItem(
            atPath: bench.path("notes/a.md").description, toPath: bench.path("notes/b.md").description)
        let ledger = bench.ledger
        let known = try #require(try await ledger.read { try $0.file("notes", "a.md") })
        var other = known
        other.fingerprint = Fingerprint(
            device: known.fingerprint.device, inode: known.fingerprint.inode + 1, size: 1, modified: 1, changed: 1)
        let learnt = other
        bench.script.onBlocks = {
            do {
                try ledger.writeBlocking { try $0.setFile(learnt) }
            } catch { Issue.record(error) }
        }
        #expect(try await bench.see("b.md", in: "notes") == .again)
        #expect(try await ledger.read { try $0.file("notes", "a.md")?.present } == true)
    }

    @Test("A job's id differs if any part of the work differs, however the parts would concatenate")
    func idsOfParts() async throws {
        func id(
            _ rule: String = "R", does: String = "probe: {}", in place: String = "inbox", _ path: BytePath = "a",
            _ text: String = "A"
        ) async throws -> String {
            let folder = try TemporaryFolder()
            let bench = try Bench(folder.path, rules: "- { rule: \(rule), in: [inbox, in], do: { \(does) } }")
            try bench.write(BytePath(place).appending(path), text)
            try await bench.see(path, in: place)
            return try await bench.onlyJob().id
        }
        let first = try await id()
        #expect(try await id() == first)
        let others = try await [
            id("S"), id(does: "probe: { text: x }"), id(in: "in"), id("R", "a", "B"), id("R", "b"),
            // From the place and the path together.
            id(in: "in", "boxa"),
            // Names that cannot be told apart as text.
            id("R", BytePath(bytes: [0xFE])), id("R", BytePath(bytes: [0xFF])),
        ]
        #expect(Set(others + [first]).count == others.count + 1)
    }
}
