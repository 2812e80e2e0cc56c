import ComicArchive
import ComicTestSupport
import Platform
import TestSupport
import Testing

/// A ZIP says everything about an entry twice. If one of the two is damaged, no page goes missing silently.
@Suite("The two headers of a ZIP entry") struct ZipHeaderTests {
    private static let pages = ["01.png", "02.png"]

    private static var archive: [UInt8] {
        RawZip(pages.enumerated().map { RawZip.Entry($1, picture($0 + 1, size: 200)) }).bytes
    }

    /// Where a page of `archive` has its own header and its directory entry, and where the end record is.
    private static let headers: [Range<Int>] = {
        let local = 30 + 6
        let listed = 46 + 6
        let directory = 2 * (local + 200)
        return [
            0..<local, (local + 200)..<(2 * local + 200), directory..<(directory + 2 * listed),
            (directory + 2 * listed)..<(directory + 2 * listed + 22),
        ]
    }()

    @Test("No flipped bit of a header hides a page") func flippedBitHeader() async throws {
        let trial = try HostileTrial("headers")
        let whole = Self.archive
        #expect(whole.count == Self.headers.last?.upperBound)
        let good = [1, 2].map { ContentHash(of: picture($0, size: 200)) }
        var random = SeededGenerator(for: "bits of ZIP headers")
        let bits = Self.headers.flatMap { Array($0.lowerBound * 8..<$0.upperBound * 8) }
        // The time and date in each page's own header, which do not matter.
        let harmless = Self.headers.prefix(2).flatMap { header in (10..<14).map { (header.lowerBound + $0) * 8 } }
        let chosen = harmless + Thoroughness.sample(bits.indices, 240, &random).map { bits[$0] }
        let flips = chosen.map { bit in
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            return bytes
        }
        var (taken, refused) = (0, 0)
        for (bit, verdict) in zip(chosen, try await trial.verdicts(flips)) {
            guard let report = verdict.report else {
                refused += 1
                continue
            }
            taken += 1
            #expect(report.pages.compactMap(\.hash) == good, "bit \(bit % 8) of byte \(bit / 8) changed what is read")
        }
        // Names, checksums and sizes, each stored twice, are more than a third of the headers.
        #expect(taken >= harmless.count && refused > 40, "\(taken) taken, \(refused) refused")
    }

    @Test("A difference between the headers rejects the comic, and is recorded if it is accepted anyway")
    func headerAloneSays()
        async throws
    {
        let trial = try HostileTrial("headers")
        let (local, list) = (Self.headers[1].lowerBound, Self.headers[2].lowerBound + 52)
        // Flags, method, checksum, both sizes and the name's last letter, in both places.
        let fields = [(6, 8), (8, 10), (14, 16), (18, 20), (22, 24), (35, 51)]
        var archives: [(label: String, bytes: [UInt8])] = []
        for (own, listed) in fields {
            for (place, label) in [(local + own, "its own header"), (list + listed, "the list")] {
                var bytes = Self.archive
                bytes[place] ^= 1
                archives.append(("byte \(own) of \(label)", bytes))
            }
        }
        let verdicts = try await trial.verdicts(archives.map(\.bytes))
        for ((label, _), verdict) in zip(archives, verdicts) {
            #expect(verdict.word == "damaged-archive" || verdict.word == "overlap", "\(label): \(verdict.word)")
        }
        let lenient = try await trial.verdicts(archives.map(\.bytes), mode: .lenient)
        for ((label, _), verdict) in zip(archives, lenient) {
            guard let report = verdict.report else { continue }
            #expect(report.pages.count == 1 && report.damage.count == 1, "\(label): \(report.damage)")
        }
        #expect(lenient.contains { $0.report?.damage.first?.contains("02.png") == true })
    }

    @Test(
        "A page disguised by its attributes is not skipped",
        arguments: [0o040_755, 0o120_777, 0o020_644, 0o140_644])
    func pageCalledSomething(_ mode: Int) async throws {
        var page = RawZip.Entry("02.png", picture(2))
        page.mode = mode
        let bytes = RawZip([RawZip.Entry("01.png", picture(1)), page]).bytes
        let verdict = try #require(try await HostileTrial("attributes").verdicts([bytes]).first)
        #expect(verdict.word == "damaged-archive", "\(verdict.word) \(verdict.message)")
        #expect(verdict.message.contains("02.png"))
    }

    @Test("Deviations of valid archives are accepted") func soundArchivesLet() async throws {
        let text = Array("see the wiki".utf8)
        var folder = RawZip.Entry("art/", [])
        folder.mode = 0o040_755
        var pointer = RawZip.Entry("03.png", Array("01.png".utf8))
        pointer.mode = 0o120_777
        var described = RawZip.Entry("02.png", picture(2))
        described.descriptor = described.truth
        var foreign = RawZip.Entry([0x9A] + Array("b.png".utf8), picture(3))
        foreign.localName = [0xDC] + Array("b.png".utf8)
        var readme = RawZip.Entry("readme.txt", text)
        readme.local = RawZip.Claim(crc: 1, packed: UInt64(text.count), size: UInt64(text.count))
        let bytes = RawZip([RawZip.Entry("01.png", picture(1)), folder, pointer, described, foreign, readme]).bytes
        let verdict = try #require(try await HostileTrial("sound").verdicts([bytes]).first)
        #expect(verdict.report?.pages.count == 3, "\(verdict.word) \(verdict.message)")
    }

    @Test("A comment may be as long as the format allows", arguments: [1, 16_000, 16_400, 40_000, 65_535])
    func commentLongFormat(_ length: Int) async throws {
        var zip = RawZip([RawZip.Entry("01.png", picture(1)), RawZip.Entry("02.png", picture(2))])
        zip.comment = (0..<length).map { UInt8(truncatingIfNeeded: 32 + $0 % 90) }
        let verdict = try #require(try await HostileTrial("comment").verdicts([zip.bytes]).first)
        #expect(verdict.report?.pages.count == 2, "\(verdict.word) \(verdict.message)")
    }
}
