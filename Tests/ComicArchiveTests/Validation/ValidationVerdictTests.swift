import ComicArchive
import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

/// What is accepted, skipped, refused.
@Suite("What is accepted, skipped or rejected")
struct ValidationVerdictTests {
    let folder: TemporaryFolder
    let validator: ComicValidator
    let worker: ArchiveWorker

    init() throws {
        folder = try TemporaryFolder("comics")
        worker = try builtWorker()
        validator = ComicValidator(worker: worker)
    }

    private func judge(
        _ entries: [Packed], _ packing: Packing = .storedZip, mode: ValidationMode = .strict
    ) async throws -> Verdict {
        let path = folder.path.appending("comic-\(randomHex(4))")
        try pack(entries, packing, to: path)
        return try await validator.validate(path, mode: mode)
    }

    @Test("Pages come in reading order with their hashes", arguments: Packing.allCases)
    func pagesComeReading(_ packing: Packing) async throws {
        let entries = [10, 2, 1].map { Packed(name: "a/page\($0).png", bytes: picture($0)) }
        let report = try #require(try await judge(entries, packing).report)
        #expect(report.pages.map(\.entry.fileName) == ["page1.png", "page2.png", "page10.png"])
        #expect(report.pages.map(\.hash) == [1, 2, 10].map { ContentHash(of: picture($0)) })
        #expect(report.pages.map(\.entry.uncompressedSize) == [3000, 3000, 3000])
        #expect(report.pages.map(\.entry.position) == [2, 1, 0])
        #expect(report.pages.first?.image == ImageHeader(format: .png, width: 800, height: 1200))
    }

