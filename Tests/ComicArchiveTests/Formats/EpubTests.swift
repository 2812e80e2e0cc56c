import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox
@testable import steward_worker

/// EPUBs of pictures: the pages are in spine order, whatever their files are called.
@Suite("EPUBs of pictures") struct EpubTests {
    let folder: TemporaryFolder
    let worker: ArchiveWorker
    let validator: ComicValidator

    init() throws {
        folder = try TemporaryFolder("epub")
        worker = try builtWorker()
        validator = ComicValidator(worker: worker)
    }

    private let container = """
        <?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>
        <rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>
        """

    /// An EPUB whose pages `p1.xhtml` and so on show the pictures 1, 2, …, in files whose names sort the other way.
    private func epub(
        _ count: Int = 3, page: (Int) -> String = { "<html><body><img src=\"../img/\(9 - $0).png\"/></body></html>" },
        extra: [Packed] = [], spine: [Int]? = nil
    ) -> [Packed] {
        let items = (1...count).map {
            "<item id=\"p\($0)\" href=\"text/p\($0).xhtml\" media-type=\"application/xhtml+xml\"/>"
        }
        let order = (spine ?? Array(1...count)).map { "<itemref idref=\"p\($0)\"/>" }
        let package =
            "<package><manifest>\(items.joined())<item id=\"x\" href=\"http://x/y.png\"/></manifest>"
            + "<spine>\(order.joined())</spine></package>"
        return [
            Packed(name: "mimetype", bytes: Array("application/epub+zip".utf8)),
            Packed(name: "META-INF/container.xml", bytes: Array(container.utf8)),
            Packed(name: "OEBPS/content.opf", bytes: Array(package.utf8)),
        ] + (1...count).map { Packed(name: "OEBPS/text/p\($0).xhtml", bytes: Array(page($0).utf8)) }
            + (1...count).map { Packed(name: "OEBPS/img/\(9 - $0).png", bytes: picture($0)) } + extra
    }

    private func judge(_ entries: [Packed], mode: ValidationMode = .strict) async throws -> Verdict {
        let path = folder.path.appending("a-\(randomHex(4)).epub")
        try pack(entries, .storedZip, to: path)
        let verdict = try await validator.validate(path, mode: mode)
        // The reader and the judge agree.
        if let report = verdict.report {
            let listed = try await ArchiveReaderFactory(worker: worker).reader(for: path).listEntries()
            #expect(listed.map(\.path) == report.pages.map(\.entry.path))
            #expect(listed.map(\.index) == Array(listed.indices))
        }
        // So does a reader without names.
        let withheld = try worker.judge(.file(Descriptor(path)), mode: mode, names: .withheld)
        #expect(withheld.word == verdict.word)
        #expect(withheld.report?.format == verdict.report?.format)
        #expect(Set(withheld.report?.pages.map(\.hash) ?? []) == Set(verdict.report?.pages.map(\.hash) ?? []))
        #expect(withheld.report?.skipped.map(\.reason) == verdict.report?.skipped.map(\.reason))
        #expect(withheld.report?.damage.count == verdict.report?.damage.count)
        #expect(!"\(withheld)".contains("OEBPS"), "\(withheld)")
        return verdict
    }

    @Test("Pages follow the order of the spine") func pagesStandOrder() async throws {
        let report = try #require(try await judge(epub(spine: [2, 3, 1])).report)
        #expect(report.format == .epub)
        #expect(report.pages.map(\.hash) == [2, 3, 1].map { ContentHash(of: picture($0)) })
        #expect(report.pages.map(\.entry.index) == [0, 1, 2])
    }

    @Test(
        "A page of the spine may show its pictures in many ways",
        arguments: [
            "<html><body><svg><image xlink:href=\"../img/%37.png\"/></svg><img src='/OEBPS/img/8.png#x'/></body></html>",
            """
            <?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">
            <html><body><p>a&nbsp;b</p><image href="../../OEBPS/./img/7.png"/><img alt="" src="../img/8.png?x=1"/></body></html>
            """,
            "<!DOCTYPE html><svg><image href=\"../img/7.png\"/><a><image href=\"../img/8.png\"/></a><img src=\"../img/7.png\"/></svg>",
        ])
    func pageSpineShow(text: String) async throws {
        let report = try #require(try await judge(epub(2) { _ in text }).report)
        #expect(Set(report.pages.map(\.hash)) == Set([1, 2].map { ContentHash(of: picture($0)) }))
        #expect(report.pages.count == 2)
    }

