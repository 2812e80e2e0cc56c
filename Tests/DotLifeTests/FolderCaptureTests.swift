import DotLifeDomain
import DotLifePersistence
import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Captures made from a folder")
struct FolderCaptureTests {
    private let folder: TemporaryFolder
    private var home: BytePath { folder.path.appending("captures") }
    private static let walk = Array("dropbox/Canal walk".utf8)
    /// 2026-11-21 09:30 UTC, in seconds since 1970.
    private static let time: Int64 = 1_795_253_400

    init() throws { folder = try TemporaryFolder() }

    private func open() async throws -> CaptureStore { try await CaptureStore.open(in: home).store }

    private static func dropped(
        _ key: [UInt8] = walk, named name: String = "Canal walk", after seconds: Int64 = 0
    ) -> CaptureFolder {
        CaptureFolder(
            key: key, name: name, arrival: (time + seconds) * 1_000_000_000, within: 600 * 1_000_000_000)
    }

    private static func photo(_ bytes: [UInt8], at seconds: Int64 = 0) throws -> ExperienceRequest {
        try .photo(Data(bytes), timestamp: Date(timeIntervalSince1970: Double(time + seconds)))
    }

    private static func note(_ text: String, at seconds: Int64 = 0) throws -> ExperienceRequest {
        try .note(text, timestamp: Date(timeIntervalSince1970: Double(time + seconds)))
    }

    @Test("Files that arrive soon after each other become one, with the folder's name, their texts and pictures")
    func one() async throws {
        let store = try await open()
        let heron = try await store.join(
            Self.photo(Picture.png, at: 5), of: Self.dropped(), key: "1", name: Array("heron.png".utf8))
        let words = try await store.join(
            Self.note("Two herons", at: 9), of: Self.dropped(after: 3), key: "2", name: Array("b.txt".utf8))
        let earlier = try await store.join(
            .link("example.org", momentType: .today, timestamp: Date(timeIntervalSince1970: Double(Self.time - 60))),
            of: Self.dropped(after: 4), key: "3", name: Array("a.url".utf8))
        let last = try await store.join(
            Self.photo(Picture.plainJPEG), of: Self.dropped(after: 300), key: "4", name: Array("nest.jpg".utf8))

        #expect([heron, words, earlier, last].map(\.isFirst) == [true, false, false, false])
        let all = try await store.fetch(ExperienceFetchRequest())
        #expect(all == [last.record])
        #expect(last.record.experienceType == .note)
        #expect(last.record.noteText == "Canal walk\n\nhttps://example.org\n\nTwo herons")
        #expect(last.record.momentType == .today)
        #expect(last.record.timestamp == Date(timeIntervalSince1970: Double(Self.time - 60)))
        #expect(last.record.attachments.map(\.position) == [0, 1])
        #expect(try await store.search("herons canal").count == 1)
        #expect(try await store.check().findings.isEmpty)
    }

