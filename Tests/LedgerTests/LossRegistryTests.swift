import GRDB
import Glibc
import OwnFiles
import Platform
import SQLiteFile
import TestSupport
import Testing

@Suite("Lost databases")
struct LossRegistryTests {
    private let folder: TemporaryFolder
    private var path: BytePath { folder.path.appending("things.sqlite") }
    private let now = Timestamp(seconds: 1_795_253_400)

    init() throws { folder = try TemporaryFolder() }

    private func open(_ losses: LossRegistry, at now: Timestamp? = nil) throws -> SQLiteFile.Opened {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: "CREATE TABLE thing (name TEXT)") }
        let opened = try SQLiteFile(
            path, of: "the things", migrator: migrator, whenCorrupt: .setAside(losses, hint: "They were few")
        ).open(now: now ?? self.now)
        try opened.pool.close()
        return opened
    }

    private func damage() throws {
        for ending in ["-wal", "-shm"] { try Durable.remove(BytePath(path.text + ending)) }
        try folder.write("things.sqlite", String(repeating: "no database ", count: 500))
    }

    @Test("A database set aside is reported by every check until a user acknowledges it")
    func standing() throws {
        let losses = LossRegistry([folder.path, folder.path.appending("not there")])
        #expect(try open(losses).loss == nil)
        #expect(try losses.standing().isEmpty)
        try damage()
        // The call's result may be ignored.
        _ = try open(losses)
        for _ in 1...2 {
            let found = try LossRegistry([folder.path]).standing()
            #expect(found.map(\.id) == ["things.sqlite.loss-20261121T093000000Z"])
            let loss = try #require(found.first)
            #expect(loss.database == path && loss.time == now)
            #expect(loss.message.contains("the things was corrupt") && loss.message.contains("They were few"))
            #expect(try FileStatus.of(try #require(loss.aside)) != nil)
            #expect(try open(losses).loss == nil, "the new one is sound")
        }
        #expect(throws: Fault.self) { try losses.acknowledge("other") }
        #expect(try losses.acknowledge("things").count == 1)
        #expect(try LossRegistry([folder.path]).standing().isEmpty)
        #expect(try FileStatus.of(folder.path.appending("things.sqlite.corrupt-20261121T093000000Z")) != nil)
    }

    @Test("Nothing is set aside if that could not be reported")
    func unheard() throws {
        try damage()
        for losses in [LossRegistry([]), LossRegistry([folder.path.parent])] {
            #expect(throws: Fault.self) { try open(losses) }
            #expect(try folder.read("things.sqlite").hasPrefix("no database"))
        }
    }

    @Test("An attempt interrupted before anything was moved counts as one loss when repeated")
    func cutOff() throws {
        let losses = LossRegistry([folder.path])
        try damage()
        _ = try open(losses)
        // As if the process had died after recording the loss.
        let aside = try #require(try losses.standing().first?.aside)
        for ending in ["", "-wal", "-shm"] { try Durable.remove(BytePath(aside.text + ending)) }
        try damage()
        #expect(try open(losses, at: now.adding(seconds: 60)).loss?.aside == aside)
        #expect(try losses.standing().map(\.aside) == [aside])
        // A second loss is recorded separately.
        try damage()
        _ = try open(losses, at: now.adding(seconds: 90))
        #expect(try losses.standing().count == 2)
    }

    @Test("An unreadable record of a loss counts as a loss")
    func unreadable() throws {
        try folder.write("things.sqlite.loss-20261121T093000000Z", "{")
        let losses = LossRegistry([folder.path])
        #expect(try losses.standing().map(\.id) == ["things.sqlite.loss-20261121T093000000Z"])
        #expect(try losses.standing(of: path).count == 1)
        #expect(try losses.acknowledge(nil).count == 1)
        #expect(try losses.standing().isEmpty)
    }

    @Test("Deleted content does not remain in a database's pages")
    func secure() throws {
        let opened = try SQLiteFile(
            path, of: "the things", migrator: DatabaseMigrator(), whenCorrupt: .refused(remedy: "none")
        ).open(now: now)
        #expect(try opened.pool.write { try Int.fetchOne($0, sql: "PRAGMA secure_delete") } == 1)
        try opened.pool.close()
    }
}
