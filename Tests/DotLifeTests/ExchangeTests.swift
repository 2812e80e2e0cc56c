import DotLifeDomain
import DotLifePersistence
import Foundation
import GRDB
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@Suite("Exporting and importing captures")
struct ExchangeTests {
    private let folder: TemporaryFolder
    private let store: CaptureStore
    private var exported: BytePath { folder.path.appending("export") }

    init() async throws {
        folder = try TemporaryFolder()
        store = try await CaptureStore.open(in: folder.path.appending("one")).store
        try await Self.fill(store, folder)
    }

    /// Every kind of capture, and details that only the database holds.
    private static func fill(_ store: CaptureStore, _ folder: TemporaryFolder) async throws {
        let odd = folder.path.appending(name: [0x66, 0xFF, 0x5C, 0x0A, 0x2E, 0x70])
        try folder.write(BytePath(bytes: odd.name), Picture.plainJPEG)
        let time = try at("2026-11-21T09:30:00Z")
        _ = try await store.add(
            .note("Käse\u{2028}\n\"quoted\" \\ \u{1F9C0}\u{7}", momentType: .today, timestamp: time), key: "job/1")
        _ = try await store.add(.link("https://example.org/a?b=c#d", timestamp: time), key: "job/2")
        _ = try await store.create(.dot(momentType: .thisWeek, timestamp: time))
        _ = try await store.add(
            .photo([
                AttachmentSource(.file(path: odd.bytes)),
                AttachmentSource(.data(Data(Picture.png)), originalName: Array("b.png".utf8)),
                AttachmentSource(.data(Data([0, 1, 2])), type: .file),
            ]), key: "job/3")
        _ = try await store.create(.note("with the same", attachments: [AttachmentSource(.data(Data(Picture.png)))]))
        try await DatabaseQueue(path: store.folder.appending("captures.sqlite").text).write { db in
            try db.execute(
                sql: """
                    UPDATE experience SET timestamp = 1795253400123456789, createdAt = 1795253400999999999,
                        momentTypeRaw = 77, experienceTypeRaw = -5 WHERE capture_key = 'job/1';
                    UPDATE experience SET timestamp = -9223372036854775808 WHERE capture_key = 'job/2';
                    UPDATE attachment SET typeRaw = 300 WHERE position = 2;
                    """)
        }
    }

