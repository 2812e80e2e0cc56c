import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Thumbnails on disk.
@Suite("Thumbnail cache")
struct ThumbnailCacheTests {
    private let folder: TemporaryFolder
    private let clock = Clock()

    init() throws { folder = try TemporaryFolder("cache") }

    private func cache(limit: Int64 = ThumbnailCache.defaultLimit) -> ThumbnailCache {
        ThumbnailCache(folder: folder.path.appending("thumbnails"), limit: limit, clock: { clock.now })
    }

    private func key(_ number: Int, _ page: ThumbnailKey.Page = .cover) -> ThumbnailKey {
        ThumbnailKey(content: ContentHash(of: Array("comic \(number)".utf8)), page: page, size: .cover)
    }

    private func jpeg(_ number: Int, size: Int = 10_000) -> [UInt8] {
        [0xFF, 0xD8] + (0..<size).map { UInt8(truncatingIfNeeded: $0 &* (number + 3)) } + [0xFF, 0xD9]
    }

    private func files() throws -> [BytePath] {
        let root = folder.path.appending("thumbnails")
        return try listDirectory(root).filter { $0.isDirectory == true }.flatMap { part in
            try listDirectory(root.appending(name: part.name)).map {
                root.appending(name: part.name).appending(name: $0.name)
            }
        }
    }

    /// In blocks on the disk, as the limit is meant.
    private func size() throws -> Int64 {
        try files().reduce(0) { try $0 + ((FileStatus.of($1)?.size ?? 0) + 4095) / 4096 * 4096 }
    }

    @Test("Any process finds the thumbnails again, only under the same key") func thumbnailsFoundAgain() throws {
        try cache().keep(jpeg(1), for: key(1))
        #expect(try cache().find(key(1)) == jpeg(1))
        #expect(try cache().find(key(2)) == nil)
        #expect(try cache().find(key(1, .index(0))) == nil)
        let other = ThumbnailKey(content: ContentHash(of: Array("comic 1".utf8)), page: .cover, size: .page)
        #expect(try cache().find(other) == nil)
        let name = try #require(try files().first)
        #expect(name.nameText.count == 68 && name.parent.nameText == name.nameText.prefix(2))
        #expect(try FileStatus.of(name)?.mode == 0o600)
    }

