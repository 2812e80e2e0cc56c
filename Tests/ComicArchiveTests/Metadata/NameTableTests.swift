import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// File names in all the forms found in collections, of comics that do not exist.
@Suite("Names from real collections") struct NameTableTests {
    typealias Case = NameParsingTests.Case

    static let american = [
        Case("Copper Valley 001 (2019) (digital) (Owl-Empire).cbr", "Copper Valley", "1", year: 2019),
        Case("Copper Valley 001 (2019) (digital) (c2c) (Owl-Empire).cbz", "Copper Valley", "1", year: 2019),
        Case("Copper Valley 012 (of 12) (2020) (Webrip) (Owl-DCP).cbz", "Copper Valley", "12", year: 2020, count: 12),
        Case("Copper Valley #1.cbz", "Copper Valley", "1"),
        Case("Copper Valley #001.cbz", "Copper Valley", "1"),
        Case("Copper Valley # 3.cbz", "Copper Valley", "3"),
        Case("Copper Valley 1 of 4 (1998).cbr", "Copper Valley", "1", year: 1998, count: 4),
        Case("Copper Valley 01 (of 04) (1998) (c2c).cbr", "Copper Valley", "1", year: 1998, count: 4),
        Case("Copper Valley (1998) 01 (of 04).cbr", "Copper Valley", "1", year: 1998, count: 4),
        Case("Copper Valley v2 003 (1976).cbz", "Copper Valley", "3", volume: 2, year: 1976),
        Case("Copper Valley v2 #3.cbz", "Copper Valley", "3", volume: 2),
        Case("Copper Valley v1 #001 (1965).cbz", "Copper Valley", "1", volume: 1, year: 1965),
        Case("Copper Valley V2005 #003.cbz", "Copper Valley", "3", volume: 2005),
        Case("Copper Valley Vol. 2 003.cbz", "Copper Valley", "3", volume: 2),
        Case("Copper Valley Vol 2 #3 (1976).cbz", "Copper Valley", "3", volume: 2, year: 1976),
        Case("Copper Valley Volume 2 Issue 3.cbz", "Copper Valley", "3", volume: 2),
        Case("Copper Valley Issue 12.cbz", "Copper Valley", "12"),
        Case("Copper Valley No. 12 (1955).cbz", "Copper Valley", "12", year: 1955),
        Case("Copper Valley #12.1.cbz", "Copper Valley", "12.1"),
        Case("Copper Valley 012.1 (2014).cbz", "Copper Valley", "12.1", year: 2014),
        Case("Copper Valley 0.5 (2001).cbz", "Copper Valley", "0.5", year: 2001),
        Case("Copper Valley #½ (1999).cbz", "Copper Valley", "½", year: 1999),
        Case("Copper Valley ½ (1999).cbz", "Copper Valley", "½", year: 1999),
        Case("Copper Valley #-1 (1997).cbz", "Copper Valley", "-1", year: 1997),
        Case("Copper Valley -1 (1997).cbz", "Copper Valley", "-1", year: 1997),
        Case("Copper Valley 000 (1994).cbz", "Copper Valley", "0", year: 1994),
        Case("Copper Valley 1000 (2018) (digital).cbz", "Copper Valley", "1000", year: 2018),
        Case("Copper Valley 100 (1978) (Scanner-Group).cbz", "Copper Valley", "100", year: 1978),
        Case("Copper Valley 036a (2011).cbz", "Copper Valley", "36a", year: 2011),
        Case("Copper Valley #7AU (2013).cbz", "Copper Valley", "7AU", year: 2013),
        Case("Copper Valley Annual 001 (1992).cbz", "Copper Valley Annual", "1", year: 1992),
        Case("Copper Valley Annual #2 (1993).cbz", "Copper Valley Annual", "2", year: 1993),
        Case("Copper Valley Annual 1992.cbz", "Copper Valley Annual 1992"),
        Case("Copper Valley Special 01 (2003).cbz", "Copper Valley Special", "1", year: 2003),
        Case("Copper Valley TPB (2004).cbz", "Copper Valley TPB", year: 2004),
        Case("Copper Valley TPB 02 (2004) (digital).cbz", "Copper Valley TPB", "2", year: 2004),
        Case(
            "Copper Valley v03 - The Long Dry Summer (2021) (Digital) (Owl).cbz", "Copper Valley", volume: 3,
            year: 2021, title: "The Long Dry Summer"),
        Case("Copper Valley Vol. 03 (TPB) (2021).cbz", "Copper Valley", volume: 3, year: 2021),
        Case(
            "Copper Valley - 003 - The Long Dry Summer (2021).cbz", "Copper Valley", "3", year: 2021,
            title: "The Long Dry Summer"),
        Case("Copper Valley - Book 2 - 003 (2021).cbz", "Copper Valley - Book 2", "3", year: 2021),
        Case("Copper Valley 003 The Long Dry Summer.cbz", "Copper Valley", "3", title: "The Long Dry Summer"),
        Case("Copper Valley (2019) #3.cbz", "Copper Valley", "3", year: 2019),
        Case("Copper Valley (2019) 003.cbz", "Copper Valley", "3", year: 2019),
        Case("Copper Valley (2019-) 003.cbz", "Copper Valley", "3", year: 2019),
        Case("Copper Valley (2019-03) 003.cbz", "Copper Valley", "3", year: 2019),
        Case("Copper Valley 003 (March 2019).cbz", "Copper Valley", "3", year: 2019),
        Case("Copper Valley 003 (2019) [2048px] [Owl].cbz", "Copper Valley", "3", year: 2019),
        Case("Copper Valley 003 (2019) (3 covers) (digital).cbz", "Copper Valley", "3", year: 2019),
        Case("Copper_Valley_003_(2019)_(digital).cbz", "Copper Valley", "3", year: 2019),
        Case("Copper_Valley_#003.cbz", "Copper Valley", "3"),
        Case("Copper+Valley+003.cbz", "Copper Valley", "3"),
        Case("Copper.Valley.003.cbz", "Copper Valley", "3"),
        Case("Copper.Valley.003.(2019).(digital).cbz", "Copper Valley", "3", year: 2019),
        Case("Copper-Valley-003.cbz", "Copper-Valley", "3"),
        Case("Copper Valley_003.cbz", "Copper Valley", "3"),
        Case("COPPER VALLEY 003.CBR", "COPPER VALLEY", "3"),
        Case("Copper Valley 003 (2019).zip", "Copper Valley", "3", year: 2019),
        Case("Copper Valley 003 (2019)", "Copper Valley", "3", year: 2019),
        Case("  Copper Valley   003  (2019) .cbz", "Copper Valley", "3", year: 2019),
        Case("Copper Valley 003 (2019) (1).cbz", "Copper Valley", "3", year: 2019),
        Case("003 Copper Valley.cbz", "Copper Valley", "3"),
        Case("003 - Copper Valley.cbz", "Copper Valley", "3"),
        Case("#003.cbz", nil, "3"),
        Case("003.cbz", "003", "3"),
    ]

