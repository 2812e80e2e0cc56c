import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Thumbnails created by the worker in its cage.
@Suite("Thumbnails", .enabled(if: hasThumbnails, "libvips42 is not installed"))
struct ThumbnailWorkerTests {
    private let worker: ThumbnailWorker
    private let folder: TemporaryFolder

    init() throws {
        worker = ThumbnailWorker(try builtWorker())
        folder = try TemporaryFolder("thumbnails")
    }

    private func header(_ outcome: ThumbnailOutcome?) throws -> ImageHeader {
        guard case .made(let jpeg) = outcome else { throw TestFailure("no thumbnail: \(String(describing: outcome))") }
        return try #require(ImageHeader.read(jpeg))
    }

    @Test("Thumbnails fit the box, and are never larger than the original") func thumbnailsFitBox() async throws {
        let pictures = [Picture.png(600, 900), Picture.png(900, 100), Picture.png(20, 30), Picture.tiff(600, 900)]
        let made = try await worker.shrink(pictures: pictures, to: .cover)
        let sizes = try made.map { try header($0) }
        #expect(sizes.map(\.width) == [300, 300, 20, 300])
        #expect(sizes.map(\.height) == [450, 33, 30, 450])
        #expect(sizes.allSatisfy { $0.format == .jpeg })
    }

    @Test("Thumbnails are made for every format", arguments: ["webp", "gif", "tiff", "png"])
    func thumbnailsMadeEvery(_ name: String) async throws {
        let picture =
            switch name {
            case "webp": Picture.webp
            case "gif": Picture.gif
            case "tiff": Picture.tiff(40, 60)
            default: Picture.png(40, 60)
            }
        let made = try header(try await worker.shrink(pictures: [picture], to: .page).first)
        #expect((made.width, made.height) == (40, 60))
    }

    @Test("HEIC and AVIF have thumbnails if libvips supports them, and are rejected otherwise")
    func heicAvifThumbnails()
        async throws
    {
        let made = try await worker.shrink(pictures: [Picture.heic, Picture.avif, Picture.gif], to: .page)
        for outcome in made.prefix(2) {
            if case .failed(let message) = outcome {
                #expect(message.contains("not"))
            } else {
                #expect(try header(outcome).width == 40)
            }
        }
        #expect(try header(made.last).width == 40)
    }

    @Test("Thumbnails are upright, and carry no metadata") func thumbnailsStandUpright() async throws {
        guard case .made(let jpeg) = try await worker.shrink(pictures: [Picture.png(400, 200)], to: .cover)[0] else {
            throw TestFailure("no JPEG to turn")
        }
        let turned = Picture.turned(jpeg)
        guard case .made(let small) = try await worker.shrink(pictures: [turned], to: .page)[0] else {
            throw TestFailure("no thumbnail of a turned JPEG")
        }
        let size = try #require(ImageHeader.read(small))
        #expect((size.width, size.height) == (140, 280))
        #expect(Data(turned).range(of: Data("Exif".utf8)) != nil)
        #expect(Data(small).range(of: Data("Exif".utf8)) == nil)
        #expect(Data(small).range(of: Data("ICC_PROFILE".utf8)) == nil)
    }

    @Test("Transparent areas become white") func thumbnailsShowTransparent() async throws {
        let made = try await worker.shrink(
            pictures: [Picture.png(50, 50, [0, 0, 0, 0]), Picture.png(50, 50, [255, 255, 255])], to: .page)
        #expect(made[0] == made[1])
    }

    @Test("A picture that claims too much is cheap to reject, and the next thumbnail is made") func pictureClaimsToo()
        async throws
    {
        #expect(Picture.bomb.count < 100)
        let made = try await worker.shrink(
            pictures: [Picture.bomb, Picture.png(10, 10), [], Array("no picture".utf8)], to: .page)
        #expect(made[0] == .failed("it claims 65535 × 65535 pixels"))
        #expect(try header(made[1]).width == 10)
        #expect(made[2] == .failed("it is no picture that is known"))
        #expect(made[3] == .failed("it is no picture that is known"))
    }

    /// libvips reports nothing about a PNG that ends after its header.
    @Test("A failure has a message even if libvips gives none") func failureWordsLibvips() async throws {
        let made = try await worker.shrink(pictures: [Array(Picture.png(40, 60).prefix(33))], to: .page)
        #expect(made == [.failed("it cannot be decoded")])
    }

