import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Open files, and names in a folder")
struct DescriptorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Bytes are written and read at the given offset")
    func readAndWrite() throws {
        let path = try folder.write("a", "0123456789")
        let file = try Descriptor(path, O_RDWR)
        #expect(try file.read(at: 3, count: 4) == Array("3456".utf8))
        #expect(try file.read(at: 8, count: 100) == Array("89".utf8))
        #expect(try file.read(at: 10, count: 1) == [])
        try file.write(Array("xy".utf8), at: 9)
        try file.truncate(to: 11)
        try file.sync()
        #expect(try file.readAll() == Array("012345678xy".utf8))
        #expect(try file.status().size == 11)
    }

    @Test("A file larger than the limit is rejected, not read")
    func limit() throws {
        let path = try folder.write("a", String(repeating: "x", count: 11))
        let fault = #expect(throws: Fault.self) { try Descriptor(path).readAll(limit: 10) }
        #expect(fault?.kind == .refused)
        #expect(fault?.path == path)
        #expect(try Descriptor(path).readAll(limit: 11).count == 11)
    }

    @Test("A symlink is opened only if the caller allows it")
    func links() throws {
        let path = try folder.write("a", "x")
        let link = folder.path.appending("link")
        symlink(path.text, link.text)
        #expect(throws: Fault.self) { try Descriptor(link) }
        #expect(try Descriptor(link, follow: true).readAll() == Array("x".utf8))
    }

    @Test("Opening a pipe without a writer does not block")
    func pipe() throws {
        let pipe = folder.path.appending("pipe")
        mkfifo(pipe.text, 0o600)
        #expect(try Descriptor(pipe).status().kind == .other)
    }

    @Test("An error names the call, the file and the errno")
    func failure() {
        let missing = folder.path.appending("missing")
        let fault = #expect(throws: Fault.self) { try Descriptor(missing) }
        #expect(fault?.errno == ENOENT)
        #expect(fault?.message == "cannot open \(missing): No such file or directory")
    }

    @Test("Errors that may pass are transient; all others need a person")
    func kinds() {
        for code in [ENOSPC, EDQUOT, EBUSY, EMFILE, EIO, ESTALE] {
            #expect(Fault.system("x", errno: code).kind == .transient)
        }
        for code in [EACCES, EPERM, ENOENT, ENOTDIR] { #expect(Fault.system("x", errno: code).kind == .failed) }
    }

    @Test("A file is closed with its last reference")
    func closing() throws {
        let path = try folder.write("a", "x")
        let raw = try Descriptor(path).raw
        let inode = try #require(try FileStatus.of(path)).inode
        var found = stat()
        // Another thread may have the number by now, but not for this file.
        let isOpen = fstat(raw, &found) == 0 && UInt64(found.st_ino) == inode
        #expect(!isOpen)
    }

    @Test("A folder is listed byte for byte, whatever the names")
    func oddNames() throws {
        let names: [[UInt8]] = [
            [0xFF, 0xFE], Array("new\nline".utf8), Array(" ".utf8), Array("-rf".utf8), Array("...".utf8),
            Array(".hidden".utf8), Array("ü".utf8), Array("u\u{308}".utf8), Array(repeating: 0x61, count: 255),
        ]
        for name in names { try folder.write(BytePath(bytes: name), "") }
        mkdir(folder.path.appending("folder").text, 0o700)
        symlink("folder", folder.path.appending("link").text)
        let entries = try listDirectory(folder.path)
        #expect(Set(entries.map(\.name)) == Set(names + [Array("folder".utf8), Array("link".utf8)]))
        #expect(entries.filter { $0.isDirectory == true }.map(\.name) == [Array("folder".utf8)])
        for name in names { #expect(try FileStatus.of(folder.path.appending(name: name))?.kind == .file) }
        #expect(throws: Fault.self) { try listDirectory(folder.path.appending("link")) }
        #expect(throws: Fault.self) { try listDirectory(folder.path.appending("missing")) }
    }

    @Test("Status distinguishes files, folders, links and nothing")
    func status() throws {
        let path = try folder.write("a", "abc")
        symlink("nowhere", folder.path.appending("link").text)
        #expect(try FileStatus.of(path)?.kind == .file)
        #expect(try FileStatus.of(path)?.size == 3)
        #expect(try FileStatus.of(folder.path)?.kind == .directory)
        #expect(try FileStatus.of(folder.path.appending("link"))?.kind == .link)
        #expect(try FileStatus.of(folder.path.appending("none")) == nil)
        #expect(try FileStatus.of(path.appending("below-a-file")) == nil)
    }

    @Test(
        "A time outside the range of nanoseconds becomes the first or last one",
        arguments: [10_000_000_000, -10_000_000_000])
    func farTime(seconds: Int) throws {
        let folder = try TemporaryFolder("far")
        let path = try folder.write("a", "x")
        let time = timespec(tv_sec: seconds, tv_nsec: 999_999_999)
        #expect(utimensat(AT_FDCWD, path.text, [time, time], 0) == 0)
        var found = stat()
        #expect(lstat(path.text, &found) == 0)
        // A file system that cannot store such a time uses the nearest.
        let isKept = found.st_mtim.tv_sec == seconds
        let modified = try #require(try FileStatus.of(path)).fingerprint.modified
        if isKept, seconds < 0 { #expect(modified == .min) }
        if isKept, seconds > 0 { #expect(modified == .max) }
        #expect(modified.signum() == found.st_mtim.tv_sec.signum())
    }

    @Test("A second write changes the fingerprint even if size and modification time are restored")
    func fingerprint() throws {
        let path = try folder.write("a", "abc")
        let before = try #require(try FileStatus.of(path)).fingerprint
        let file = try Descriptor(path, O_RDWR)
        try file.write(Array("xyz".utf8), at: 0)
        let seconds = Int(before.modified / 1_000_000_000)
        let stamp = timespec(tv_sec: seconds, tv_nsec: Int(before.modified % 1_000_000_000))
        futimens(file.raw, [stamp, stamp])
        let after = try #require(try FileStatus.of(path)).fingerprint
        #expect(after.modified == before.modified)
        #expect(after.size == before.size)
        #expect(after.inode == before.inode)
        #expect(after.changed >= before.changed)
    }
}
