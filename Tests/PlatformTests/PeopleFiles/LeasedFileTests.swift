import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Writing in place, under a lease")
struct LeasedFileTests {
    private let folder: TemporaryFolder
    private let path: BytePath
    private static let text = "one\ntwo\n"

    init() async throws {
        Lease.ignoreBreakSignal()
        folder = try TemporaryFolder("steward-leased")
        path = try folder.write("note.md", Self.text)
        try await letGo(path)
    }

    private func acquire(limit: Duration? = nil) throws -> LeasedFile? {
        // A process just forked by another test may hold copies of its descriptors.
        for _ in 0..<400 {
            if case .held(let leased) = LeasedFile.acquire(try Descriptor(path, O_RDWR), limit: limit) { return leased }
            usleep(5_000)
        }
        return nil
    }

    /// A shell that appends a line and blocks in its `open` until the lease is released. Blocks: on a pool kept busy by
    /// other tests for longer than the kernel's lease-break time, the moment would be missed.
    private func appender() throws -> Process {
        let shell = Process(["/bin/sh", "-c", "echo theirs >> \"$0\"", path.text])
        try shell.run()
        let inode = try FileStatus.of(path)?.inode ?? 0
        let end = ContinuousClock.now + .seconds(60)
        while try !kernelLocks().contains(where: { $0.contains("BREAKING") && $0.contains(":\(inode) ") }) {
            guard ContinuousClock.now < end else {
                throw TestFailure("the shell does not wait; \(leaseReport(path, of: shell.processIdentifier))")
            }
            usleep(5_000)
        }
        return shell
    }

    @Test("Everything after an unchanged prefix is replaced, with less or more")
    func replaced() throws {
        let inode = try FileStatus.of(path)?.inode
        let leased = try #require(try acquire())
        try leased.replace(from: 4, Array("two\n".utf8), with: Array("three\nfour\n".utf8))
        // Not by name: opening that would block.
        #expect(try leased.file.readAll() == Array("one\nthree\nfour\n".utf8))
        try leased.replace(from: 4, Array("three\nfour\n".utf8), with: [])
        leased.release()
        #expect(try folder.read("note.md") == "one\n")
        #expect(try FileStatus.of(path)?.inode == inode)
        #expect(LeasedFile.commonStart(Array("abc".utf8), Array("abd".utf8)) == 2)
    }

    @Test(
        "The length of the common prefix is exact, however the text is split",
        arguments: [0, 1, 65_535, 65_536, 150_000])
    func commonStart(count: Int) throws {
        let text = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 * 31) }
        let file = try Descriptor(folder.write("long.md", "head" + String(repeating: " ", count: 200_000)), O_RDWR)
        try file.write(text, at: 4)
        var other = Array(text[7...])
        other[count] ^= 1
        #expect(try LeasedFile.commonStart(of: other, with: file, at: 11) == count)
        #expect(try LeasedFile.commonStart(of: text + text, with: file, at: 4) == 200_000)
        #expect(try LeasedFile.commonStart(of: [], with: file, at: 4) == 0)
        #expect(try LeasedFile.commonStart(of: [1], with: file, at: 1_000_000) == 0)
    }

    @Test("A file that somebody has open is left alone")
    func busy() throws {
        let reader = try Descriptor(path)
        guard case .busy = LeasedFile.acquire(try Descriptor(path, O_RDWR)) else { throw TestFailure("not busy") }
        #expect(try reader.status().size == 8)
    }

    @Test("The tests rely on the kernel's list of locks, which is read completely however long it is")
    func allLocks() async throws {
        let files = try (0..<200).map { try Descriptor(folder.write(BytePath("lock-\($0)"), ""), O_RDWR) }
        for file in files { try #require(flock(file.raw, LOCK_EX | LOCK_NB) == 0) }
        let inodes = try files.map { try $0.status().inode }
        // Others may come and go while it is read.
        try await waitUntil("all are told") {
            let locks = try kernelLocks().joined(separator: "\n")
            return inodes.allSatisfy { locks.contains(":\($0) ") }
        }
    }

    @Test("Anyone opening it meanwhile waits, and finds the new content")
    func waiting() throws {
        let leased = try #require(try acquire(limit: .seconds(3600)))
        #expect(leased.isSure)
        let shell = try appender()
        #expect(leased.isSure, "it is written under for a while yet")
        try leased.replace(from: 8, [], with: Array("ours\n".utf8))
        leased.release()
        #expect(!leased.isSure)
        shell.waitUntilExit()
        #expect(try folder.read("note.md") == "one\ntwo\nours\ntheirs\n")
    }

    @Test("A lease that may end before the first byte is not safe")
    func late() throws {
        let leased = try #require(try acquire(limit: .zero))
        #expect(leased.isSure)
        let shell = try appender()
        #expect(!leased.isSure)
        leased.release()
        shell.waitUntilExit()
    }

    @Test("A write that fails halfway is rolled back, and says so")
    func full() async throws {
        let path: String = path.text
        await #expect(processExitsWith: .success) { [path = path as String] in
            signal(SIGXFSZ, SIG_IGN)
            Lease.ignoreBreakSignal()
            var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0,
                case .held(let leased) = LeasedFile.acquire(try Descriptor(BytePath(path), O_RDWR))
            else { exit(2) }
            var isRestored = false
            do {
                try leased.replace(
                    from: 4, Array("two\n".utf8), with: [UInt8](repeating: 65, count: 8192)
                ) { isRestored = true }
                exit(3)
            } catch let fault as Fault where fault.errno == EFBIG {
                exit(isRestored ? 0 : 4)
            }
        }
        #expect(try folder.read("note.md") == Self.text)
    }
}