    @Test("Any damaged picture has an outcome, and all others are made") func anyDamagePicture() async throws {
        guard case .made(let jpeg) = try await worker.shrink(pictures: [Picture.png(300, 300)], to: .cover)[0] else {
            throw TestFailure("no JPEG to damage")
        }
        var generator = SeededGenerator(for: "damaged pictures")
        let originals = [Picture.png(40, 60), Picture.gif, Picture.webp, Picture.tiff(40, 60), jpeg, Picture.avif]
        let damaged = (0..<120).map { number -> [UInt8] in
            var picture = originals[number % originals.count]
            // The first of each is complete, and of the second next to nothing is left.
            if number < originals.count { return picture }
            if number < 2 * originals.count { return Array(picture.prefix(4)) }
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                picture[Int.random(in: picture.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            return number % 3 == 0 ? Array(picture.prefix(.random(in: 1...picture.count, using: &generator))) : picture
        }
        let made = try await worker.shrink(pictures: damaged + [jpeg], to: .page)
        #expect(try header(made.last).width == 200)
        var (shrunk, failed) = (0, 0)
        for (outcome, picture) in zip(made, damaged) {
            guard case .failed(let message) = outcome else {
                shrunk += 1
                continue
            }
            failed += 1
            let name = Data(picture).base64EncodedString()
            #expect(!message.isEmpty && !message.contains("signal"), "\(message): \(name)")
        }
        // Not every libvips reads AVIF.
        #expect(shrunk >= originals.count - 1 && failed >= originals.count, "\(shrunk) made, \(failed) failed")
    }

    @Test("An archive's pages are made in one pass, with the damaged ones named", arguments: Packing.allCases)
    func archivePagesCome(_ packing: Packing) async throws {
        let path = folder.path.appending("a")
        var entries = (0..<12).map { Packed(name: "\($0).png", bytes: Picture.png(100 + $0, 200)) }
        entries[5].bytes = Picture.bomb
        try pack(entries, packing, to: path)
        let outcomes = Collected()
        try await worker.shrink(archive: path, positions: [11, 0, 5, 7, 40], to: ThumbnailSize(width: 500, height: 50))
        {
            outcomes.add($0, $1)
        }
        #expect(outcomes.order == [0, 5, 7, 11, 40])
        #expect(try [0, 7, 11].map { try header(outcomes.all[$0]).width } == [25, 27, 28])
        #expect(outcomes.all[5] == .failed("it claims 65535 × 65535 pixels"))
        #expect(outcomes.all[40] == .failed("it holds no such entry"))
    }

    @Test("A file that is not an archive fails each page, and the worker goes on") func fileArchiveFails()
        async throws
    {
        let path = try folder.write("x.cbz", Array(repeating: 7, count: 5000))
        let outcomes = Collected()
        try await worker.shrink(archive: path, positions: [0, 1], to: .page) { outcomes.add($0, $1) }
        #expect(outcomes.order == [0, 1])
        #expect(outcomes.all.values.allSatisfy { if case .failed = $0 { true } else { false } })
    }

    /// The worker breaks one rule of its cage at a time, and the kernel ends it with SIGSYS (31).
    @Test(
        "The process is killed for each of these",
        arguments: ["open", "create", "socket", "exec", "execve", "mmap", "write", "kill", "thread", "load", "prctl"])
    func processKilledEach(_ what: String) async throws {
        #expect(try await worker.probe(what) == "killed 31")
    }

    @Test("The process runs if it breaks no rule, and may start threads") func processLivesBreaks() async throws {
        #expect(try await worker.probe("none") == "left 0")
        #expect(try await worker.probe("fork") == "left 1")
    }

    @Test(.enabled(if: !sharedArchives().isEmpty, "no foreign archives beside the checkout"))
    func `foreign comics have covers`() async throws {
        let factory = ArchiveReaderFactory(worker: try builtWorker())
        var made = 0
        for path in sharedArchives() where path.text.contains("/komga/") {
            guard let reader = try? await factory.reader(for: path) as? WorkerArchiveReader,
                let entries = try? await reader.listEntries()
            else { continue }
            let outcomes = Collected()
            try await worker.shrink(archive: path, positions: entries.map(\.position), to: .cover) {
                outcomes.add($0, $1)
            }
            #expect(outcomes.all.count == entries.count)
            for case .made(let jpeg) in outcomes.all.values {
                let size = try #require(ImageHeader.read(jpeg))
                #expect(size.width <= 300 && size.height <= 450)
                made += 1
            }
        }
        #expect(made > 0)
    }
}

/// Outcomes in order of arrival.
final class Collected: @unchecked Sendable {  // `lock` guards both
    private let lock = NSLock()
    private var found: [(Int, ThumbnailOutcome)] = []

    func add(_ position: Int, _ outcome: ThumbnailOutcome) { lock.withLock { found.append((position, outcome)) } }

    var order: [Int] { lock.withLock { found.map(\.0) } }

    var all: [Int: ThumbnailOutcome] {
        lock.withLock { Dictionary(found, uniquingKeysWith: { first, _ in first }) }
    }
}
