import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// `move`, `copy`, `rename` and `write-note` with taken names, and across file systems.
@Suite("Placing files") struct FilePlacementTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/a.txt", "new")
    }

    private func names(_ place: BytePath) throws -> [String] {
        try listDirectory(scene.path(place)).map { BytePath.escape($0.name) }.sorted()
    }

    @Test("`rename` takes the next free name", arguments: ["move", "copy"]) func renameTakesNext(_ verb: String)
        async throws
    {
        for name in ["a.txt", "a (1).txt"] { try scene.home.write(BytePath("drafts/\(name)"), "old \(name)") }
        let deed = try await world.run("\(verb): { place: drafts }", on: "a.txt")
        #expect(deed.target == scene.path("drafts/a (2).txt"))
        #expect(deed.receipt.values["target.name"] == .text("a (2).txt"))
        #expect(try scene.home.read("drafts/a (2).txt") == "new")
        #expect(try scene.home.read("drafts/a.txt") == "old a.txt")
        #expect(try scene.exists("dropbox/a.txt") == (verb == "copy"))
    }

    @Test(
        "Nothing is placed in a place that is away",
        arguments: ["move: { place: drafts }", "write-note: { place: drafts, name: n, text: t }"])
    func nothingPutPlace(_ entry: String) async throws {
        let action = try world.action(entry)
        let intent = try await action.decided(try world.input("a.txt"))
        #expect(rename(scene.path("drafts").text, scene.path("away").text) == 0)
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .transient && fault?.message.contains("the place drafts is away") == true)
        let again = await #expect(throws: Fault.self) { try await action.recovered(intent, step: "job.0") }
        #expect(again?.kind == .transient)
        #expect(try !scene.exists("drafts"))
        #expect(try scene.home.read("dropbox/a.txt") == "new")
        #expect(rename(scene.path("away").text, scene.path("drafts").text) == 0)
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            Issue.record("nothing had been done")
            return
        }
        _ = try await action.performed(intent, step: "job.0")
        #expect(try names("drafts").count == 1)
    }

    @Test("`skip` leaves both alone", arguments: ["move", "copy"]) func skipLeavesBoth(_ verb: String) async throws {
        try scene.home.write("drafts/a.txt", "old")
        let before = try scene.snapshot()
        let deed = try await world.run("\(verb): { place: drafts, exists: skip }", on: "a.txt")
        #expect(try scene.snapshot() == before)
        #expect(deed.receipt.effects.isEmpty && deed.receipt.summary.contains("is there already"))
    }

    @Test("`same` skips identical content and renames otherwise", arguments: ["move", "copy"])
    func skipsIdenticalContent(
        _ verb: String
    ) async throws {
        try scene.home.write("drafts/a.txt", "new")
        let before = try scene.snapshot()
        _ = try await world.run("\(verb): { place: drafts, exists: same }", on: "a.txt")
        #expect(try scene.snapshot() == before)
        try scene.home.write("drafts/a.txt", "another")
        _ = try await world.run("\(verb): { place: drafts, exists: same }", on: "a.txt", step: "job.1")
        #expect(try scene.home.read("drafts/a (1).txt") == "new")
    }

    @Test("`replace` keeps the old one in the trash", arguments: ["move", "copy"]) func replaceKeepsOld(_ verb: String)
        async throws
    {
        try scene.home.write("drafts/a.txt", "old")
        _ = try await world.run("\(verb): { place: drafts, exists: replace }", on: "a.txt")
        #expect(try scene.home.read("drafts/a.txt") == "new")
        let kept = try names("trash/files")
        #expect(kept.count == 1)
        #expect(try scene.home.read(BytePath("trash/files/\(kept[0])")) == "old")
    }

    @Test(
        "A product that cannot be made replaces nothing",
        arguments: [
            ("copy: { place: drafts, exists: replace }", "a.txt"),
            ("move: { place: far, exists: replace }", "a.txt"),
            ("link: { place: drafts, kind: hard, exists: replace }", "a.txt"),
            ("pack: { place: drafts, exists: replace }", "a.txt.zip"),
        ])
    func replacesNothing(_ entry: String, _ name: String) async throws {
        let old = (entry.contains("far") ? scene.far : scene.path("drafts")).appending(BytePath(name))
        try write(old, "old")
        let action = try world.action(entry)
        let intent = try await action.decided(try world.input("a.txt"))
        // Found only when it is read.
        try write(scene.path("dropbox/a.txt"), "NEW")
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .superseded)
        #expect(try String(decoding: Descriptor(old).readAll(), as: UTF8.self) == "old")
    }

    @Test("Undoing `replace` says where the replaced file is, if it is no longer in the trash")
    func replacedIsGone() async throws {
        try scene.home.write("drafts/a.txt", "old")
        let deed = try await world.run("move: { place: drafts, exists: replace }", on: "a.txt")
        #expect(deed.receipt.summary.contains("the previous file is in the trash"))
        let kept = try #require(try names("trash/files").first)
        try Durable.remove(scene.path(BytePath("trash/files/\(kept)")))
        let undone = try await deed.undo()
        #expect(undone.summary.contains("is no longer in the trash"), "\(undone.summary)")
        #expect(try scene.home.read("dropbox/a.txt") == "new")
        #expect(try names("drafts").isEmpty)
    }

    @Test("The receipt knows the replaced file even if a crash came before the new file had the name")
    func replacedBeforeCrash() async throws {
        let scene = try ActionScene()
        try scene.home.write("dropbox/a.txt", "new")
        try scene.home.write("drafts/a.txt", "old")
        let entry = "copy: { place: drafts, exists: replace }"
        do {
            let world = try scene.open()
            try scene.home.write("intent.json", try await world.action(entry).decided(world.input("a.txt")))
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [home = scene.home.path.text as String] in
            // The copy gets its name by the second rename.
            setenv("STEWARD_FAULT", "renamed:1", 1)
            let world = try ActionWorld(BytePath(home))
            let intent = String(
                decoding: try Descriptor(BytePath(home).appending("intent.json")).readAll(), as: UTF8.self)
            _ = try await world.action("copy: { place: drafts, exists: replace }").performed(intent, step: "job.0")
        }
        #expect(try !scene.exists("drafts/a.txt"))
        #expect(try listDirectory(scene.path("trash/files")).count == 1)
        let next = try scene.open()
        try await next.notes.recover()
        let deed = try await next.run(entry, on: "a.txt")
        #expect(try listDirectory(scene.path("drafts")).map(\.name) == [Array("a.txt".utf8)])
        try await deed.undo()
        #expect(try scene.home.read("drafts/a.txt") == "old")
    }

    @Test("The same content can be replaced repeatedly") func contentReplacedAgain() async throws {
        try scene.home.write("drafts/x.md", "# one\n")
        for (number, text) in ["two", "one", "two", "one"].enumerated() {
            _ = try await world.run(
                "write-note: { place: drafts, name: x, text: \"# \(text)\", exists: replace }", on: "a.txt",
                step: "job.\(number)")
            #expect(try scene.home.read("drafts/x.md") == "# \(text)\n")
        }
        #expect(try names("trash/files").count == 4)
        #expect(try names("trash/info").count == 4)
    }

    @Test(
        "A product is found again even if an earlier name has become free",
        arguments: [
            ("move: { place: drafts }", "a.txt"), ("copy: { place: drafts }", "a.txt"),
            ("move: { place: far }", "a.txt"), ("link: { place: drafts, kind: hard }", "a.txt"),
            ("pack: { place: drafts, source: trash }", "a.txt.zip"),
            ("write-note: { place: drafts, name: x, text: t }", "x.md"), ("link: { place: drafts }", "a.txt"),
        ])
    func foundBeyondGap(_ entry: String, _ name: String) async throws {
        let folder = entry.contains("far") ? scene.far : scene.path("drafts")
        let older = folder.appending(BytePath(name))
        try write(older, "older")
        let deed = try await world.run(entry, on: "a.txt")
        let made = deed.receipt.values["target.path"]
        #expect(made != nil && made != .text(older.text))
        // The agent ended before the receipt was written; the older file was moved on.
        try Durable.remove(older)
        let after = try scene.snapshot()
        guard case .done(let receipt) = try await deed.action.recovered(deed.intent, step: deed.step) else {
            Issue.record("it is not found done")
            return
        }
        #expect(receipt == deed.receipt)
        #expect(try await deed.action.performed(deed.intent, step: deed.step) == deed.receipt)
        #expect(try scene.snapshot() == after)
    }

    @Test("`replace` rejects a folder with that name") func replaceRefusesFolder() async throws {
        try scene.home.write("drafts/a.txt/inside", "old")
        let before = try scene.snapshot()
        await #expect(throws: Fault.self) {
            try await world.run("move: { place: drafts, exists: replace }", on: "a.txt")
        }
        #expect(try scene.snapshot() == before)
    }

    @Test("`replace` leaves a version alone that appeared after the decision") func replaceLeavesVersion() async throws
    {
        try scene.home.write("drafts/a.txt", "old")
        let action = try world.action("move: { place: drafts, exists: replace }")
        let intent = try await action.decided(try world.input("a.txt"))
        try scene.home.write("drafts/a.txt", "typed just now")
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .transient)
        #expect(try scene.home.read("drafts/a.txt") == "typed just now")
        #expect(try scene.home.read("dropbox/a.txt") == "new")
    }

    @Test("A source that changed since the decision is left alone", arguments: ["move", "copy"])
    func sourceChangedSince(_ verb: String) async throws {
        let action = try world.action("\(verb): { place: drafts }")
        let intent = try await action.decided(try world.input("a.txt"))
        try scene.home.write("dropbox/a.txt", "newer")
        let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(fault?.kind == .superseded)
        #expect(try scene.home.read("dropbox/a.txt") == "newer")
        #expect(try names("drafts").isEmpty)
    }

    @Test("`rename` in `write-note` and `rename` keeps existing files") func renameWriteNote() async throws {
        try scene.home.write("dropbox/b.txt", "there")
        let renamed = try await world.run("rename: { name: b.txt }", on: "a.txt")
        #expect(renamed.target == scene.path("dropbox/b (1).txt"))
        try scene.home.write("notes/x.md", "there")
        let written = try await world.run("write-note: { place: notes, name: x, text: t }", on: "b.txt", step: "job.1")
        #expect(written.target == scene.path("notes/x (1).md"))
        #expect(try scene.home.read("notes/x.md") == "there")
    }

    @Test("`write-note` adds its extension and ends with a newline") func writeNoteAdds() async throws {
        _ = try await world.run(
            "write-note: { place: notes, folder: a/b, name: x, text: \"one\\r\\ntwo\" }", on: "a.txt")
        #expect(try scene.home.read("notes/a/b/x.md") == "one\ntwo\n")
        _ = try await world.run("write-note: { place: notes, name: x.txt, text: t }", on: "a.txt", step: "job.1")
        #expect(try scene.home.read("notes/x.txt") == "t\n")
    }

    @Test(
        "A name that is a hard link to the file counts as taken like any other", arguments: ["rename", "replace"])
    func movedOntoItself(_ policy: String) async throws {
        let other = scene.path("drafts/a.txt")
        #expect(link(scene.path("dropbox/a.txt").text, other.text) == 0)
        let deed = try await world.run("move: { place: drafts, exists: \(policy) }", on: "a.txt")
        #expect(deed.target == (policy == "rename" ? scene.path("drafts/a (1).txt") : other))
        #expect(try !scene.exists("dropbox/a.txt"))
        #expect(try scene.home.read("drafts/a.txt") == "new")
        #expect(try scene.exists("trash/files") == (policy == "replace"))
        try await deed.undo()
        #expect(try scene.home.read("dropbox/a.txt") == "new")
        #expect(try scene.home.read("drafts/a.txt") == "new")
    }

    @Test("A file moved to its own location stays there") func fileMovedStays() async throws {
        let before = try scene.snapshot()
        _ = try await world.run("rename: { name: \"{{ file.name }}\" }", on: "a.txt")
        #expect(try scene.snapshot() == before)
    }

    @Test("Across file systems content, mode and times are kept") func acrossFileSystems() async throws {
        let source = scene.path("dropbox/a.txt")
        chmod(source.text, 0o640)
        let status = try #require(try FileStatus.of(source))
        let deed = try await world.run("move: { place: far, folder: x }", on: "a.txt")
        let target = try #require(deed.target)
        let moved = try #require(try FileStatus.of(target))
        #expect(target == scene.far.appending("x/a.txt"))
        #expect(moved.mode == 0o640 && moved.fingerprint.modified == status.fingerprint.modified)
        #expect(try !scene.exists("dropbox/a.txt"))
        #expect(try names("dropbox").isEmpty)
        try await deed.undo()
        #expect(try scene.home.read("dropbox/a.txt") == "new")
        #expect(try FileStatus.of(target) == nil)
    }
}
