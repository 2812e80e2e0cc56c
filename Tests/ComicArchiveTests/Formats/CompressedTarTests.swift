import CArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// A TAR may be compressed once, in one of seven ways; nothing else may be.
@Suite("Compressed TARs") struct CompressedTarTests {
    let folder: TemporaryFolder
    let worker: ArchiveWorker
    let validator: ComicValidator

    init() throws {
        folder = try TemporaryFolder("tar")
        worker = try builtWorker()
        validator = ComicValidator(worker: worker)
    }

    private func judge(_ bytes: [UInt8], _ name: BytePath = "a.cbt", mode: ValidationMode = .strict) async throws
        -> Verdict
    {
        try await validator.validate(try folder.write(name, bytes), mode: mode)
    }

    private func tar(_ pages: Int) throws -> [UInt8] {
        try packed((0..<pages).map { Packed(name: "\($0).png", bytes: picture($0)) }, .tar)
    }

    @Test("Pages come out as they were packed", arguments: Compression.allCases)
    func pagesPacked(_ compression: Compression) async throws {
        let bytes = try compress(tar(12), compression)
        let report = try #require(try await judge(bytes).report)
        #expect(report.format == .tar && report.isSolid)
        #expect(report.pages.map(\.hash) == (0..<12).map { ContentHash(of: picture($0)) })
        for name in ["a.cbt", "wrong.cbr", "a.tar.gz", "none"] {
            let path = try folder.write(BytePath(name), bytes)
            let reader = try await ArchiveReaderFactory(worker: worker).reader(for: path)
            let entries = try await reader.listEntries()
            #expect(entries.count == 12)
            for index in [11, 0] { #expect(try await reader.bytes(of: entries[index], folder) == picture(index)) }
        }
    }

    @Test("Nested compression is not searched", arguments: Compression.allCases)
    func nothingElseLooked(_ compression: Compression) async throws {
        let pages = [Packed(name: "1.png", bytes: picture(1))]
        for packing in [Packing.storedZip, .sevenZip] {
            #expect(try await judge(compress(packed(pages, packing), compression)).word != "accepted", "\(packing)")
        }
        #expect(try await judge(compress(storedRar5([picture(1)]), compression)).word != "accepted")
        // Not twice, however the two are combined.
        for other in Compression.allCases {
            #expect(try await judge(compress(compress(tar(1), compression), other)).word != "accepted", "\(other)")
        }
    }

    @Test("Other compression methods are not tried") func otherWaysCompress() async throws {
        let verdict = try await judge(compress(try tar(1), ARCHIVE_FILTER_COMPRESS))
        #expect(["not-an-archive", "damaged-archive"].contains(verdict.word), "\(verdict.word)")
    }

    // MARK: Damage

    /// lzma has no checksum, and zstd and lz4 may omit theirs, as libarchive's writer does: there nothing detects it.
    @Test("A flipped bit never gives a page with other bytes", arguments: [Compression.gzip, .xz, .bzip2, .lzip])
    func flippedBitNever(_ compression: Compression) async throws {
        let whole = try compress(tar(3), compression)
        var random = SeededGenerator(for: "compressed flips \(compression)")
        let good = Set((0..<3).map { ContentHash(of: picture($0)) })
        let flips = Thoroughness.isWhole ? 300 : 12
        var (taken, refused) = (0, 0)
        for number in 0...flips {
            var bytes = whole
            let place = Int.random(in: bytes.indices, using: &random)
            // The first stays intact.
            if number > 0 { bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            for mode in ValidationMode.allCases {
                let report = try await judge(bytes, mode: mode).report
                for page in report?.pages ?? [] where page.damage == nil {
                    taken += 1
                    #expect(page.hash.map(good.contains) == true, "\(mode), a flip at \(place) gave other bytes")
                }
                if mode == .strict, report == nil { refused += 1 }
            }
        }
        // Only about a dozen of the thousands of bytes are not covered by a checksum.
        #expect(taken >= 3 && refused > flips / 2, "\(taken) pages taken, \(refused) archives refused")
    }

    @Test("A truncated archive is rejected, or imported with the damage recorded", arguments: Compression.allCases)
    func cutShortRefused(
        _ compression: Compression
    ) async throws {
        let whole = try compress(tar(3), compression)
        for percent in stride(from: 0, to: 100, by: Thoroughness.isWhole ? 4 : 25) + [99] {
            let cut = Array(whole.prefix(whole.count * percent / 100))
            #expect(try await judge(cut).word != "accepted", "\(percent) %")
            if let report = try await judge(cut, mode: .lenient).report {
                #expect(report.pages.allSatisfy { $0.damage != nil } && !report.damage.isEmpty, "\(percent) %")
            }
        }
    }

    @Test("Gzip's checksum is verified, which libarchive skips") func gzipChecksumCompared() async throws {
        var bytes = try compress(tar(3), .gzip)
        bytes[bytes.count - 6] ^= 1
        let verdict = try await judge(bytes)
        #expect(verdict.word == "damaged-archive")
        #expect(verdict.message.contains("any of its pages"))
        let report = try #require(try await judge(bytes, mode: .lenient).report)
        #expect(report.pages.allSatisfy { $0.damage != nil })
    }

    @Test("A gzip file may consist of several members, with zeros after them") func gzipFileSeveral() async throws {
        let whole = try tar(3)
        let parts = try [whole[..<2000], whole[2000..<2001], whole[2001..<2001], whole[2001...]].map {
            try compress(Array($0), .gzip)
        }
        let zeros = [UInt8](repeating: 0, count: 70_000)
        let good = [try compress(whole, .gzip) + zeros, parts.flatMap { $0 }, parts.flatMap { $0 } + zeros.prefix(9)]
        for (number, bytes) in good.enumerated() {
            let verdict = try await judge(bytes)
            #expect(verdict.report?.pages.map(\.hash) == (0..<3).map { ContentHash(of: picture($0)) }, "\(number)")
        }
        // The checksum of each part counts.
        var start = 0
        for part in parts {
            var bytes = good[2]
            bytes[start + part.count - 7] ^= 1
            #expect(try await judge(bytes).word == "damaged-archive")
            start += part.count
        }
    }

    // MARK: Bombs

    @Test("A bomb is detected by the size of its file", arguments: Compression.allCases)
    func bombFoundSize(_ compression: Compression) async throws {
        let zeros = [UInt8](repeating: 0, count: 90 << 20)
        let page = try compress(RawTar([.init("1.png", picture(1) + zeros)]).bytes, compression)
        #expect(try await judge(page).word == "ratio")
        // Skipped bytes cost just as much.
        let text = try compress(
            RawTar([.init("1.png", picture(1)), .init("readme.txt", zeros), .init("2.png", picture(2))]).bytes,
            compression)
        #expect(try await judge(text).word == "ratio")
        // And so do those after the end of the archive.
        #expect(try await judge(compress(tar(1) + zeros, compression)).word == "ratio")
    }

    @Test("A bomb of many gigabytes is detected before it goes off") func bombManyGigabytes() async throws {
        // One member of zeros, repeated: gzip allows concatenated members.
        let member = try compress([UInt8](repeating: 0, count: 64 << 20), .gzip)
        let head = try compress(Array(tar(1).prefix(2 * 512 + 3 * 1024)), .gzip)
        let bytes = head + (0..<160).flatMap { _ in member }
        let verdict = try await judge(bytes)
        // On a busy machine the worker's own limits come first.
        #expect(
            ["ratio", "damaged-archive", "too-many-bytes", "worker-limit"].contains(verdict.word), "\(verdict.word)")
    }

    private func compress(_ bytes: [UInt8], _ compression: Compression) throws -> [UInt8] {
        try folder.compressed(bytes, compression)
    }

    private func compress(_ bytes: [UInt8], _ filter: Int32) throws -> [UInt8] {
        try folder.compressed(bytes, filter: filter)
    }
}

private func + (left: StrideTo<Int>, right: [Int]) -> [Int] { Array(left) + right }
