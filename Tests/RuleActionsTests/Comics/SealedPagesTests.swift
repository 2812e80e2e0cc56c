import ComicArchive
import ComicTestSupport
import ComicVault
import FileActions
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Pages and thumbnails of sealed comics, each read separately.
@Suite("Reading single pages from a vault")
struct SealedPagesTests {
    private static let entry = "import-comic: { vault: main }"

    /// Large enough for each page to be in separate parts of the sealed object.
    private static let size = 200_000

    private func sealed(_ name: BytePath, _ bytes: [UInt8], in scene: VaultScene) async throws -> ComicEntry {
        try scene.drop(name, bytes)
        try await scene.unlock()
        _ = try await scene.open().run(Self.entry, on: name)
        return try #require(try await scene.comics().first)
    }

    /// Flips a bit in the middle of a sealed archive.
    private func damage(_ entry: ComicEntry, _ kind: ObjectKind, in scene: VaultScene) throws {
        let id = try #require(entry.object(kind)?.id)
        let path = scene.service.place.path.appending(VaultLayout.object(id))
        var bytes = try Descriptor(path).readAll()
        bytes[bytes.count / 2] ^= 1
        try Durable.replaceOwn(path, with: bytes)
    }

    @Test(
        "A page is read without its neighbours, in every kind of archive",
        arguments: [(Packing.storedZip, ObjectKind.archive), (.deflatedZip, .archive), (.tar, .pagePack)])
    func alone(packing: Packing, kind: ObjectKind) async throws {
        let scene = try VaultScene()
        let pages = (1...9).map { Packed(name: "\($0).png", bytes: picture($0, size: Self.size)) }
        let entry = try await sealed("a.cbz", try packed(pages, packing), in: scene)
        try damage(entry, kind, in: scene)
        for index in [0, 1, 7, 8] {
            let found = try await page(index, of: entry, in: scene)
            #expect(found?.page?.bytes == pages[index].bytes && found?.count == 9)
            #expect(found?.page.map { BytePath(bytes: $0.name) } == BytePath("\(index + 1).png"))
        }
        await #expect(throws: ComicVault.VaultError.self) { _ = try await page(4, of: entry, in: scene) }
    }

    private func page(
        _ index: Int, of entry: ComicEntry, in scene: VaultScene
    ) async throws -> (page: PageInMemory?, count: Int)? {
        try await scene.service.use { try SealedMetadata.page(index, of: entry.id, in: $0) { try builtWorker() } }
    }

    @Test(
        "A solid RAR 4 is sealed unchanged, and read page by page",
        .enabled(if: ArchiveWorker.unpacksSolidRar, "unar is not installed"))
    func solid() async throws {
        let scene = try VaultScene()
        let pages = (1...9).map { picture($0, size: Self.size) }
        let bytes = RawRar(solid: pages).four
        let entry = try await sealed("a.cbr", bytes, in: scene)
        let (kept, whole) = try await scene.service.use { vault in
            let reader = try vault.open(.archive, of: entry.id)
            var kept: [UInt8] = []
            try reader.stream { kept += $0 }
            let archive = try ArchiveSource.sealed(reader, "a.cbr") { _ in }
            return (kept, try builtWorker().page(8, of: archive).page)
        }
        #expect(kept == bytes)
        #expect(whole?.bytes == pages[8])
        try damage(entry, .pagePack, in: scene)
        #expect(try await page(1, of: entry, in: scene)?.page?.bytes == pages[1])
    }

