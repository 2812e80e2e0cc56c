import CArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// One page by its number, in one run of the worker that also lists all pages.
@Suite("Extracting a single page") struct PageAloneTests {
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

    @Test("The page is the same as when listing and extracting all", arguments: Packing.allCases)
    func pageListingExtracting(_ packing: Packing) async throws {
        let path = folder.path.appending("a.comic")
        // Not in reading order, among entries that are not pages.
        let numbers = [7, 3, 11, 1, 0, 9, 2]
        let extra = [Packed(name: "ComicInfo.xml", bytes: Array("<ComicInfo/>".utf8)), Packed(name: "x/readme.txt")]
        try pack(extra + numbers.map { Packed(name: "x/\($0).png", bytes: picture($0)) }, packing, to: path)
        let reader = try await reader(path)
        let listed = try await reader.listEntries()
        #expect(listed.count == numbers.count)
        for (index, number) in numbers.sorted().enumerated() {
            let (count, page) = try await reader.page(index, into: cache)
            let (entry, file) = try #require(page)
            #expect(count == listed.count)
            #expect(entry == listed[index])
            #expect(try bytes(file) == picture(number))
        }
        #expect(try listDirectory(cache).count == numbers.count)
    }

    @Test("A missing page is not an error and leaves no file", arguments: [-1, 2, Int.max]) func pageErrorLeaves(
        _ index: Int
    ) async throws {
        let path = folder.path.appending("a.cbz")
        try pack([Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))], .tar, to: path)
        let (count, page) = try await reader(path).page(index, into: cache)
        #expect(count == 2)
        #expect(page == nil)
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test("For an EPUB, the spine determines the page") func epubPageSpine() async throws {
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
        let (count, page) = try await reader.page(0, into: cache)
        let (entry, file) = try #require(page)
        #expect(count == 2)
        #expect(entry.path == "2.png")
        #expect(entry == (try await reader.listEntries().first))
        #expect(try bytes(file) == picture(2))
    }

    @Test("A damaged page leaves no file") func damagedLeavesFile() async throws {
        let path = try folder.write(
            "a.cbr",
            {
                var bytes = storedRar5([picture(1), picture(2)])
                bytes[200] ^= 1
                return bytes
            }())
        let reader = try await reader(path)
        await #expect(throws: ComicError.self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
        #expect(try bytes(try await reader.page(1, into: cache).page?.1) == picture(2))
    }

    @Test("An archive with a name that leads outside yields none", arguments: ["../1.png", "/1.png", "a\\1.png"])
    func archiveNameLeads(_ name: String) async throws {
        let path = folder.path.appending("a.cbz")
        try pack([Packed(name: "0.png", bytes: picture(0)), Packed(name: name, bytes: picture(1))], .tar, to: path)
        let reader = try await reader(path)
        await #expect(throws: (any Error).self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test("A worker that returns a different page is rejected") func workerHandsOver() async throws {
        let path = folder.path.appending("a.cbz")
        try pack([1, 2].map { Packed(name: "\($0).png", bytes: picture($0)) }, .storedZip, to: path)
        let liar = try fakeWorker("exec \(worker.program) archive page 1", in: folder)
        let reader = WorkerArchiveReader(archive: path, worker: try ArchiveWorker(program: liar))
        await #expect(throws: ComicError.self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test("A worker that appends headers to a page is rejected") func workerAddsHeaders() async throws {
        let path = folder.path.appending("a.cbz")
        try pack([1, 2].map { Packed(name: "\($0).png", bytes: picture($0)) }, .storedZip, to: path)
        let liar = try fakeWorker("exec \(worker.program) archive extract 0 1", in: folder)
        let reader = WorkerArchiveReader(archive: path, worker: try ArchiveWorker(program: liar))
        await #expect(throws: ComicError.self) { try await reader.page(0, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test("An incomplete page is not returned") func pageEndCome() async throws {
        let path = folder.path.appending("a.cbz")
        try pack([Packed(name: "1.png", bytes: picture(1))], .storedZip, to: path)
        func content(_ state: EntryContent.State, _ size: Int64) -> WorkerRecord {
            .content(
                EntryContent(position: 0, state: state, size: size, crc32: 0, hash: nil, image: nil, message: ""))
        }
        let part = WorkerRecord.bytes(position: 0, Array(picture(1).prefix(1000)))
        let end = WorkerRecord.end(WorkerEnd(reason: .complete, message: ""))
        for lie in [
            [part], [part, end], [part, content(.whole, 3000), end], [part, content(.damaged, 1000), part, end],
        ] {
            let words = try folder.write(BytePath("words-\(randomHex(4))"), lie.flatMap { $0.encoded() })
            let script = "case \" $* \" in *' list '*) exec \(worker.program) \"$@\" ;; esac; cat \(words) >&4"
            let liar = try ArchiveWorker(program: try fakeWorker(script, in: folder))
            #expect(throws: Fault.self, "\(lie.count)") { try liar.page(0, of: .file(Descriptor(path))) }
        }
        #expect(try worker.page(0, of: .file(Descriptor(path))).page?.bytes == picture(1))
    }

    @Test("The reason an archive is invalid is reported for single pages too") func makesArchiveUnfit() async throws {
        let path = folder.path.appending("a.cbz")
        try pack(
            [Packed(name: "0.png", bytes: picture(0)), Packed(name: "../1.png", bytes: picture(1))], .tar, to: path)
        let error = await #expect(throws: ComicError.self) { try await reader(path).page(0, into: cache) }
        #expect(error?.message.contains("../1.png") == true, "\(error?.message ?? "")")
        #expect(error?.fault(path).code == "traversal")
    }

    @Test("An oversized entry is not a page, and extracting it says so") func entryTooLarge() async throws {
        let large = picture(0) + [UInt8](repeating: 7, count: 101 << 20)
        let path = folder.path.appending("a.cbz")
        try pack([Packed(name: "0.png", bytes: picture(0)), Packed(name: "1.png", bytes: large)], .storedZip, to: path)
        #expect(try await reader(path).listEntries().map(\.path) == ["0.png"])
        #expect(try await worker.validate(path).report?.pages.map(\.entry.path) == ["0.png"])
        let fault = await #expect(throws: Fault.self) {
            try await worker.extract(path, [1: cache.appending("1.png")])
        }
        #expect(fault?.message.contains("entry 2 ") == true && fault?.message.contains("100 MiB") == true)
        #expect(try listDirectory(cache).isEmpty)
    }

    @Test("The holes of a sparse TAR are zeros") func holesSparseTar() async throws {
        let path = folder.path.appending("a.cbt")
        let content = picture(5, size: 8192) + [UInt8](repeating: 0, count: 50_000) + picture(6, size: 4096)
        try packSparse(content, holeAt: 8192, to: path)
        #expect(try FileStatus.of(path)?.size ?? 0 < content.count)
        let report = try #require(try await worker.validate(path).report)
        #expect(report.pages.map(\.hash) == [ContentHash(of: content)])
        #expect(report.totalSize == Int64(content.count))
        #expect(try bytes(try await reader(path).page(0, into: cache).page?.1) == content)
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
