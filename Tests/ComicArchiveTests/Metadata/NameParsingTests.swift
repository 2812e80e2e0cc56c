import ComicTestSupport
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Series, number, volume and year from file names, as people name files.
@Suite("Reading comic file names") struct NameParsingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var series: String?
        var number: String?
        var volume: Int?
        var year: Int?
        var count: Int?
        var title: String?
        var testDescription: String { name }

        init(
            _ name: String, _ series: String?, _ number: String? = nil, volume: Int? = nil, year: Int? = nil,
            count: Int? = nil, title: String? = nil
        ) {
            (self.name, self.series, self.number, self.volume) = (name, series, number, volume)
            (self.year, self.count, self.title) = (year, count, title)
        }
    }

    @Test(
        "Names are understood as people mean them",
        arguments: [
            Case("Blue Harbor #001 (2021) (digital) (Group).cbz", "Blue Harbor", "1", year: 2021),
            Case("Blue Harbor v1 002 (1942).cbr", "Blue Harbor", "2", volume: 1, year: 1942),
            Case("Blue Harbor 04 (of 6) (1999).cbz", "Blue Harbor", "4", year: 1999, count: 6),
            Case("Blue Harbor 4 of 6.cbz", "Blue Harbor", "4", count: 6),
            Case("Blue Harbor Vol.2000 #57.cbz", "Blue Harbor", "57", volume: 2000),
            Case("Blue-Men, 2021-08-04 (#02).cbz", "Blue-Men", "2", year: 2021),
            Case("Blue Harbor #½.cbz", "Blue Harbor", "½"),
            Case("Blue Harbor #1½.cbz", "Blue Harbor", "1½"),
            Case("Blue Harbor #078.BEY.cbz", "Blue Harbor", "78.BEY"),
            Case("Blue Harbor #0.cbz", "Blue Harbor", "0"),
            Case("Blue Harbor #-1.cbz", "Blue Harbor", "-1"),
            Case("Blue Harbor v03 c11.cbz", "Blue Harbor", "11", volume: 3),
            Case("Blue Harbor 第03卷.cbz", "Blue Harbor", volume: 3),
            Case("Синяя гавань Том 3.cbz", "Синяя гавань", volume: 3),
            Case("[Group]_Blue_Harbor_v01_c02.cbz", "Blue Harbor", "2", volume: 1),
            Case("Blue Harbor Volume V.cbz", "Blue Harbor", volume: 5),
            Case("Cyberpunk 2077.cbz", "Cyberpunk 2077"),
            Case("Cyberpunk 2077 #03 (2020).cbz", "Cyberpunk 2077", "3", year: 2020),
            Case("Cyberpunk 2077 - 003.cbz", "Cyberpunk 2077", "3"),
            Case("Spider-Man 2099.cbz", "Spider-Man 2099"),
            Case("Spider-Man 2099 001 (1992).cbz", "Spider-Man 2099", "1", year: 1992),
            Case("100 Bullets 05.cbz", "100 Bullets", "5"),
            Case("100 Bullets.cbz", "100 Bullets"),
            // Such a number cannot be distinguished from an issue number, and issues are more common.
            Case("Rev 2.cbz", "Rev", "2"),
            Case("March 5.cbz", "March", "5"),
            Case("Fantastic 4.cbz", "Fantastic", "4"),
            Case("Fantastic 4 012.cbz", "Fantastic 4", "12"),
            Case("Saga 1.cbz", "Saga", "1"),
            Case("Saga 9 (2012).cbz", "Saga", "9", year: 2012),
            Case("100 Bullets 5.cbz", "100 Bullets", "5"),
            Case("Bone - 001.cbz", "Bone", "1"),
            Case("Bone - 001 - Out of the Valley.cbz", "Bone", "1", title: "Out of the Valley"),
            Case("One Piece Ch1.cbz", "One Piece", "1"),
            Case("One Piece 1044.cbz", "One Piece", "1044"),
            Case("Saga v03 (2019).cbz", "Saga", volume: 3, year: 2019),
            Case("Akira (2022).cbz", "Akira", year: 2022),
            Case("Akira (2022) 1.cbz", "Akira", "1", year: 2022),
            Case("Akira (1).cbz", "Akira", "1"),
            Case("Blue Harbor 12.5.cbz", "Blue Harbor", "12.5"),
            Case("Blue Harbor Chapter 10.5.cbz", "Blue Harbor", "10.5"),
            Case("Blue Harbor.cbz", "Blue Harbor"),
            Case("Mr. Smith 001.cbz", "Mr. Smith", "1"),
            Case("Blue Harbor (2019-2020) 03.cbz", "Blue Harbor", "3", year: 2019),
        ])
    func namesReadPeople(one: Case) {
        let name = ComicName.parse(one.name)
        #expect(name.series == one.series)
        #expect(name.number == one.number)
        #expect(name.volume == one.volume)
        #expect(name.year == one.year)
        #expect(name.count == one.count)
        if let title = one.title { #expect(name.title == title) }
    }

    @Test("Numbers are ordered") func numbersOrder() {
        #expect(["½", "1", "1½", "2.5", "10", "78.BEY"].map { ComicName.order(of: $0) } == [0.5, 1, 1.5, 2.5, 10, 78])
        #expect(ComicName.order(of: "-1") == -1)
        #expect(ComicName.order(of: "X") == nil)
    }

    @Test("Any name is read safely") func anyNameRead() {
        var random = SeededGenerator(for: "names")
        let parts = [
            "(", ")", "[", "#", "1", "2021", " ", "-", "v", "½", "第", "卷", "of", "Vol.", "é", "_", ".", "\0", "🙂",
        ]
        for _ in 0..<2000 {
            let name = (0..<Int.random(in: 0...20, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }
            check(name.joined())
        }
        check(String(repeating: "(", count: 100_000))
        check(String(repeating: "1 ", count: 100_000))
    }

    /// For any name: no numbers that no comic has, and no words that do not occur in it.
    private func check(_ name: String) {
        let found = ComicName.parse(name)
        let shown = name.prefix(100).debugDescription
        #expect(found.month.map((1...12).contains) ?? true, "\(shown): \(found)")
        #expect(found.year.map((1000...9999).contains) ?? true, "\(shown): \(found)")
        #expect([found.count, found.volume].allSatisfy { $0.map { $0 >= 0 } ?? true }, "\(shown): \(found)")
        let letters = Set(name.unicodeScalars)
        for text in [found.series, found.title].compactMap(\.self) {
            #expect(!text.isEmpty && text.count <= name.count, "\(shown): \(found)")
            #expect(text.unicodeScalars.allSatisfy { letters.contains($0) || $0 == " " }, "\(shown): \(found)")
        }
    }
}
