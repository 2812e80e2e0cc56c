import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Durable changes")
struct DurableTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func at(_ name: String) -> BytePath { folder.path.appending(name) }

    private func names() throws -> [String] {
        try listDirectory(folder.path).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }

    @Test("A rename takes a free name and rejects a taken one")
    func renameNew() throws {
        try folder.write("a", "A")
        try folder.write("b", "B")
        #expect(try !Durable.renameNew(at("a"), to: at("b")))
        #expect(try folder.read("a") == "A")
        #expect(try folder.read("b") == "B")
        #expect(try Durable.renameNew(at("a"), to: at("c")))
        #expect(try names() == ["b", "c"])
    }

    @Test("A dangling link, a folder and the file itself count as taken names")
    func takenNames() throws {
        try folder.write("a", "A")
        symlink("nowhere", at("dangling").text)
        mkdir(at("folder").text, 0o700)
        for name in ["dangling", "folder", "a"] { #expect(try !Durable.renameNew(at("a"), to: at(name)), "\(name)") }
        #expect(try folder.read("a") == "A")
    }

    @Test("A rename without a source or without a folder fails with the reason")
    func renameFailures() throws {
        let missing = #expect(throws: Fault.self) { try Durable.renameNew(at("missing"), to: at("x")) }
        #expect(missing?.errno == ENOENT && missing?.path == at("missing"), "the one that is missing is to blame")
        try folder.write("a", "A")
        let nowhere = #expect(throws: Fault.self) { try Durable.renameNew(at("a"), to: at("no/such/x")) }
        #expect(nowhere?.errno == ENOENT && nowhere?.path == at("no/such/x"))
        #expect(try folder.read("a") == "A")
    }

    @Test("If a file system cannot refuse to replace, a folder still gets a free name, and no taken one")
    func renameWithoutTheFlag() throws {
        for name in ["served", "mount"] { mkdir(at(name).text, 0o700) }
        guard let shown = try ShownFolder(at("served"), at: at("mount")) else {
            try Test.cancel("needs root, bindfs and the kernel's FUSE")
        }
        defer { withExtendedLifetime(shown) {} }
        try folder.write("mount/a/file", "A")
        try folder.write("mount/plain", "B")
        mkdir(at("mount/empty").text, 0o700)
        for taken in ["mount/empty", "mount/plain", "mount/a"] {
            #expect(try !Durable.renameNew(at("mount/a"), to: at(taken)), "\(taken)")
            #expect(try !Durable.renameNew(at("mount/plain"), to: at(taken)), "\(taken)")
        }
        #expect(try Durable.renameNew(at("mount/a"), to: at("mount/b")))
        #expect(try Durable.renameNew(at("mount/plain"), to: at("mount/c")))
        #expect(try folder.read("served/b/file") == "A" && folder.read("served/c") == "B")
        #expect(throws: Fault.self) { try Durable.renameNew(at("mount/b"), to: at("mount/b/within")) }
        #expect(try folder.read("served/b/file") == "A")
    }

    @Test("Two names are exchanged atomically, also between folders")
    func exchange() throws {
        try folder.write("a", "A")
        try folder.write("sub/b", "B")
        let inode = try FileStatus.of(at("a"))?.inode
        try Durable.exchange(at("a"), at("sub/b"))
        #expect(try folder.read("a") == "B")
        #expect(try folder.read("sub/b") == "A")
        #expect(try FileStatus.of(at("sub/b"))?.inode == inode)
        #expect(throws: Fault.self) { try Durable.exchange(at("a"), at("missing")) }
        #expect(try folder.read("a") == "B")
    }

    @Test("The agent's own file is created and replaced, and nothing else remains beside it")
    func replaceOwn() throws {
        try Durable.replaceOwn(at("state"), with: Array("1".utf8))
        try Durable.replaceOwn(at("state"), with: Array("22".utf8))
        #expect(try folder.read("state") == "22")
        #expect(try FileStatus.of(at("state"))?.mode == 0o600)
        #expect(try names() == ["state"])
        mkdir(at("folder").text, 0o700)
        #expect(throws: Fault.self) { try Durable.replaceOwn(at("folder"), with: [1]) }
        #expect(try names() == ["folder", "state"])
    }

    @Test("Folders are created as deep as needed, through links, and never over a file")
    func makeDirectory() throws {
        try Durable.makeDirectory(at("a/b/c"))
        try Durable.makeDirectory(at("a/b/c"))
        #expect(try FileStatus.of(at("a/b/c"))?.kind == .directory)
        symlink("a", at("link").text)
        try Durable.makeDirectory(at("link"))
        try Durable.makeDirectory(at("link/b/d"))
        #expect(try FileStatus.of(at("a/b/d"))?.kind == .directory)
        #expect(try FileStatus.of(at("link"))?.kind == .link)
        try folder.write("file", "")
        #expect(throws: Fault.self) { try Durable.makeDirectory(at("file")) }
        #expect(throws: Fault.self) { try Durable.makeDirectory(at("file/below")) }
        symlink("nowhere", at("dangling").text)
        #expect(throws: Fault.self) { try Durable.makeDirectory(at("dangling")) }
    }

    @Test("Folders are created below a root, but never the root itself")
    func makeDirectoryBelow() throws {
        try Durable.makeDirectory(at("root"))
        try Durable.makeDirectory(at("root/a/b"), below: at("root"))
        #expect(try FileStatus.of(at("root/a/b"))?.kind == .directory)
        try Durable.makeDirectory(at("root"), below: at("root"))
        for path in ["away", "away/a/b"] {
            let fault = #expect(throws: Fault.self) { try Durable.makeDirectory(at(path), below: at("away")) }
            #expect(fault?.kind == .transient)
        }
        #expect(try FileStatus.of(at("away")) == nil)
    }

    @Test("A staged file is recorded while empty, and keeps clear of its target")
    func stage() throws {
        var recorded: (path: BytePath, file: FileIdentity?, size: Int64)?
        let temporary = try Durable.stage(Array("text".utf8), for: at("target")) {
            // If the file system supports it, the file has no name yet.
            recorded = ($0, $1, try FileStatus.of($0)?.size ?? 0)
        }
        #expect(recorded?.path == temporary)
        #expect(try recorded?.file == Descriptor(temporary).identity())
        #expect(recorded?.size == 0)
        #expect(temporary.parent == folder.path)
        #expect(temporary.nameText.hasPrefix(".steward-"))
        #expect(try FileStatus.of(at("target")) == nil)
        #expect(try Descriptor(temporary).readAll() == Array("text".utf8))
    }

    @Test("A file that cannot be recorded is not left behind")
    func unrecorded() throws {
        try folder.write("source", "x")
        #expect(throws: Fault.self) { try Durable.stage([1], for: at("t")) { _, _ in throw Fault(.transient, "full") } }
        #expect(throws: Fault.self) {
            try Durable.stageCopy(of: Descriptor(at("source")), for: at("t")) { _, _ in throw Fault(.transient, "full")
            }
        }
        #expect(try names() == ["source"])
    }

    @Test("A copy keeps bytes, mode and modification time")
    func stageCopy() throws {
        let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let source = try folder.write("source", bytes)
        chmod(source.text, 0o640)
        let before = try #require(try FileStatus.of(source))
        let (temporary, hash, lost) = try Durable.stageCopy(of: Descriptor(source), for: at("target"))
        let after = try #require(try FileStatus.of(temporary))
        #expect(try ContentHash.ofFile(temporary) == hash)
        #expect(hash == ContentHash(of: bytes))
        #expect(after.mode == 0o640)
        #expect(after.fingerprint.modified == before.fingerprint.modified)
        #expect(lost == [])
    }

    @Test(
        "A copy keeps extended attributes, even those of a read-only file",
        .enabled(if: takesAttributes, "extended attributes are not kept here"))
    func stageCopyAttributes() throws {
        let source = try folder.write("source", "x")
        let large = (0..<2_000).map { UInt8(truncatingIfNeeded: $0) }
        try ExtendedAttributes.set("user.comment", Array("mine".utf8), on: Descriptor(source))
        try ExtendedAttributes.set("user.large", large, on: Descriptor(source))
        try ExtendedAttributes.set("user.empty", [], on: Descriptor(source))
        chmod(source.text, 0o444)
        let copy = try Durable.stageCopy(of: Descriptor(source), for: at("target"))
        #expect(copy.lost == [])
        let file = try Descriptor(copy.path)
        #expect(try ExtendedAttributes.value("user.comment", of: file) == Array("mine".utf8))
        #expect(try ExtendedAttributes.value("user.large", of: file) == large)
        #expect(try ExtendedAttributes.value("user.empty", of: file) == [])
        #expect(try file.status().mode == 0o444)
    }

    @Test(
        "A copy keeps the owner if the agent may change owners, and gives nobody extra rights",
        .enabled(if: getuid() == 0, "needs root"))
    func stageCopyOwner() throws {
        let source = try folder.write("source", "x")
        chown(source.text, 65_533, 65_532)
        chmod(source.text, 0o4750)
        let copy = try Durable.stageCopy(of: Descriptor(source), for: DirectoryEntry(own: at("target")))
        let status = try copy.file.status()
        #expect(status.owner == 65_533 && status.group == 65_532)
        #expect(status.mode == 0o750 && copy.dropped == ["setuid"])
        let own = try Durable.stageCopy(of: Descriptor(source), for: DirectoryEntry(own: at("own")), keepsOwner: false)
        #expect(try own.file.status().owner == geteuid())
    }

    @Test(
        "Attributes that the other file system cannot store are reported, and the bytes are copied",
        .enabled(if: getuid() == 0, "needs root"))
    func stageCopyLosses() throws {
        let bare = at("bare")
        mkdir(bare.text, 0o700)
        // ramfs does not support attributes.
        guard mount("ramfs", bare.text, "ramfs", 0, nil) == 0 else { try Test.cancel("mounting is not permitted here") }
        defer { umount2(bare.text, 2) }  // MNT_DETACH
        let source = try folder.write("source", "x")
        try ExtendedAttributes.set("user.comment", Array("mine".utf8), on: Descriptor(source))
        let placed = try Mover.copy(source, expecting: ContentHash(of: [120]), to: [bare.appending("target")]) { _, _ in
        }
        #expect(placed.lost == ["the attribute user.comment"])
        #expect(placed.losses == "; the file system there does not keep the attribute user.comment")
        #expect(try Descriptor(placed.path).readAll() == [120])
    }

    private static let takesAttributes: Bool = {
        guard let folder = try? TemporaryFolder(), let path = try? folder.write("probe", ""),
            let file = try? Descriptor(path)
        else { return false }
        return (try? ExtendedAttributes.set("user.probe", [1], on: file)) != nil
    }()

    @Test("Removing a missing file succeeds, removing a folder does not")
    func remove() throws {
        try folder.write("a", "")
        try Durable.remove(at("a"))
        try Durable.remove(at("a"))
        mkdir(at("folder").text, 0o700)
        #expect(throws: Fault.self) { try Durable.remove(at("folder")) }
    }

    @Test("The host's name fits in an anchor and a file name")
    func host() {
        let name = hostName()
        #expect(!name.isEmpty && name.utf8.count <= 24)
        #expect(name.utf8.allSatisfy { $0 == 45 || (48...57).contains($0) || (97...122).contains($0) })
        #expect(randomHex(8).utf8.count == 16)
    }
}