    @Test("An EPUB's pages follow the order of its spine")
    func epub() async throws {
        let scene = try VaultScene()
        let item = (1...3).map { "<item id=\"i\($0)\" href=\"\($0).png\" media-type=\"image/png\"/>" }.joined()
        let spine = [3, 1, 2].map { "<itemref idref=\"i\($0)\"/>" }.joined()
        let container = """
            <container><rootfiles><rootfile full-path="book.opf"/></rootfiles></container>
            """
        let book = "<package><manifest>\(item)</manifest><spine>\(spine)</spine></package>"
        let documents = [
            Packed(name: "mimetype", bytes: Array("application/epub+zip".utf8)),
            Packed(name: "META-INF/container.xml", bytes: Array(container.utf8)),
            Packed(name: "book.opf", bytes: Array(book.utf8)),
        ]
        let bytes = try packed(documents + (1...3).map { Packed(name: "\($0).png", bytes: picture($0)) })
        let entry = try await sealed("a.epub", bytes, in: scene)
        for (index, number) in [3, 1, 2].enumerated() {
            let found = try await scene.service.use { try SealedMetadata.page(index, of: entry.id, in: $0) }
            #expect(found?.page?.bytes == picture(number))
        }
    }

    @Test("For a damaged page, or a comic sealed without page positions, the whole archive is read")
    func unknown() async throws {
        let scene = try VaultScene()
        var bytes = try packed((1...2).map { Packed(name: "\($0).png", bytes: picture($0)) })
        bytes[500] ^= 1
        try scene.drop("a.cbz", bytes)
        try await scene.unlock()
        _ = try await scene.open().run("import-comic: { vault: main, damaged: keep }", on: "a.cbz")
        let entry = try #require(try await scene.comics().first)
        #expect(try await scene.service.use { try SealedMetadata.page(0, of: entry.id, in: $0) } == nil)
        let whole = try await scene.service.use { try SealedMetadata.page(1, of: entry.id, in: $0) }
        #expect(whole?.page?.bytes == picture(2))

        let path = scene.scene.path("bare.cbz")
        let bare = try packed([Packed(name: "1.png", bytes: picture(1))])
        try Durable.replaceOwn(path, with: bare)
        let added = try await scene.service.use { vault in
            try vault.add(
                NewComic(
                    name: "bare.cbz", archive: ObjectContent(Descriptor(path), hash: ContentHash(of: bare)),
                    hash: ContentHash(of: bare)))
        }
        #expect(try await scene.service.use { try SealedMetadata.page(0, of: added.entry.id, in: $0) } == nil)
        #expect(try await scene.service.use { try SealedMetadata.thumbnail(nil, of: added.entry.id, in: $0) } == nil)
    }

    @Test("Comics sealed before positions were recorded are read as before")
    func older() throws {
        let text = """
            {"damage":[],"files":[],"format":"zip","metadata":\(
                String(decoding: try JSONEncoder().encode(ComicMetadata()), as: UTF8.self)),"pages":[{"name":"1.png",\
            "size":3}],"thumbnails":[],"version":1}
            """
        let read = try JSONDecoder().decode(SealedMetadata.self, from: Data(text.utf8))
        #expect(read.pages.first?.place == nil && read.pages.first?.size == 3)
    }

    @Test("Thumbnails are sealed with the comic; a missing one is made")
    func thumbnails() async throws {
        let scene = try VaultScene()
        let dot = try #require(
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
                    + "gg=="))
        let bytes = try packed((1...50).map { Packed(name: "\($0).png", bytes: Array(dot)) })
        let entry = try await sealed("a.cbz", bytes, in: scene)
        #expect(entry.object(.thumbnails) != nil)
        let cover = try await scene.service.use {
            try SealedMetadata.thumbnail(nil, of: entry.id, in: $0) { throw TestFailure("it was sealed") }
        }
        #expect(cover?.page.flatMap { ImageHeader.read($0.bytes) }?.format == .jpeg && cover?.count == 50)
        // For a comic with this many pages only the cover was sealed.
        let page = try await scene.service.use {
            try SealedMetadata.thumbnail(49, of: entry.id, in: $0, worker: { try builtWorker() })
        }
        #expect(page?.page.flatMap { ImageHeader.read($0.bytes) }?.format == .jpeg)
        let none = try await scene.service.use {
            try SealedMetadata.thumbnail(50, of: entry.id, in: $0, worker: { try builtWorker() })
        }
        #expect(none?.page == nil && none?.count == 50)
    }
}