    @Test("The capture is the same, whichever comes first")
    func anyOrder() async throws {
        let files: [(String, ExperienceRequest)] = [
            ("a.txt", try Self.note("first", at: 7)), ("b.txt", try Self.note("second", at: 3)),
            ("c", .dot(timestamp: Date(timeIntervalSince1970: Double(Self.time + 5)))),
        ]
        var seen: Set<[String?]> = []
        for (number, order) in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]].enumerated() {
            let store = try await CaptureStore.open(in: folder.path.appending("order-\(number)")).store
            for file in order {
                _ = try await store.join(
                    files[file].1, of: Self.dropped(), key: files[file].0, name: Array(files[file].0.utf8))
            }
            let record = try #require(try await store.fetch(ExperienceFetchRequest()).first)
            seen.insert([record.noteText, record.timestamp.description, record.momentType.label])
        }
        #expect(seen.count == 1)
        #expect(seen.first?.first == "Canal walk\n\nfirst\n\nsecond")
    }

    @Test("A file that comes much later, or into another folder, begins its own capture")
    func apart() async throws {
        let store = try await open()
        for (key, after) in [("1", Int64(0)), ("2", 600), ("3", 1200), ("4", 1801), ("5", -601)] {
            _ = try await store.join(
                Self.note(key), of: Self.dropped(after: after), key: key, name: Array(key.utf8))
        }
        _ = try await store.join(
            Self.note("elsewhere"), of: Self.dropped(Array("dropbox/Other".utf8), named: "Other"), key: "6", name: [54])
        let texts = Set(try await store.fetch(ExperienceFetchRequest()).compactMap(\.noteText))
        #expect(
            texts == ["Canal walk\n\n1\n\n2\n\n3", "Canal walk\n\n4", "Canal walk\n\n5", "Other\n\nelsewhere"])
    }

    @Test("A file is stored once, whatever the second request says")
    func once() async throws {
        let store = try await open()
        let first = try await store.join(
            Self.photo(Picture.png), of: Self.dropped(), key: "1", name: Array("a.png".utf8))
        let again = try await store.join(
            Self.note("other"), of: Self.dropped(after: 9_000), key: "1", name: Array("b".utf8))
        #expect(again == first)
        #expect(try await store.joined(key: "1") == first)
        #expect(try await store.joined(key: "2") == nil)
    }

    @Test("Undoing one leaves the others, and undoing the last removes the capture")
    func leaving() async throws {
        let store = try await open()
        _ = try await store.join(Self.photo(Picture.png), of: Self.dropped(), key: "1", name: Array("a.png".utf8))
        _ = try await store.join(
            Self.photo(Picture.plainJPEG), of: Self.dropped(), key: "2", name: Array("b.jpg".utf8))
        _ = try await store.join(Self.note("words"), of: Self.dropped(), key: "3", name: Array("c.txt".utf8))
        #expect(try await store.leave(key: "1"))
        #expect(try await store.leave(key: "1") == false)
        let left = try #require(try await store.fetch(ExperienceFetchRequest()).first)
        #expect(left.attachments.count == 1)
        #expect(try fileNames(below: home.appending("photos")).count == 1)
        #expect(try await store.leave(key: "3"))
        #expect(try await store.fetch(ExperienceFetchRequest()).first?.noteText == "Canal walk")
        #expect(try await store.leave(key: "2"))
        #expect(try await store.fetch(ExperienceFetchRequest()).isEmpty)
        #expect(try fileNames(below: home.appending("photos")).isEmpty)
        #expect(try await store.check().findings.isEmpty)
    }

    @Test("Contain at most a thousand files; the next one begins another")
    func limit() async throws {
        let store = try await open()
        for number in 0...ExperienceRequest.attachmentLimit {
            _ = try await store.join(
                .dot(timestamp: Date(timeIntervalSince1970: Double(Self.time))), of: Self.dropped(), key: "\(number)",
                name: Array("\(number)".utf8))
        }
        #expect(try await store.fetch(ExperienceFetchRequest()).count == 2)
    }

    @Test("Contain at most a mebibyte of text; a text beyond it begins another")
    func words() async throws {
        let store = try await open()
        let half = String(repeating: "x", count: CaptureReader.textLimit / 2)
        for key in ["1", "2", "3"] {
            _ = try await store.join(
                Self.note(half), of: Self.dropped(), key: key, name: Array(key.utf8))
        }
        // A picture has no words, and goes to either.
        _ = try await store.join(Self.photo(Picture.png), of: Self.dropped(), key: "4", name: [52])
        let sizes = try await store.fetch(ExperienceFetchRequest()).map { $0.noteText?.utf8.count ?? 0 }
        #expect(sizes.count == 2)
        #expect(sizes.allSatisfy { $0 < CaptureReader.textLimit + 100 })
    }

    @Test("Try to make a thumbnail of each photo once, on arrival")
    func thumbnails() async throws {
        let tries = Mutex(0)
        let store = try await CaptureStore.open(
            in: home,
            thumbnailer: { _ in
                tries.withLock { $0 += 1 }
                return .failed("no picture")
            }
        ).store
        for number in 1...4 {
            let picture = Picture.png + [UInt8(number)]
            _ = try await store.join(Self.photo(picture), of: Self.dropped(), key: "\(number)", name: [UInt8(number)])
        }
        #expect(tries.withLock { $0 } == 4)
    }

    @Test("Are exported and imported completely")
    func exchange() async throws {
        let store = try await open()
        _ = try await store.join(Self.photo(Picture.png), of: Self.dropped(), key: "1", name: Array("a.png".utf8))
        _ = try await store.join(Self.note("words"), of: Self.dropped(), key: "2", name: Array("c.txt".utf8))
        let target = folder.path.appending("export")
        _ = try await store.export(to: target)
        let other = try await CaptureStore.open(in: folder.path.appending("other")).store
        _ = try await other.importCaptures(from: target)
        let (here, there) = (
            try await store.fetch(ExperienceFetchRequest()), try await other.fetch(ExperienceFetchRequest())
        )
        #expect(there.map(\.noteText) == here.map(\.noteText))
        #expect(there.map { $0.attachments.map(\.sha256) } == here.map { $0.attachments.map(\.sha256) })
    }

    @Test(
        "If a process dies while a file joins, it has joined or not, and a second attempt completes it",
        arguments: 1...8)
    func crash(point: Int) async throws {
        let store = try await open()
        _ = try await store.join(Self.note("words"), of: Self.dropped(), key: "1", name: Array("a.txt".utf8))
        try await store.close()
        await #expect(processExitsWith: .signal(SIGKILL)) { [home = home.text as String, point = point as Int] in
            setenv("STEWARD_FAULT", "*:\(point)", 1)
            let store = try await CaptureStore.open(in: BytePath(home)).store
            _ = try await store.join(
                FolderCaptureTests.photo(Picture.png), of: FolderCaptureTests.dropped(), key: "2",
                name: Array("b.png".utf8))
            kill(getpid(), SIGKILL)
        }
        let again = try await open()
        let joined = try await again.join(
            Self.photo(Picture.png), of: Self.dropped(), key: "2", name: Array("b.png".utf8))
        #expect(!joined.isFirst)
        #expect(joined.record.attachments.count == 1)
        _ = try await again.repair()
        #expect(try await again.check().findings.isEmpty)
        #expect(try await again.fetch(ExperienceFetchRequest()) == [joined.record])
    }
}
