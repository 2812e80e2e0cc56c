import ComicTestSupport
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Fully decoded pages: those that begin well and then show nothing, or only a part.
@Suite("Decoding pages", .enabled(if: hasThumbnails, "libvips42 is not installed")) struct PageDecodingTests {
    let folder: TemporaryFolder
    let validator: ComicValidator
    let painter: ThumbnailWorker

    init() throws {
        folder = try TemporaryFolder("decode")
        let worker = try builtWorker()
        validator = ComicValidator(worker: worker)
        painter = ThumbnailWorker(worker)
    }

    private func judge(_ pages: [(String, [UInt8])], mode: ValidationMode = .strict) async throws -> Verdict {
        let path = try folder.write("a.cbz", packed(pages.map { Packed(name: $0.0, bytes: $0.1) }))
        let verdict = try await validator.validate(path, mode: mode)
        #expect(verdict.word == "accepted", "by their headers all are pages")
        return try await validator.decodingPages(of: path, verdict, mode: mode)
    }

    /// A picture with a different colour in each line, so that any part of it shows something.
    private var striped: [UInt8] { Picture.striped(200, 300) }

    private func jpeg() async throws -> [UInt8] {
        let made = try await painter.shrink(pictures: [Picture.striped(200, 280)], to: .page)
        guard case .made(let bytes)? = made.first else { throw TestFailure("no JPEG to damage") }
        return bytes
    }

    @Test("Intact pictures are unaffected") func wholePicturesStay() async throws {
        let pages = [
            ("1.png", striped), ("2.png", Picture.png(40, 60)), ("3.gif", Picture.gif), ("4.webp", Picture.webp),
            ("5.tiff", Picture.tiff(40, 60)), ("6.jpg", try await jpeg()),
        ]
        let report = try #require(try await judge(pages).report)
        #expect(report.pages.count == 6 && report.damage.isEmpty, "\(report.damage)")
    }

    @Test("A truncated page is accepted and reported", arguments: ["png", "jpg"])
    func pageCutShort(_ kind: String) async throws {
        let whole = kind == "png" ? striped : try await jpeg()
        let cut = Array(whole.prefix(whole.count * 6 / 10))
        let report = try #require(try await judge([("1.png", Picture.png(40, 60)), ("2.\(kind)", cut)]).report)
        #expect(report.pages.count == 2)
        #expect(report.damage.count == 1 && report.damage.first?.contains("2.\(kind)") == true, "\(report.damage)")
        #expect(report.pages.allSatisfy { $0.damage == nil }, "what shows is not withheld")
    }

    @Test("A page that shows nothing is damaged", arguments: ["png", "heic", "random"])
    func pageShowsNothing(_ kind: String) async throws {
        let page: [UInt8] =
            switch kind {
            case "png": Array(striped.prefix(60))
            case "heic": Array(Picture.heic.dropLast(20))
            default: picture(1)
            }
        let name = kind == "heic" ? "2.heic" : "2.png"
        let strict = try await judge([("1.png", striped), (name, page)])
        #expect(strict.word == "damaged-page" && strict.message.contains(name), "\(strict.message)")
        let lenient = try #require(try await judge([("1.png", striped), (name, page)], mode: .lenient).report)
        #expect(lenient.pages.map { $0.damage != nil } == [false, true])
        #expect(lenient.damage.count == 1)
        #expect(try await judge([(name, page)], mode: .lenient).word == "no-pages")
    }
}

extension Picture {
    /// A PNG with a different colour in each line.
    static func striped(_ width: Int, _ height: Int) -> [UInt8] {
        var lines: [UInt8] = []
        for row in 0..<height {
            let pixel = [UInt8(row % 251), UInt8(row * 7 % 241), 90]
            lines.append(0)
            for _ in 0..<width { lines += pixel }
        }
        return png(width, height, rows: lines)
    }
}
