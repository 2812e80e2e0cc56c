import Foundation
import Glibc
import OwnFiles
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

    @Test("Exchanged: the copy has the mode and attributes, and the displaced version is kept until removed")
    func exchanged() throws {
        chmod(path.text, 0o640)
        let present = try Descriptor(path, O_RDWR)
        try ExtendedAttributes.set("user.xdg.tags", Array("mine".utf8), on: present)
        let file = try ExchangedFile(
            Array("new\n".utf8), inPlaceOf: present, at: DirectoryEntry(own: path), keepsOwner: true)
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

    @Test("Exchanged twice, the displaced version is back")
    func exchangedBack() throws {
        let inode = try FileStatus.of(path)?.inode
        let file = try ExchangedFile(
            Array("new\n".utf8), inPlaceOf: try Descriptor(path), at: DirectoryEntry(own: path), keepsOwner: false)
        try file.exchange()
        #expect(try !file.isCopyAside())
        try file.exchange()
        #expect(try file.isCopyAside())
        try file.removeAside()
        #expect(try folder.read("note.md") == "old\n")
        #expect(try FileStatus.of(path)?.inode == inode)
    }

    @Test(
        "Exchanged by another user: the copy keeps its group, or is not made if a group that matters cannot be kept",
        .enabled(if: getuid() == 0, "needs root"),
        arguments: [
            OthersFile(group: 65_532, mode: 0o660, becomes: 65_532),
            OthersFile(group: 65_531, mode: 0o644, becomes: 65_534),
            OthersFile(group: 65_531, mode: 0o660), OthersFile(group: 65_531, mode: 0o604),
            OthersFile(group: 65_531, mode: 0o644, hasList: true),
        ])
    func exchangedByAnother(file: OthersFile) async throws {
        chmod(folder.path.text, 0o777)
        chown(path.text, 65_533, file.group)
        chmod(path.text, file.mode)
        if file.hasList { try ExtendedAttributes.set("system.posix_acl_access", Self.list, on: Descriptor(path)) }
        await #expect(processExitsWith: .success) {
            [path = path.text as String, isExchanged = (file.becomes != nil) as Bool] in
            // Not the file's owner, and in one supplementary group. If the mode denies this user reading, the file is
            // already open.
            let present = try Descriptor(BytePath(path))
            setgroups(1, [65_532])
            setgid(65_534)
            setuid(65_534)
            func exchange() throws {
                let copy = try ExchangedFile(
                    Array("new\n".utf8), inPlaceOf: present, at: DirectoryEntry(own: BytePath(path)), keepsOwner: false)
                try copy.exchange()
                try copy.removeAside()
            }
            if isExchanged { return try exchange() }
            let fault = #expect(throws: Fault.self) { try exchange() }
            #expect(fault?.kind == .failed && fault?.errno == EPERM)
            #expect(fault?.message.hasPrefix("cannot keep the group of \(path), so it was left as it is: ") == true)
        }
        let status = try #require(try FileStatus.of(path))
        #expect(status.mode == file.mode && status.group == file.becomes ?? file.group)
        #expect(status.owner == (file.becomes == nil ? 65_533 : 65_534))
        #expect(try folder.read("note.md") == (file.becomes == nil ? "old\n" : "new\n"))
        #expect(try names() == ["note.md"])
    }

    /// An access list that denies the group everything, though the mode shows the permissions of a named user: acl(5),
    /// in the kernel's format.
    private static let list: [UInt8] = {
        let entries: [(tag: UInt8, may: UInt8, user: UInt32)] = [
            (0x01, 6, .max), (0x02, 4, 65_530), (0x04, 0, .max), (0x10, 4, .max), (0x20, 4, .max),
        ]
        var bytes: [UInt8] = [2, 0, 0, 0]
        for entry in entries {
            bytes += [entry.tag, 0, entry.may, 0]
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: entry.user >> ($0 * 8)) }
        }
        return bytes
    }()

    @Test("New: complete when it appears, and never replacing another")
    func new() throws {
        let other = folder.path.appending("other.md")
        let file = try NewFile(Array("new\n".utf8), at: DirectoryEntry(own: other), mode: 0o640)
        #expect(try FileStatus.of(other) == nil)
        #expect(try file.name())
        #expect(try folder.read("other.md") == "new\n")
        #expect(try FileStatus.of(other)?.mode == 0o640)
        let late = try NewFile(Array("lost\n".utf8), at: DirectoryEntry(own: path), mode: 0o640)
        #expect(try !late.name())
        #expect(try folder.read("note.md") == "old\n")
        let dropped = try NewFile([], at: DirectoryEntry(own: folder.path.appending("third.md")), mode: 0o640)
        try dropped.discard()
        #expect(try names() == ["note.md", "other.md"])
    }

    @Test("Own: a new inode, atomically, and recorded while empty")
    func own() throws {
        let inode = try FileStatus.of(path)?.inode
        var recorded: [Int64] = []
        try OwnFile.replace(DirectoryEntry(own: path), with: Array("new\n".utf8), mode: 0o600) { place, identity in
            let size = try FileStatus.of(place)?.size
            if identity != nil { recorded.append(size ?? 0) }
        }
        #expect(try folder.read("note.md") == "new\n" && recorded == [0])
        #expect(try FileStatus.of(path)?.inode != inode)
        // More than any usual umask leaves for a new file.
        try OwnFile.replace(DirectoryEntry(own: path), with: [], mode: 0o600, keeping: 0o666)
        #expect(try FileStatus.of(path)?.mode == 0o666)
        #expect(try names() == ["note.md"])
    }

    @Test("Renamed over: not if somebody has changed it meanwhile")
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

/// A file of another owner.
struct OthersFile: Sendable, CustomTestStringConvertible {
    let group: gid_t
    let mode: mode_t
    /// The group after the exchange; nil if there is none.
    var becomes: gid_t?
    var hasList = false

    var testDescription: String { "\(group), \(String(mode, radix: 8))\(hasList ? ", with an access list" : "")" }
}
