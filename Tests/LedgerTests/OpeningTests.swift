import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Opening the ledger")
struct OpeningTests {
    private let folder: TemporaryFolder
    private var file: BytePath { folder.path.appending("ledger.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try listDirectory(folder.path).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }

    /// Creates a ledger of several pages in a single file, without a log from which SQLite could repair it.
    private func fill() async throws {
        let (ledger, opening) = try Ledger.open(directory: folder.path)
        #expect(opening == .new)
        try await ledger.write { transaction in
            for number in 0..<500 { try transaction.setMeta("key \(number)", String(repeating: "v", count: 100)) }
        }
        let copy = folder.path.appending("copy")
        try await ledger.backUp(replacing: copy)
        try ledger.close()
        for suffix in ["-wal", "-shm", ""] { try Durable.remove(BytePath(file.text + suffix)) }
        #expect(try Durable.renameNew(copy, to: file))
        chmod(file.text, 0o600)
    }

    private func setAsideAndNew() async throws -> BytePath? {
        let (ledger, opening) = try Ledger.open(directory: folder.path)
        guard case .corrupt(let aside) = opening else {
            Issue.record("taken for \(opening)")
            return nil
        }
        #expect(try FileStatus.of(aside) != nil, "what was there is kept")
        #expect(try await ledger.read { try $0.meta("key 1") } == nil)
        try await ledger.write { try $0.setMeta("works", "yes") }
        #expect(try await ledger.read { try $0.meta("works") } == "yes")
        try ledger.close()
        #expect(try Ledger.open(directory: folder.path).opening == .existing)
        return aside
    }

    @Test("A new one is created, readable by its owner only, and found again")
    func existing() async throws {
        try await fill()
        #expect(try FileStatus.of(file)?.mode == 0o600)
        let (ledger, opening) = try Ledger.open(directory: folder.path)
        #expect(opening == .existing)
        #expect(try await ledger.read { try $0.meta("key 7") } == String(repeating: "v", count: 100))
    }

    @Test("A ledger overwritten with other data is set aside, and a new one begun")
    func overwritten() async throws {
        try await fill()
        let bytes = Array("this is no database\n".utf8) + [UInt8](repeating: 0x2A, count: 9000)
        try folder.write("ledger.sqlite", bytes)
        let aside = try #require(try await setAsideAndNew())
        #expect(try Descriptor(aside).readAll() == bytes)
    }

    @Test("A truncated ledger is set aside, and a new one begun")
    func truncated() async throws {
        try await fill()
        let size = try #require(try FileStatus.of(file)).size
        try Descriptor(file, O_RDWR).truncate(to: size / 2)
        let aside = try #require(try await setAsideAndNew())
        #expect(try FileStatus.of(aside)?.size == size / 2)
    }

    @Test("A ledger with a page of noise is set aside, and a new one begun")
    func noise() async throws {
        try await fill()
        let size = try #require(try FileStatus.of(file)).size
        let noise = (0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ 17) }
        try Descriptor(file, O_RDWR).write(noise, at: size / 8192 * 4096)
        _ = try await setAsideAndNew()
    }

    @Test("Two that fail in succession are both kept")
    func twice() async throws {
        for text in ["first", "second"] {
            try folder.write("ledger.sqlite", text + String(repeating: "?", count: 5000))
            _ = try await setAsideAndNew()
        }
        #expect(try names().count { $0.contains(".corrupt-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") } == 2)
    }

    @Test("A log without its ledger is kept, and a new one begun")
    func orphanedLog() async throws {
        try folder.write("ledger.sqlite-wal", "a log")
        let (ledger, opening) = try Ledger.open(directory: folder.path)
        guard case .corrupt(let aside) = opening else { throw TestFailure("taken for \(opening)") }
        #expect(try Descriptor(BytePath(aside.text + "-wal")).readAll() == Array("a log".utf8))
        try await ledger.write { try $0.setMeta("works", "yes") }
    }

    @Test("A failure to open is transient only if the disk is full")
    func folderInItsPlace() throws {
        try Durable.makeDirectory(file)
        let fault = #expect(throws: Fault.self) { try Ledger.open(directory: folder.path) }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("\(file)") == true)
    }

    @Test("An empty file does not count as an earlier ledger")
    func empty() throws {
        try folder.write("ledger.sqlite", "")
        #expect(try Ledger.open(directory: folder.path).opening == .new)
    }

    @Test(
        "One written by a newer version is rejected and left alone",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/python3"), "needs python3"))
    func newer() async throws {
        try await fill()
        try changeDatabase(file, "insert into grdb_migrations values ('999 from the future')")
        let fault = #expect(throws: Fault.self) { try Ledger.open(directory: folder.path) }
        #expect(fault?.kind == .fatal)
        #expect(fault?.message.contains("newer version") == true)
        #expect(try !names().contains { $0.contains("corrupt") })
    }

    @Test("Reading without the agent requires a ledger, and changes nothing")
    func reading() async throws {
        #expect(try Ledger.openForReading(directory: folder.path) == nil)
        #expect(try names() == [])
        let ledger = try Ledger.fresh(folder.path)
        try await ledger.write { try $0.setMeta("a", "1") }
        let reader = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await reader.read { try $0.meta("a") } == "1")
        try await ledger.write { try $0.setMeta("a", "2") }
        #expect(try await reader.read { try $0.meta("a") } == "2")
        await #expect(throws: (any Error).self) { try await reader.write { try $0.setMeta("a", "3") } }
        #expect(try await ledger.read { try $0.meta("a") } == "2")
    }

    @Test("A backup replaces the previous one completely, while the agent writes")
    func backUp() async throws {
        let ledger = try Ledger.fresh(folder.path)
        let target = folder.path.appending("backup/ledger.sqlite")
        try Durable.makeDirectory(target.parent)
        for round in 1...2 {
            try await ledger.write { try $0.setMeta("round", "\(round)") }
            try await ledger.backUp(replacing: target)
        }
        try await ledger.write { try $0.setMeta("round", "later") }
        #expect(try listDirectory(target.parent).map(\.name) == [Array("ledger.sqlite".utf8)])
        let (copy, opening) = try Ledger.open(directory: target.parent)
        #expect(opening == .existing)
        #expect(try await copy.read { try $0.meta("round") } == "2")
    }
}
