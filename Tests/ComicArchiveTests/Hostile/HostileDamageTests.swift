import ComicArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Flipped bits and truncated files: accepted pages are exactly as packed.
@Suite("Flipped bits and truncated files")
struct HostileDamageTests {
    @Test("No flipped bit yields other bytes", arguments: DamageSample.checked)
    func flippedBitGives(_ sample: DamageSample) async throws {
        let trial = try HostileTrial("flips")
        let bytes = try sample.make()
        let whole = try #require(try await trial.verdicts([bytes], mode: .lenient).first?.report)
        let good = Set(whole.pages.compactMap(\.hash))
        if !sample.pages.isEmpty { #expect(good == Set(sample.pages.map { ContentHash(of: $0) })) }
        let flips = Self.flipped(bytes, sample.description, times: sample.flips)
        // Everything a strict validation accepts, a lenient one accepts completely, so one run covers both.
        for (flip, verdict) in zip(flips, try await trial.verdicts(flips.map(\.bytes), mode: .lenient)) {
            for hash in verdict.report?.pages.compactMap(\.hash) ?? [] {
                #expect(good.contains(hash), "a flip at \(flip.place) gave other bytes")
            }
            guard let report = verdict.report, report.damage.isEmpty, report.pages.count != whole.pages.count else {
                continue
            }
            Issue.record("a flip at \(flip.place) hid a page")
        }
    }

    /// Data compressed by RAR itself, extracted: the same bytes or none.
    @Test("No page with a flipped bit is extracted", arguments: DamageSample.compressedRars)
    func flippedBitTaken(_ sample: DamageSample) async throws {
        let trial = try HostileTrial("flips")
        let bytes = try sample.make()
        let whole = try #require(try await trial.firstEntries([bytes]).first ?? nil)
        #expect(!whole.isEmpty)
        let flips = Self.flipped(bytes, sample.description, times: sample.flips)
        for file in try await trial.firstEntries(flips.map(\.bytes)) {
            #expect(file == nil || file == whole)
        }
    }

    private static func flipped(
        _ bytes: [UInt8], _ name: String, times: Int
    ) -> [(place: Int, bytes: [UInt8])] {
        var generator = SeededGenerator(for: "flips in \(name)")
        return (0..<times).map { _ in
            var bytes = bytes
            let place = Int.random(in: bytes.indices, using: &generator)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            return (place, bytes)
        }
    }

    /// A tar has a checksum for each header but none for file contents: a flip there is detected only if it breaks the
    /// head of the picture. A page's bytes can differ; its name, its size and its neighbours cannot.
    @Test("Flipped bits of a tar change at most one page") func flippedBitsTar() async throws {
        let trial = try HostileTrial("flips")
        let pages = (1...3).map { picture($0) }
        let bytes = DamageSample.tar(pages).bytes
        let count = Thoroughness.isWhole ? 300 : 100
        let flips = Self.flipped(bytes, "a tar", times: count)
        var (taken, refused) = (0, 0)
        for ((place, _), verdict) in zip(flips, try await trial.verdicts(flips.map(\.bytes))) {
            let isHeader = place % 3584 < 512 && place < 3 * 3584
            guard let report = verdict.report else {
                refused += 1
                continue
            }
            taken += 1
            #expect(report.pages.map(\.entry.fileName) == ["1.png", "2.png", "3.png"], "byte \(place)")
            let other = report.pages.enumerated().filter { $1.hash != ContentHash(of: pages[$0]) }.map(\.offset)
            #expect(other.isEmpty || !isHeader && other == [place / 3584], "byte \(place)")
        }
        // Three quarters of the bytes are noise in pictures, an eighth is headers with checksums.
        #expect(taken > count / 2 && refused > count / 100, "\(taken) taken, \(refused) refused")
    }

    /// At every twentieth, and at the ends of blocks, entries and the archive itself.
    @Test(
        "A truncated archive is never accepted as complete", arguments: DamageSample.checked + [DamageSample.plainTar])
    func cutArchiveTaken(_ sample: DamageSample) async throws {
        let trial = try HostileTrial("cuts")
        let bytes = try sample.make()
        let whole = try #require(try await trial.verdicts([bytes], mode: .lenient).first?.report)
        let good = whole.pages.map(\.hash)
        let hundredths = stride(from: 0, to: 100, by: Thoroughness.isWhole ? 1 : 5).map { bytes.count * $0 / 100 }
        let edges = sample.edges.flatMap { [$0 - 1, $0, $0 + 1] } + Array((bytes.count - 12)..<bytes.count)
        let lengths = Set(hundredths + edges).filter { (0..<bytes.count).contains($0) }.sorted()
        let cuts = lengths.map { Array(bytes.prefix($0)) }
        for (length, verdict) in zip(lengths, try await trial.verdicts(cuts)) {
            guard let report = verdict.report else { continue }
            #expect(report.pages.map(\.hash) == good, "the first \(length) of \(bytes.count) bytes were taken")
        }
        let some = stride(from: 0, to: cuts.count, by: 5)
        for (index, verdict) in zip(some, try await trial.verdicts(some.map { cuts[$0] }, mode: .lenient)) {
            for hash in verdict.report?.pages.compactMap(\.hash) ?? [] {
                #expect(good.contains(hash), "the first \(lengths[index]) of \(bytes.count) bytes gave other pages")
            }
        }
    }
}

/// A good archive that will be damaged.
struct DamageSample: Sendable, CustomStringConvertible {
    let description: String
    /// Empty for a foreign archive.
    var pages: [[UInt8]] = []
    var edges: [Int] = []
    /// How many flips are tried.
    var flips = many
    let make: @Sendable () throws -> [UInt8]

