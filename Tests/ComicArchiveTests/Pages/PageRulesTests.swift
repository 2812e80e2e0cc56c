import ComicTestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Which entries are pages, which are skipped, which condemn the archive.
@Suite("What counts as a page") struct PageRulesTests {
    @Test(
        "Names that lead outside are rejected",
        arguments: [
            ("../1.jpg", PageRules.Refusal.traversal), ("a/../../1.jpg", .traversal), ("a/..", .traversal),
            ("..\\1.jpg", .traversal), ("/etc/passwd", .absolute), ("C:\\1.jpg", .driveLetter),
            ("c:1.jpg", .driveLetter),
            ("a\\1.jpg", .backslash), ("\\\\host\\1.jpg", .backslash), ("1\0.jpg", .nul), ("", .empty),
        ])
    func leadsElsewhereRefused(path: String, refusal: PageRules.Refusal) {
        #expect(PageRules.refusal(path.utf8) == refusal)
    }

    @Test(
        "Harmless names are accepted", arguments: ["1.jpg", "page..1.jpg", "a/b.c/...jpg", "./1.jpg", "ch 2: x/1.jpg"])
    func harmlessNamesPass(path: String) {
        #expect(PageRules.refusal(path.utf8) == nil)
    }

    @Test(
        "Other files are skipped",
        arguments: [
            ("__MACOSX/._1.jpg", PageRules.Skip.systemFolder), ("a/__MACOSX/1.jpg", .systemFolder), (".1.jpg", .hidden),
            ("a/._1.jpg", .hidden), (".git/1.jpg", .hidden), ("_1.jpg", .underscore), ("_a/b/1.jpg", .underscore),
            ("a/_1.jpg", .underscore), ("Thumbs.db", .notAPicture), ("readme", .notAPicture),
            ("1.jpg.exe", .notAPicture),
        ])
    func pagePassedOver(path: String, skip: PageRules.Skip) {
        #expect(PageRules.skip(path.utf8) == skip)
    }

    @Test("Pictures are accepted", arguments: ["1.jpg", "./a/1.JPEG", "a/_b/1.png", "1.HeiC", "1.avif"])
    func picturesTaken(path: String) {
        #expect(PageRules.skip(path.utf8) == nil)
    }

    @Test("A page wider than 1.2 times its height is a spread") func pageWider1() {
        #expect(!PageLayout.isDoublePage(width: 1200, height: 1000))
        #expect(PageLayout.isDoublePage(width: 1201, height: 1000))
        #expect(PageLayout.isDoublePage(width: 1, height: 2, stated: true))
        #expect(!PageLayout.isDoublePage(width: .max, height: 1))
    }

    @Test("The cover is the page given by metadata, else the one with that name, else the first")
    func coverMetadataSay() {
        let pages = ["a/01.jpg", "a/Cover.jpg", "a/03.jpg"].map { Array($0.utf8) }
        #expect(PageLayout.cover(of: pages, stated: [ComicPageInfo(image: 2, type: .frontCover)]) == 2)
        #expect(PageLayout.cover(of: pages, stated: [ComicPageInfo(image: 9, type: .frontCover)]) == 1)
        #expect(PageLayout.cover(of: [pages[0], pages[2]]) == 0)
        #expect(PageLayout.cover(of: []) == nil)
        #expect(PageLayout.shown(count: 3, stated: [ComicPageInfo(image: 1, type: .deleted)]) == [0, 2])
    }
}
