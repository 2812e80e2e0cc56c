import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Links") struct LinkTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/in/a.txt", "content")
    }

    private func destination(_ link: BytePath) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: scene.path(link).text)
    }

    @Test("Within a place, a symlink is relative to its folder") func relative() async throws {
        let deed = try await world.run("link: { folder: by-day/monday, name: today.txt }", on: "in/a.txt")
        #expect(try destination("dropbox/by-day/monday/today.txt") == "../../in/a.txt")
        #expect(try scene.home.read("dropbox/by-day/monday/today.txt") == "content")
        #expect(deed.receipt.values["target.name"] == .text("today.txt"))
        try await deed.undo()
        #expect(try !scene.exists("dropbox/by-day/monday/today.txt"))
        #expect(try scene.home.read("dropbox/in/a.txt") == "content")
    }

    @Test("Beyond its place, it is absolute", arguments: ["place: drafts", "folder: x, absolute: true"])
    func absolute(_ way: String) async throws {
        let deed = try await world.run("link: { \(way) }", on: "in/a.txt")
        guard case .touched(let link, _, _)? = deed.receipt.effects.first else { throw TestFailure("no effect") }
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: link.text) == scene.path("dropbox/in/a.txt").text)
    }

    @Test("An existing link is neither created again nor undone", arguments: ["symbolic", "hard"])
    func twice(_ kind: String) async throws {
        _ = try await world.run("link: { kind: \(kind), folder: links }", on: "in/a.txt")
        let again = try await world.run("link: { kind: \(kind), folder: links }", on: "in/a.txt", step: "job.1")
        #expect(again.receipt.effects.isEmpty)
        try await again.undo()
        #expect(try listDirectory(scene.path("dropbox/links")).map(\.name) == [Array("a.txt".utf8)])
    }

    @Test("A hard link is another name for the same file") func hard() async throws {
        let deed = try await world.run("link: { kind: hard, place: drafts }", on: "in/a.txt")
        let (one, other) = (
            try FileStatus.of(scene.path("dropbox/in/a.txt")), try FileStatus.of(scene.path("drafts/a.txt"))
        )
        #expect(one?.inode == other?.inode && one?.links == 2)
        #expect(deed.receipt.effects.count == 2, "the file itself looks changed as well")
        try await deed.undo()
        #expect(
            try FileStatus.of(scene.path("dropbox/in/a.txt"))?.links == 1, "it has no other name left, in the trash")
        #expect(try !scene.exists("drafts/a.txt"))
        #expect(try scene.home.read("dropbox/in/a.txt") == "content")
    }

    @Test("A hard link to another file system fails, with advice on what works") func acrossDevices() async throws {
        guard try FileStatus.of(scene.far)?.device != FileStatus.of(scene.home.path)?.device else {
            try Test.cancel("there is no other file system to write to")
        }
        let fault = await #expect(throws: Fault.self) {
            try await world.run("link: { kind: hard, place: far }", on: "in/a.txt")
        }
        #expect(fault?.kind == .failed && fault?.message.contains("kind: symbolic") == true, "\(fault?.message ?? "")")
        #expect(try listDirectory(scene.far).isEmpty)
        #expect(try world.ledger.readBlocking { try $0.staged() }.isEmpty)
    }

    @Test("An older hard link of the file is not mistaken for the one a killed step was about to create")
    func older() async throws {
        let source = scene.path("dropbox/in/a.txt")
        #expect(link(source.text, scene.path("drafts/a (1).txt").text) == 0)
        let action = try world.action("link: { kind: hard, place: drafts }")
        let intent = try await action.decided(world.input("in/a.txt"))
        try world.journal.recordStaged(scene.path("drafts/a.txt"), Descriptor(source).identity(), step: "job.0")
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            Issue.record("it had not been made")
            return
        }
        let receipt = try await action.performed(intent, step: "job.0")
        #expect(receipt.values["target.path"] == .text(scene.path("drafts/a.txt").text))
    }

    @Test("Undo leaves a link that now points elsewhere") func pointedElsewhere() async throws {
        let deed = try await world.run("link: { folder: links }", on: "in/a.txt")
        unlink(scene.path("dropbox/links/a.txt").text)
        symlink("/etc/passwd", scene.path("dropbox/links/a.txt").text)
        await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(try destination("dropbox/links/a.txt") == "/etc/passwd")
    }
}
