import Glibc
import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import Rules

/// A file that changes before its rule has run still arrives for that rule when it runs.
@Suite("Files that change before their job has run", .timeLimit(.minutes(30)))
struct RunningOverdueTests {
    private let folder: TemporaryFolder
    private let script = Script()

    init() throws {
        folder = try TemporaryFolder()
        script.perform("take") { intent, _ in
            guard try ContentHash.ofFile(intent.file) == intent.hash else { throw Fault(.superseded, "has changed") }
            return Receipt("took \(try Self.text(intent.file))")
        }
    }

    private static func text(_ path: BytePath) throws -> String {
        String(decoding: try Descriptor(path).readAll(), as: UTF8.self)
    }

    private func bench(_ rules: String = "- { rule: R, in: inbox, on: [arrived], do: { probe: { name: take } } }")
        throws
        -> Bench
    {
        try Bench(folder.path, script, rules: rules)
    }

    private func ended(_ bench: Bench) async throws -> [String] {
        try await bench.jobs().map { "\($0.rule) \($0.event) \($0.state)" }
    }

    @Test("Changed and judged again before the job ran, the arrival rule gets the second version")
    func judgedBefore() async throws {
        let bench = try bench()
        try await bench.runner.setPaused(true)
        try bench.write("inbox/x", "one")
        try await bench.process("x")
        try bench.write("inbox/x", "two")
        #expect(try await bench.process("x") == .news(.changed, jobs: []))
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        #expect(try await ended(bench) == ["R arrived superseded", "R arrived done"])
        let receipts = try await bench.ledger.read { ledger in
            try ledger.jobs(in: JobRecord.State.allCases).compactMap { try ledger.steps(of: $0.id).first?.receipt }
        }
        #expect(receipts.count == 1 && receipts.allSatisfy { $0.contains("took two") })
    }

    @Test("Renamed between two steps, the second runs under the new name with the first one's result")
    func renamedBetween() async throws {
        let bench = try bench(
            "- { rule: R, in: inbox, do: [probe: { name: first }, probe: { name: take, text: \"{{ probe.out }}\" }] }")
        script.perform("first") { intent, _ in
            _ = try Durable.renameNew(intent.file, to: intent.file.parent.appending("b"))
            return Receipt("did first", values: ["probe.out": .text("left")])
        }
        script.perform("take") { intent, _ in
            guard try FileStatus.of(intent.file) != nil else { throw Fault(.superseded, "is gone") }
            return Receipt("took it")
        }
        try bench.write("inbox/a", "one")
        try await bench.process("a")
        try await bench.process("b")
        #expect(script.lines == ["perform first a", "perform take a left", "perform take b left"])
        #expect(try await ended(bench) == ["R arrived superseded", "R arrived done"])
    }

    @Test("Interrupted between a superseded job and the next one, the next start plans that")
    func cutOff() async throws {
        let first = try bench()
        try first.write("inbox/x", "one")
        try await first.see("x")
        let job = try await first.onlyJob()
        try first.write("inbox/x", "two")
        #expect(try await first.see("x") == .news(.changed, jobs: []))
        // The runner's first action; the crash comes before the rest.
        #expect(await first.executor.run(job.id) == .superseded)
        #expect(try await ended(first) == ["R arrived superseded"])
        let next = try bench()
        try await next.runner.start()
        await next.runner.idle()
        #expect(try await ended(next) == ["R arrived superseded", "R arrived done"])
    }

    @Test("If the file's hidden name is unknown at that start, it is planned later")
    func cutOffHidden() async throws {
        let first = try bench()
        first.hideNames()
        try first.write("inbox/x", "one")
        try await first.see("x")
        let job = try await first.onlyJob()
        try first.write("inbox/x", "two")
        #expect(try await first.see("x") == .news(.changed, jobs: []))
        #expect(await first.executor.run(job.id) == .superseded)
        let next = try bench()
        next.hideNames()
        next.ledger.names.expect(in: "inbox")
        try await next.runner.start()
        await next.runner.idle()
        #expect(try await ended(next) == ["R arrived superseded"])
        try next.ledger.names.learn("inbox", "x")
        next.ledger.names.setLearned("inbox")
        try await next.runner.takeUp()
        await next.runner.idle()
        #expect(try await ended(next) == ["R arrived superseded", "R arrived done"])
    }