    /// The name forms from comictagger's own tests.
    static let tagged = [
        Case("owl 3 title (OC).cbz", "owl", "3", title: "title"),
        Case("mr. Owl 3.cbz", "mr. Owl", "3"),
        Case("january snow 2.cbz", "january snow", "2"),
        Case("61.cbz", "61", "61"),
        Case("61 Copper_Valley_v1_2__repaired__c2c.cbz", "Copper Valley", "2", volume: 1),
        Case("Copper_Valley_v1_2__repaired__c2c.cbz", "Copper Valley", "2", volume: 1),
        Case(
            "Copper Valley v1 3 (1957) -- The Return Of The Owl (noads).cbz", "Copper Valley", "3", volume: 1,
            year: 1957,
            title: "The Return Of The Owl"),
        Case(
            "Owl-Man Annual 121 - The Wrath of Owl-Man, Part 1 of 2.cbz", "Owl-Man Annual", "121",
            title: "The Wrath of Owl-Man, Part 1 of 2"),
        Case("Copper Tales (1957) #92 (1969).cbz", "Copper Tales", "92", year: 1957),
        Case(" Z-Men-V1-067.cbr", "Z-Men", "67", volume: 1),
        Case("Fast Beetle-Man 078.OWL (2022) (Digital).cbr", "Fast Beetle-Man", "78.OWL", year: 2022),
        Case(
            "Copper - Green Owl - Deep Target 01 (of 07) (2021).cbr", "Copper - Green Owl - Deep Target", "1",
            year: 2021,
            count: 7),
        Case(
            "Copper 80th Birthday 100-Page Giant (2021) 001 (2021) (Digital).cbz",
            "Copper 80th Birthday 100-Page Giant",
            "1", year: 2021),
        Case("Copper '89 (2021) (Webrip).cbr", "Copper '89", year: 2021),
        Case("Valley Runner 2029 006 (2021) (3 covers).cbr", "Valley Runner 2029", "6", year: 2021),
        Case("Copper Book 03 (2020) (digital).cbr", "Copper", "3", volume: 3, year: 2020, title: "Book 03"),
        Case("book of owls (2020) (digital).cbr", "book of owls", year: 2020),
        Case(
            "Cyberowl 2077 - You Have My Feather 02 (2021) (digital).cbr", "Cyberowl 2077", "2", year: 2021,
            title: "You Have My Feather"),
        Case(
            "Owlmen 2259 008 - Simple Feather 03 (of 06) (2021) (digital).cbr", "Owlmen 2259", "8", volume: 3,
            year: 2021,
            title: "Simple Feather"),
        Case("Free Owl Day - Copper.Valley (2021) (2048px).cbz", "Free Owl Day - Copper Valley", year: 2021),
        Case("Owl Two In One V1 090  c2c (Group).cbr", "Owl Two In One", "90", volume: 1),
        Case("Owl Wars - War of the Owls - IG-88 (2021).cbz", "Owl Wars - War of the Owls - IG-88", year: 2021),
        Case("Owl Wars - War of the Owls - IG-88 #1 (2021).cbz", "Owl Wars - War of the Owls - IG-88", "1", year: 2021),
        Case("The Owls v1 Annual 01 (1976) (Digital).cbr", "The Owls Annual", "1", volume: 1, year: 1976),
        Case("The Owl Order 2 06 (2022) (Digital)[__913302__].cbz", "The Owl Order 2", "6", year: 2022),
        Case("Owl Woman 49 OC Sep-Oct 1951 digital [downsized, lightened].cbz", "Owl Woman", "49", year: 1951),
        Case("Z-Men, 2021-08-04 (#02) (digital).cbz", "Z-Men", "2", year: 2021),
        Case(
            "Tales of the Owls: Hoot's Game #001 (2007).cbz", "Tales of the Owls", "1", year: 2007, title: "Hoot's Game"
        ),
    ]