    private func rows(_ store: CaptureStore) async throws -> [[String]] {
        try await DatabaseQueue(path: store.folder.appending("captures.sqlite").text).read { db in
            let captures = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, timestamp, createdAt, momentTypeRaw, experienceTypeRaw, hex(noteText), linkURL,
                        capture_key, hex(fileNames) FROM experience ORDER BY serial
                    """)
            let files = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, experienceID, position, typeRaw, localPath, hex(originalName), sha256, size
                    FROM attachment ORDER BY id
                    """)
            return (captures + files).map { $0.map { "\($0.0)=\($0.1)" } }
        }
    }

    private func other(_ name: String = "two") async throws -> CaptureStore {
        try await CaptureStore.open(in: folder.path.appending(name)).store
    }

    private func lines() throws -> [String] {
        try folder.read("export/captures.jsonl").split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
    }

    private func write(_ lines: [String]) throws {
        try Durable.remove(exported.appending("captures.jsonl"))
        try folder.write("export/captures.jsonl", lines.joined(separator: "\n"))
    }

    @Test("Everything survives: ids, nanoseconds, unknown values, keys, names that are not text, files")
    func lossless() async throws {
        let made = try await store.export(to: exported)
        #expect((made.captures, made.attachments) == (5, 4))
        #expect(made.lost.isEmpty)
        let two = try await other()
        let report = try await two.importCaptures(from: exported)
        #expect((report.added, report.already, report.problemCount) == (5, 0, 0))
        #expect(try await rows(two) == rows(store))
        #expect(try await two.fetch(ExperienceFetchRequest()) == store.fetch(ExperienceFetchRequest()))
        #expect(try await two.check().findings.isEmpty)
        #expect(try await two.search("b.png").count == 1)
        #expect(try await two.add(.dot(), key: "job/3").isNew == false)
        // And back again, byte for byte.
        _ = try await two.export(to: folder.path.appending("again"))
        #expect(try folder.read("again/captures.jsonl") == folder.read("export/captures.jsonl"))
        #expect(
            try fileNames(below: folder.path.appending("again")) == fileNames(below: exported))
    }

    @Test("A second import changes nothing, and an interrupted one is completed by the next")
    func idempotent() async throws {
        _ = try await store.export(to: exported)
        #expect(try await store.importCaptures(from: exported).already == 5)
        let all = try lines()
        try write(Array(all[..<3]) + [""])
        let two = try await other()
        let part = try await two.importCaptures(from: exported)
        #expect((part.added, part.problemCount) == (2, 1))
        #expect(part.problems.first?.message.contains("5 captures, and 2 follow") == true)
        try write(all)
        let rest = try await two.importCaptures(from: exported)
        #expect((rest.added, rest.already, rest.problemCount) == (3, 2, 0))
        #expect(try await rows(two).sorted { $0[0] < $1[0] } == rows(store).sorted { $0[0] < $1[0] })
    }

    @Test("A capture repeated in one file is stored once; if its content differs, its line is named")
    func repeated() async throws {
        _ = try await store.export(to: exported)
        var all = try lines()
        all.insert(all[1], at: 2)
        all.insert(all[1].replacing("quoted", with: "forged"), at: 3)
        all[0] = all[0].replacing("\"captures\":5", with: "\"captures\":7")
        try write(all)
        let two = try await other()
        let report = try await two.importCaptures(from: exported)
        #expect((report.added, report.already, report.problemCount) == (5, 1, 1))
        #expect(report.problems.first?.line == 4)
        #expect(report.problems.first?.message.contains("says something else") == true)
    }

    @Test("A capture that conflicts with the store's is left alone, and its line named")
    func conflicts() async throws {
        _ = try await store.export(to: exported)
        let two = try await other()
        _ = try await two.add(.note("somebody else's"), key: "job/2")
        let before = try await two.record(key: "job/2")
        let report = try await two.importCaptures(from: exported)
        #expect((report.added, report.problemCount) == (4, 1))
        #expect(report.problems.map(\.line) == [3])
        #expect(try await two.record(key: "job/2") == before)
    }

    @Test("Damaged lines are named by number, and the others imported")
    func damaged() async throws {
        _ = try await store.export(to: exported)
        let all = try lines()
        let bad: [(String, String)] = [
            ("no JSON", "not json at all"), ("cut", String(all[1].dropLast(20))),
            ("another time", all[1].replacing("2026-11-21T", with: "2026-02-30T")),
            ("a time without nanoseconds", all[1].replacing(".123456789Z", with: "Z")),
            ("unknown key", all[1].replacing("\"id\":", with: "\"colour\":\"red\",\"id\":")),
            ("a number as text", all[1].replacing("\"moment\":77", with: "\"moment\":\"77\"")),
            ("too large", all[1].replacing("\"moment\":77", with: "\"moment\":99999999999999999999")),
            ("no id", all[1].replacing("\"id\":\"", with: "\"id\":\"x")),
            ("nested", String(repeating: "[", count: 100_000)), ("null", "null"), ("empty object", "{}"),
        ]
        try write([all[0].replacing("\"captures\":5", with: "\"captures\":16")] + bad.map(\.1) + all[1...])
        let two = try await other()
        let report = try await two.importCaptures(from: exported)
        #expect(report.problems.map(\.line) == Array(2...(bad.count + 1)))
        #expect(report.problems.allSatisfy { $0.message.hasPrefix("line \($0.line): ") && $0.message.count < 400 })
        #expect(report.added == 5)
        #expect(try await rows(two) == rows(store))
    }

    @Test(
        "A file that is outside the export, missing or different is not imported",
        arguments: ["../secret", "/etc/passwd", "attachments/link", "attachments/none", "attachments", ""])
    func hostileFiles(_ path: String) async throws {
        _ = try await store.export(to: exported)
        try folder.write("secret", Picture.png)
        try FileManager.default.createSymbolicLink(
            atPath: exported.appending("attachments/link").text, withDestinationPath: "../../secret")
        let hash = ContentHash(of: Picture.png).description
        try write(
            try lines().map { $0.replacing("attachments/\(hash.prefix(2))/\(hash).png", with: path) })
        let two = try await other()
        let report = try await two.importCaptures(from: exported)
        #expect((report.added, report.problemCount) == (3, 2))
        #expect(try await two.check().findings.filter { $0.kind != .strayFile }.isEmpty)
    }

    @Test("Anything but an export, or one of a newer version, is rejected as a whole")
    func foreign() async throws {
        let two = try await other()
        for first in [
            "{\"captures\":0,\"format\":\"dotlife-captures\",\"version\":2}\n", "hello\n", "{}\n", "",
            "{\"captures\":0,\"format\":\"other\",\"version\":1}\n",
        ] {
            try? Durable.remove(exported.appending("captures.jsonl"))
            try folder.write("export/captures.jsonl", first)
            let fault = await #expect(throws: Fault.self) { try await two.importCaptures(from: exported) }
            #expect(fault?.kind == .refused)
        }
        let fault = await #expect(throws: Fault.self) { try await two.importCaptures(from: folder.path) }
        #expect(fault?.message.contains("captures.jsonl") == true)
        #expect(try await two.fetch(ExperienceFetchRequest()).isEmpty)
    }

    @Test("A capture whose file is lost is exported without it, and both sides say so")
    func lostFile() async throws {
        let record = try #require(try await store.record(key: "job/3"))
        try Durable.remove(store.path(of: record.attachments[0]))
        let made = try await store.export(to: exported)
        #expect(made.captures == 5)
        #expect(made.lost.map(\.capture) == [record.id])
        let two = try await other()
        let report = try await two.importCaptures(from: exported)
        #expect((report.added, report.problemCount, report.incomplete) == (5, 1, 1))
        let message = try #require(report.problems.first?.message)
        #expect(message.contains("lacks the file of attachment \(record.attachments[0].id)"))
        #expect(try await two.fetch(byID: record.id)?.attachments.map(\.id) == record.attachments.map(\.id))
        let found = try await two.check().findings
        #expect(found.map(\.kind) == [.missingFile] && found.map(\.capture) == [record.id])
        // The second time, it already exists.
        #expect(try await two.importCaptures(from: exported).already == 5)
    }

    @Test("A capture whose file the exporting store had lost keeps its text")
    func lostFileOfNote() async throws {
        let note = try await store.create(
            .note("what was said", attachments: [AttachmentSource(.data(Data([4, 5, 6])))]))
        try Durable.remove(store.path(of: note.attachments[0]))
        _ = try await store.export(to: exported)
        let two = try await other()
        _ = try await two.importCaptures(from: exported)
        #expect(try await two.search("said").map(\.record.id) == [note.id])
    }

    @Test("A lost file that the importing store has is not a loss there")
    func lostFileThere() async throws {
        let note = try await store.create(
            .note("what was said", attachments: [AttachmentSource(.data(Data([4, 5, 6])))]))
        try Durable.remove(store.path(of: note.attachments[0]))
        _ = try await store.export(to: exported)
        let two = try await other()
        _ = try await two.create(.note("the same", attachments: [AttachmentSource(.data(Data([4, 5, 6])))]))
        #expect(try await two.importCaptures(from: exported).problemCount == 0)
        #expect(try await two.check().findings.isEmpty)
    }

    @Test("The store of an earlier version is exported completely")
    func earlierVersion() async throws {
        let old = folder.path.appending("old")
        try Durable.makeDirectory(old)
        try SchemaOne.write(to: old.appending("captures.sqlite"))
        try folder.write(BytePath("old/photos/\(SchemaOne.photoName)"), Picture.plainJPEG)
        let first = try await CaptureStore.open(in: old).store
        #expect(try await first.export(to: exported).captures == 3)
        #expect(try await first.importCaptures(from: exported).already == 3)
        let two = try await other()
        #expect(try await two.importCaptures(from: exported).added == 3)
        #expect(try await two.check().findings.isEmpty)
        let photo = try #require(try await two.record(key: "job/2"))
        #expect(try Descriptor(two.path(of: #require(photo.attachments.first))).readAll() == Picture.plainJPEG)
    }

    @Test("Times are written in a common format, over the whole range of years")
    func times() async throws {
        var random = SeededGenerator(for: "ExchangeTests.times")
        let three = try await other("three")
        var expected: [String] = []
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: false)
        for _ in 0..<200 {
            let second = Double(Int64.random(in: -7_000_000_000...9_000_000_000, using: &random))
            let time = Date(timeIntervalSince1970: second)
            _ = try await three.create(.dot(timestamp: time))
            expected.append(time.formatted(style).replacing("Z", with: ".000000000Z"))
        }
        _ = try await three.export(to: exported)
        let found = try lines().dropFirst().filter { !$0.isEmpty }.map { line in
            line.split(separator: "\"time\":\"").last.map { String($0.prefix(30)) } ?? ""
        }
        #expect(found == expected)
    }

    @Test("A file removed or changed during the export affects only its capture", arguments: [false, true])
    func changedMeanwhile(_ isReplaced: Bool) async throws {
        // Large, so that hashing it takes long enough to interfere.
        let large = try await store.create(
            .note("large", attachments: [AttachmentSource(.data(Data(count: 96 << 20)))]))
        let path = try store.path(of: large.attachments[0])
        // The interfering task may be too late on a busy machine.
        for number in 1...20 {
            let target = folder.path.appending("export \(number)")
            let (made, isInTime) = try await meddled(path, isReplaced: isReplaced) {
                try await self.store.export(to: target)
            }
            if !isInTime || made.lost.isEmpty, number < 20 {
                try folder.write(#require(path.relative(to: folder.path)), [UInt8](repeating: 0, count: 96 << 20))
                continue
            }
            #expect((made.captures, made.attachments) == (6, 4))
            #expect(made.lost.map(\.capture) == [large.id])
            #expect(try fileNames(below: target.appending("attachments")).count == 3)
            break
        }
    }

    /// Runs code that reads a file, which is removed or replaced as soon as it is opened; reports whether that was in
    /// time.
    private func meddled<Result: Sendable>(
        _ path: BytePath, isReplaced: Bool, _ body: () async throws -> Result
    ) async throws -> (Result, isInTime: Bool) {
        let other = try folder.write("other", "something else")
        let end = End()
        let opened = try OpenWatch(path)
        // On a separate thread: on the pool, it and the export could wait for each other.
        async let meddled = BlockingPool("meddler").run {
            while !end.hasCome.withLock({ $0 }) {
                guard opened.hasBeenOpened(within: 100) else { continue }
                if isReplaced { _ = rename(other.text, path.text) } else { try Durable.remove(path) }
                return true
            }
            return false
        }
        let result = try await body()
        end.hasCome.withLock { $0 = true }
        return (result, try await meddled)
    }

    @Test("A capture deleted during the export is left out, and the export is valid")
    func deletedMeanwhile() async throws {
        let (store, numbers) = (store, 0..<40)
        for number in numbers {
            _ = try await store.add(.photo(Data(Picture.png + Array("\(number)".utf8))), key: "busy \(number)")
        }
        async let removed: Void = {
            for number in numbers.reversed() { _ = try await store.remove(key: "busy \(number)") }
        }()
        let made = try await store.export(to: exported)
        try await removed
        #expect(made.captures >= 5)
        #expect(made.lost.isEmpty)
    }
}

private final class End: Sendable {
    let hasCome = Mutex(false)
}

/// Reports as soon as somebody opens a file.
private final class OpenWatch: Sendable {
    private let queue: Descriptor

    init(_ path: BytePath) throws {
        queue = Descriptor(owning: inotify_init1(Int32(IN_CLOEXEC)), path: path)
        guard inotify_add_watch(queue.raw, path.text, UInt32(IN_OPEN)) >= 0 else { throw Fault.system("watch", path) }
    }

    /// - Parameter limit: milliseconds to wait for it.
    func hasBeenOpened(within limit: Int32) -> Bool {
        var one = pollfd(fd: queue.raw, events: Int16(POLLIN), revents: 0)
        return poll(&one, 1, limit) > 0
    }
}
