import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// The table in `docs/comics.md` of what is accepted, noted and refused: each row has samples here, and each sample has
/// a row.
@Suite("The documented table of verdicts") struct DocumentedVerdictTests {
    private typealias Sample = (bytes: [UInt8], name: String)

    let folder: TemporaryFolder
    let validator: ComicValidator
    let withoutUnar: ComicValidator

    init() throws {
        folder = try TemporaryFolder("table")
        let worker = try builtWorker()
        validator = ComicValidator(worker: worker)
        let nothing = folder.path.appending("unar").text
        withoutUnar = ComicValidator(worker: try ArchiveWorker(program: worker.program, unar: [nothing]))
    }

    /// The rows: what is judged, and the verdict.
    private static func rows() throws -> [(what: String, verdict: String)] {
        let here = Checkout.root.appending("docs/comics.md")
        let text = try TemporaryFolder.text(here)
        let table = text.components(separatedBy: "| what | verdict |\n|---|---|\n").last ?? ""
        return table.prefix { $0 != "#" }.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return (cells[0], cells[1].trimmingCharacters(in: ["`"]))
        }
    }

    @Test("Each row has samples, and each sample gets the verdict of its row") func eachRowSamples() async throws {
        let rows = try Self.rows()
        let samples = try zips().merging(rars()) { $1 }.merging(others()) { $1 }.merging(pdfs()) { $1 }
            .merging(pictures()) { $1 }
        #expect(Set(rows.map(\.what)) == Set(samples.keys))
        for (what, expected) in rows {
            if what.hasPrefix("PDF"), access("/usr/bin/pdftoppm", X_OK) != 0 { continue }
            let isWithout = what.hasSuffix("where unar is not installed")
            if what.hasPrefix("RAR 4: solid"), !isWithout, !ArchiveWorker.unpacksSolidRar { continue }
            let validator = isWithout ? withoutUnar : validator
            let isDecoded = what.hasSuffix("decoded")
            if isDecoded, !hasThumbnails { continue }
            for sample in samples[what] ?? [] {
                let path = try folder.write(BytePath(sample.name), sample.bytes)
                var verdict = try await validator.validate(path)
                if isDecoded { verdict = try await validator.decodingPages(of: path, verdict, mode: .strict) }
                #expect(Self.word(verdict) == expected, "\(what): \(verdict.message)")
            }
        }
    }

    private static func word(_ verdict: Verdict) -> String {
        guard let report = verdict.report else { return verdict.word }
        return report.damage.isEmpty
            ? report.notes.isEmpty ? "accepted" : "accepted with a note" : "accepted with damage"
    }

    // MARK: Samples

    private func zips() throws -> [String: [Sample]] {
        func zip(_ change: (inout RawZip.Entry) -> Void, _ whole: (inout RawZip) -> Void = { _ in }) -> [Sample] {
            var page = RawZip.Entry("2.png", picture(2))
            change(&page)
            var archive = RawZip([RawZip.Entry("1.png", picture(1)), page])
            whole(&archive)
            return [(archive.bytes, "a.cbz")]
        }
        let deflated = RawZip([try RawZip.Entry(deflating: "1.png", drawing(1))]).bytes
        let cut = try #require(zip { _ in }.first).bytes.dropLast(60)
        return [
            "ZIP: stored, Deflate": zip { _ in } + [(deflated, "b.cbz")],
            "ZIP: a comment of 65,535 bytes": zip({ _ in }, { $0.comment = [UInt8](repeating: 65, count: 65_535) }),
            "ZIP: a link called as a page": zip {
                $0 = RawZip.Entry("2.png", Array("1.png".utf8))
                $0.mode = 0o120_777
            },
            "ZIP: a page that is called a folder by its attributes": zip { $0.mode = 0o040_755 },
            "ZIP: two headers of a page that disagree": zip { $0.localName = Array("2.txt".utf8) },
            "ZIP: a page's checksum is wrong": zip { $0.truth.crc ^= 1 },
            "ZIP: its end is missing": [(Array(cut), "a.cbz")],
            "ZIP: Deflate64": zip { $0.method = 9 },
            "ZIP: encrypted": zip { $0.flags = 1 },
            "ZIP: one part of several": zip({ _ in }, { $0.disk = 2 }),
            "ZIP: entries that share bytes": [(quotedOverlap(entries: 20, runs: 100), "a.cbz")],
        ]
    }

    private func rars() -> [String: [Sample]] {
        func rar(_ change: (inout RawRar.Entry) -> Void, _ whole: (inout RawRar) -> Void = { _ in }) -> RawRar {
            var page = RawRar.Entry("2.png", picture(2))
            change(&page)
            var archive = RawRar([RawRar.Entry("1.png", picture(1)), page])
            whole(&archive)
            return archive
        }
        func four(_ archive: RawRar) -> [Sample] { [(archive.four, "a.cbr")] }
        func five(_ archive: RawRar) -> [Sample] { [(archive.five, "a.cbr")] }
        return [
            "RAR 4: stored": four(rar { _ in }),
            "RAR 4: solid, each page packed with those before it": four(
                rar({ $0.isSolid = true }, { $0.isSolid = true })),
            "RAR 4: solid, where unar is not installed": four(rar({ $0.isSolid = true }, { $0.isSolid = true })),
            "RAR 4: solid, a page's checksum is wrong": four(rar({ $0.crc = 1 }, { $0.isSolid = true })),
            "RAR 4: solid, and shorter than its headers say": four(rar({ $0.size += 9 }, { $0.isSolid = true })),
            "RAR 4: solid, and longer than 512 MiB": four(rar({ $0.size = 513 << 20 }, { $0.isSolid = true })),
            "RAR 4: packed by RAR 1.5 or 2": four(rar { $0.packing = [20, 0x33] })
                + four(rar { $0.packing = [15, 0x33] }),
            "RAR 4: no mark at its end": four(rar({ _ in }, { $0.hasEnd = false })),
            "RAR 4: encrypted": four(rar { $0.isEncrypted = true }),
            "RAR 4: one part of several": four(rar({ _ in }, { $0.isVolume = true })),
            "RAR 5: stored": five(rar { _ in }),
            "RAR 5: a dictionary of more than 64 MiB": five(rar { $0.compression = 3 << 7 | 10 << 10 }),
            "RAR 5: a junction, a file copy": five(rar { $0.redirection = (.junction, "C:/x") })
                + five(rar { $0.redirection = (.copy, "1.png") }),
            "RAR 5: no mark at its end": five(rar({ _ in }, { $0.hasEnd = false })),
            "RAR 5: a page's checksum is wrong": five(rar { $0.crc = 1 }),
            "RAR 5: encrypted": five(rar { $0.isEncrypted = true }),
            "RAR 5: one part of several": five(rar({ _ in }, { $0.isVolume = true })),
        ]
    }

    private func others() throws -> [String: [Sample]] {
        let pages = [Packed(name: "1.png", bytes: picture(1)), Packed(name: "2.png", bytes: picture(2))]
        let tar = try packed(pages, .tar)
        let packedTars = try Compression.allCases.map { (try folder.compressed(tar, $0), "a.cbt") }
        return [
            "7z: LZMA, copied": [
                (try packed(pages, .sevenZip), "a.cb7"), (try packed(pages, .copiedSevenZip), "a.cb7"),
            ],
            "7z: the filters for code of ARM64 and RISC-V": ([10, 11] as [UInt8]).map { filter in
                var archive = RawSevenZip([RawSevenZip.Entry("1.png", picture(1))])
                archive.filter = filter
                return (archive.bytes, "a.cb7")
            },
            "7z: cut short": [(Array(try packed(pages, .sevenZip).dropLast(100)), "a.cb7")],
            "TAR: plain": [(tar, "a.cbt")],
            "TAR: gzip, bzip2, xz, lzma, lzip, zstd, lz4": packedTars,
            "TAR: compressed and cut short": packedTars.map { (Array($0.0.prefix($0.0.count / 2)), $0.1) },
            "EPUB: pictures in the order of its spine": [(try epub(), "a.epub")],
            "EPUB: a picture of the spine is missing": [(try epub(shown: "2.png"), "a.epub")],
            "EPUB: pages that a shop has encrypted": [(try epub(encrypted: true), "a.epub")],
            "any: no page": [(try packed([Packed(name: "a.txt", bytes: [65])]), "a.cbz")],
            "any: no archive": [(Array("no archive\n".utf8), "a.cbz")],
        ]
    }

    private func epub(shown: String = "1.png", encrypted: Bool = false) throws -> [UInt8] {
        let package =
            "<package><manifest><item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>"
            + "<spine><itemref idref=\"a\"/></spine></package>"
        let rights =
            "<encryption><EncryptedData><EncryptionMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#aes128-cbc\"/>"
            + "<CipherData><CipherReference URI=\"1.png\"/></CipherData></EncryptedData></encryption>"
        let texts =
            [
                ("mimetype", "application/epub+zip"),
                (
                    "META-INF/container.xml",
                    "<container><rootfiles><rootfile full-path=\"a.opf\"/></rootfiles></container>"
                ),
                ("a.opf", package), ("a.xhtml", "<html><body><img src=\"\(shown)\"/></body></html>"),
            ] + (encrypted ? [("META-INF/encryption.xml", rights)] : [])
        return try packed(
            texts.map { Packed(name: $0.0, bytes: Array($0.1.utf8)) } + [Packed(name: "1.png", bytes: picture(1))])
    }

    private func pdfs() -> [String: [Sample]] {
        let spoken = PdfSample(content: "0.2 0.5 0.7 rg 0 0 600 400 re f\n/Unknown gs\n")
        let whole = pdf([PdfSample(), PdfSample()])
        return [
            "PDF: pages that can be drawn": [(whole, "a.pdf")],
            "PDF: a complaint about a page that is drawn": [(pdf([PdfSample(), spoken]), "a.pdf")],
            "PDF: a page that shows nothing, and a complaint": [
                (pdf([PdfSample(), PdfSample(content: "/Unknown gs\n")]), "a.pdf")
            ],
            "PDF: blanks behind its end mark": [(whole + [UInt8](repeating: 0, count: 5000), "a.pdf")],
            "PDF: cut short": [(Array(whole.dropLast(40)), "a.pdf")],
            "PDF: a password is needed": [(encryptedPdf(needsPassword: true), "a.pdf")],
        ]
    }

    private func pictures() throws -> [String: [Sample]] {
        func comic(_ page: [UInt8]) throws -> [Sample] {
            let pages = [Packed(name: "1.png", bytes: Picture.png(40, 60)), Packed(name: "2.png", bytes: page)]
            return [(try packed(pages), "a.cbz")]
        }
        let whole = Picture.striped(100, 100)
        let cut = Array(whole.prefix(whole.count / 2))
        return [
            "pages: a picture that is cut short behind its header": try comic(cut),
            "pages: a picture that is cut short, decoded": try comic(cut),
            "pages: a picture that shows nothing, decoded": try comic(Array(whole.prefix(60))),
            "pages: no picture": try comic(Array("text".utf8)),
        ]
    }
}
