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

/// Covers and pages of a library's comics.
@Suite("Thumbnails of a library", .enabled(if: hasThumbnails, "libvips42 is not installed"))
struct ThumbnailServiceTests {
    private let folder: TemporaryFolder
    private var library: BytePath { folder.path.appending("library") }
    private let service: ThumbnailService

    init() throws {
        folder = try TemporaryFolder("service")
        service = ThumbnailService(
            worker: try builtWorker(), cache: ThumbnailCache(folder: folder.path.appending("cache")),
            complain: { Issue.record($0) })
    }

    private func comic(_ name: String, pages: Int, cover: Int? = nil) throws -> BytePath {
        let path = library.appending(name)
        try Durable.makeDirectory(path.parent)
        try pack(
            (0..<pages).map {
                Packed(name: $0 == cover ? "cover.png" : "\($0).png", bytes: Picture.png(100 + $0, 200))
            }, .storedZip, to: path)
        return path
    }

    private func width(_ data: Data) throws -> Int { try #require(ImageHeader.read(Array(data))).width }

    @Test("The cover is the page that is called so, and is kept") func coverKept() async throws {
        let path = try comic("a.cbz", pages: 5, cover: 3)
        let made = try await service.thumbnail(of: path)
        #expect(try width(made) == 103)
        // The second time from disk: the pages cannot be read any more.
        let content = try ContentHash.ofFile(path)
        try Durable.remove(path)
        try folder.write("library/a.cbz", "no comic any more")
        #expect(try await service.thumbnail(of: path, content: content) == made)
        await #expect(throws: (any Error).self) { try await service.thumbnail(of: path) }
        try FileManager.default.removeItem(atPath: folder.path.appending("cache").text)
        await #expect(throws: (any Error).self) { try await service.thumbnail(of: path, content: content) }
    }

    @Test("Metadata can name the cover") func metadataNameCover() async throws {
        let path = try comic("a.cbz", pages: 5)
        let front = ComicPageInfo(image: 2, type: .frontCover)
        #expect(try width(await service.thumbnail(of: path)) == 100)
        #expect(try width(await service.thumbnail(of: path, stated: [front])) == 102)
        let beyond = ComicPageInfo(image: 20, type: .frontCover)
        #expect(try width(await service.thumbnail(of: path, stated: [beyond])) == 100)
        await #expect(throws: ComicError.self) { try await service.thumbnail(of: path, page: .index(5)) }
    }

    @Test("Any page of an archive, a folder and a single picture has a thumbnail") func anyPage() async throws {
        let archive = try comic("a.cbz", pages: 30)
        for number in 0..<20 { try folder.write(BytePath("library/b/\(number).png"), Picture.png(100 + number, 200)) }
        try folder.write("library/b/7.png", Picture.bomb)
        let single = try folder.write("library/c.png", Picture.png(111, 200))
        for index in [0, 3, 29] {
            #expect(try width(await service.thumbnail(of: archive, page: .index(index), size: .page)) == 100 + index)
        }
        for index in [30, 99, -1] {
            await #expect(throws: ComicError.self) { try await service.thumbnail(of: archive, page: .index(index)) }
        }
        let pictures = library.appending("b")
        #expect(try width(await service.thumbnail(of: pictures, page: .index(19), size: .page)) == 119)
        let error = await #expect(throws: ComicError.self) {
            try await service.thumbnail(of: pictures, page: .index(7), size: .page)
        }
        #expect(error?.message.contains("it claims 65535 × 65535 pixels") == true)
        #expect(try width(await service.thumbnail(of: single)) == 111)
        #expect(try listDirectory(pictures).count == 20)
    }

    @Test("A changed comic gets a new cover") func comicChangesAnother() async throws {
        let path = try comic("a.cbz", pages: 1)
        #expect(try width(await service.thumbnail(of: path)) == 100)
        try Durable.remove(path)
        try pack([Packed(name: "1.png", bytes: Picture.png(77, 99))], .storedZip, to: path)
        #expect(try width(await service.thumbnail(of: path)) == 77)
        try folder.write("library/b/1.png", Picture.png(20, 20))
        #expect(try width(await service.thumbnail(of: library.appending("b"))) == 20)
        try folder.write("library/b/0.png", Picture.png(21, 20))
        #expect(try width(await service.thumbnail(of: library.appending("b"))) == 21)
    }

    @Test("A cache that cannot be written is reported, and the thumbnail is made") func cacheWrittenComplained()
        async throws
    {
        let path = try comic("a.cbz", pages: 1)
        let blocked = try folder.write("blocked", "a file where the cache should be")
        let complaints = Mutex<Int>(0)
        let service = ThumbnailService(
            worker: try builtWorker(), cache: ThumbnailCache(folder: blocked),
            complain: { _ in complaints.withLock { $0 += 1 } })
        #expect(try width(await service.thumbnail(of: path)) == 100)
        #expect(complaints.withLock { $0 } > 0)
    }
}
