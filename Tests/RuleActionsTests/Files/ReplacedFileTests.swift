import Foundation
import Glibc
import Ledger
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Files that `exists: replace` put in the trash for a step that comes to nothing, or is undone.
@Suite("Replaced files and crashes") struct ReplacedFileTests {
    private let scene: ActionScene

    init() throws {
        scene = try ActionScene()
        try scene.home.write("dropbox/a.txt", "new")
    }

    private func names(_ place: BytePath) throws -> [String] {
        try listDirectory(scene.path(place)).map { BytePath.escape($0.name) }.sorted()
    }

    /// Makes a file immutable: not even root can rename it then.
    private func setImmovable(_ path: BytePath, _ isImmovable: Bool) throws -> Bool {
        guard geteuid() == 0, Editor.has("chattr") else { return false }
        return try runProgram(["chattr", isImmovable ? "+i" : "-i", path.text]).status == 0
    }

    @Test(
        "A failure noticed only once the name is free leaves the file to be replaced in place",
        arguments: [
            "move: { place: drafts, exists: replace }", "link: { place: drafts, kind: hard, exists: replace }",
        ])
    func cannotBeMade(_ entry: String) async throws {
        try scene.home.write("drafts/a.txt", "old")
        let world = try scene.open()
        let file = scene.path("dropbox/a.txt")
        guard try setImmovable(file, true) else { try Test.cancel("no file can be made immovable here") }
        defer { _ = try? setImmovable(file, false) }
        let fault = await #expect(throws: Fault.self) { try await world.run(entry, on: "a.txt") }
        #expect(fault?.kind == .failed)
        #expect(try scene.home.read("drafts/a.txt") == "old")
        #expect(try names("drafts") == ["a.txt"])
        #expect(try !scene.exists("trash/files") || names("trash/files").isEmpty)
        #expect(try !scene.exists("trash/info") || names("trash/info").isEmpty)
        #expect(try world.ledger.readBlocking { try $0.staged() }.isEmpty)
        // It is done as soon as it can be.
        #expect(try setImmovable(file, false))
        let deed = try await world.run(entry, on: "a.txt")
        #expect(try scene.home.read("drafts/a.txt") == "new")
        try await deed.undo()
        #expect(try scene.home.read("drafts/a.txt") == "old")
    }

    private static let entries = [
        "move: { place: drafts, exists: replace }", "copy: { place: drafts, exists: replace }",
        "link: { place: drafts, exists: replace }", "link: { place: drafts, kind: hard, exists: replace }",
        "pack: { place: drafts, name: a.txt, exists: replace }",
        "convert: { command: [cp, \"{{ convert.input }}\", \"{{ convert.output }}\"], to: txt, place: drafts, exists: replace }",
    ]

    /// A run of the agent that ends when the old file is in the trash and the new one has not got its name.
    private func crashAfterTrash(_ entry: String) async throws {
        try scene.home.write("drafts/a.txt", "old")
        do {
            let world = try scene.open()
            try scene.home.write("intent.json", try await world.action(entry).decided(world.input("a.txt")))
        }
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [home = scene.home.path.text as String, entry = entry as String] in
            setenv("STEWARD_FAULT", "renamed:1", 1)
            let world = try ActionWorld(BytePath(home))
            let intent = String(
                decoding: try Descriptor(BytePath(home).appending("intent.json")).readAll(), as: UTF8.self)
            _ = try await world.action(entry).performed(intent, step: "job.0")
        }
        #expect(try !scene.exists("drafts/a.txt"))
        #expect(try names("trash/files").count == 1)
    }

    @Test("After a crash it is restored before the step is decided again, which may never happen", arguments: entries)
    func crash(_ entry: String) async throws {
        try await crashAfterTrash(entry)
        // The person is faster than the agent.
        try Durable.remove(scene.path("dropbox/a.txt"))
        let world = try scene.open()
        try await world.notes.recover()
        guard case .notDone = try await world.action(entry).recovered(scene.home.read("intent.json"), step: "job.0")
        else {
            Issue.record("nothing had been made")
            return
        }
        #expect(try scene.home.read("drafts/a.txt") == "old")
        // A program's leftovers are removed by the next try.
        #expect(try entry.hasPrefix("convert") || names("drafts") == ["a.txt"])
        #expect(try names("trash/files").isEmpty && names("trash/info").isEmpty)
        #expect(try world.journal.noted(step: "job.0") == nil)
    }

    @Test("If its name is taken by then it stays in the trash, and the job's history says so")
    func crashAndTaken() async throws {
        let entry = Self.entries[0]
        try await crashAfterTrash(entry)
        try scene.home.write("drafts/a.txt", "a third")
        let world = try scene.open()
        guard case .notDone = try await world.action(entry).recovered(scene.home.read("intent.json"), step: "job.0")
        else {
            Issue.record("nothing had been made")
            return
        }
        #expect(try scene.home.read("drafts/a.txt") == "a third")
        let slot = scene.path("trash/files").appending(BytePath(try #require(try names("trash/files").first)))
        let lines = try world.ledger.readBlocking { try $0.history(limit: 9, job: "job") }.map(\.message)
        #expect(lines.contains { $0.contains(slot.text) && $0.contains("drafts/a.txt") }, "\(lines)")
    }

    @Test("A resumed undo leaves it alone once it has replaced a link") func resumedLink() async throws {
        try scene.home.write("drafts/a.txt", "old")
        let world = try scene.open()
        let deed = try await world.run("link: { place: drafts, exists: replace }", on: "a.txt")
        try await deed.undo()
        let before = try FileStatus.of(scene.path("drafts/a.txt"))
        #expect(try scene.home.read("drafts/a.txt") == "old")
        let again = try await deed.action.undone(deed.intent, deed.receipt, step: deed.step, resumes: true)
        #expect(again.effects.count == 1)
        // It was not renamed even briefly.
        #expect(try FileStatus.of(scene.path("drafts/a.txt"))?.fingerprint == before?.fingerprint)
    }

    @Test("A resumed undo leaves it alone even if its content equals that of the moved file") func resumedMove()
        async throws
    {
        let old = scene.far.appending("a.txt")
        try write(old, "new")
        let world = try scene.open()
        let deed = try await world.run("move: { place: far, exists: replace }", on: "a.txt")
        // As the runner does when it has the receipt.
        try await world.ledger.write { try $0.clearStaged(job: deed.step) }
        try await deed.undo()
        let after = try scene.snapshot()
        #expect(try FileStatus.of(old) != nil)
        let again = try await deed.action.undone(deed.intent, deed.receipt, step: deed.step, resumes: true)
        #expect(try scene.snapshot() == after)
        #expect(again.effects.count == 2, "\(again)")
    }

    @Test("It counts as restored even if its trash info cannot be removed") func infoStays() async throws {
        try scene.home.write("drafts/a.txt", "old")
        let world = try scene.open()
        let deed = try await world.run("copy: { place: drafts, exists: replace }", on: "a.txt")
        let info = scene.path("trash/info").appending(BytePath(try #require(try names("trash/info").first)))
        try Durable.remove(info)
        try Durable.makeDirectory(info)
        let undone = try await deed.undo()
        #expect(try scene.home.read("drafts/a.txt") == "old")
        #expect(undone.effects.count == 2 && !undone.summary.contains("is not restored"), "\(undone)")
        #expect(undone.summary.contains(info.nameText), "\(undone.summary)")
    }
}
