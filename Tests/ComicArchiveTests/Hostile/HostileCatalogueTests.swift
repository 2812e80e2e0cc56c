import CArchive
import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Every archive of the project's own generator gets its verdict, and no accepted page has bytes other than those
/// packed.
@Suite("Every hostile archive")
struct HostileCatalogueTests {
    @Test(
        "Each gets its verdict",
        arguments: [
            HostileComic.names, HostileComic.links, HostileComic.sizes, HostileComic.bombs, HostileComic.crowds,
            HostileComic.shapes, HostileComic.pictures,
        ])
    func getTheirVerdicts(_ comics: [HostileComic]) async throws {
        let trial = try HostileTrial("hostile")
        let archives = try comics.map { try $0.make() }
        let verdicts = try await trial.verdicts(archives)
        for (comic, verdict) in zip(comics, verdicts) {
            #expect(comic.words.contains(verdict.word), "\(comic): \(verdict.word) \(verdict.message)")
            expect(verdict, holdsNoMoreThan: comic)
        }
        // A lenient validation judges only damage differently.
        let damaged = comics.indices.filter {
            verdicts[$0].word.hasPrefix("damaged") || verdicts[$0].word == "unsupported"
        }
        for (index, verdict) in zip(
            damaged, try await trial.verdicts(damaged.map { archives[$0] }, mode: .lenient))
        {
            expect(verdict, holdsNoMoreThan: comics[index])
        }
        for (index, verdict) in zip(
            0..<10, try await trial.verdicts(Array(archives.prefix(10)), mode: .lenient))
        where !damaged.contains(index) {
            #expect(verdict.word == verdicts[index].word, "\(comics[index])")
        }
    }

    private func expect(_ verdict: Verdict, holdsNoMoreThan comic: HostileComic) {
        let good = Set(comic.contents.map { ContentHash(of: $0) })
        for page in HostileTrial.pages(verdict) {
            #expect(page.hash.map(good.contains) == true, "\(comic): \(page.entry.path) has other bytes")
        }
    }

    /// The construction is genuine: libarchive alone finds every checksum correct.
    @Test("The overlap bomb is a valid archive") func overlapBombGood() throws {
        let bytes = quotedOverlap(entries: 20, runs: 400)
        let archive = try #require(archive_read_new())
        defer { archive_read_free(archive) }
        archive_read_support_format_zip_seekable(archive)
        var sizes: [Int] = []
        try bytes.withUnsafeBytes { memory in
            try #require(archive_read_open_memory(archive, memory.baseAddress, memory.count) == ARCHIVE_OK)
            var entry: OpaquePointer?
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while archive_read_next_header(archive, &entry) == ARCHIVE_OK {
                var size = 0
                while true {
                    let got = archive_read_data(archive, &buffer, buffer.count)
                    try #require(got >= 0)
                    if got == 0 { break }
                    size += got
                }
                sizes.append(size)
            }
        }
        #expect(sizes.count == 20)
        #expect(sizes.reduce(0, +) > 300 * bytes.count)
    }
}