    @Test("Entries that are not pages are skipped") func pageSkipped() async throws {
        let names = [
            "__MACOSX/1.png", ".hidden.png", "_cover.png", "a/.b/1.png", "readme.txt", "inner.cbz", "1.png",
            "ComicInfo.xml",
        ]
        let report = try #require(
            try await judge(
                names.map { Packed(name: $0, bytes: picture(1)) } + [Packed(name: "2.png", link: "/etc/passwd")], .tar
            )
            .report)
        #expect(report.pages.map(\.entry.path) == ["1.png"])
        #expect(report.metadata.map(\.bytes) == [picture(1)])
        #expect(
            report.skipped.map(\.reason) == [
                .systemFolder, .hidden, .underscore, .hidden, .notAPicture, .notAPicture, .link,
            ])
    }

    @Test(
        "Names that lead outside are rejected",
        arguments: [
            ("../1.png", "traversal"), ("a/../../1.png", "traversal"), ("a\\..\\1.png", "traversal"),
            ("..", "traversal"), ("/etc/1.png", "absolute-path"), ("C:/1.png", "absolute-path"),
            ("C:\\1.png", "absolute-path"),
        ])
    func namesLeadRefused(_ name: String, _ word: String) async throws {
        for packing in Packing.allCases {
            let entries = [Packed(name: "1.png", bytes: picture(1)), Packed(name: name, bytes: picture(2))]
            let verdict = try await judge(entries, packing)
            #expect(verdict.word == word, "\(packing)")
        }
    }

    /// If the format lets libarchive turn `\` into `/`, the resulting name is judged.
    @Test("Rejects backslashes", arguments: Packing.allCases)
    func refusesBackslashes(_ packing: Packing) async throws {
        for (name, words) in [
            ("a\\1.png", ["bad-name", "accepted"]), ("\\\\host\\1.png", ["bad-name", "absolute-path"]),
        ] {
            let verdict = try await judge([Packed(name: name, bytes: picture(1))], packing)
            #expect(words.contains(verdict.word), "\(name): \(verdict.word)")
            for page in verdict.report?.pages ?? [] { #expect(page.entry.path == "a/1.png") }
        }
    }

    @Test("Too many pages are rejected") func tooManyPages() async throws {
        let entries = (0..<2001).map { Packed(name: "\($0).png", bytes: picture($0, size: 33)) }
        #expect(try await judge(entries).word == "too-many-pages")
        #expect(try await judge(entries.dropLast()).report?.pages.count == 2000)
    }

    @Test("Too many headers are rejected") func tooManyHeaders() async throws {
        let entries = [Packed(name: "1.png", bytes: picture(1))] + (0..<100_000).map { Packed(name: "\($0).txt") }
        for packing in [Packing.storedZip, .tar] {
            #expect(try await judge(entries, packing).word == "too-many-headers")
        }
    }

    @Test("A compression ratio that no comic has is rejected") func ratioComicRefused() async throws {
        let entries = (0..<2).map {
            Packed(name: "\($0).png", bytes: picture(0) + [UInt8](repeating: 0, count: 60 << 20))
        }
        #expect(try await judge(entries, .deflatedZip).word == "ratio")
    }

    @Test("An oversized entry is skipped") func entryTooLarge() async throws {
        let large = picture(0) + [UInt8](repeating: 7, count: 101 << 20)
        let report = try #require(
            try await judge([Packed(name: "0.png", bytes: large), Packed(name: "1.png", bytes: picture(1))]).report)
        #expect(report.pages.map(\.entry.path) == ["1.png"])
        #expect(report.skipped.map { "\($0.path) \($0.reason)" } == ["0.png oversize"])
    }

    @Test("An image bomb is a damaged page") func imageBombDamaged() async throws {
        var bomb = picture(1)
        bomb.replaceSubrange(16..<24, with: [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF])
        let entries = [Packed(name: "1.png", bytes: bomb), Packed(name: "2.png", bytes: picture(2))]
        let strict = try await judge(entries)
        #expect(strict.word == "damaged-page")
        #expect(strict.message.contains("1.png"))
        let lenient = try #require(try await judge(entries, mode: .lenient).report)
        #expect(lenient.pages.map { $0.damage != nil } == [true, false])
        #expect(lenient.damage.count == 1)
    }

    @Test("A bomb whose size field comes late in the file is a damaged page") func bombSizeStands() async throws {
        func jpeg(_ side: Int, behind: Int) -> [UInt8] {
            var bytes: [UInt8] = [0xFF, 0xD8]
            for _ in 0..<behind { bytes += [0xFF, 0xE1, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 0xFFFD) }
            bytes += [0xFF, 0xC0, 0, 17, 8]
            bytes += big(side, 2) + big(side, 2)
            return bytes + [UInt8](repeating: 3, count: 400)
        }
        func tiff(_ side: Int, isLittle: Bool) -> [UInt8] {
            let number: (Int, Int) -> [UInt8] = { isLittle ? little($0, $1) : big($0, $1) }
            var bytes: [UInt8] = isLittle ? [0x49, 0x49, 0x2A, 0] : [0x4D, 0x4D, 0, 0x2A]
            bytes += number(8 + (9 << 20), 4)
            bytes += [UInt8](repeating: 9, count: 9 << 20)
            bytes += number(2, 2)
            for tag in [256, 257] { bytes += number(tag, 2) + number(4, 2) + number(1, 4) + number(side, 4) }
            return bytes + number(0, 4)
        }
        let pictures: [(Int) -> [UInt8]] = [
            { jpeg($0, behind: 5) }, { jpeg($0, behind: 40) }, { tiff($0, isLittle: true) },
            { tiff($0, isLittle: false) },
        ]
        for (number, picture) in pictures.enumerated() {
            let good = try #require(try await judge([Packed(name: "1.png", bytes: picture(800))]).report, "\(number)")
            #expect(good.pages.first?.image?.width == 800, "\(number)")
            let verdict = try await judge([Packed(name: "1.png", bytes: picture(60_000))])
            #expect(
                verdict.word == "damaged-page" && verdict.message.contains("pixels"), "\(number): \(verdict.message)")
        }
        // One that moves it still farther away hides something.
        #expect(try await judge([Packed(name: "1.png", bytes: jpeg(800, behind: 140))]).word == "damaged-page")
        #expect(
            try await judge([Packed(name: "1.png", bytes: tiff(800, isLittle: true).dropLast(9))]).word
                == "damaged-page")
    }

    @Test("A ZIP64 record counts wherever its locator is") func zip64Record() async throws {
        let front = Array("a program that unpacks itself".utf8)
        for front in [[], front] {
            var zip = RawZip([RawZip.Entry("1.png", picture(1)), RawZip.Entry("2.png", picture(2))])
            (zip.isLarge, zip.front) = (true, front)
            var bytes = zip.bytes
            // As written to a pipe: the old record has the numbers too.
            let end = bytes.count - 22
            let record = end - 20 - 56
            bytes.replaceSubrange((end + 8)..<(end + 12), with: little(2, 2) + little(2, 2))
            for field in 0..<2 {
                let number = Array(bytes[(record + 40 + 8 * field)..<(record + 44 + 8 * field)])
                bytes.replaceSubrange((end + 12 + 4 * field)..<(end + 16 + 4 * field), with: number)
            }
            for bytes in [bytes, zip.bytes] {
                let verdict = try await validator.validate(try folder.write("large.cbz", bytes))
                #expect(verdict.report?.pages.count == 2, "\(front.count): \(verdict.message)")
            }
        }
    }

    @Test("A file that is not an archive is rejected") func archiveRefused() async throws {
        for (name, bytes) in [
            ("empty", []), ("text", Array("hello".utf8)), ("zeros", [UInt8](repeating: 0, count: 9000)),
        ] {
            let path = try folder.write(BytePath(name), bytes)
            let word = try await validator.validate(path).word
            #expect(["not-an-archive", "no-pages", "damaged-archive"].contains(word), "\(name): \(word)")
        }
    }

    @Test("Nonsense from a worker leads to a verdict") func workerTalksNonsense() async throws {
        let path = folder.path.appending("a.cbz")
        try pack([Packed(name: "1.png", bytes: picture(1))], .storedZip, to: path)
        for (script, word) in [
            ("head -c 100000 /dev/urandom >&4", "worker-nonsense"), ("kill -SEGV $$", "worker-crashed"),
            ("cat <&3 >&4", "worker-nonsense"),
            ("printf '\\377\\377\\377\\177' >&4; sleep 100", "worker-nonsense"),
        ] {
            let program = try fakeWorker(script, in: folder)
            let fake = ComicValidator(worker: try ArchiveWorker(program: program))
            let verdict = try await fake.validate(path)
            #expect(verdict.word == word, "\(script)")
        }
    }
}
