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
    private let library: ComicLibrary
    private let service: ThumbnailService

    init() throws {
        folder = try TemporaryFolder("service")
        library = ComicLibrary(root: folder.path.appending("library"))
        service = ThumbnailService(
            worker: try builtWorker(), cache: ThumbnailCache(folder: folder.path.appending("cache")), library: library,
            complain: { Issue.record($0) })
    }

    private func comic(_ name: String, pages: Int, cover: Int? = nil) throws -> BytePath {
        let path = folder.path.appending("library").appending(name)
        try Durable.makeDirectory(path.parent)
        try pack(
            (0..<pages).map {
                Packed(name: $0 == cover ? "cover.png" : "\($0).png", bytes: Picture.png(100 + $0, 200))
            }, .storedZip, to: path)
        return path
    }

    private func width(_ data: Data) throws -> Int { try #require(ImageHeader.read(Array(data))).width }

    @Test("The cover of a file of the library is the page that is called so, and is kept") func coverFileLibrary()
        async throws
    {
        let path = try comic("a.cbz", pages: 5, cover: 3)
        let file = try #require(try await library.listFiles().first)
        let made = try await service.thumbnail(for: file)
        #expect(try width(made) == 103)
        // The second time from disk: the pages cannot be read any more.
        let content = try ContentHash.ofFile(path)
        try Durable.remove(path)
        try folder.write("library/a.cbz", "no comic any more")
        #expect(try await service.thumbnail(for: file, content: content) == made)
        await #expect(throws: (any Error).self) { try await service.thumbnail(for: file) }
        try await service.clearCache()
        await #expect(throws: (any Error).self) { try await service.thumbnail(for: file, content: content) }
    }

    @Test("Metadata may name the cover") func metadataNameCover() async throws {
        let path = try comic("a.cbz", pages: 5)
        let file = ComicFile(path: "a.cbz", type: ComicFileType(name: "a.cbz".utf8), size: 0, modified: 0)
        let front = ComicPageInfo(image: 2, type: .frontCover)
        #expect(try width(await service.thumbnail(for: file)) == 100)
        #expect(try width(await service.thumbnail(for: file, stated: [front])) == 102)
        let beyond = ComicPageInfo(image: 20, type: .frontCover)
        #expect(try width(await service.thumbnail(for: file, stated: [beyond])) == 100)
        await #expect(throws: ComicError.self) { try await service.thumbnail(of: path, page: .index(5)) }
    }

    @Test("Nothing outside of the library is shown") func nothingOutsideLibrary() async throws {
        let outside = try folder.write("secret.png", Picture.png(10, 10))
        try Durable.makeDirectory(library.root)
        symlink(outside.text, library.root.appending("link.png").text)
        for name: BytePath in ["link.png", "../secret.png"] {
            await #expect(throws: ComicError.self) {
                try await service.thumbnail(
                    for: ComicFile(path: name, type: ComicFileType(name: "a.png".utf8), size: 0, modified: 0))
            }
        }
    }

    @Test("All pages of an archive, a folder and a single picture") func allPagesArchive() async throws {
        let archive = try comic("a.cbz", pages: 30)
        for number in 0..<20 { try folder.write(BytePath("library/b/\(number).png"), Picture.png(100 + number, 200)) }
        try folder.write("library/b/7.png", Picture.bomb)
        let single = try folder.write("library/c.png", Picture.png(111, 200))
        let steps = Mutex<[Int]>([])
        let pages = try await service.thumbnails(of: archive, size: .page) { done, total in
            #expect(total == 30)
            steps.withLock { $0.append(done) }
        }
        #expect(pages.count == 30)
        #expect(steps.withLock { $0 } == Array(0...30))
        let again = try await service.thumbnails(of: archive, pages: [3, 99, -1], size: .page)
        #expect(again == [3: try #require(pages[3])])
        let inFolder = try await service.thumbnails(of: library.root.appending("b"), size: .page)
        #expect(inFolder.count == 20)
        #expect(inFolder[7] == .failed("it claims 65535 × 65535 pixels"))
        guard case .made(let last) = inFolder[19] else { throw TestFailure("no thumbnail in a folder") }
        #expect(try width(Data(last)) == 119)
        #expect(try width(await service.thumbnail(of: single)) == 111)
        #expect(try listDirectory(library.root.appending("b")).count == 20)
    }

    @Test("A comic that changes has another cover") func comicChangesAnother() async throws {
        let path = try comic("a.cbz", pages: 1)
        #expect(try width(await service.thumbnail(of: path)) == 100)
        try Durable.remove(path)
        try pack([Packed(name: "1.png", bytes: Picture.png(77, 99))], .storedZip, to: path)
        #expect(try width(await service.thumbnail(of: path)) == 77)
        try folder.write("library/b/1.png", Picture.png(20, 20))
        #expect(try width(await service.thumbnail(of: library.root.appending("b"))) == 20)
        try folder.write("library/b/0.png", Picture.png(21, 20))
        #expect(try width(await service.thumbnail(of: library.root.appending("b"))) == 21)
    }

    @Test("A picture in memory") func pictureMemory() async throws {
        let made = try await service.generateThumbnail(
            from: Data(Picture.png(400, 400)), size: ThumbnailSize(width: 50, height: 60))
        #expect(try width(made) == 50)
        await #expect(throws: ComicError.self) {
            try await service.generateThumbnail(from: Data("text".utf8), size: .page)
        }
        let error = await #expect(throws: ComicError.self) {
            try await service.generateThumbnail(from: Data(Picture.bomb), size: .page)
        }
        #expect(error?.message.contains("million") == true)
    }

    @Test("A cache that cannot be written is complained of, and the thumbnail is there") func cacheWrittenComplained()
        async throws
    {
        let path = try comic("a.cbz", pages: 1)
        let blocked = try folder.write("blocked", "a file where the cache should be")
        let complaints = Mutex<Int>(0)
        let service = ThumbnailService(
            worker: try builtWorker(), cache: ThumbnailCache(folder: blocked), library: library,
            complain: { _ in complaints.withLock { $0 += 1 } })
        #expect(try width(await service.thumbnail(of: path)) == 100)
        #expect(complaints.withLock { $0 } > 0)
    }
}
