import ComicTestSupport
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// ComicInfo and MetronInfo, from hostile archives.
@Suite("Metadata in XML") struct MetadataXMLTests {
    private let comicInfo = """
        <?xml version="1.0" encoding="utf-8"?>
        <ComicInfo xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
          <Title>Ebb &amp; Flow</Title><Series>Blue Harbor</Series><Number>007</Number><Count>-1</Count>
          <Volume>2</Volume><Year>2021</Year><Month>8</Month><Writer>A. One, B. Two</Writer>
          <Summary><![CDATA[<b>old</b>]]></Summary><Manga>YesAndRightToLeft</Manga>
          <Pages><Page Image="0" Type="Story"/><Page Image="1" Type="FrontCover" DoublePage="true"/>
            <Page Image="-4"/><Page Image="x"/></Pages>
        </ComicInfo>
        """

    @Test("ComicInfo is read") func comicinfoRead() throws {
        let found = try MetadataFile.comicInfo.parse(Array(comicInfo.utf8))
        #expect(found.title == "Ebb & Flow")
        #expect(found.number == "7")
        #expect(found.count == nil)
        #expect((found.volume, found.year, found.month) == (2, 2021, 8))
        #expect(found.writers == ["A. One", "B. Two"])
        #expect(found.summary == "<b>old</b>")
        #expect(found.isRightToLeft == true)
        #expect(
            found.pages == [ComicPageInfo(image: 0), ComicPageInfo(image: 1, type: .frontCover, doublePage: true)])
    }

    @Test("MetronInfo is read") func metroninfoRead() throws {
        let found = try MetadataFile.metronInfo.parse(
            Array(
                """
                <MetronInfo><Publisher id="1"><Name>Tide</Name><Imprint>Low</Imprint></Publisher>
                <Series lang="en"><Name>Blue Harbor</Name><Volume>2</Volume></Series><Number>1</Number>
                <Stories><Story>One</Story><Story>Two</Story></Stories><CoverDate>2011-10-01</CoverDate>
                <GTIN><ISBN>9781234567897</ISBN></GTIN><Credits><Credit><Creator>A. One</Creator>
                <Roles><Role>Writer</Role><Role>Cover</Role></Roles></Credit></Credits></MetronInfo>
                """.utf8))
        #expect((found.series, found.volume, found.publisher, found.imprint) == ("Blue Harbor", 2, "Tide", "Low"))
        #expect((found.year, found.month, found.day) == (2011, 10, 1))
        #expect((found.title, found.language, found.gtin) == ("One; Two", "en", "9781234567897"))
        #expect(found.credits.map(\.role) == ["Writer", "CoverArtist"])
    }

    @Test("UTF-16 is read") func utf16Read() throws {
        let text = "<ComicInfo><Title>Ünder</Title></ComicInfo>"
        let little: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] as [UInt8] }
        let big: [UInt8] = [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] as [UInt8] }
        for bytes in [little, big] { #expect(try MetadataFile.comicInfo.parse(bytes).title == "Ünder") }
    }

    @Test(
        "XML that is not plain is rejected with its reason",
        arguments: [
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><ComicInfo/>", "DOCTYPE"),
            ("<!DOCTYPE x SYSTEM \"file:///etc/passwd\"><ComicInfo/>", "DOCTYPE"),
            ("<ComicInfo><Title>&a;</Title></ComicInfo>", "entity &a;"),
            ("<ComicInfo><Title></ComicInfo>", "ends nothing"),
            ("<ComicInfo>", "still open"), ("", "no document"), ("<a/><b/>", "second document"),
            ("<html/>", "it is a `html`"),
        ])
    func plainRefusedReason(text: String, reason: String) {
        let fault = #expect(throws: Fault.self) { try MetadataFile.comicInfo.parse(Array(text.utf8)) }
        #expect(fault?.kind == .refused)
        #expect(fault?.message.contains(reason) == true, "\(fault?.message ?? "")")
    }

    @Test(
        "Metadata cannot move a cursor or fill a screen",
        arguments: [
            "<ComicInfo><a\u{9B}2J\u{202E}>", "<ComicInfo>&\u{9B}2J\u{1B}[31m;</ComicInfo>", "<h\u{9B}2J\u{202E}/>",
            "<ComicInfo><\(String(repeating: "é", count: 5000))>",
        ])
    func saidFileMove(text: String) throws {
        let fault = try #require(#expect(throws: Fault.self) { try MetadataFile.comicInfo.parse(Array(text.utf8)) })
        #expect(fault.message.count < 200)
        let kinds = Set(fault.message.unicodeScalars.map(\.properties.generalCategory))
        #expect(kinds.isDisjoint(with: [.control, .format]), "\(fault.message.debugDescription)")
    }

    @Test("Size, depth and number of elements are limited") func sizeDepthNumber() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(throws: XMLTree.Problem.tooDeep) { try XMLTree.parse(Array(deep.utf8)) }
        let wide = "<a>" + String(repeating: "<b/>", count: 30_000) + "</a>"
        #expect(throws: XMLTree.Problem.tooManyElements) { try XMLTree.parse(Array(wide.utf8)) }
        let large = [UInt8](repeating: 0x20, count: XMLTree.sizeLimit + 1)
        #expect(throws: XMLTree.Problem.tooLarge) { try XMLTree.parse(large) }
    }

    @Test("No bytes do harm") func harmlessBytes() throws {
        var random = SeededGenerator(for: "hostile XML")
        var (read, refused) = (0, 0)
        for number in 0..<3000 {
            var bytes = Array(comicInfo.utf8)
            // Of several changes one nearly always breaks the file; files that are still readable have to occur as
            // well.
            let isSlight = number.isMultiple(of: 3)
            for _ in 0..<(isSlight ? 1 : Int.random(in: 1...8, using: &random)) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch isSlight ? 0 : Int.random(in: 0...2, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(at...)
                default: bytes.insert(contentsOf: Array("<&;]]>".utf8), at: at)
                }
                if bytes.isEmpty { break }
            }
            do {
                let found = try MetadataFile.comicInfo.parse(bytes)
                #expect([found.count, found.volume, found.year].allSatisfy { $0.map { $0 > 0 } ?? true }, "\(bytes)")
                #expect(found.month.map((1...12).contains) ?? true, "\(bytes)")
                #expect(found.pages.allSatisfy { $0.image >= 0 }, "\(bytes)")
                read += 1
            } catch let fault as Fault {
                #expect(fault.kind == .refused && fault.message.count < 200, "\(fault)")
                refused += 1
            }
        }
        #expect(read > 100 && refused > 2000, "\(read) were read, \(refused) refused")
    }

    @Test("Of several, the one nearest to the root counts") func severalNearestRoot() {
        let paths = ["a/b/ComicInfo.xml", "__MACOSX/ComicInfo.xml", "x/comicinfo.XML", "y/ComicInfo.xml", "1.jpg"]
        let found = MetadataFile.comicInfo.choose(among: paths.map { Array($0.utf8) })
        #expect(found?.index == 2)
        #expect(found?.ignored == [0, 3])
        #expect(MetadataFile.metronInfo.choose(among: [Array("1.jpg".utf8)]) == nil)
    }

    @Test("Precedence: ComicInfo, MetronInfo, name, folder") func comicinfoBeatsMetroninfo() {
        let files = [
            ("ComicInfo.xml", "<ComicInfo><Title>T</Title><Year>2001</Year></ComicInfo>"),
            (
                "MetronInfo.xml",
                "<MetronInfo><CollectionTitle>no</CollectionTitle><Publisher><Name>P</Name></Publisher>"
                    + "<CoverDate>1999-05-01</CoverDate></MetronInfo>"
            ),
        ].map { FoundMetadata(path: BytePath($0), bytes: Array($1.utf8)) }
        let known = KnownMetadata(files, of: "Other (1980)/Blue Harbor 003 (1990).cbz")
        let all = known.metadata
        #expect(known.faults.isEmpty)
        #expect((all.title, all.publisher, all.series, all.number) == ("T", "P", "Blue Harbor", "3"))
        #expect((all.year, all.month) == (2001, nil))
        #expect(KnownMetadata([], of: "Tide (1980)/#3.cbz").metadata.series == "Tide")
    }
}