    @Test("A damaged, truncated or swapped file is not a thumbnail, and is removed") func damagedShortenedSwapped()
        throws
    {
        let cache = cache()
        for number in 0..<4 { try cache.keep(jpeg(number), for: key(number)) }
        let named = try (0..<4).map { number in
            try #require(try files().first { $0.nameText.hasPrefix(key(number).name.description) })
        }
        let file = try Descriptor(named[0], O_RDWR)
        try file.write([1], at: 5000)
        try Descriptor(named[1], O_RDWR).truncate(to: 0)
        rename(named[2].text, named[3].text)
        for number in 0..<4 { #expect(try cache.find(key(number)) == nil) }
        #expect(try files().isEmpty)
        try cache.keep(jpeg(0), for: key(0))
        #expect(try cache.find(key(0)) == jpeg(0))
    }

    @Test("The least recently used are evicted, down to nine tenths of the limit") func leastRecentlyUsed() throws {
        let cache = cache(limit: 20 * 12_288)
        for number in 0..<20 {
            try cache.keep(jpeg(number), for: key(number))
            clock.advance(days: 2)
        }
        #expect(try files().count == 20)
        // Used today: it outlives those created after it.
        #expect(try cache.find(key(0)) != nil)
        clock.advance(days: 2)
        try cache.keep(jpeg(20), for: key(20))
        #expect(try files().count == 18)
        #expect(try size() == 18 * 12_288)
        #expect(try [0, 4, 20].allSatisfy { try cache.find(key($0)) != nil })
        #expect(try [1, 2, 3].allSatisfy { try cache.find(key($0)) == nil })
    }

    @Test("Reading writes to the disk at most once a day") func readingWritesDisk() throws {
        let cache = cache()
        try cache.keep(jpeg(1), for: key(1))
        let file = try #require(try files().first)
        let made = try #require(try FileStatus.of(file)).fingerprint
        clock.advance(days: 0.9)
        _ = try cache.find(key(1))
        #expect(try FileStatus.of(file)?.fingerprint == made)
        clock.advance(days: 0.2)
        _ = try cache.find(key(1))
        #expect(try FileStatus.of(file)?.fingerprint.modified == clock.now.nanoseconds)
    }

    @Test("A tally that is wrong, damaged or missing is recomputed") func tallyWrongDamaged() throws {
        let cache = cache(limit: 5 * 12_288)
        for number in 0..<5 { try cache.keep(jpeg(number), for: key(number)) }
        let tally = folder.path.appending("thumbnails/tally")
        for text in ["", "nonsense", "-5 3\n", "99999999999999999999 1\n"] {
            try folder.write("thumbnails/tally", text)
            try cache.keep(jpeg(9), for: key(9))
            #expect(try size() <= 5 * 12_288)
        }
        try Durable.remove(tally)
        try cache.keep(jpeg(10), for: key(10))
        #expect(try size() <= 5 * 12_288)
        // Too low, as after a killed process: corrected within a day.
        try folder.write("thumbnails/tally", "0 \(clock.now.nanoseconds)\n")
        for number in 20..<24 { try cache.keep(jpeg(number), for: key(number)) }
        clock.advance(days: 2)
        try cache.keep(jpeg(30), for: key(30))
        #expect(try size() <= 5 * 12_288)
    }

    @Test("No timestamp of a file or the tally does harm", arguments: [Int64.min, .max, -1]) func timeFileTally(
        _ time: Int64
    ) throws {
        let cache = cache(limit: 5 * 12_288)
        try cache.keep(jpeg(1), for: key(1))
        try folder.write("thumbnails/tally", "0 \(time)\n")
        try cache.keep(jpeg(2), for: key(2))
        #expect(try TemporaryFolder.text(folder.path.appending("thumbnails/tally")).hasPrefix("24576 "))
        for file in try files() {
            let times = [timespec(tv_sec: Int(time), tv_nsec: 0), timespec(tv_sec: Int(time), tv_nsec: 0)]
            // A file system that cannot store such a time uses the nearest.
            _ = utimensat(AT_FDCWD, file.text, times, 0)
        }
        #expect(try cache.find(key(1)) == jpeg(1))
        for number in 3..<9 { try cache.keep(jpeg(number), for: key(number)) }
        #expect(try size() <= 5 * 12_288)
    }

    @Test("Making room leaves what is not the cache's own") func makingRoomLeaves() throws {
        let cache = cache(limit: 2 * 12_288)
        let mine = try folder.write("thumbnails/ab/holiday.jpg", "mine")
        let hidden = try folder.write("thumbnails/notes/x.txt", "mine")
        for number in 1...4 {
            try cache.keep(jpeg(number), for: key(number))
            clock.advance(days: 2)
        }
        #expect(try cache.find(key(1)) == nil)
        #expect(try FileStatus.of(mine) != nil && FileStatus.of(hidden) != nil)
        #expect(try cache.find(key(4)) == jpeg(4))
    }

    @Test("Several processes stay within the limit and lose no intact thumbnail") func severalOnceKeep() async throws {
        let cache = cache(limit: 40 * 12_288)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<8 {
                group.addTask {
                    let pool = BlockingPool("test.\(part)")
                    try await pool.run {
                        for number in 0..<40 {
                            try cache.keep(jpeg(number), for: key(number))
                            if let found = try cache.find(key(number)) { #expect(found == jpeg(number)) }
                            if part == 0, number == 20 { for file in try files() { try Durable.remove(file) } }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try size() <= 40 * 12_288)
        #expect(try files().allSatisfy { $0.nameText.hasSuffix(".jpg") })
    }
}

/// A clock moved by the test.
private final class Clock: Sendable {
    private let time = Mutex(Timestamp.now())

    var now: Timestamp { time.withLock { $0 } }

    func advance(days: Double) { time.withLock { $0 = $0.adding(seconds: days * 86_400) } }
}
