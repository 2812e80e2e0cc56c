import DotLifeDomain
import DotLifePersistence
import Foundation
import GRDB
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("A store written by an earlier version")
struct SchemaUpgradeTests {
    private let folder: TemporaryFolder
    private let database: BytePath

    init() throws {
        folder = try TemporaryFolder()
        database = folder.path.appending("captures.sqlite")
        try SchemaOne.write(to: database)
        try folder.write(BytePath("photos/\(SchemaOne.photoName)"), Picture.plainJPEG)
    }

    private func open() async throws -> CaptureStore { try await CaptureStore.open(in: folder.path).store }

    @Test("Opens with every row, value and file")
    func nothingLost() async throws {
        let store = try await open()
        let all = try await store.fetch(ExperienceFetchRequest())
        #expect(all.map(\.experienceType) == [.dot, .note, .photo])
        #expect(try await store.record(key: "job/1")?.noteText == "Käsekuchen am See")
        let photo = try #require(try await store.record(key: "job/2"))
        #expect(photo.photoLocalPath == SchemaOne.photoName)
        #expect(photo.attachments.map(\.position) == [0])
        #expect(photo.attachments.first?.sha256 == nil)
        #expect(try Descriptor(store.path(of: #require(photo.attachments.first))).readAll() == Picture.plainJPEG)
        try await store.close()
        let raw = try await DatabaseQueue(path: database.text).read {
            try Row.fetchAll($0, sql: "SELECT serial, timestamp, momentTypeRaw, experienceTypeRaw FROM experience")
                .map { row in (0..<4).map { row[$0] as Int64 } }
        }
        #expect(
            raw == [
                [1, 1_795_253_400_123_456_789, 2, 0], [2, -1, 0, 1], [7, 1_795_253_403_000_000_000, 9, 40],
            ])
    }

    @Test("Its captures are counted and found")
    func indexes() async throws {
        let store = try await open()
        #expect(try await store.search("kasek").map(\.record.id.uuidString) == [SchemaOne.noteID])
        let day = TimeBucketingService.utc.bucket(.day, containing: try at("2026-11-21T09:30:00Z"))
        #expect(try await store.count(in: day) == 2)
        let last = TimeBucketingService.utc.bucket(.day, containing: try at("1969-12-31T09:30:00Z"))
        #expect(try await store.count(in: last) == 1)
    }

    @Test("A repair records the hashes of its photos, and changes nothing else")
    func repair() async throws {
        let store = try await open()
        #expect(try await store.check().findings.map(\.kind) == [.unverifiedFile])
        #expect(try await store.repair().map(\.kind) == [.unverifiedFile])
        #expect(try await store.check().findings.isEmpty)
        let photo = try #require(try await store.record(key: "job/2"))
        #expect(photo.attachments.first?.sha256 == ContentHash(of: Picture.plainJPEG).description)
        #expect(photo.attachments.first?.size == Int64(Picture.plainJPEG.count))
        #expect(try fileNames(below: folder.path.appending("photos")) == [SchemaOne.photoName])
    }

    @Test("Its photos are removed with their captures")
    func removal() async throws {
        let store = try await open()
        #expect(try await store.remove(key: "job/2") != nil)
        #expect(try fileNames(below: folder.path.appending("photos")).isEmpty)
    }
}