    @Test("Judged only after the job was superseded, it is an arrival for that rule and a change for others")
    func judgedAfter() async throws {
        let bench = try bench(
            """
            - { rule: Note, in: inbox, on: [arrived], do: { probe: { name: note } } }
            - { rule: R, in: inbox, on: [arrived], do: { probe: { name: take } } }
            - { rule: Both, in: inbox, on: [arrived, changed], do: { probe: { name: both } } }
            """)
        try await bench.runner.setPaused(true)
        try bench.write("inbox/x", "one")
        try await bench.process("x")
        try bench.write("inbox/x", "two")
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        #expect(try await ended(bench) == ["Note arrived done", "R arrived superseded", "Both arrived done"])
        #expect(Bench.rules(try await bench.process("x")).sorted() == ["Both", "R"])
        #expect(
            try await ended(bench).suffix(2).sorted() == ["Both changed done", "R arrived done"])
        try bench.write("inbox/x", "three")
        #expect(Bench.rules(try await bench.process("x")) == ["Both"], "it has been dealt with")
    }

    @Test("A missing file is not planned again")
    func gone() async throws {
        let bench = try bench()
        try await bench.runner.setPaused(true)
        try bench.write("inbox/x", "one")
        try await bench.process("x")
        try Durable.remove(bench.path("inbox/x"))
        script.perform("take") { _, _ in throw Fault(.superseded, "is gone") }
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        #expect(try await bench.process("x") == .news(.removed, jobs: []))
        #expect(try await ended(bench) == ["R arrived superseded"])
    }

    @Test("A rule that finds its file changed each time comes to an end")
    func endless() async throws {
        let bench = try bench()
        script.perform("take") { intent, _ in
            try Durable.replaceOwn(intent.file, with: try Descriptor(intent.file).readAll() + Array("+".utf8))
            throw Fault(.superseded, "has changed")
        }
        try bench.write("inbox/x", "one")
        for _ in 0..<20 { try await bench.process("x") }
        #expect(try await ended(bench).count == Planner.deepest + 1)
    }

    @Test("A better version saved before the file was quarantined stays, and is processed")
    func refused() async throws {
        let bench = try bench()
        script.perform("take") { intent, _ in
            guard try Self.text(intent.file) == "bad" else { return Receipt("took") }
            try Durable.replaceOwn(intent.file, with: Array("good".utf8))
            throw Fault(.refused, "it is bad")
        }
        try bench.write("inbox/x", "bad")
        try await bench.process("x")
        #expect(try bench.read("inbox/x") == "good")
        #expect(try await bench.ledger.read { try $0.quarantine(in: [.held, .moving]) } == [])
        try await bench.process("x")
        #expect(try await ended(bench) == ["R arrived superseded", "R arrived done"])
    }

    @Test(
        "A changed file renamed before it was processed is processed under its new name",
        arguments: [true, false])
    func changedAndRenamed(isJudgedFirst: Bool) async throws {
        let bench = try bench("- { rule: R, in: inbox, on: [arrived, changed], do: { probe: { name: take } } }")
        try bench.write("inbox/x", "one")
        try await bench.process("x")
        try await bench.runner.setPaused(true)
        try bench.write("inbox/x", "two")
        try await bench.process("x")
        #expect(try Durable.renameNew(bench.path("inbox/x"), to: bench.path("inbox/y")))
        script.perform("take") { intent, _ in
            guard try FileStatus.of(intent.file) != nil else { throw Fault(.superseded, "is gone") }
            return Receipt("took \(try Self.text(intent.file))")
        }
        if isJudgedFirst { await bench.submit(try await bench.see("y")) }
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        try await bench.process("y")
        #expect(try await ended(bench) == ["R arrived done", "R changed superseded", "R changed done"])
        #expect(script.lines.last?.hasPrefix("perform take y") == true)
    }

    /// What happens after a folder was renamed, and another file took the old name.
    enum Turn: String, CaseIterable {
        case judgeNewName, judgeOldName, runJob

        static let orders: [[Turn]] = allCases.flatMap { first in
            let rest = allCases.filter { $0 != first }
            return [[first] + rest, [first] + rest.reversed()]
        }
    }

    @Test(
        "A file whose folder is renamed and another under its old name are both processed, once each",
        arguments: Turn.orders)
    func replacedFolder(order: [Turn]) async throws {
        let bench = try bench()
        script.perform("take") { intent, _ in
            guard try FileStatus.of(intent.file) != nil else { throw Fault(.superseded, "is gone") }
            guard try ContentHash.ofFile(intent.file) == intent.hash else { throw Fault(.superseded, "has changed") }
            return Receipt("took it")
        }
        try await bench.runner.setPaused(true)
        try bench.write("inbox/old/x", "one")
        try await bench.process("old/x")
        #expect(try Durable.renameNew(bench.path("inbox/old"), to: bench.path("inbox/new")))
        try bench.write("inbox/old/x", "two")
        for turn in order {
            switch turn {
            case .judgeNewName: await bench.submit(try await bench.see("new/x"))
            case .judgeOldName: await bench.submit(try await bench.see("old/x"))
            case .runJob: try await bench.runner.setPaused(false)
            }
            await bench.runner.idle()
        }
        let done = try await bench.jobs().filter { $0.state == .done }.map(\.path).sorted()
        #expect(done == ["new/x", "old/x"], "\(order)")
        #expect(try await bench.jobs().allSatisfy { [.done, .superseded].contains($0.state) })
    }

    @Test("A file's hard link is not mistaken for its new name when another file takes the first")
    func replacedLink() async throws {
        let bench = try bench()
        try bench.write("inbox/y", "one")
        #expect(link(bench.path("inbox/y").text, bench.path("inbox/x").text) == 0)
        try await bench.process("y")
        try await bench.runner.setPaused(true)
        try await bench.process("x")
        try bench.write("inbox/x", "two")
        await bench.submit(try await bench.see("x"))
        try await bench.runner.setPaused(false)
        await bench.runner.idle()
        try await bench.process("y")
        let done = try await bench.jobs().filter { $0.state == .done }.map(\.path).sorted()
        #expect(done == ["x", "y"])
    }

    @Test("A rule sees exactly the text that was hashed, even if a program writes to the file meanwhile")
    func writtenInto() async throws {
        let bench = try bench(
            "- { rule: R, in: notes, on: [arrived, changed], do: { probe: { text: \"{{ file.text }}\" } } }")
        try bench.write("notes/x.md", "one")
        let path = bench.path("notes/x.md")
        script.onBlocks = {
            do {
                try Descriptor(path, O_WRONLY).write(Array("two".utf8), at: 0)
            } catch {
                Issue.record(error)
            }
        }
        #expect(try await bench.process("x.md", in: "notes") == .again)
        script.onBlocks = nil
        try await bench.process("x.md", in: "notes")
        #expect(script.lines == ["perform p x.md two"])
    }
}
