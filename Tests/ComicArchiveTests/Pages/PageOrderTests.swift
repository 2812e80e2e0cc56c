import ComicTestSupport
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Pages in reading order.
@Suite("Page order") struct PageOrderTests {
    @Test(
        "Pages are in reading order",
        arguments: [
            ["page2.jpg", "page02.jpg", "page10.jpg"],
            ["A/1.jpg", "a/9.jpg", "a/10.jpg"],
            ["ch 2/1.jpg", "ch 2.5/1.jpg", "ch 10/1.jpg"],
            ["ch 2.jpg", "ch 2.5.jpg", "ch 3.jpg"],
            ["ch2/1.jpg", "ch2/3.jpg", "ch02/2.jpg"],
            ["001.jpg", "001b.jpg", "cover.jpg"],
            ["1/99.jpg", "2/1.jpg", "10/1.jpg"],
            ["p18446744073709551615.jpg", "p18446744073709551616.jpg"],
            ["x.jpg", "x/1.jpg"],
            ["Ärger 2.png", "ärger 10.png"],
        ])
    func pagesStandReading(paths: [String]) {
        for _ in 0..<5 {
            #expect(PageOrder.sorted(paths.shuffled().map { Array($0.utf8) }) == paths.map { Array($0.utf8) })
        }
    }

    /// The order is total for any bytes: a sort cannot go wrong and is the same everywhere.
    @Test("Any names are totally ordered") func namesTotallyOrdered() {
        var random = SeededGenerator(for: "page order")
        let alphabet: [UInt8] = Array("01290aAbZ./ -_".utf8) + [0xC3, 0xA4, 0xFF, 0x00, 0x80]
        let paths = (0..<160).map { _ in
            (0..<Int.random(in: 0...7, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        }
        let keys = paths.map { PageOrder.Key($0) }
        let less = keys.map { one in keys.map { one < $0 } }
        for one in keys.indices {
            for other in keys.indices {
                let isSame = paths[one] == paths[other]
                #expect(isSame ? !less[one][other] && !less[other][one] : less[one][other] != less[other][one])
                guard less[one][other] else { continue }
                for third in keys.indices where less[other][third] && !less[one][third] {
                    Issue.record("\(paths[one]) < \(paths[other]) < \(paths[third])")
                }
            }
        }
        let sorted = PageOrder.sorted(paths)
        #expect(PageOrder.sorted(paths.shuffled(using: &random)) == sorted)
    }
}
