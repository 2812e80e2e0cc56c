import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Moving, copying and creating files")
struct MoverTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func at(_ name: String) -> BytePath { folder.path.appending(name) }
    private func hash(_ text: String) -> ContentHash { ContentHash(of: Array(text.utf8)) }
    private func names(_ path: BytePath? = nil) throws -> [String] {
        try listDirectory(path ?? folder.path).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }
    private func unrecorded(_ path: BytePath, _ file: FileIdentity?) {
        Issue.record("a temporary file was made at \(path) where none is needed")
    }

    @Test("Within a file system a move is a rename: the same inode, no copy")
    func move() throws {
        let source = try folder.write("a", "A")
        let inode = try FileStatus.of(source)?.inode
        let placed = try Mover.move(source, expecting: hash("A"), to: [at("b")], record: unrecorded)
        #expect(placed.path == at("b"))
        #expect(placed.hash == hash("A"))
        #expect(placed.fingerprint.inode == inode)
        #expect(try FileStatus.of(at("b"))?.fingerprint == placed.fingerprint)
        #expect(try names() == ["b"])
    }

    @Test("The first free name is taken, and no file is replaced")
    func freeName() throws {
        try folder.write("x.txt", "old")
        try folder.write("x (1).txt", "older")
        let source = try folder.write("a", "A")
        let placed = try Mover.move(
            source, expecting: hash("A"), to: Mover.alternatives(at("x.txt")), record: unrecorded)
        #expect(placed.path == at("x (2).txt"))
        #expect(try folder.read("x.txt") == "old")
        #expect(try folder.read("x (1).txt") == "older")
        try folder.write("b", "B")
        let fault = #expect(throws: Fault.self) {
            try Mover.move(at("b"), expecting: hash("B"), to: [at("x.txt")], record: unrecorded)
        }
        #expect(fault?.kind == .failed)
        #expect(try folder.read("b") == "B")
    }

    @Test("A file that took the source's name after it was read is put back under it")
    func exchangedMeanwhile() throws {
        try folder.write("a", "A")
        let other = try folder.write("other", "B")
        let source = try Mover.Source(DirectoryEntry(own: at("a")), expecting: hash("A"))
        // Requested after everything was checked, but before anything was moved.
        func reach(_ path: BytePath) throws -> DirectoryEntry {
            guard rename(other.text, at("a").text) == 0 else { throw Fault.system("rename", other) }
            return DirectoryEntry(own: path)
        }
        let fault = #expect(throws: Fault.self) {
            try Mover.move(source, to: [at("b")], through: reach, record: unrecorded)
        }
        #expect(fault?.kind == .superseded)
        #expect(try names() == ["a"])
        #expect(try folder.read("a") == "B")
    }

    @Test("Unexpected content means superseded, and the source stays")
    func superseded() throws {
        let source = try folder.write("a", "new text")
        for operation in [Mover.move, Mover.copy]
            as [(BytePath, ContentHash, [BytePath], Mover.Record) throws -> Mover.Placed]
        {
            let fault = #expect(throws: Fault.self) { try operation(source, hash("text"), [at("b")]) { _, _ in } }
            #expect(fault?.kind == .superseded)
        }
        let gone = #expect(throws: Fault.self) {
            try Mover.move(at("gone"), expecting: hash(""), to: [at("b")], record: unrecorded)
        }
        #expect(gone?.kind == .superseded)
        #expect(try names() == ["a"])
        #expect(try folder.read("a") == "new text")
    }

    @Test(
        "Between file systems the bytes are copied, and the source is removed last",
        .enabled(if: OtherDevice.isThere, "there is no other file system to write to"))
    func acrossFileSystems() async throws {
        let other = try OtherDevice()
        let source = try folder.write("a.txt", "A")
        chmod(source.text, 0o640)
        let before = try #require(try FileStatus.of(source))
        try await letGo(source)
        var recorded: [BytePath] = []
        try Durable.makeDirectory(other.path)
        let placed = try Mover.move(source, expecting: hash("A"), to: Mover.alternatives(other.path.appending("a.txt")))
        {
            recorded.append($0)
            // If the file system supports it, the file has no name yet.
            let size = try FileStatus.of($0)?.size
            #expect(size ?? 0 == 0)
            #expect($1 != nil)
        }
        #expect(placed.path == other.path.appending("a.txt"))
        #expect(try ContentHash.ofFile(placed.path) == hash("A"))
        let after = try #require(try FileStatus.of(placed.path))
        #expect(after.fingerprint == placed.fingerprint)
        #expect(after.fingerprint.modified == before.fingerprint.modified)
        #expect(after.mode == 0o640)
        #expect(recorded.map(\.parent) == [other.path])
        #expect(try names() == [])
        #expect(try names(other.path) == ["a.txt"])
    }

    @Test(
        "Between file systems attributes are copied too",
        .enabled(if: OtherDevice.isThere, "there is no other file system to write to"))
    func acrossFileSystemsAttributes() async throws {
        let other = try OtherDevice()
        let source = try folder.write("a.txt", "A")
        try ExtendedAttributes.set("user.xdg.tags", Array("mine".utf8), on: Descriptor(source))
        try await letGo(source)
        let placed = try Mover.move(source, expecting: hash("A"), to: [other.path.appending("a.txt")]) { _, _ in }
        let value = try ExtendedAttributes.value("user.xdg.tags", of: Descriptor(placed.path))
        // An older tmpfs does not support it.
        #expect(value == Array("mine".utf8) || placed.lost == ["the attribute user.xdg.tags"])
        #expect(try names() == [])
    }

    @Test(
        "Between file systems taken names are skipped too",
        .enabled(if: OtherDevice.isThere, "there is no other file system to write to"))
    func acrossFileSystemsTaken() async throws {
        let other = try OtherDevice()
        let source = try folder.write("a.txt", "A")
        try await letGo(source)
        let taken = try Descriptor(other.path.appending("a.txt"), O_WRONLY | O_CREAT)
        try taken.write(Array("theirs".utf8), at: 0)
        let placed = try Mover.move(source, expecting: hash("A"), to: Mover.alternatives(taken.path)) { _, _ in }
        #expect(placed.path.nameText == "a (1).txt")
        #expect(try ContentHash.ofFile(taken.path) == hash("theirs"))
    }

    @Test(
        "Between file systems a source that somebody writes to is kept too",
        .enabled(if: OtherDevice.isThere, "there is no other file system to write to"))
    func acrossFileSystemsWriter() throws {
        let other = try OtherDevice()
        let source = try folder.write("a.txt", "A")
        let writer = try Descriptor(source, O_WRONLY)
        let placed = try Mover.move(source, expecting: hash("A"), to: [other.path.appending("a.txt")]) { _, _ in }
        #expect(try ContentHash.ofFile(placed.path) == hash("A"))
        try writer.write(Array("B".utf8), at: 1)
        #expect(try folder.read("a.txt") == "AB")
    }

    @Test(
        "Between file systems a source moved during the copy is not moved again",
        .enabled(if: OtherDevice.isThere, "there is no other file system to write to"))
    func acrossFileSystemsMovedOn() throws {
        let other = try OtherDevice()
        let source = try folder.write("a.txt", "A")
        let fault = #expect(throws: Fault.self) {
            try Mover.move(source, expecting: hash("A"), to: [other.path.appending("a.txt")]) { _, copy in
                // It is still empty.
                if copy != nil { _ = rename(source.text, at("elsewhere").text) }
            }
        }
        #expect(fault?.kind == .superseded)
        #expect(try names() == ["elsewhere"])
        #expect(try names(other.path) == [])
    }

    @Test("A source is removed only if it still has the expected content")
    func removeSource() async throws {
        let source = try folder.write("a", "A")
        try await letGo(source)
        try Mover.removeSource(source, expecting: hash("B"))
        #expect(try folder.read("a") == "A")
        #expect(try names() == ["a"])
        try Mover.removeSource(source, expecting: hash("A"))
        #expect(try names() == [])
        #expect(throws: Never.self) { try Mover.removeSource(source, expecting: hash("A")) }
    }

    @Test("Something at the source's name that cannot be read as a file is put back")
    func removeSourceOdd() throws {
        symlink("elsewhere", at("link").text)
        _ = try? Mover.removeSource(at("link"), expecting: hash("A"))
        #expect(try names() == ["link"])
        mkdir(at("folder").text, 0o700)
        _ = try? Mover.removeSource(at("folder"), expecting: hash("A"))
        #expect(try names() == ["folder", "link"])
    }

    @Test("A copy keeps its source and is an independent file")
    func copy() throws {
        let source = try folder.write("a", "A")
        let placed = try Mover.copy(source, expecting: hash("A"), to: Mover.alternatives(at("a"))) { _, _ in }
        #expect(placed.path == at("a (1)"))
        #expect(placed.fingerprint.inode != (try FileStatus.of(source)?.inode))
        #expect(try names() == ["a", "a (1)"])
    }

    @Test("A new file takes the first free name and is complete when it appears")
    func create() throws {
        try folder.write("n.md", "old")
        var recorded = 0
        let placed = try Mover.create(Array("new".utf8), at: Mover.alternatives(at("n.md"))) { _, _ in recorded += 1 }
        #expect(placed.path == at("n (1).md"))
        #expect(placed.hash == hash("new"))
        #expect(recorded == 1)
        #expect(try folder.read("n (1).md") == "new")
        #expect(try folder.read("n.md") == "old")
        #expect(throws: Fault.self) { try Mover.create([1], at: [at("n.md")]) { _, _ in } }
        #expect(try names() == ["n (1).md", "n.md"])
    }
}