    static let withNumbers = [
        // This number cannot be distinguished from an issue number.
        Case("Route 66.cbz", "Route", "66"),
        Case("S.H.E.L.L.cbz", "S.H.E.L.L"),
        Case("Mr.Smith.cbz", "Mr.Smith"),
        Case("Route 66 003.cbz", "Route 66", "3"),
        Case("Route 66 #3 (1998).cbz", "Route 66", "3", year: 1998),
        Case("7 Lanterns 001 (2010).cbz", "7 Lanterns", "1", year: 2010),
        Case("1985 001 (2008).cbz", "1985", "1", year: 2008),
        Case("2050 A.D. 012 (1974).cbz", "2050 A.D.", "12", year: 1974),
        Case("Orbit 2199 04 (1983).cbz", "Orbit 2199", "4", year: 1983),
        Case("Area 12½ 001 (2002).cbz", "Area 12½", "1", year: 2002),
        Case("X-9 001.cbz", "X-9", "1"),
        Case("K9 003 (2001).cbz", "K9", "3", year: 2001),
        Case("Dr. Night & Mr. Day 004 (1981).cbz", "Dr. Night & Mr. Day", "4", year: 1981),
        Case("O.W.L.S. 002 (1988).cbz", "O.W.L.S.", "2", year: 1988),
        Case("Who's There! 002 (1988).cbz", "Who's There!", "2", year: 1988),
        Case("Ash, the Cat - 002 (1988).cbz", "Ash, the Cat", "2", year: 1988),
        Case("Wolf vs. Crow 02 (of 03) (2007).cbz", "Wolf vs. Crow", "2", year: 2007, count: 3),
        Case("Wolf: The End 02.cbz", "Wolf: The End", "2"),
        Case("Free Comics Day 2013 - Copper Valley.cbz", "Free Comics Day 2013 - Copper Valley"),
        Case("Été à Zürich 03 (2016).cbz", "Été à Zürich", "3", year: 2016),
    ]

