import AgentKit
import ComicArchive
import ComicTestSupport
import DotLifeDomain
import DotLifePersistence
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Thumbnails of captures")
struct CaptureThumbnailTests {
    private let folder: TemporaryFolder
    private let worker: ThumbnailWorker

    init() throws {
        folder = try TemporaryFolder()
        worker = ThumbnailWorker(try builtWorker())
    }

    private func open() async throws -> CaptureStore {
        let size = ThumbnailSize(width: CaptureStore.thumbnailSide, height: CaptureStore.thumbnailSide)
        return try await CaptureStore.open(
            in: folder.path.appending("captures"),
            thumbnailer: { [worker] in CaptureThumbnails.outcome(try await worker.shrink(picture: $0, to: size)) }
        ).store
    }

    private func thumbnail(_ picture: [UInt8]) async throws -> ImageHeader? {
        let store = try await open()
        let photo = try await store.create(.photo(Data(picture)))
        guard let path = try store.thumbnailPath(of: photo.attachments[0]) else { return nil }
        return ImageHeader.read(try Descriptor(path).readAll())
    }

    @Test(
        "Fit the square, keep their proportions, and are never larger than the original",
        .enabled(if: hasThumbnails, "libvips42 is not installed"))
    func sizes() async throws {
        let wide = try #require(try await thumbnail(blackTIFF(width: 800, height: 200, orientation: 1)))
        #expect((wide.format, wide.width, wide.height) == (.jpeg, 200, 50))
        let small = try #require(try await thumbnail(blackTIFF(width: 40, height: 20, orientation: 1)))
        #expect((small.width, small.height) == (40, 20))
    }

    @Test(
        "Are upright, as the EXIF data say", .enabled(if: hasThumbnails, "libvips42 is not installed"),
        arguments: 1...8)
    func orientation(_ orientation: Int) async throws {
        let found = try #require(try await thumbnail(blackTIFF(width: 800, height: 200, orientation: orientation)))
        #expect((found.width, found.height) == (orientation < 5 ? (200, 50) : (50, 200)))
    }

    @Test(
        "A picture that is broken or lies about its size gets none, and is kept",
        .enabled(if: hasThumbnails, "libvips42 is not installed"))
    func broken() async throws {
        var lie = blackTIFF(width: 800, height: 200, orientation: 1)
        lie.replaceSubrange(18..<22, with: [0xFF, 0xFF, 0, 0])
        lie.replaceSubrange(30..<34, with: [0xFF, 0xFF, 0, 0])
        #expect(try await thumbnail(lie) == nil)
        #expect(try await thumbnail([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 1]) == nil)
        #expect(try await open().fetch(ExperienceFetchRequest()).count == 2)
        #expect(try await open().check().findings.isEmpty)
    }

    /// A TIFF of black pixels, with this `orientation` tag.
    private func blackTIFF(width: Int, height: Int, orientation: Int) -> [UInt8] {
        let tags = [
            (256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, 134), (274, orientation), (277, 1),
            (278, height), (279, width * height),
        ]
        return [0x49, 0x49, 0x2A, 0] + little(8, 4) + little(tags.count, 2)
            + tags.flatMap { little($0.0, 2) + little(4, 2) + little(1, 4) + little($0.1, 4) } + little(0, 4)
            + [UInt8](repeating: 0, count: width * height)
    }
}