@Suite("Alternatives to a taken name")
struct AlternativesTests {
    private func first(_ path: BytePath, _ count: Int = 3) -> [String] {
        Mover.alternatives(path).prefix(count).map(\.text)
    }

    @Test("A number goes before the extension")
    func numbers() {
        #expect(first("/f/a.txt") == ["/f/a.txt", "/f/a (1).txt", "/f/a (2).txt"])
        #expect(first("/f/a") == ["/f/a", "/f/a (1)", "/f/a (2)"])
        #expect(first("/f/.profile") == ["/f/.profile", "/f/.profile (1)", "/f/.profile (2)"])
        #expect(first("a.tar.gz", 2) == ["a.tar.gz", "a.tar (1).gz"])
    }

    @Test(
        "A name of 255 bytes is truncated to make room for number and extension",
        arguments: ["a", "ü", "漫", "👩"], ["", ".txt", "." + String(repeating: "e", count: 100)])
    func long(letter: String, tail: String) {
        let room = 255 - tail.utf8.count
        let stem = String(repeating: letter, count: room / letter.utf8.count)
        let name = stem + String(repeating: "x", count: room - stem.utf8.count) + tail
        #expect(name.utf8.count == 255)
        for number in [1, 10, 999] {
            let other = Array(Mover.alternatives(BytePath("/f/" + name)).prefix(number + 1))[number].name
            #expect(other.count <= 255)
            let text = String(validating: other, as: UTF8.self)
            #expect(
                text?.hasSuffix(" (\(number))" + tail) == true, "cut in the middle of a character, or the end is lost")
        }
    }

    @Test("An apparent extension that fills the name is truncated like any name")
    func allExtension() {
        let name = "a." + String(repeating: "x", count: 253)
        for other in Mover.alternatives(BytePath("/f/" + name)).prefix(20) { #expect(other.name.count <= 255) }
        #expect(Set(Mover.alternatives(BytePath("/f/" + name)).prefix(20)).count == 20)
    }

    @Test("A long name that is not UTF-8 is truncated too")
    func bytes() {
        let name = [UInt8](repeating: 0xBF, count: 255)
        let other = Array(Mover.alternatives(BytePath(bytes: Array("/f/".utf8) + name)).prefix(2))[1].name
        #expect(other.count <= 255)
        #expect(other.starts(with: [0xBF]))
    }
}

/// A fresh folder on a file system other than that of the temporary folder.
private final class OtherDevice {
    let path: BytePath

    static var isThere: Bool {
        guard let folder = try? TemporaryFolder(), let own = try? FileStatus.of(folder.path),
            let other = try? FileStatus.of("/dev/shm")
        else { return false }
        return own.device != other.device && access("/dev/shm", W_OK) == 0
    }

    init() throws {
        path = BytePath("/dev/shm/steward-\(randomHex(6))")
        try Durable.makeDirectory(path)
    }

    deinit {
        for entry in (try? listDirectory(path)) ?? [] { unlink(path.appending(name: entry.name).text) }
        rmdir(path.text)
    }
}
