import DotLifeDomain
import DotLifePersistence
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("The capture store")
struct CaptureStoreTests {
    private let folder: TemporaryFolder
    private var home: BytePath { folder.path.appending("captures") }

    init() throws { folder = try TemporaryFolder() }

    private func open() async throws -> CaptureStore {
        let opened = try await CaptureStore.open(in: home)
        #expect(opened.notices.isEmpty)
        return opened.store
    }

    private func photoFile(_ name: String) -> BytePath { BytePath("captures/photos/\(name)") }

    private func photoNames() throws -> [String] {
        try fileNames(below: home.appending("photos"))
    }

    @Test("Every kind of capture comes back as stored, even after a restart")
    func roundTrip() async throws {
        let store = try await open()
        let time = try at("2026-11-21T09:30:00Z").addingTimeInterval(0.123456)
        let note = try await store.create(.note("rain", momentType: .today, timestamp: time))
        let link = try await store.create(.link("example.org", timestamp: time.addingTimeInterval(1)))
        let dot = try await store.create(.dot(momentType: .thisWeek, timestamp: time.addingTimeInterval(2)))
        let photo = try await store.create(.photo(Data(Picture.png), timestamp: time.addingTimeInterval(3)))
        try await store.close()

        let again = try await open()
        #expect(try await again.fetch(ExperienceFetchRequest()) == [photo, dot, link, note])
        #expect(note.timestamp == time)
        #expect(note.noteText == "rain")
        #expect(link.linkURL == "https://example.org")
        let path = try again.path(of: #require(photo.attachments.first))
        #expect(path.nameText.hasSuffix(".png"))
        #expect(try Descriptor(path).readAll() == Picture.png)
        #expect(try await again.fetch(byID: dot.id) == dot)
    }

    @Test("A key adds once: the second time returns the first record and changes nothing")
    func idempotent() async throws {
        let store = try await open()
        let source = try folder.write("in.jpg", Picture.jpeg(taken: "2026:07:01 10:00:05"))
        let first = try await store.add(.photo(fileAt: source.bytes), key: "job/1")
        try Durable.remove(source)
        let second = try await store.add(.note("something else"), key: "job/1")
        #expect(first.isNew)
        #expect(second.record == first.record && !second.isNew)
        #expect(try await store.add(.photo(fileAt: source.bytes), key: "job/1").record == first.record)
        #expect(try await store.fetch(ExperienceFetchRequest()).count == 1)
        #expect(try photoNames().count == 1)
        #expect(try await store.contains(key: "job/1"))
        #expect(try await !store.contains(key: "job/2"))
    }

    @Test("A copy left by a crash before the commit is used, and an unfinished one is removed")
    func crashLeftCopy() async throws {
        let source = try folder.write("in.jpg", Picture.plainJPEG)
        let store = try await open()
        let first = try await store.add(.photo(fileAt: source.bytes), key: "job/1")
        let name = try #require(first.record.photoLocalPath)
        _ = try await store.remove(key: "job/1")
        try await store.close()
        try folder.write(photoFile(name), Picture.plainJPEG)
        try folder.write("captures/photos/.steward-host-0123456789abcdef", Array(Picture.plainJPEG.prefix(5)))

        let again = try await open()
        #expect(try photoNames() == [name])
        let redone = try await again.add(.photo(fileAt: source.bytes), key: "job/1")
        #expect(redone.isNew)
        #expect(redone.record.id == first.record.id)
        #expect(redone.record.photoLocalPath == name)
        #expect(try photoNames() == [name])
    }

    @Test("Different bytes under the name are never replaced")
    func occupiedName() async throws {
        let store = try await open()
        let source = try folder.write("in.jpg", Picture.plainJPEG)
        let first = try await store.add(.photo(fileAt: source.bytes), key: "k").record
        let name = try #require(first.photoLocalPath)
        _ = try await store.remove(key: "k")
        try folder.write(photoFile(name), "somebody's")
        let added = try await store.add(.photo(fileAt: source.bytes), key: "k")
        #expect(added.record.photoLocalPath != name)
        #expect(try folder.read(photoFile(name)) == "somebody's")
        #expect(try Descriptor(store.path(of: #require(added.record.attachments.first))).readAll() == Picture.plainJPEG)
    }

    @Test("A photo that changed after it was examined is not stored")
    func changedPhoto() async throws {
        let store = try await open()
        let source = try folder.write("in.jpg", Picture.plainJPEG)
        let fault = await #expect(throws: Fault.self) {
            try await store.add(.photo(fileAt: source.bytes), key: "k", expecting: ContentHash(of: Picture.png))
        }
        #expect(fault?.kind == .failed)
        #expect(try photoNames().isEmpty)
        #expect(try await !store.contains(key: "k"))
        #expect(
            try await store.add(.photo(fileAt: source.bytes), key: "k", expecting: ContentHash(of: Picture.plainJPEG))
                .isNew)
    }

    @Test("A capture that cannot be stored leaves no file behind")
    func impossibleTime() async throws {
        let store = try await open()
        let fault = await #expect(throws: Fault.self) {
            try await store.add(.photo(Data(Picture.png), timestamp: .distantPast), key: "k")
        }
        #expect(fault?.kind == .refused)
        #expect(try photoNames().isEmpty)
        await #expect(throws: ExperienceError.self) { try await store.create(.dot(timestamp: .distantFuture)) }
        await #expect(throws: ExperienceError.self) { try await store.create(.photo(fileAt: Array("/nowhere".utf8))) }
    }

    @Test("Removing deletes row and file, and completes an interrupted removal")
    func removal() async throws {
        let store = try await open()
        let added = try await store.add(.photo(Data(Picture.plainJPEG)), key: "k").record
        #expect(try await store.remove(key: "k") == added)
        #expect(try photoNames().isEmpty)
        // As named by earlier versions: by the experience.
        try folder.write(photoFile("\(added.id.uuidString.lowercased()).jpg"), Picture.plainJPEG)
        #expect(try await store.remove(key: "k") == nil)
        #expect(try photoNames().isEmpty)
        let note = try await store.create(.note("to be deleted"))
        try await store.delete(byID: note.id)
        #expect(try await store.search("deleted").isEmpty)
        await #expect(throws: ExperienceError.notFound(note.id)) { try await store.delete(byID: note.id) }
    }

    @Test("Many concurrent adds from two stores yield one capture per key")
    func concurrent() async throws {
        let stores = [try await open(), try await open()]
        let source = try folder.write("in.jpg", Picture.plainJPEG)
        let added = try await withThrowingTaskGroup(of: CaptureStore.Added.self) { group in
            for index in 0..<120 {
                let key = "k\(index % 20)"
                let request =
                    try index % 2 == 0 ? ExperienceRequest.photo(fileAt: source.bytes) : .note("n \(index % 20)")
                group.addTask { try await stores[index / 2 % 2].add(request, key: key) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(added.filter(\.isNew).count == 20)
        #expect(Set(added.map(\.record.id)).count == 20)
        #expect(try await stores[0].fetch(ExperienceFetchRequest()).count == 20)
        #expect(try photoNames().count == 1)
    }

    @Test("Queries can be limited by time, kind and number")
    func fetching() async throws {
        let store = try await open()
        let start = try at("2026-11-21T00:00:00Z")
        for hour in 0..<6 {
            let time = start.addingTimeInterval(Double(hour) * 3600)
            _ = try await store.create(
                hour % 2 == 0 ? .dot(timestamp: time) : .note("\(hour)", momentType: .today, timestamp: time))
        }
        func count(_ request: ExperienceFetchRequest) async throws -> Int { try await store.fetch(request).count }
        #expect(try await count(.init(startDate: start, endDate: start.addingTimeInterval(3600))) == 1)
        #expect(try await count(.init(momentTypes: [.today])) == 3)
        #expect(try await count(.init(momentTypes: [], experienceTypes: [])) == 6)
        #expect(try await count(.init(momentTypes: [.today], experienceTypes: [.dot])) == 0)
        #expect(
            try await store.fetch(.init(limit: 2, offset: 1)).map(\.timestamp)
                == [4, 3].map { start.addingTimeInterval($0 * 3600) })
        #expect(try await count(.forDay(start, in: .utc)) == 6)
        #expect(try await count(.forWeek(start, in: .utc)) == 6)
        #expect(try await count(.forBucket(TimeBucketingService.utc.bucket(.hour, containing: start))) == 1)
    }

    @Test("Summaries come in the requested order; days count in their own zone, both ends included")
    func counting() async throws {
        let store = try await open()
        let service = TimeBucketingService(timeZone: newYork)
        let shiftBack = try at("2026-11-01T12:00:00Z")
        let hours = service.hourBuckets(ofDayContaining: shiftBack)
        for bucket in hours { _ = try await store.create(.dot(timestamp: bucket.start)) }
        let summaries = try await store.summaries(for: hours.reversed())
        #expect(summaries.map(\.bucket) == hours.reversed())
        #expect(summaries.allSatisfy { $0.count == 1 })
        let day = service.bucket(.day, containing: shiftBack)
        #expect(try await store.count(in: day) == 25)
        _ = try await store.create(.dot(timestamp: day.end))
        #expect(
            try await store.experienceCountsByDay(from: day.start, to: day.end, in: service) == [
                day.start: 25, day.end: 1,
            ])
    }

    @Test("Search finds words of notes and links by prefix, ignoring accents")
    func searching() async throws {
        let store = try await open()
        let note = try await store.create(.note("Käsekuchen am Seeufer"))
        let link = try await store.create(.link("https://example.org/seeufer-weg"))
        #expect(try await store.search("kasek").map(\.record) == [note])
        #expect(Set(try await store.search("SEEUF").map(\.record.id)) == [note.id, link.id])
        #expect(try await store.search("example weg").map(\.record) == [link])
        #expect(try await store.search("\" OR * NEAR(").isEmpty)
        #expect(try await store.search("  ").isEmpty)
    }
}
