import Foundation
import Glibc
import OwnFiles
import PeopleFiles
import Platform
import TestSupport
import Testing

@Suite("Other ways of writing people's files")
struct PeopleFilesTests {
    private let folder: TemporaryFolder
    private let path: BytePath

    init() throws {
        folder = try TemporaryFolder("steward-people")
        path = try folder.write("note.md", "old\n")
    }

    private func names() throws -> [String] {
        try listDirectory(folder.path).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }

    @Test("Exchanged: the copy has the mode and attributes, the displaced version stands aside until it goes")
    func exchanged() throws {
        chmod(path.text, 0o640)
        let present = try Descriptor(path, O_RDWR)
        try ExtendedAttributes.set("user.xdg.tags", Array("mine".utf8), on: present)
        let file = try ExchangedFile(Array("new\n".utf8), inPlaceOf: present, at: Spot(own: path), keepsOwner: true)
        #expect(try folder.read("note.md") == "old\n")
        try file.exchange()
        #expect(try folder.read("note.md") == "new\n")
        let now = try Descriptor(path)
        #expect(try now.status().mode == 0o640)
        #expect(try ExtendedAttributes.value("user.xdg.tags", of: now) == Array("mine".utf8))
        try present.write(Array("typed too late\n".utf8), at: 4)
        #expect(try file.aside.open().readAll() == Array("old\ntyped too late\n".utf8))
        try file.removeAside()
        #expect(try names() == ["note.md"])
    }

    @Test("Exchanged twice, the version that was displaced is back")
    func exchangedBack() throws {
        let inode = try FileStatus.of(path)?.inode
        let file = try ExchangedFile(
            Array("new\n".utf8), inPlaceOf: try Descriptor(path), at: Spot(own: path), keepsOwner: false)
        try file.exchange()
        try file.exchange()
        try file.removeAside()
        #expect(try folder.read("note.md") == "old\n")
        #expect(try FileStatus.of(path)?.inode == inode)
    }

    @Test("New: whole under its name, and never in the place of another")
    func new() throws {
        let other = folder.path.appending("other.md")
        let file = try NewFile(Array("new\n".utf8), at: Spot(own: other), mode: 0o640)
        #expect(try FileStatus.of(other) == nil)
        #expect(try file.name())
        #expect(try folder.read("other.md") == "new\n")
        #expect(try FileStatus.of(other)?.mode == 0o640)
        let late = try NewFile(Array("lost\n".utf8), at: Spot(own: path), mode: 0o640)
        #expect(try !late.name())
        #expect(try folder.read("note.md") == "old\n")
        let dropped = try NewFile([], at: Spot(own: folder.path.appending("third.md")), mode: 0o640)
        try dropped.discard()
        #expect(try names() == ["note.md", "other.md"])
    }

    @Test("One's own: another inode, in one step, and recorded while it is empty")
    func own() throws {
        let inode = try FileStatus.of(path)?.inode
        var recorded: [Int64] = []
        try OwnFile.replace(Spot(own: path), with: Array("new\n".utf8), mode: 0o600) { recorded.append($1.size) }
        #expect(try folder.read("note.md") == "new\n" && recorded == [0])
        #expect(try FileStatus.of(path)?.inode != inode)
        #expect(try names() == ["note.md"])
    }

    @Test("Renamed over: not where somebody has changed it meanwhile")
    func renamed() throws {
        let held = try Descriptor(folder.path, O_RDONLY | O_DIRECTORY)
        let name = Array("note.md".utf8)
        #expect(
            try !RenamedFile.edit(name, in: held) { _ in
                try folder.write("note.md", "theirs\n"); return []
            })
        #expect(try folder.read("note.md") == "theirs\n")
        #expect(try RenamedFile.edit(name, in: held) { ($0 ?? []) + Array("ours\n".utf8) })
        #expect(try folder.read("note.md") == "theirs\nours\n")
        #expect(try RenamedFile.edit(Array("new.md".utf8), in: held) { $0 == nil ? [65] : nil })
        #expect(try names() == ["new.md", "note.md"])
    }
}
