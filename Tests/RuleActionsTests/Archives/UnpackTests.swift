import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Unpacking archives") struct UnpackTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
    }

    private func drop(_ name: BytePath, _ entries: [Packed], _ packing: Packing = .deflatedZip) throws {
        try scene.home.write(BytePath("dropbox").appending(name), try packed(entries, packing))
    }

    private func text(_ name: String, _ text: String = "text\n") -> Packed {
        Packed(name: name, bytes: Array(text.utf8))
    }

    private func names(_ folder: BytePath) throws -> [String] {
        try listDirectory(scene.path(folder)).map { BytePath.escape($0.name) }.sorted()
    }

    @Test("Every kind of archive is unpacked", arguments: Packing.allCases) func kinds(_ packing: Packing) async throws
    {
        try drop("a.b.bin", [text("one.txt", "one\n"), text("sub/two.txt", "two\n")], packing)
        let deed = try await world.run("unpack: { place: drafts }", on: "a.b.bin")
        #expect(try scene.home.read("drafts/a.b/one.txt") == "one\n")
        #expect(try scene.home.read("drafts/a.b/sub/two.txt") == "two\n")
        #expect(deed.receipt.values["unpack.files"] == .integer(2))
        #expect(deed.receipt.effects.count == 2)
        #expect(try names("drafts") == ["a.b"])
    }

    @Test("A single top-level folder is omitted, unless it is wanted", arguments: [true, false])
    func wrapper(_ unwrap: Bool) async throws {
        try drop("x.zip", [text("Top/a.txt"), text("Top/b/c.txt")])
        _ = try await world.run("unpack: { place: drafts, unwrap: \(unwrap) }", on: "x.zip")
        #expect(try names("drafts/x") == (unwrap ? ["a.txt", "b"] : ["Top"]))
        #expect(try names("drafts") == ["x"])
    }

    @Test("Nothing is unpacked into a taken name", arguments: ["rename", "skip"])
    func taken(_ exists: String) async throws {
        try scene.home.write("drafts/x/a.txt", "mine\n")
        try drop("x.zip", [text("a.txt")])
        let deed = try await world.run("unpack: { place: drafts, exists: \(exists) }", on: "x.zip")
        #expect(try scene.home.read("drafts/x/a.txt") == "mine\n")
        #expect(try names("drafts") == (exists == "rename" ? ["x", "x (1)"] : ["x"]))
        try await deed.undo()
        #expect(try names("drafts") == ["x"])
    }

    @Test(
        "A harmful archive leaves nothing behind",
        arguments: [
            "../out.txt", "a/../../out.txt", "/etc/out.txt", "C:\\out.txt", "a\\b.txt",
            ".steward-desk-0123456789abcdef",
            String(repeating: "n", count: 256), String(repeating: "d/", count: 40) + "f",
        ])
    func names(_ name: String) async throws {
        try drop("x.tar", [text("good.txt"), text(name)], .tar)
        let before = try scene.snapshot()
        let fault = await #expect(throws: Fault.self) { try await world.run("unpack: { place: drafts }", on: "x.tar") }
        #expect(fault?.kind == .refused, "\(fault?.message ?? "")")
        #expect(try scene.snapshot() == before)
    }

    @Test("Unpacked files are no more accessible than the archive") func modes() async throws {
        try drop("x.zip", [text("b/c.txt"), text("d.txt")])
        chmod(scene.path("dropbox/x.zip").text, 0o600)
        _ = try await world.run("unpack: { place: drafts }", on: "x.zip")
        for path: BytePath in ["drafts/x", "drafts/x/b"] {
            #expect(try FileStatus.of(scene.path(path))?.mode == 0o700, "\(path)")
        }
        for path: BytePath in ["drafts/x/b/c.txt", "drafts/x/d.txt"] {
            #expect(try FileStatus.of(scene.path(path))?.mode == 0o600, "\(path)")
        }
    }

    @Test("Links are rejected") func links() async throws {
        try drop("x.tar", [text("good.txt"), Packed(name: "bad", link: "/etc/passwd")], .tar)
        let fault = await #expect(throws: Fault.self) { try await world.run("unpack: { place: drafts }", on: "x.tar") }
        #expect(fault?.kind == .refused && fault?.message.contains("is a link") == true, "\(fault?.message ?? "")")
        #expect(try names("drafts").isEmpty)
    }

    @Test("Two entries with one name are rejected") func twice() async throws {
        try drop("x.tar", [text("a.txt", "one"), text("./a.txt", "two")], .tar)
        let fault = await #expect(throws: Fault.self) { try await world.run("unpack: { place: drafts }", on: "x.tar") }
        #expect(fault?.kind == .refused && fault?.message.contains("two of its entries") == true)
        #expect(try names("drafts").isEmpty)
    }

    @Test("An encrypted, truncated, invalid or empty archive is rejected with its reason")
    func unreadable() async throws {
        let zip = try packed([text("a.txt", String(repeating: "text ", count: 2000))], .deflatedZip)
        for (name, bytes, word) in [
            ("encrypted.zip", saidToBeEncrypted(zip), "encrypted"), ("short.zip", Array(zip.dropLast(40)), "short.zip"),
            ("text.zip", Array("no archive at all\n".utf8), "text.zip"), ("none.tar", try packed([], .tar), "none.tar"),
        ] {
            try scene.home.write(BytePath("dropbox/\(name)"), bytes)
            let fault = await #expect(throws: Fault.self) {
                try await world.run("unpack: { place: drafts }", on: BytePath(name))
            }
            #expect(
                fault?.kind == .refused && fault?.message.contains(word) == true, "\(name): \(fault?.message ?? "")")
        }
        #expect(try names("drafts").isEmpty)
    }

    @Test("Excessive growth is rejected") func bomb() async throws {
        let zeros = Packed(name: "zeros", bytes: [UInt8](repeating: 0, count: 80 << 20))
        try drop("x.zip", [zeros])
        let fault = await #expect(throws: Fault.self) { try await world.run("unpack: { place: drafts }", on: "x.zip") }
        #expect(fault?.kind == .refused && fault?.code == "ratio", "\(fault?.message ?? "")")
        #expect(try names("drafts").isEmpty)
    }

    @Test("Undo trashes the folder, and leaves one with additions")
    func undo() async throws {
        try drop("x.zip", [text("a.txt"), text("b/c.txt")])
        let deed = try await world.run("unpack: { place: drafts }", on: "x.zip")
        try scene.home.write("drafts/x/b/mine.txt", "mine\n")
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.kind == .failed)
        try Durable.remove(scene.path("drafts/x/b/mine.txt"))
        let receipt = try await deed.undo()
        #expect(receipt.effects.count == 2)
        #expect(try names("drafts").isEmpty)
        let trashed = try #require(try listDirectory(scene.path("trash/files")).first)
        #expect(
            try scene.home.read(BytePath("trash/files").appending(name: trashed.name).appending("b/c.txt")) == "text\n")
        #expect(try listDirectory(scene.path("trash/info")).count == 1)
    }
}
