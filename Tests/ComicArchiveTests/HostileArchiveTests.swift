import ComicArchive
import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

/// Damage and malice: a verdict, and no accepted page with other bytes than were packed.
struct HostileArchiveTests {
    let folder: TemporaryFolder
    let worker: ArchiveWorker
    let validator: ComicValidator

    init() throws {
        folder = try TemporaryFolder("hostile")
        worker = try builtWorker()
        validator = ComicValidator(worker: worker)
    }

    @Test(arguments: sharedArchives())
    func foreignArchivesGetAVerdict(_ path: BytePath) async throws {
        let strict = try await validator.validate(path)
        let lenient = try await validator.validate(path, mode: .lenient)
        print("verdict \(path.nameText): \(strict.word) \(lenient.word) \(strict.message)")
        #expect(lenient.word == strict.word || strict.word.hasPrefix("damaged") || strict.word == "no-pages")
    }

    @Test(arguments: sharedArchives().filter { $0.parent.nameText == "komga" })
    func eachFlavourOfTheSamePageHasTheSameBytes(_ path: BytePath) async throws {
        let name = path.nameText
        let verdict = try await validator.validate(path)
        if name.contains("encrypted") {
            #expect(verdict.word == "encrypted")
        } else if name == "rar4-solid.rar" {
            #expect(["accepted", "solid"].contains(verdict.word))
        } else if name != "epub3.epub" {
            let report = try #require(verdict.report, "\(verdict.message)")
            #expect(report.pages.allSatisfy { $0.image != nil && $0.damage == nil })
            for page in report.pages where page.entry.fileName == "komga.png" {
                // Each flavour holds one of two pictures of that name.
                #expect([3108, 3078].contains(page.entry.uncompressedSize), "\(page.entry.uncompressedSize)")
            }
        }
    }

    @Test(arguments: Packing.allCases)
    func everyTruncationGetsAVerdict(_ packing: Packing) async throws {
        let whole = folder.path.appending("whole")
        let entries = (1...4).map { Packed(name: "\($0).png", bytes: picture($0)) }
        try pack(entries, packing, to: whole)
        let bytes = try Descriptor(whole).readAll()
        for percent in 0..<100 {
            let path = try folder.write("cut", Array(bytes.prefix(bytes.count * percent / 100)))
            let verdict = try await validator.validate(path)
            guard let report = verdict.report else { continue }
            #expect(packing == .tar, "a cut archive was accepted at \(percent) %")
            for page in report.pages { #expect(page.hash == ContentHash(of: picture(page.entry.position + 1))) }
        }
    }

    @Test(arguments: [Packing.storedZip, .deflatedZip, .sevenZip])
    func flippedBitsNeverGiveOtherBytes(_ packing: Packing) async throws {
        let whole = folder.path.appending("whole")
        try pack((1...3).map { Packed(name: "\($0).png", bytes: picture($0)) }, packing, to: whole)
        let good = Set((1...3).map { ContentHash(of: picture($0)) })
        try await flip(Descriptor(whole).readAll(), good: good, times: 100)
    }

    @Test(arguments: sharedArchives().filter { ["rar4.rar", "rar5.rar", "rar5-solid.rar"].contains($0.nameText) })
    func flippedBitsInRarNeverGiveOtherBytes(_ path: BytePath) async throws {
        let report = try #require(try await validator.validate(path).report)
        try await flip(Descriptor(path).readAll(), good: Set(report.pages.compactMap(\.hash)), times: 100)
    }

    private func flip(_ bytes: [UInt8], good: Set<ContentHash>, times: Int) async throws {
        var generator = SeededGenerator(for: "flips")
        for _ in 0..<times {
            var bytes = bytes
            let place = Int.random(in: bytes.indices, using: &generator)
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            let verdict = try await validator.validate(try folder.write("flipped", bytes), mode: .lenient)
            for page in verdict.report?.pages ?? [] where page.damage == nil {
                #expect(page.hash.map(good.contains) == true, "a flip at \(place) gave other bytes")
            }
        }
    }

    /// A RAR 5 archive with stored entries, made by hand, because libarchive writes none.
    @Test func flippedBitsInStoredRarAreFound() async throws {
        let pages = (1...3).map { picture($0) }
        for (name, bytes) in [("a.rar4", storedRar4(pages)), ("a.rar5", storedRar5(pages))] {
            let whole = try await validator.validate(try folder.write(BytePath(name), bytes))
            #expect(whole.report?.pages.map(\.hash) == pages.map { ContentHash(of: $0) }, "\(whole.message)")
            try await flip(bytes, good: Set(pages.map { ContentHash(of: $0) }), times: 150)
            var broken = bytes
            broken[bytes.count - 100] ^= 4
            let verdict = try await validator.validate(try folder.write("broken", broken))
            #expect(verdict.word == "damaged-page")
            #expect(verdict.message.contains("3.png"))
        }
    }

    @Test func refusesEntriesThatShareBytes() async throws {
        let path = folder.path.appending("honest.zip")
        try pack(
            [Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))], .storedZip, to: path)
        var bytes = try Descriptor(path).readAll()
        // The second entry of the directory is made to point into the first one's data.
        let marks = bytes.indices.dropLast(4).filter { Array(bytes[$0..<($0 + 4)]) == [0x50, 0x4B, 1, 2] }
        let second = try #require(marks.last)
        bytes.replaceSubrange((second + 42)..<(second + 46), with: [10, 0, 0, 0])
        #expect(try await validator.validate(try folder.write("overlap.zip", bytes)).word == "overlap")
    }

    /// Fifield's construction in small: each entry's data begins with the next one's local header, quoted in a stored
    /// block, so that all share one kernel and every checksum is right.
    @Test func refusesAQuotedOverlapBomb() async throws {
        let bytes = quotedOverlap(entries: 250, kernel: [UInt8](repeating: 0, count: 5 << 20))
        #expect(bytes.count < 60_000)
        #expect(try await validator.validate(try folder.write("bomb.zip", bytes)).word == "overlap")
    }

    @Test func sizesThatLieAreCountedAgain() async throws {
        let path = folder.path.appending("honest.zip")
        try pack([Packed(name: "1.png", bytes: picture(1))], .deflatedZip, to: path)
        var bytes = try Descriptor(path).readAll()
        let mark = try #require(bytes.indices.dropLast(4).last { Array(bytes[$0..<($0 + 4)]) == [0x50, 0x4B, 1, 2] })
        bytes.replaceSubrange((mark + 24)..<(mark + 28), with: [16, 0, 0, 0])
        let verdict = try await validator.validate(try folder.write("lying.zip", bytes))
        for page in verdict.report?.pages ?? [] {
            #expect(page.entry.uncompressedSize == 3000)
            #expect(page.hash == ContentHash(of: picture(1)))
        }
    }
}