    static let manga = [
        Case("Kaze no Machi v01.cbz", "Kaze no Machi", volume: 1),
        Case("Kaze no Machi v01-02.cbz", "Kaze no Machi", volume: 1),
        Case("Kaze no Machi v01 (2015) (Digital) (Owl).cbz", "Kaze no Machi", volume: 1, year: 2015),
        Case("Kaze no Machi v01 c003.cbz", "Kaze no Machi", "3", volume: 1),
        Case("Kaze no Machi v01 ch003.5.cbz", "Kaze no Machi", "3.5", volume: 1),
        Case("Kaze no Machi Vol.01 Ch.003.cbz", "Kaze no Machi", "3", volume: 1),
        Case("Kaze no Machi Vol. 1 Chapter 3 - Rain.cbz", "Kaze no Machi", "3", volume: 1, title: "Rain"),
        Case("Kaze no Machi - c003 (v01) [Owl Scans].cbz", "Kaze no Machi", "3", volume: 1),
        Case("Kaze no Machi - Chapter 012.cbz", "Kaze no Machi", "12"),
        Case("Kaze no Machi Ch. 012.5 [Owl].cbz", "Kaze no Machi", "12.5"),
        Case("[Owl Scans] Kaze no Machi 012.cbz", "Kaze no Machi", "12"),
        Case("[Owl Scans] Kaze no Machi - 012 [1080p].cbz", "Kaze no Machi", "12"),
        Case("(Manga) Kaze no Machi 第12巻.zip", "Kaze no Machi", volume: 12),
        Case("風の街 第3話.cbz", "風の街", "3"),
        Case("風の街 第03卷 第12話.cbz", "風の街", "12", volume: 3),
        Case("[作者] 風の街 第01巻.zip", "風の街", volume: 1),
        Case("La Ville du Vent T03.cbz", "La Ville du Vent", volume: 3),
        Case("La Ville du Vent - Tome 3 - La Pluie.cbz", "La Ville du Vent", volume: 3, title: "La Pluie"),
        Case("Die Stadt im Wind Band 3.cbz", "Die Stadt im Wind", volume: 3),
        Case("Город ветра Том 2 Глава 5.cbz", "Город ветра", "5", volume: 2),
    ]

    @Test("Names are understood as people mean them", arguments: american + tagged + withNumbers + manga)
    func namesReadPeople(one: Case) {
        let name = ComicName.parse(one.name)
        #expect(name.series == one.series)
        #expect(name.number == one.number)
        #expect(name.volume == one.volume)
        #expect(name.year == one.year)
        #expect(name.count == one.count)
        if let title = one.title { #expect(name.title == title) }
    }
}
