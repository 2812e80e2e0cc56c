import ComicTestSupport
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Archives that may be intact but cannot be read here: the message neither calls them damaged nor suggests downloading
/// them again.
@Suite("Archives that cannot be read here") struct UnsupportedTests {
    private static var samples: [(label: String, bytes: [UInt8])] {
        var deflate64 = RawZip.Entry("2.png", picture(2))
        deflate64.method = 9
        var imploded = RawZip.Entry("2.png", picture(2))
        imploded.method = 6
        var old = RawRar.Entry("2.png", picture(2))
        old.packing = [20, 0x33]
        var older = RawRar.Entry("2.png", picture(2))
        older.packing = [15, 0x35]
        var large = RawRar.Entry("2.png", picture(2))
        // Method 3, a dictionary of 4 GiB.
        large.compression = 3 << 7 | 15 << 10
        func rar(_ entry: RawRar.Entry) -> RawRar { RawRar([RawRar.Entry("1.png", picture(1)), entry]) }
        var endless = rar(RawRar.Entry("2.png", picture(2)))
        endless.hasEnd = false
        func sevenZip(_ filter: UInt8) -> [UInt8] {
            var archive = RawSevenZip([RawSevenZip.Entry("1.png", picture(1))])
            archive.filter = filter
            return archive.bytes
        }
        return [
            ("7z with ARM64's filter", sevenZip(10)), ("7z with RISC-V's filter", sevenZip(11)),
            ("Deflate64", RawZip([RawZip.Entry("1.png", picture(1)), deflate64]).bytes),
            ("Implode", RawZip([RawZip.Entry("1.png", picture(1)), imploded]).bytes),
            ("RAR 2", rar(old).four), ("RAR 1.5", rar(older).four), ("a large dictionary", rar(large).five),
            ("a junction", rar(RawRar.Entry("2.png", .junction, "C:/x")).five),
            ("a copy", rar(RawRar.Entry("2.png", .copy, "1.png")).five),
            ("RAR 4 without an end", endless.four), ("RAR 5 without an end", endless.five),
        ]
    }

    @Test("The advice is to repack archives that cannot be read") func archivesReadAdvice() async throws {
        let verdicts = try await HostileTrial("foreign").verdicts(Self.samples.map(\.bytes))
        for ((label, _), verdict) in zip(Self.samples, verdicts) {
            #expect(verdict.word == "unsupported", "\(label): \(verdict.word) \(verdict.message)")
            #expect(verdict.message.contains("as CBZ"), "\(label): \(verdict.message)")
            #expect(!verdict.message.contains("delete"), "\(label)")
        }
    }

    @Test("If pages may be missing, the others are accepted on request") func pagesMissingOthers() async throws {
        let verdicts = try await HostileTrial("foreign").verdicts(Self.samples.map(\.bytes), mode: .lenient)
        for ((label, _), verdict) in zip(Self.samples, verdicts) {
            guard let report = verdict.report else { continue }
            #expect(!report.damage.isEmpty, "\(label): what is missing is said")
            let good = report.pages.filter { $0.damage == nil }.compactMap(\.hash)
            let packed = [ContentHash(of: picture(1)), ContentHash(of: picture(2))]
            #expect(good.allSatisfy { packed.contains($0) }, "\(label)")
        }
    }

    @Test("The last part of a split ZIP is a part, whatever it lists") func lastPartSplit() async throws {
        var page = RawZip.Entry("2.png", picture(2))
        // It is in the previous part, at an offset that this one does not have.
        page.offset = 1 << 30
        page.truth.packed = 1 << 30
        var zip = RawZip([RawZip.Entry("1.png", picture(1)), page])
        zip.disk = 2
        let verdict = try #require(try await HostileTrial("parts").verdicts([zip.bytes]).first)
        #expect(verdict.word == "multi-volume", "\(verdict.word) \(verdict.message)")
    }
}
