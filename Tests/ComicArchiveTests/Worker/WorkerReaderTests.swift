import ComicArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Pages as files, one by one.
@Suite("Pages as files") struct WorkerReaderTests {
    let folder: TemporaryFolder
    let factory: ArchiveReaderFactory

    init() throws {
        folder = try TemporaryFolder("reading")
        factory = ArchiveReaderFactory(worker: try builtWorker())
    }

    @Test("Each page is written as it was packed", arguments: Packing.allCases)
    func eachPagePacked(_ packing: Packing) async throws {
        let path = folder.path.appending("wrong.cbr")
        try pack((0..<30).map { Packed(name: "\($0).png", bytes: picture($0)) }, packing, to: path)
        let reader = try await factory.reader(for: path)
        let entries = try await reader.listEntries()
        #expect(entries.count == 30)
        for index in [0, 29, 15, 16, 3] {
            #expect(try await reader.bytes(of: entries[index], folder) == picture(index))
        }
    }

    @Test("A folder or a picture is read and left unchanged") func aFolderOrAPictureIsReadAndLeftAsItIs() async throws {
        for index in 1...3 { try folder.write(BytePath("pages/\(index).png"), picture(index)) }
        for (path, count) in [("pages", 3), ("pages/1.png", 1)] {
            let reader = try await factory.reader(for: folder.path.appending(BytePath(path)))
            let entries = try await reader.listEntries()
            #expect(entries.count == count)
            #expect(try await reader.bytes(of: entries[0], folder) == picture(1))
        }
        #expect(try listDirectory(folder.path.appending("pages")).count == 3)
    }

    @Test("A damaged page leaves no file") func damagedPageLeaves() async throws {
        let path = try folder.write(
            "a.cbr",
            {
                var bytes = storedRar5([picture(1)]); bytes[200] ^= 1; return bytes
            }())
        let reader = try await factory.reader(for: path)
        let cache = folder.path.appending("cache")
        try Durable.makeDirectory(cache)
        let entry = try #require(try await reader.listEntries().first)
        await #expect(throws: ComicError.self) { try await reader.extractEntry(entry, into: cache) }
        #expect(try listDirectory(cache).isEmpty)
    }
}

extension ArchiveReader {
    /// The content of the file the page is extracted to; the file is removed.
    func bytes(of entry: ArchiveEntry, _ folder: TemporaryFolder) async throws -> [UInt8] {
        let out = folder.path.appending("out")
        try Durable.makeDirectory(out)
        let url = try await extractEntry(entry, into: out)
        let bytes = try Descriptor(BytePath(url.path)).readAll()
        try Durable.remove(BytePath(url.path))
        #expect(try listDirectory(out).isEmpty)
        return bytes
    }
}
