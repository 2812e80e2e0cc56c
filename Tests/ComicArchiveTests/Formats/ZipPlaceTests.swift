import ComicTestSupport
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// The positions of a ZIP's pages, as reported by the validating pass, and the bytes found there.
@Suite("Positions of pages in a ZIP") struct ZipPlaceTests {
    let folder: TemporaryFolder
    let worker: ArchiveWorker

    init() throws {
        folder = try TemporaryFolder("place")
        worker = try builtWorker()
    }

    private func report(_ bytes: [UInt8]) async throws -> ComicReport {
        let path = folder.path.appending("a-\(randomHex(4)).cbz")
        try Durable.replaceOwn(path, with: bytes)
        switch try await worker.validate(path, hashes: false) {
        case .accepted(let report): return report
        case .refused(_, let message): throw TestFailure(message)
        }
    }

    /// Each page from its own bytes alone.
    private func pages(_ report: ComicReport, in bytes: [UInt8]) throws -> [[UInt8]?] {
        try report.pages.map { page in
            guard let place = page.place else { return nil }
            let packed = Array(bytes[Int(place.offset)...].prefix(Int(place.size)))
            return try place.unpack(packed, to: page.entry.uncompressedSize) { worker }
        }
    }

    /// Not in reading order, stored and deflated.
    private func entries() throws -> [RawZip.Entry] {
        try [3, 1, 2, 4].map { number in
            number % 2 == 0
                ? try RawZip.Entry(deflating: "\(number).png", picture(number) + [UInt8](repeating: 7, count: 9000))
                : RawZip.Entry("\(number).png", picture(number))
        }
    }

    private var expected: [[UInt8]] {
        (1...4).map { $0 % 2 == 0 ? picture($0) + [UInt8](repeating: 7, count: 9000) : picture($0) }
    }

    @Test(
        "Every page is extracted from its position",
        arguments: ["plain", "shifted", "behind code", "described", "ZIP64", "listed backwards", "commented"])
    func everyPageComes(_ shape: String) async throws {
        var zip = RawZip(try entries())
        switch shape {
        case "shifted": (zip.front, zip.isShifted) = (Array("MZ and so on".utf8), true)
        case "behind code": zip.front = Array("MZ and so on".utf8)
        case "described":
            for index in zip.entries.indices { zip.entries[index].descriptor = zip.entries[index].truth }
        case "ZIP64":
            zip.isLarge = true
            for index in zip.entries.indices { zip.entries[index].isLarge = true }
        case "commented": zip.comment = Array("scanned in autumn".utf8)
        default: break
        }
        var bytes = zip.bytes
        if shape == "listed backwards" {
            let listed = zip.entries.map { entry in (entry, Self.start(of: entry, in: zip)) }
            let first = zip.entries.map { RawZip.localHeader($0) + $0.data }.flatMap { $0 }
            let directory = listed.reversed().flatMap { RawZip.centralHeader($0.0, at: UInt64($0.1)) }
            bytes = first + directory + bytes.suffix(22)
        }
        let report = try await report(bytes)
        #expect(try pages(report, in: bytes) == expected)
    }

    private static func start(of entry: RawZip.Entry, in zip: RawZip) -> Int {
        zip.entries.prefix { $0.name != entry.name }.reduce(0) { $0 + RawZip.localHeader($1).count + $1.data.count }
    }

    @Test("Archives of other programs", arguments: Packing.allCases) func otherProgramsPack(_ packing: Packing)
        async throws
    {
        let bytes = try packed((1...4).map { Packed(name: "\($0).png", bytes: expected[$0 - 1]) }, packing)
        let found = try pages(try await report(bytes), in: bytes)
        let isZip = [.storedZip, .deflatedZip].contains(packing)
        #expect(found == (isZip ? expected : [nil, nil, nil, nil]))
    }

    @Test("Bytes that are not the page's yield no page") func bytesPageGive() async throws {
        let bytes = RawZip(try entries()).bytes
        let report = try await report(bytes)
        for page in report.pages {
            let place = try #require(page.place)
            let packed = Array(bytes[Int(place.offset)...].prefix(Int(place.size)))
            let size = page.entry.uncompressedSize
            var flipped = packed
            flipped[packed.count / 2] ^= 1
            for (part, count) in [
                (flipped, size), (packed.dropLast(), size), ([], size), (packed, size - 1), (packed, size + 1),
                (packed, -1), (packed, 1 << 40),
            ] {
                #expect(try place.unpack(Array(part), to: count) { worker } == nil)
            }
        }
    }

    @Test("A stored page needs no process") func storedPageTakes() throws {
        let bytes = picture(1)
        let place = ZipPlace(
            offset: 0, size: Int64(bytes.count), method: 0, flags: 0, crc32: checksum(bytes))
        #expect(
            try place.unpack(bytes, to: Int64(bytes.count)) { throw TestFailure("a worker was asked for") } == bytes)
    }
}
