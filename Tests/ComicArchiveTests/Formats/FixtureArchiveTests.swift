import ComicArchive
import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Foreign archives, if their folder exists beside the checkout.
@Suite("Foreign archives")
struct FixtureArchiveTests {
    let validator: ComicValidator

    init() throws { validator = ComicValidator(worker: try builtWorker()) }

    /// The contents extracted by `unzip`, Python and 7-Zip.
    static let sums = [
        "epub3.epub": [
            "8ffa58aa7f20c0ac57e634945f0eb59794d58b157bd554aef2893fe6a7d71dd8",
            "75c0a038b1e3333aaf3d6e236a27a4500419d884796fca710551289da12d2385",
        ],
        "test_compat_zip_5.zip": ["69100cbda7b01bb0d3274183e5a6b3059f42a9a2b1682f0b66abf1e57de0a13e"],
    ]
    static let komga = "514f386643478a22e387db1b5a426aabbb61291c2abb86f532f46d33db90b831"

    /// The verdicts implied by a name; all others must be refused, as they contain no pictures.
    static func words(_ name: String) -> [String] {
        if name == "rar4-solid.rar", !ArchiveWorker.unpacksSolidRar { return ["solid"] }
        if name.contains("encrypt") {
            let hasOpenEntries = name.contains("partially") || name.contains("encryption_data")
            return hasOpenEntries ? ["encrypted", "no-pages"] : ["encrypted"]
        }
        if name.contains(".part") { return ["multi-volume"] }
        return []
    }

    @Test(
        .enabled(if: !sharedArchives().isEmpty, "no foreign archives beside the checkout"), arguments: sharedArchives())
    func getAVerdictInEachMode(_ path: BytePath) async throws {
        let strict = try await validator.validate(path)
        let lenient = try await validator.validate(path, mode: .lenient)
        let name = path.nameText
        let words = Self.words(name)
        #expect(words.isEmpty || words.contains(strict.word), "\(strict.word)")
        let mayDiffer = strict.word.hasPrefix("damaged") || ["no-pages", "unsupported"].contains(strict.word)
        #expect(lenient.word == strict.word || mayDiffer)
        let pages = [strict, lenient].flatMap { $0.report?.pages ?? [] }
        let isComic = path.parent.nameText == "komga" && words.isEmpty || Self.sums[name] != nil
        #expect(isComic ? strict.word == "accepted" : pages.isEmpty, "\(strict.word): \(strict.message)")
        for page in pages {
            #expect(page.damage == nil && page.image != nil)
            #expect((Self.sums[name] ?? [Self.komga]).contains(page.hash?.description ?? ""))
        }
    }

    /// Contents extracted by other programs.
    @Test(
        "Archives made by 7-Zip come out unchanged",
        arguments: ["Deflate", "BZip2", "LZMA", "PPMd", "7z-LZMA2", "7z-PPMd", "7z-Deflate", "tar"])
    func sevenZipPacks(_ method: String) async throws {
        let folder = try TemporaryFolder("packed")
        for number in 1...3 { try folder.write(BytePath("in/\(number).png"), drawing(number, size: 20_000)) }
        let options =
            method == "tar"
            ? ["-ttar"]
            : method.hasPrefix("7z-") ? ["-t7z", "-m0=\(method.dropFirst(3))"] : ["-tzip", "-mm=\(method)"]
        try runProgram(["/usr/bin/7zz", "a"] + options + ["comic", "in/*"], in: folder.path)
        let made = try listDirectory(folder.path).first { $0.name.starts(with: "comic".utf8) }
        let path = folder.path.appending(name: try #require(made).name)
        let verdict = try await validator.validate(path)
        #expect(
            verdict.report?.pages.map(\.hash) == (1...3).map { ContentHash(of: drawing($0, size: 20_000)) },
            "\(verdict.message)")
    }
}
