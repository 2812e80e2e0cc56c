import DotLifeDomain
import DotLifePersistence
import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Checking, repairing and backing up the store")
struct StoreKeepingTests {
    private let folder: TemporaryFolder
    private let store: CaptureStore
    private var home: BytePath { folder.path.appending("captures") }
    private var backup: BytePath { folder.path.appending("backups/one") }

    init() async throws {
        folder = try TemporaryFolder()
        store = try await CaptureStore.open(in: folder.path.appending("captures")).store
        _ = try await store.create(.note("Käsekuchen", momentType: .today, timestamp: at("2026-11-21T09:30:00Z")))
        _ = try await store.add(.photo(Data(Picture.png)), key: "photo")
        _ = try await store.add(.photo(Data(Picture.plainJPEG)), key: "other")
    }

    private func photo(_ key: String) async throws -> BytePath {
        let record = try #require(try await store.record(key: key))
        return try store.path(of: #require(record.attachments.first))
    }

    private func sql(_ text: String) async throws {
        try await DatabaseQueue(path: home.appending("captures.sqlite").text).write { try $0.execute(sql: text) }
    }

    private func kinds() async throws -> [StoreFinding.Kind] { try await store.check().findings.map(\.kind) }

    @Test("An intact store has no findings, and reports its size")
    func sound() async throws {
        let check = try await store.check()
        #expect(check.findings.isEmpty)
        #expect((check.captures, check.attachments, check.files) == (3, 2, 2))
        #expect(check.bytes == Int64(Picture.png.count + Picture.plainJPEG.count))
        #expect(try await store.repair().isEmpty)
    }

    @Test("A missing file and a changed one are reported, even after a repair")
    func lostFiles() async throws {
        try Durable.remove(await photo("photo"))
        try Descriptor(await photo("other"), O_RDWR).write([0x55], at: 4)
        let found = try await store.check().findings
        #expect(Set(found.map(\.kind)) == [.missingFile, .alteredFile])
        let other = try #require(try await store.record(key: "other"))
        #expect(found.first { $0.kind == .alteredFile }?.capture == other.id)
        #expect(try await store.check(contents: false).findings.map(\.kind) == [.missingFile])
        #expect(try await store.repair().isEmpty)
        #expect(try await store.check().findings == found)
    }

    @Test("Unreferenced files are reported, and removed only by a repair")
    func strays() async throws {
        let hash = String(repeating: "ab", count: 32)
        let names = ["photos/ab/\(hash).jpg", "photos/old.png", "thumbnails/ab/\(hash).jpg"]
        for name in names { try folder.write(BytePath("captures/\(name)"), "x") }
        try folder.write(BytePath("captures/photos").appending(name: [0x61, 0xFF]), "x")
        try folder.write("captures/photos/.steward-host-0123456789abcdef", "x")
        let found = try await store.check().findings
        #expect(found.filter { $0.kind == .strayFile }.count == 4)
        #expect(found.filter { $0.kind == .unfinishedCopy }.count == 1)
        #expect(try fileNames(below: home.appending("photos")).count == 6)
        #expect(try await store.repair() == found)
        #expect(try await kinds().isEmpty)
        #expect(try await store.fetch(ExperienceFetchRequest()).count == 3)
    }

    @Test("Indexes that differ from the captures are rebuilt")
    func indexes() async throws {
        try await sql("UPDATE experience_count SET count = count + 1")
        try await sql("INSERT INTO experience_text (experience_text) VALUES ('delete-all')")
        #expect(try await store.search("kasekuchen").isEmpty)
        #expect(try await Set(kinds()) == [.wrongCounts, .damagedSearchIndex])
        #expect(try await store.repair().count == 2)
        #expect(try await kinds().isEmpty)
        #expect(try await store.search("kasekuchen").count == 1)
        let day = TimeBucketingService.utc.bucket(.day, containing: try at("2026-11-21T09:30:00Z"))
        #expect(try await store.count(in: day) == 1)
    }

    @Test("A name that leads out of the store is reported, and nothing outside is touched")
    func hostileName() async throws {
        let outside = try folder.write("outside.txt", "mine")
        try await sql("UPDATE attachment SET localPath = '../../outside.txt' WHERE position = 0 AND size < 18")
        #expect(try await kinds().contains(.impossibleName))
        _ = try await store.repair()
        _ = try await store.remove(key: "other")
        _ = try await store.remove(key: "photo")
        #expect(try folder.read("outside.txt") == "mine")
        #expect(try FileStatus.of(outside) != nil)
    }

    @Test("A row without a capture is a broken reference")
    func brokenReference() async throws {
        var configuration = GRDB.Configuration()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(
            path: home.appending("captures.sqlite").text, configuration: configuration)
        try await queue.write {
            try $0.execute(sql: "DELETE FROM experience WHERE capture_key = 'photo'")
        }
        #expect(try await kinds().contains(.brokenReference))
    }

    @Test("A backup is an independent store with everything in it")
    func backUp() async throws {
        let made = try await store.backUp(to: backup)
        #expect((made.captures, made.files, made.linked + made.copied) == (3, 2, 2))
        #expect(made.missing.isEmpty)
        let all = try await store.fetch(ExperienceFetchRequest())
        _ = try await store.remove(key: "photo")
        let copy = try await CaptureStore.open(in: backup)
        #expect(copy.notices.isEmpty)
        #expect(try await copy.store.fetch(ExperienceFetchRequest()) == all)
        #expect(try await copy.store.check().findings.isEmpty)
        #expect(try await copy.store.search("kasekuchen").count == 1)
    }

    @Test("A backup replaces nothing, and leaves nothing unfinished beside it")
    func backUpTwice() async throws {
        _ = try await store.backUp(to: backup)
        let fault = await #expect(throws: Fault.self) { try await store.backUp(to: backup) }
        #expect(fault?.kind == .usage)
        #expect(try listDirectory(backup.parent).count == 1)
    }

    @Test("Leftovers of an interrupted backup are not part of the next one")
    func cutOffBackup() async throws {
        let left = backup.parent.appending(Durable.temporaryName(for: ContentHash(of: backup.bytes)))
        try Durable.makeDirectory(left.appending("photos/zz"))
        try Durable.replaceOwn(left.appending("photos/zz/left.jpg"), with: Array("half".utf8))
        try Durable.replaceOwn(left.appending("captures.sqlite"), with: Array("half".utf8))
        _ = try await store.backUp(to: backup)
        #expect(try listDirectory(backup.parent).count == 1)
        #expect(try fileNames(below: backup.appending("photos")).count == 2)
    }

    @Test("A backup of a store with a missing file says which, and contains the rest")
    func damagedBackup() async throws {
        try Durable.remove(await photo("photo"))
        let made = try await store.backUp(to: backup)
        #expect(made.missing.map(\.kind) == [.missingFile])
        #expect(made.files == 1 && made.captures == 3)
    }

    @Test("Captures added and removed during a backup leave it consistent")
    func busyBackup() async throws {
        let home = home
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let other = try await CaptureStore.open(in: home).store
                for number in 0..<30 {
                    let bytes = Picture.png + Array("\(number)".utf8)
                    _ = try await other.add(.photo(Data(bytes)), key: "busy \(number)")
                    if number >= 5 { _ = try await other.remove(key: "busy \(number - 5)") }
                }
            }
            for number in 0..<2 {
                let target = folder.path.appending("backups/busy-\(number)")
                let made = try await store.backUp(to: target)
                #expect(made.missing.isEmpty)
                let copy = try await CaptureStore.open(in: target).store
                #expect(try await copy.check().findings.isEmpty)
                #expect(try await copy.fetch(ExperienceFetchRequest()).count == made.captures)
            }
            try await group.waitForAll()
        }
    }

    @Test("Files that cannot be removed are reported at every opening, and block nothing")
    func unremovable() async throws {
        let hash = String(repeating: "ab", count: 32)
        try await sql("INSERT INTO unused_file VALUES ('photos', 'ab/\(hash).jpg'), ('photos', 'cd/gone.jpg')")
        let inTheWay = home.appending("photos/ab/\(hash).jpg")
        try Durable.makeDirectory(inTheWay)
        try Durable.makeDirectory(home.appending("photos/.steward-host-0123456789abcdef"))
        for _ in 1...2 {
            let opened = try await CaptureStore.open(in: home)
            #expect(opened.notices.count == 2)
            #expect(opened.notices.contains { $0.contains(hash) && $0.contains("tries again") })
            #expect(try await opened.store.fetch(ExperienceFetchRequest()).count == 3)
            // Nor from removing another.
            _ = try await opened.store.add(.photo(Data(Picture.png + [1])), key: "third")
            #expect(try await opened.store.remove(key: "third") != nil)
        }
        #expect(rmdir(inTheWay.text) == 0)
        #expect(rmdir(home.appending("photos/.steward-host-0123456789abcdef").text) == 0)
        #expect(try await CaptureStore.open(in: home).notices.isEmpty)
    }

    @Test("A folder among the photos is reported as something no repair removes")
    func strayFolder() async throws {
        for name in ["photos/holiday", "photos/ab/mine", "thumbnails/.steward-host-0123456789abcdef"] {
            try folder.write(BytePath("captures/\(name)/picture.jpg"), "mine")
        }
        let found = try await store.check().findings
        #expect(found.map(\.kind) == [.strayFolder, .strayFolder, .strayFolder])
        #expect(found.allSatisfy { !$0.isRepairable && $0.message.contains("move it away") })
        #expect(try await store.repair().isEmpty)
        #expect(try folder.read("captures/photos/holiday/picture.jpg") == "mine")
    }
}
