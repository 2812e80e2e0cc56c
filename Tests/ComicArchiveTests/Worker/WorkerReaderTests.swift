import ComicArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Pages by number, and the files that are kept around the one being read.
struct WorkerReaderTests {
    let folder: TemporaryFolder
    let factory: ArchiveReaderFactory

    init() throws {
        folder = try TemporaryFolder("reading")
        factory = ArchiveReaderFactory(worker: try builtWorker())
    }

    @Test(arguments: Packing.allCases)
    func eachPageIsWhatWasPacked(_ packing: Packing) async throws {
        let path = folder.path.appending("wrong.cbr")
        try pack((0..<30).map { Packed(name: "\($0).png", bytes: picture($0)) }, packing, to: path)
        let cache = ExtractionCache(reader: try await factory.reader(for: path), in: folder.path.appending("cache"))
        #expect(try await cache.open().count == 30)
        for index in [0, 29, 15, 16, 3] {
            #expect(Array(try Data(contentsOf: try await cache.page(index))) == picture(index))
        }
        try await cache.close()
        #expect(try listDirectory(folder.path.appending("cache")).isEmpty)
    }

    @Test func keepsTheWindowAndEvictsTheRest() async throws {
        let path = folder.path.appending("a.cbz")
        try pack((0..<30).map { Packed(name: "\($0).png", bytes: picture($0)) }, .storedZip, to: path)
        let cache = ExtractionCache(reader: try await factory.reader(for: path), in: folder.path.appending("cache"))
        _ = try await cache.page(3)
        await cache.settle()
        #expect(await cache.cached == Set(3...8))
        _ = try await cache.page(14)
        await cache.settle()
        #expect(await cache.cached == Set(4...8).union(14...19))
        try await cache.close()
    }

    @Test func closingAFolderOrAPictureLeavesTheOriginals() async throws {
        for index in 1...3 { try folder.write(BytePath("pages/\(index).png"), picture(index)) }
        for (path, count) in [("pages", 3), ("pages/1.png", 1)] {
            let reader = try await factory.reader(for: folder.path.appending(path))
            let cache = ExtractionCache(reader: reader, in: folder.path.appending("cache"))
            #expect(try await cache.open().count == count)
            #expect(Array(try Data(contentsOf: try await cache.page(0))) == picture(1))
            await cache.settle()
            try await cache.close()
        }
        #expect(try listDirectory(folder.path.appending("pages")).count == 3)
        #expect(try listDirectory(folder.path.appending("cache")).isEmpty)
    }

    @Test func closingWhileAPageIsOnItsWayLeavesNoFile() async throws {
        for index in 1...3 { try folder.write(BytePath("pages/\(index).png"), picture(index)) }
        let parent = folder.path.appending("cache")
        for round in 0..<60 {
            let reader = try await factory.reader(for: folder.path.appending("pages"))
            let cache = ExtractionCache(reader: reader, in: parent)
            _ = try await cache.open()
            async let page = cache.page(round % 3)
            for _ in 0..<(round % 12) { await Task.yield() }
            try await cache.close()
            _ = try? await page
            #expect(try listDirectory(parent).isEmpty)
        }
    }

    @Test func aDamagedPageLeavesNoFile() async throws {
        let path = try folder.write(
            "a.cbr",
            {
                var bytes = storedRar5([picture(1)]); bytes[200] ^= 1; return bytes
            }())
        let reader = try await factory.reader(for: path)
        let cache = folder.path.appending("cache")
        try Durable.makeDirectory(cache)
        let entry = try #require(try await reader.listEntries().first)
        await #expect(throws: InkyPanelsError.self) { try await reader.extractEntry(entry, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }
}
