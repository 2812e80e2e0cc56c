import ComicTestSupport
import Foundation
import Glibc
import Ledger
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// A file system reuses the inode of a temporary file as soon as it is gone.
@Suite("Files that reuse the inode of a temporary one") struct FreedInodeTests {
    private let scene: ActionScene

    init() throws { scene = try ActionScene() }

    private func names(_ folder: BytePath) throws -> [String] {
        try listDirectory(scene.path(folder)).map { BytePath.escape($0.name) }.sorted()
    }

    private func staged(_ world: ActionWorld) throws -> [BytePath] {
        try world.ledger.readBlocking { try $0.staged().map(\.path) }
    }

    /// The ledger's entry after a try whose temporary file is gone, and whose inode now belongs to `file`.
    private func claim(_ file: BytePath, _ world: ActionWorld, isBirthKnown: Bool = true) throws {
        let found = try Descriptor(file).identity()
        if isBirthKnown, found.born == nil { try Test.cancel("this file system tells no births") }
        let born = isBirthKnown ? found.born.map { $0 - 1 } : nil
        try world.ledger.writeBlocking {
            try $0.setStaged(
                file.parent.appending(".steward-desk-0123456789abcdef"),
                FileIdentity(device: found.device, inode: found.inode, born: born), job: "job.0")
        }
    }

    @Test(
        "A file with another birth time is not mistaken for a step's product",
        arguments: [
            ("pack: { place: drafts, source: trash }", "drafts/p.png.zip"),
            ("convert-picture: { place: drafts }", "drafts/p.jpg"),
            (
                "convert: { command: [cp, \"{{ convert.input }}\", \"{{ convert.output }}\"], to: jpg, place: drafts }",
                "drafts/p.jpg"
            ),
            ("copy: { place: drafts }", "drafts/p.png"),
        ])
    func another(_ entry: String, _ name: String) async throws {
        let mine = BytePath(name)
        try scene.home.write("dropbox/p.png", Picture.png(40, 60))
        let world = try scene.open()
        let action = try world.action(entry)
        let intent = try await action.decided(world.input("p.png"))
        try scene.home.write(mine, Picture.png(40, 60))
        try claim(scene.path(mine), world)
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            Issue.record("somebody's file is taken for the product")
            return
        }
        #expect(try scene.exists("dropbox/p.png"))
        let receipt = try await action.performed(intent, step: "job.0")
        guard case .created(let made, _, _)? = receipt.effects.first else { throw TestFailure("\(receipt)") }
        #expect(made != scene.path(mine))
        #expect(try Descriptor(scene.path(mine)).readAll() == Picture.png(40, 60))
    }

    @Test("A save by rename is not mistaken for tags set by a step") func savedSound() async throws {
        let file = try scene.home.write("dropbox/a.wav", SoundSample.wave(seconds: 1))
        let world = try scene.open()
        let action = try world.action("set-metadata: { title: x }")
        let intent = try await action.decided(world.input("a.wav"))
        try claim(file, world)
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            Issue.record("nothing had been set")
            return
        }
    }

    @Test("Before a source is removed, the archive is compared with it, whatever its inode says") func compared()
        async throws
    {
        try scene.home.write("dropbox/a.txt", "the only copy")
        try scene.home.write("dropbox/b/a.txt", "another")
        let world = try scene.open()
        let other = try await world.run("pack: { place: drafts, name: a.txt.zip }", on: "b/a.txt", step: "job.1")
        let action = try world.action("pack: { place: drafts, source: trash }")
        let intent = try await action.decided(world.input("a.txt"))
        // On a file system without birth times nothing else is known.
        try claim(try #require(other.target), world, isBirthKnown: false)
        guard case .notDone = try await action.recovered(intent, step: "job.0") else {
            Issue.record("somebody's archive is taken for the product")
            return
        }
        #expect(try scene.home.read("dropbox/a.txt") == "the only copy")
        let receipt = try await action.performed(intent, step: "job.0")
        guard case .created(let made, _, _)? = receipt.effects.first else { throw TestFailure("\(receipt)") }
        #expect(made == scene.path("drafts/a.txt (1).zip"))
    }

    @Test(
        "A failed attempt leaves neither a temporary file nor a record of one",
        arguments: [
            "pack: { place: drafts }", "convert-picture: { place: drafts }", "unpack: { place: drafts }",
        ])
    func failed(_ entry: String) async throws {
        try scene.home.write("dropbox/p.png", Picture.png(40, 60))
        var options = ActionWorld.Options()
        options.unpacker = "/bin/false"
        let world = try scene.open(options)
        await #expect(throws: Fault.self) { try await world.run(entry, on: "p.png") }
        #expect(try names("drafts").isEmpty)
        #expect(try staged(world).isEmpty)
    }

    @Test("A copy whose name was taken, or whose source changed, is forgotten") func changedSource() async throws {
        let world = try scene.open()
        let source = try scene.home.write("dropbox/a.txt", "content")
        let target = scene.path("drafts/a.txt")
        let fault = #expect(throws: Fault.self) {
            _ = try HeldFiles.fromTheTop.copy(source, expecting: ContentHash(of: Array("content".utf8)), to: [target]) {
                try world.journal.recordStaged($0, $1, step: "job.0")
                // While it is being copied.
                if $1 != nil { try write(source, "changed") }
            }
        }
        #expect(fault?.kind == .superseded)
        #expect(try staged(world).isEmpty)
        #expect(try names("drafts").isEmpty)
    }

    @Test("A product that has its name is still known if the next step failed") func named() async throws {
        let world = try scene.open()
        let file = try scene.home.write("drafts/a.txt", "content")
        let temporary = scene.path("drafts/.steward-desk-0123456789abcdef")
        try world.journal.recordStaged(temporary, Descriptor(file).identity(), step: "job.0")
        // It briefly had a second name, on a file system with no other way to take only a free one.
        #expect(link(file.text, temporary.text) == 0)
        try await world.notes.recover()
        #expect(try names("drafts") == ["a.txt"])
        #expect(try staged(world) == [temporary])
        #expect(try world.journal.isProduct(of: "job.0", at: HeldFiles.fromTheTop.entry(file)))
    }

    @Test("A start removes and forgets a step's leftovers") func leftover() async throws {
        let world = try scene.open()
        let temporary = try scene.home.write("drafts/.steward-desk-0123456789abcdef", "half")
        try world.journal.recordStaged(temporary, Descriptor(temporary).identity(), step: "job.0")
        try await world.notes.recover()
        #expect(try names("drafts").isEmpty)
        #expect(try staged(world).isEmpty)
    }
}
