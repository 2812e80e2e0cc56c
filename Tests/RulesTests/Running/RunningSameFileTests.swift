import Dispatch
import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

/// A file judged under two names at once is still one file.
@Suite("One file under two names", .timeLimit(.minutes(30)))
struct RunningSameFileTests {
    private let folder: TemporaryFolder
    private let bench: Bench

    init() throws {
        folder = try TemporaryFolder()
        bench = try Bench(
            folder.path,
            rules: """
                - { rule: inbox, in: inbox, on: [arrived, changed, renamed, removed], do: { probe: {} } }
                - { rule: notes, in: notes, on: [arrived, changed], do: { probe: {} } }
                """)
    }

    /// Which of two judgements of one file finishes first, when both have read the ledger before.
    enum Order: String, CaseIterable, Sendable { case oldNameFirst, newNameFirst }

    @Test("A folder renamed exactly while its file is judged has its job once", arguments: Order.allCases)
    func renamedAsJudged(order: Order) async throws {
        let (bench, script) = (bench, bench.script)
        try bench.write("notes/old/a.md", "A")
        let calls = Counter()
        let (newIsRead, oldIsJudged, newIsJudged) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let second = Mutex<Task<ChangeClassifier.Verdict, any Error>?>(nil)
        // Called for each judgement after it has read the ledger and the file, and before it commits.
        script.onBlocks = {
            switch calls.next() {
            case 0:
                guard rename(bench.path("notes/old").text, bench.path("notes/new").text) == 0 else {
                    Issue.record("cannot rename")
                    return
                }
                let task = Task {
                    defer { newIsJudged.signal() }
                    return try await bench.see("new/a.md", in: "notes")
                }
                second.withLock { $0 = task }
                (order == .oldNameFirst ? newIsRead : newIsJudged).wait()
            case 1:
                newIsRead.signal()
                if order == .oldNameFirst { oldIsJudged.wait() }
            default: break
            }
        }
        var verdicts = [try await bench.see("old/a.md", in: "notes")]
        oldIsJudged.signal()
        verdicts.append(try await #require(second.withLock { $0 }).value)
        #expect(verdicts.filter { $0 == .again }.count == 1, "the one that comes second is judged anew")
        for verdict in verdicts { await bench.submit(verdict) }
        try await bench.process("new/a.md", in: "notes")
        try await bench.process("old/a.md", in: "notes")
        #expect(script.lines == ["perform p a.md"])
        #expect(try await bench.ledger.read { try $0.file("notes", "new/a.md")?.present } == true)
        #expect(try await bench.ledger.read { try $0.file("notes", "old/a.md")?.present } != true)
    }

    @Test("Present names of one file are separate files, whatever happens to one of them")
    func hardLinks() async throws {
        func name(_ path: BytePath) -> String { bench.path(BytePath("inbox").appending(path)).text }
        try bench.write("inbox/a", "A")
        link(name("a"), name("b"))
        link(name("a"), name("c"))
        for path: BytePath in ["a", "b", "c"] { #expect(Self.event(try await bench.see(path)) == .arrived) }
        unlink(name("a"))
        unlink(name("b"))
        // The remaining one has a single name now, before the others have been missed.
        #expect(try await bench.see("c") == .touched)
        rename(name("c"), name("d"))
        #expect(Self.event(try await bench.see("d")) == .renamed)
        for path: BytePath in ["a", "b"] { #expect(Self.event(try await bench.see(path)) == .removed) }
        #expect(try await bench.see("c") == .known)
        #expect(try await bench.see("d") == .known)
    }

    @Test("A name that another file is renamed over has changed at once, even before the other name is missed")
    func renamedOver() async throws {
        try bench.write("inbox/a", "A")
        try bench.write("inbox/x", "X")
        for path: BytePath in ["a", "x"] { try await bench.see(path) }
        rename(bench.path("inbox/a").text, bench.path("inbox/x").text)
        #expect(Self.event(try await bench.see("x")) == .changed)
        #expect(Self.event(try await bench.see("a")) == .removed)
        for path: BytePath in ["a", "x"] { #expect(try await bench.see(path) == .known) }
    }

    @Test("A new file on the inode of one not yet missed arrives, and the other is reported missing")
    func reusedInode() async throws {
        try bench.write("inbox/old", "old")
        try await bench.see("old")
        try Durable.remove(bench.path("inbox/old"))
        try bench.write("inbox/new", "new")
        // As when the file system has reused its inode, and has no birth times.
        let now = try #require(try FileStatus.of(bench.path("inbox/new")))
        try await bench.ledger.write { transaction in
            guard var old = try transaction.file("inbox", "old") else { throw TestFailure("no row") }
            (old.fingerprint.inode, old.fingerprint.device, old.birthTime) = (now.inode, now.device, nil)
            try transaction.setFile(old)
        }
        #expect(Self.event(try await bench.see("new")) == .arrived)
        #expect(Self.event(try await bench.see("old")) == .removed)
        #expect(try await bench.see("new") == .known)
    }

    @Test("A file considered gone that comes back under another name has arrived")
    func backAgain() async throws {
        for round in 0..<3 {
            let (old, new) = (BytePath("old \(round)"), BytePath("new \(round)"))
            try bench.write(BytePath("inbox").appending(old), "A")
            #expect(Self.event(try await bench.see(old)) == .arrived)
            let away = folder.path.appending("away").text
            #expect(rename(bench.path(BytePath("inbox").appending(old)).text, away) == 0)
            #expect(Self.event(try await bench.see(old)) == .removed)
            #expect(rename(away, bench.path(BytePath("inbox").appending(new)).text) == 0)
            #expect(Self.event(try await bench.see(new)) == .arrived)
        }
    }

    @Test("A file moved out by a job that comes back under another name has arrived")
    func backFromJob() async throws {
        let (inbox, out) = (bench.path("inbox"), bench.path("out"))
        bench.script.perform("out") { intent, _ in
            let to = out.appending("kept")
            _ = try Durable.renameNew(intent.file, to: to)
            let print = try #require(try FileStatus.of(to)).fingerprint
            return Receipt("moved it", effects: [.moved(intent.file, to: to, print, ContentHash(of: Array("A".utf8)))])
        }
        try bench.setRules("- { rule: R, in: inbox, on: [arrived], do: { probe: { name: out } } }")
        try bench.write("inbox/a", "A")
        try await bench.process("a")
        #expect(try await bench.onlyJob().state == .done)
        bench.script.perform("out") { _, _ in Receipt("saw it again") }
        #expect(try Durable.renameNew(out.appending("kept"), to: inbox.appending("b")))
        #expect(Self.event(try await bench.process("b")) == .arrived)
        #expect(bench.script.lines == ["perform out a", "perform out b"])
    }

    @Test("A new rule takes a file under the name it got while the rule was planned")
    func plannedWhileRenamed() async throws {
        try bench.write("inbox/a", "A")
        try await bench.see("a")
        let known = try #require(try await bench.ledger.read { try $0.file("inbox", "a") })
        rename(bench.path("inbox/a").text, bench.path("inbox/b").text)
        try await bench.see("b")
        let jobs = try await bench.planner.plan(known, in: bench.place(), rules: ["inbox"], again: true)
        #expect(jobs.map(\.path) == ["b"])
        #expect(try await bench.ledger.read { try $0.file("inbox", "a")?.present } == false)
    }

    private static func event(_ verdict: ChangeClassifier.Verdict) -> FileEvent? {
        if case .news(let event, _) = verdict { event } else { nil }
    }
}
