import DotLifeDomain
import DotLifePersistence
import Foundation
import GRDB
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("The capture database on disk")
struct CaptureDatabaseTests {
    private let folder: TemporaryFolder
    private var database: BytePath { folder.path.appending("captures.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try listDirectory(folder.path).map { String(decoding: $0.name, as: UTF8.self) }.sorted()
    }

    private func fill() async throws {
        let store = try await CaptureStore.open(in: folder.path).store
        for index in 0..<200 {
            _ = try await store.add(.note("note \(index) " + String(repeating: "x", count: 200)), key: "\(index)")
        }
        try await store.close()
    }

    @Test("The tables contain experiences and attachments, and times are in nanoseconds")
    func schema() async throws {
        let store = try await CaptureStore.open(in: folder.path).store
        _ = try await store.add(
            .photo(Data(Picture.png), momentType: .thisWeek, timestamp: at("2026-11-21T09:30:00Z")), key: "k")
        try await store.close()
        let queue = try DatabaseQueue(path: database.text)
        let found = try queue.read {
            try Row.fetchOne($0, sql: "SELECT * FROM experience JOIN attachment ON experienceID = experience.id")
        }
        let row = try #require(found)
        #expect(row["timestamp"] as Int64 == 1_795_253_400_000_000_000)
        #expect(row["momentTypeRaw"] as Int == 2)
        #expect(row["experienceTypeRaw"] as Int == 1)
        #expect(row["typeRaw"] as Int == 0)
        #expect(row["capture_key"] as String == "k")
        #expect((row["localPath"] as String).hasSuffix(".png"))
        #expect(try await queue.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        let names = try await queue.read { db in
            (try db.columns(in: "experience") + db.columns(in: "attachment")).map(\.name)
        }
        for name in ["id", "createdAt", "noteText", "linkURL", "thumbnailPath"] { #expect(names.contains(name)) }
    }

    @Test("Values stored by a newer version are read as the plainest ones")
    func unknownValues() async throws {
        let store = try await CaptureStore.open(in: folder.path).store
        let note = try await store.create(.note("x"))
        let queue = try DatabaseQueue(path: database.text)
        try await queue.write {
            try $0.execute(sql: "UPDATE experience SET momentTypeRaw = 65537, experienceTypeRaw = 9")
        }
        let found = try await store.fetch(byID: note.id)
        let read = try #require(found)
        #expect(read.momentType == .now)
        #expect(read.experienceType == .dot)
    }

    @Test("A file that is not a database is set aside, and reported")
    func notADatabase() async throws {
        try folder.write("captures.sqlite", String(repeating: "no database ", count: 500))
        let opened = try await CaptureStore.open(
            in: folder.path, clock: { Timestamp(nanoseconds: 1_795_253_400_000_000_000) })
        let aside = "captures.sqlite.corrupt-20261121T093000000Z"
        #expect(opened.notices.count == 1)
        #expect(opened.notices.first?.contains(aside) == true)
        #expect(try folder.read(BytePath(aside)).hasPrefix("no database"))
        #expect(try await opened.store.add(.dot(), key: "k").isNew)
    }

    @Test("A database with damaged pages is set aside whole, and its photos stay")
    func damagedPages() async throws {
        try await fill()
        try folder.write("photos/kept.jpg", Picture.plainJPEG)
        let file = try Descriptor(database, O_RDWR)
        let size = try file.status().size
        #expect(size > 40_000)
        try file.write([UInt8](repeating: 0xA5, count: 12_288), at: 16_384)
        let before = try ContentHash.of(file)

        let opened = try await CaptureStore.open(in: folder.path)
        #expect(opened.notices.count == 1)
        let aside = try #require(
            try names().first { $0.contains(".corrupt-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") })
        #expect(try ContentHash.ofFile(folder.path.appending(aside)) == before)
        #expect(try folder.read("photos/kept.jpg").isEmpty == false)
        #expect(try await opened.store.fetch(ExperienceFetchRequest()).isEmpty)
        try await opened.store.close()
        #expect(try await CaptureStore.open(in: folder.path).notices.isEmpty)
    }

    @Test("A log without its database is kept")
    func orphanedLog() async throws {
        try folder.write("captures.sqlite-wal", "a log")
        let opened = try await CaptureStore.open(in: folder.path)
        #expect(opened.notices.count == 1)
        let aside = try #require(try names().first { $0.contains(".corrupt-") })
        #expect(try folder.read(BytePath(aside)) == "a log")
    }

    @Test("A database of a newer version is left alone")
    func newerVersion() async throws {
        try await fill()
        try await DatabaseQueue(path: database.text).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 the future')")
        }
        let fault = await #expect(throws: Fault.self) { try await CaptureStore.open(in: folder.path) }
        #expect(fault?.kind == .fatal)
        #expect(try names().filter { $0.contains("corrupt") }.isEmpty)
    }

    @Test("Closing does not wait for readers, and loses nothing")
    func closesBesideReader() async throws {
        let store = try await CaptureStore.open(in: folder.path).store
        var configuration = GRDB.Configuration()
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(
            path: folder.path.appending("captures.sqlite").text, configuration: configuration)
        try await reader.writeWithoutTransaction { db in
            try db.execute(sql: "BEGIN")
            _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM experience")
        }
        _ = try await store.create(.note("written while somebody reads"))
        let duration = try await ContinuousClock().measure { try await store.close() }
        // It would be ten seconds.
        #expect(duration < .seconds(8))
        try await reader.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        try reader.close()
        #expect(try await CaptureStore.open(in: folder.path).store.search("somebody").count == 1)
    }
}
