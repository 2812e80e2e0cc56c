import ComicArchive
import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Packing files") struct PackTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
    }

    @Test("Packed files are unpacked byte for byte", arguments: ["zip", "tar.zst"], [0, 1, 300_000, 80 << 20])
    func roundTrip(_ format: String, _ size: Int) async throws {
        let content = [UInt8](repeating: 7, count: size)
        try scene.home.write("dropbox/à la carte.bin", content)
        let deed = try await world.run("pack: { format: \(format), place: drafts }", on: "à la carte.bin")
        #expect(deed.target == scene.path(BytePath("drafts/à la carte.bin.\(format)")))
        // Data this compressible would be treated as a bomb if it came from outside.
        guard size < 1 << 20 else { return }
        try scene.home.write(
            BytePath("dropbox/packed.\(format)"), try Descriptor(try #require(deed.target)).readAll())
        _ = try await world.run("unpack: { place: drafts, name: out }", on: BytePath("packed.\(format)"), step: "job.1")
        let out = try Descriptor(scene.path("drafts/out/à la carte.bin"))
        #expect(try out.readAll(limit: 100 << 20) == content)
    }

    @Test("A file is packed under the exact bytes of its name, even from a Mac", arguments: ["zip", "tar.zst"])
    func decomposed(_ format: String) async throws {
        try scene.home.write("dropbox/cafe\u{301}.txt", "content")
        let deed = try await world.run("pack: { format: \(format), place: drafts }", on: "cafe\u{301}.txt")
        #expect(try FileStatus.of(try #require(deed.target))?.kind == .file)
    }

    @Test("A name that a ZIP cannot hold is rejected in advance, and a tar keeps it")
    func unkept() async throws {
        for name in [Array("a\\b.txt".utf8), [0x61, 0xFF, 0x62]] {
            let path = BytePath(bytes: name)
            try scene.home.write(BytePath("dropbox").appending(name: name), "content")
            let fault = await #expect(throws: Fault.self) {
                _ = try await world.run("pack: { source: trash, place: drafts }", on: path)
            }
            let message = fault?.message ?? ""
            #expect(message.contains("cannot be kept in a zip") && message.contains("format: tar.zst"), "\(message)")
            let deed = try await world.run(
                "pack: { format: tar.zst, place: drafts }", on: path, step: "job.\(name.count)")
            #expect(try FileStatus.of(try #require(deed.target)) != nil)
        }
    }

    @Test("The same file yields the same bytes", arguments: ["zip", "tar.zst"]) func same(_ format: String) async throws
    {
        try scene.home.write("dropbox/a.txt", String(repeating: "some text ", count: 5000))
        var hashes: Set<ContentHash> = []
        for number in 0..<2 {
            let deed = try await world.run(
                "pack: { format: \(format), place: drafts }", on: "a.txt", step: "job.\(number)")
            hashes.insert(try ContentHash.ofFile(try #require(deed.target)))
        }
        #expect(hashes.count == 1)
    }

    @Test("A source to be removed is in the trash afterwards, and comes back") func trash() async throws {
        try scene.home.write("dropbox/a.txt", "content")
        let deed = try await world.run("pack: { source: trash }", on: "a.txt")
        #expect(try listDirectory(scene.path("dropbox")).map(\.name) == [Array("a.txt.zip".utf8)])
        #expect(try listDirectory(scene.path("trash/files")).count == 1)
        try await deed.undo()
        #expect(try scene.home.read("dropbox/a.txt") == "content")
        #expect(try listDirectory(scene.path("dropbox")).count == 1)
    }

    @Test("Undo leaves an archive that was changed, and the source in the trash") func changed() async throws {
        try scene.home.write("dropbox/a.txt", "content")
        let deed = try await world.run("pack: { source: trash }", on: "a.txt")
        try write(scene.path("dropbox/a.txt.zip"), "mine")
        let before = try scene.snapshot()
        await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(try scene.snapshot() == before)
    }

    @Test("If the source is removed while it is packed, the archive stays", arguments: ["keep", "trash"])
    func goesMeanwhile(_ source: String) async throws {
        let scene = try ActionScene()
        let file = try scene.home.write("dropbox/a.txt", "content")
        var options = ActionWorld.Options()
        // It has the file open by then.
        options.unpacker = try fakeWorker(
            "rm -f '\(file)'\nexec '\(try builtWorker().program)' \"$@\"", in: scene.home)
        let world = try scene.open(options)
        let action = try world.action("pack: { source: \(source), place: drafts }")
        let intent = try await action.decided(try world.input("a.txt"))
        func pack() async throws -> Receipt {
            let files = world.journal.files()
            files.begin(on: file, size: 7)
            return try await action.performed(intent, step: "job.0", files: files)
        }
        func content() async throws -> String {
            try scene.home.write("dropbox/packed.zip", try Descriptor(scene.path("drafts/a.txt.zip")).readAll())
            _ = try await world.run("unpack: { place: drafts, name: out }", on: "packed.zip", step: "job.1")
            return try scene.home.read("drafts/out/a.txt")
        }
        if source == "keep" {
            let receipt = try await pack()
            #expect(receipt.summary == "packed \(file) into \(scene.path("drafts/a.txt.zip"))")
            #expect(try await content() == "content")
            let back = try await action.undone(intent, receipt, step: "job.0")
            #expect(back.summary == "put \(scene.path("drafts/a.txt.zip")) into the trash")
            #expect(try !scene.exists("drafts/a.txt.zip") && !scene.exists("dropbox/a.txt"))
            #expect(try listDirectory(scene.path("trash/files")).count == 1)
        } else {
            // There is nothing to put in the trash, so the step is not done.
            let fault = await #expect(throws: Fault.self) { _ = try await pack() }
            #expect(fault?.kind == .superseded && fault?.message == "\(file) is gone")
            #expect(try await content() == "content")
            #expect(try listDirectory(scene.path("trash/files")).isEmpty)
        }
    }
}