    @Test("A picture not shown by the spine is not a page") func pictureSpineShow() async throws {
        let report = try #require(
            try await judge(epub(extra: [Packed(name: "OEBPS/img/thumbnail.png", bytes: picture(7))])).report)
        #expect(report.pages.count == 3)
        #expect(report.skipped.filter { $0.reason == .notInSpine }.map(\.path) == ["OEBPS/img/thumbnail.png"])
    }

    @Test("If the spine shows no pictures, names decide") func spineShowsNone() async throws {
        let report = try #require(try await judge(epub { _ in "<html><body>text</body></html>" }).report)
        #expect(report.pages.map(\.hash) == [3, 2, 1].map { ContentHash(of: picture($0)) })
    }

    @Test("A document listed repeatedly in the spine is read once") func documentSpineNames() async throws {
        let long = "<html>" + String(repeating: "<p>x</p>", count: 15_000) + "<img src=\"../img/8.png\"/></html>"
        let often = (0..<8000).map { $0 % 2 + 1 }
        let report = try #require(try await judge(epub(2, page: { $0 == 1 ? long : "<a/>" }, spine: often)).report)
        #expect(report.pages.map(\.hash) == [ContentHash(of: picture(1))])
        // And reported once.
        let missing = try #require(
            try await judge(epub(2, page: { _ in "<img src='nowhere.png'/>" }, spine: often), mode: .lenient).report)
        #expect(missing.damage.count == 1, "\(missing.damage.count)")
    }

    @Test("A missing spine entry counts as damage") func spineNamesDamage() async throws {
        let missing = epub { "<html><img src=\"../img/\($0 == 2 ? 77 : 9 - $0).png\"/></html>" }
        let strict = try await judge(missing)
        #expect(strict.word == "damaged-archive")
        #expect(strict.message.contains("img/77.png is missing"))
        #expect(try await judge(missing, mode: .lenient).report?.pages.count == 2)

        for text in ["<html><img src=\"../img/8.png\"></html>", "<!DOCTYPE html [<!ENTITY a \"b\">]><html/>", "\u{0}"] {
            let broken = epub { $0 == 1 ? text : "<html><img src=\"../img/\(9 - $0).png\"/></html>" }
            #expect(try await judge(broken).word == "damaged-archive")
            #expect(try await judge(broken, mode: .lenient).report?.pages.count == 2)
        }
        for index in [1, 2] {
            var broken = epub()
            broken[index].bytes = Array("<container".utf8)
            #expect(try await judge(broken).word == "damaged-archive")
            #expect(try await judge(broken, mode: .lenient).report?.pages.count == 3)
        }
    }

    @Test("Pages encrypted by a shop are detected; obfuscated fonts do not matter") func pagesShopEncrypted()
        async throws
    {
        func encryption(_ path: String) -> Packed {
            Packed(
                name: "META-INF/encryption.xml",
                bytes: Array(
                    """
                    <encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
                    xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>
                    <enc:CipherReference URI="\(path)"/></enc:CipherData></enc:EncryptedData></encryption>
                    """.utf8))
        }
        for (path, word) in [
            ("OEBPS/img/8.png", "encrypted"), ("OEBPS/text/p2.xhtml", "encrypted"), ("OEBPS/content.opf", "encrypted"),
            ("OEBPS/fonts/a.otf", "accepted"),
        ] {
            let verdict = try await judge(epub(extra: [encryption(path)]))
            #expect(verdict.word == word, "\(path): \(verdict.message)")
        }
        let path = folder.path.appending("drm.epub")
        try pack(epub(extra: [encryption("OEBPS/img/8.png")]), .storedZip, to: path)
        let reader = try await ArchiveReaderFactory(worker: worker).reader(for: path)
        await #expect(throws: ComicError.self) { try await reader.listEntries() }
    }

    @Test("References lead nowhere outside") func referenceLeadsNowhere() {
        let base = Array("OEBPS/text/p1.xhtml".utf8)
        for (reference, path) in [
            ("../img/1.png", "OEBPS/img/1.png"), ("1.png", "OEBPS/text/1.png"), ("/a//b.png", "a/b.png"),
            ("%C3%A9%20.png#f", "OEBPS/text/é .png"), (" ./x/../y.png?q ", "OEBPS/text/y.png"),
            ("100%.png", "OEBPS/text/100%.png"),
        ] {
            #expect(Epub.resolve(reference, from: base).map { String(decoding: $0, as: UTF8.self) } == path)
        }
        for reference in [
            "", "#top", "../../../etc/passwd", "http://a/b.png", "data:image/png;base64,xx", "file:///etc/passwd",
            "../..", "%2e%2e/../../../x",
        ] {
            #expect(Epub.resolve(reference, from: base) == nil, "\(reference)")
        }
    }

    @Test("A document type is skipped unread, and only where XHTML has one") func documentTypePassed() throws {
        for text in [
            "<!DOCTYPE html><a/>", "<!doctype html><a/>", "<?xml version='1.0'?>\n<!DOCTYPE html SYSTEM \"a>b['\"><a/>",
        ] {
            #expect(try XMLTree.parse(Array(text.utf8), as: .xhtml).name == "a")
            #expect(throws: XMLTree.Problem.documentType) { try XMLTree.parse(Array(text.utf8)) }
        }
        for text in [
            "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", "<!DOCTYPE a SYSTEM \"x\" []><a/>", "<a><!DOCTYPE a></a>",
            "<!DOCTYPE a><!DOCTYPE a><a/>", "<a/><!DOCTYPE a>", "<!ENTITY b \"c\"><a/>",
        ] {
            #expect(throws: XMLTree.Problem.documentType) { try XMLTree.parse(Array(text.utf8), as: .xhtml) }
        }
        for text in ["<!DOCTYPE a", "<!DOCTYPE a \"x><a/>"] {
            #expect(throws: XMLTree.Problem.self) { try XMLTree.parse(Array(text.utf8), as: .xhtml) }
        }
        // An entity is never looked up; without the XHTML dialect it is an error.
        #expect(try XMLTree.parse(Array("<a>x&nbsp;y</a>".utf8), as: .xhtml).text == "x\u{FFFD}y")
        #expect(throws: XMLTree.Problem.unknownEntity("nbsp")) { try XMLTree.parse(Array("<a>&nbsp;</a>".utf8)) }
    }

    @Test(
        .enabled(if: !sharedArchives().isEmpty, "no foreign archives beside the checkout"),
        arguments: sharedArchives().filter { $0.nameText.hasSuffix(".epub") })
    func `foreign EPUBs are read`(_ path: BytePath) async throws {
        let report = try #require(try await validator.validate(path).report)
        if path.nameText == "epub3.epub" {
            #expect(report.format == .epub)
            #expect(report.pages.map(\.entry.path) == ["cover.jpeg", "0_0.png"])
        } else {
            #expect(report.format == .zip)
        }
    }
}
