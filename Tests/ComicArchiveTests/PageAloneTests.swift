import CArchive
import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicArchive

/// One page by its number, in one run of the worker that also lists all pages.
@Suite struct PageAloneTests {
    let folder: TemporaryFolder
    let worker: ArchiveWorker
    let cache: BytePath

    init() throws {
        folder = try TemporaryFolder("page")
        worker = try builtWorker()
        cache = folder.path.appending("cache")
        try Durable.makeDirectory(cache)
    }

    private func reader(_ path: BytePath) async throws -> any ArchiveReader {
        try await ArchiveReaderFactory(worker: worker).reader(for: path)
    }

    private func bytes(_ file: URL?) throws -> [UInt8]? { try file.map { Array(try Data(contentsOf: $0)) } }

    @Test(arguments: Packing.allCases)
    func `it is the same page, and the same list, as by listing and extracting`(_ packing: Packing) async throws {
        let path = folder.path.appending("a.comic")
        // In an order that is not that of reading, among entries that are no pages.
        let numbers = [7, 3, 11, 1, 0, 9, 2]
        let extra = [Packed(name: "ComicInfo.xml", bytes: Array("<ComicInfo/>".utf8)), Packed(name: "x/readme.txt")]
        try pack(extra + numbers.map { Packed(name: "x/\($0).png", bytes: picture($0)) }, packing, to: path)
        let reader = try await reader(path)
        let listed = try await reader.listEntries()
        #expect(listed.count == numbers.count)
        for (index, number) in numbers.sorted().enumerated() {
            let (entries, file) = try await reader.page(index, into: cache)
            #expect(entries == listed)
            #expect(try bytes(file) == picture(number))
        }
        #expect(try listDirectory(cache).count == numbers.count)
    }

    @Test(arguments: [-1, 2, Int.max]) func `a page that is not there is no error and leaves no file`(
        _ index: Int
    ) async throws {
        let path = folder.path.appending("a.cbz")
        try pack([Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))], .tar, to: path)
        let (entries, file) = try await reader(path).page(index, into: cache)
        #expect(entries.count == 2)
        #expect(file == nil)
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test func `of an EPUB it is the page that the spine says`() async throws {
        let path = folder.path.appending("a.epub")
        let package = """
            <package><manifest><item id="a" href="1.png" media-type="image/png"/>\
            <item id="b" href="2.png" media-type="image/png"/></manifest>\
            <spine><itemref idref="b"/><itemref idref="a"/></spine></package>
            """
        let container = "<container><rootfiles><rootfile full-path=\"x.opf\"/></rootfiles></container>"
        try pack(
            [
                Packed(name: "mimetype", bytes: Array("application/epub+zip".utf8)),
                Packed(name: "META-INF/container.xml", bytes: Array(container.utf8)),
                Packed(name: "x.opf", bytes: Array(package.utf8)), Packed(name: "1.png", bytes: picture(1)),
                Packed(name: "2.png", bytes: picture(2)),
            ], .storedZip, to: path)
        let reader = try await reader(path)
        let (entries, file) = try await reader.page(0, into: cache)
        #expect(entries.map(\.path) == ["2.png", "1.png"])
        #expect(entries == (try await reader.listEntries()))
        #expect(try bytes(file) == picture(2))
    }

    @Test func `a damaged one leaves no file`() async throws {
        let path = try folder.write(
            "a.cbr",
            {
                var bytes = storedRar5([picture(1), picture(2)])
                bytes[200] ^= 1
                return bytes
            }())
        let reader = try await reader(path)
        await #expect(throws: InkyPanelsError.self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
        #expect(try bytes(try await reader.page(1, into: cache).file) == picture(2))
    }

    @Test(arguments: ["../1.png", "/1.png", "a\\1.png"])
    func `an archive with a name that leads elsewhere gives none`(_ name: String) async throws {
        let path = folder.path.appending("a.cbz")
        try pack([Packed(name: "0.png", bytes: picture(0)), Packed(name: name, bytes: picture(1))], .tar, to: path)
        let reader = try await reader(path)
        await #expect(throws: (any Error).self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test func `a worker that hands over another page is not believed`() async throws {
        let path = folder.path.appending("a.cbz")
        try pack([1, 2].map { Packed(name: "\($0).png", bytes: picture($0)) }, .storedZip, to: path)
        let liar = try fakeWorker("exec \(worker.program) page 1", in: folder)
        let reader = WorkerArchiveReader(archive: path, worker: try ArchiveWorker(program: liar))
        await #expect(throws: InkyPanelsError.self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test func `a worker that adds headers behind a page is not believed`() async throws {
        let path = folder.path.appending("a.cbz")
        try pack([1, 2].map { Packed(name: "\($0).png", bytes: picture($0)) }, .storedZip, to: path)
        let liar = try fakeWorker("exec \(worker.program) extract 0 1", in: folder)
        let reader = WorkerArchiveReader(archive: path, worker: try ArchiveWorker(program: liar))
        await #expect(throws: InkyPanelsError.self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test func `the holes of a sparse TAR are zeros`() async throws {
        let path = folder.path.appending("a.cbt")
        let content = picture(5, size: 8192) + [UInt8](repeating: 0, count: 50_000) + picture(6, size: 4096)
        try packSparse(content, holeAt: 8192, to: path)
        #expect(try FileStatus.of(path)?.size ?? 0 < content.count)
        let report = try #require(try await worker.validate(path).report)
        #expect(report.pages.map(\.hash) == [ContentHash(of: content)])
        #expect(report.totalSize == Int64(content.count))
        #expect(try bytes(try await reader(path).page(0, into: cache).file) == content)
    }

    private func packSparse(_ content: [UInt8], holeAt hole: Int, to path: BytePath) throws {
        let (archive, entry) = (archive_write_new(), archive_entry_new())
        defer {
            archive_entry_free(entry)
            archive_write_free(archive)
        }
        archive_write_set_format_pax(archive)
        guard archive_write_open_filename(archive, path.text) == ARCHIVE_OK else { throw TestFailure("cannot write") }
        archive_entry_copy_pathname(entry, "1.png")
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_filetype(entry, 0o100_000)
        archive_entry_set_size(entry, Int64(content.count))
        archive_entry_sparse_add_entry(entry, 0, Int64(hole))
        archive_entry_sparse_add_entry(entry, Int64(content.count - 4096), 4096)
        guard archive_write_header(archive, entry) == ARCHIVE_OK,
            content.withUnsafeBytes({ archive_write_data(archive, $0.baseAddress, $0.count) }) == content.count,
            archive_write_close(archive) == ARCHIVE_OK
        else { throw TestFailure("cannot pack") }
    }
}