    private static let many = Thoroughness.isWhole ? 300 : 60

    static func tar(_ pages: [[UInt8]]) -> RawTar {
        RawTar(pages.enumerated().map { RawTar.Entry("\($0 + 1).png", $1) })
    }

    static var plainTar: DamageSample {
        let pages = (1...3).map { picture($0) }
        return DamageSample(description: "tar", pages: pages, edges: tar(pages).edges) { tar(pages).bytes }
    }

    /// Those whose pages have checksums.
    static var checked: [DamageSample] {
        let pages = (1...3).map { picture($0) }
        let drawings = (1...3).map { drawing($0, size: 8000) }
        let rar = RawRar(pages.enumerated().map { RawRar.Entry("\($0 + 1).png", $1) })
        let packings = [Packing.storedZip, .deflatedZip, .sevenZip, .copiedSevenZip].map { packing in
            DamageSample(description: packing.rawValue, pages: drawings) {
                try packed(drawings.enumerated().map { Packed(name: "\($0 + 1).png", bytes: $1) }, packing)
            }
        }
        return packings + [
            DamageSample(description: "ZIP64", pages: pages, flips: many / 3) {
                var entries = pages.enumerated().map { RawZip.Entry("\($0 + 1).png", $1) }
                for index in entries.indices { entries[index].isLarge = true }
                var archive = RawZip(entries)
                archive.isLarge = true
                return archive.bytes
            },
            DamageSample(description: "stored rar4", pages: pages, edges: rar.edgesOfFour) { rar.four },
            DamageSample(description: "stored rar5", pages: pages, edges: rar.edgesOfFive) { rar.five },
        ] + foreign
    }

    /// A RAR 5 whose three pages are one compressed block; no free program creates such a file.
    private static var foreign: [DamageSample] { foreign(["rar5-solid.rar"]) }

    /// Compressed by RAR itself; their contents are not pictures.
    static var compressedRars: [DamageSample] {
        foreign([
            "test_read_format_rar_filter.rar", "test_read_format_rar5_compressed.rar",
            "test_read_format_rar5_blake2.rar",
        ])
    }

    private static func foreign(_ names: [String]) -> [DamageSample] {
        let found = sharedArchives().filter { names.contains($0.nameText) }
        let missing = names.filter { name in !found.contains { $0.nameText == name } }
        if !missing.isEmpty {
            let list = missing.joined(separator: ", ")
            print("not damaged, as there are no such archives in shared/fixtures beside the checkout: \(list)")
        }
        return found.map { path in
            // The decoder's part in this one is the same as in the others; only its checksum differs.
            let flips = path.nameText.contains("blake2") ? many / 3 : many
            return DamageSample(description: path.nameText, flips: flips) { try Descriptor(path).readAll() }
        }
    }
}
