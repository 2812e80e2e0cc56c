import Platform
import Rules
import TestSupport
import Testing

@Suite("Name patterns") struct NamePatternTests {
    /// The values of a name; nil if it does not match.
    private func match(_ pattern: String, _ name: BytePath) throws -> Values? {
        let set = RuleSet([try rule(where: "name-like: \"\(pattern)\"")])
        let facts = FileFacts(
            place: places()[4], path: name, status: nil, event: .arrived, now: Timestamp(seconds: 0), content: .none)
        return try set.match(facts).first?.hits.first?.values
    }

    private func date(_ seconds: Double) -> Value { .date(Timestamp(seconds: seconds)) }

    @Test("Each field is a value, and dates are parsed") func fields() throws {
        #expect(
            try match("{vendor}_{date:yyyy-MM-dd}_{number:0000}.pdf", "ACME Ltd._2026-11-23_0042.pdf") == [
                "match.vendor": .text("ACME Ltd."), "match.date": date(1_795_392_000), "match.number": .text("0042"),
            ])
        #expect(try match("{at:yyyyMMdd_HHmmss}.jpg", "20261123_093015.jpg") == ["match.at": date(1_795_426_215)])
        #expect(
            try match("{at:dd.MM.yy} {what}", "01.02.69 x") == [
                "match.at": date(-28_857_600), "match.what": .text("x"),
            ])
    }

    @Test(
        "The whole name must match",
        arguments: [
            ("IMG_{n:0000}.jpg", "IMG_0001.jpg", true), ("IMG_{n:0000}.jpg", "IMG_001.jpg", false),
            ("IMG_{n:0000}.jpg", "IMG_00001.jpg", false), ("IMG_{n:0000}.jpg", "img_0001.jpg", false),
            ("IMG_{n:0000}.jpg", "IMG_0001.jpg.part", false), ("IMG_{n:#}.jpg", "IMG_123456.jpg", true),
            ("IMG_{n:#}.jpg", "IMG_.jpg", false), ("{a}.{b}", "x", false), ("{a}.{b}", ".x", false),
            ("{d:yyyy-MM-dd}", "2026-02-29", false), ("{d:yyyy-MM-dd}", "2028-02-29", true),
            ("{d:yyyy-MM-dd}", "2026-13-01", false), ("{d:yyyy-MM-dd HHmm}", "2026-01-01 2460", false),
            ("{{x}}{a}", "{x}y", true), ("größe {a}", "größe ü", true), ("plain.txt", "plain.txt", true),
        ])
    func wholeName(_ pattern: String, _ name: String, _ expected: Bool) throws {
        #expect(try (match(pattern, BytePath(name)) != nil) == expected)
    }

    @Test("Text matches as little as possible, and digits as much") func shortestText() throws {
        #expect(try match("{a}-{b}", "x-y-z") == ["match.a": .text("x"), "match.b": .text("y-z")])
        #expect(try match("{a}{n:#}.txt", "scan 12.txt") == ["match.a": .text("scan "), "match.n": .text("12")])
        #expect(try match("{n:#}{m:00}.txt", "12345.txt") == ["match.n": .text("123"), "match.m": .text("45")])
    }

    @Test("A name that matches no pattern takes time proportional to its length times the pattern's") func hostileName()
        throws
    {
        let pattern = (0..<20).map { "{a\($0)}a" }.joined() + "b"
        #expect(try match(pattern, BytePath(String(repeating: "a", count: 255))) == nil)
    }

    @Test("A name that is not UTF-8 matches no pattern") func notText() throws {
        #expect(try match("{a}.pdf", BytePath(bytes: [0xFF] + Array(".pdf".utf8))) == nil)
    }

    @Test(
        "An invalid pattern is reported at its character",
        arguments: [
            ("{a", "4:19", "`{` is not closed; write `{{` for the brace itself"),
            ("xa}", "4:21", "`}` closes nothing; write `}}` for the brace itself"),
            ("x{}", "4:21", "a field needs a name of letters, digits and `-`, as in `{vendor}`"),
            (
                "x{a}{b}", "4:23",
                "there is no separator between `{a}` and `{b}`, so it is unclear where the first one ends"
            ),
            ("{a}-{a}", "4:23", "the field `a` is there twice"),
            (
                "{d:yyyy-MM-DD}", "4:30",
                "`D` is not a letter of a date; use `yyyy`, `yy`, `MM`, `dd`, `HH`, `mm` and `ss`"
            ),
            ("{d:yyyy-M-dd}", "4:27", "`M` must be `MM`"),
            ("{d:yyyy-MM}", "4:22", "a date needs a year, a month and a day, as in `yyyy-MM-dd`"),
            (
                "{n:12}", "4:22",
                "`12` is no form of a field; write `0000` for so many digits, `#` for any number of them, or a date such as "
                    + "`yyyy-MM-dd`"
            ),
        ])
    func complaint(_ pattern: String, _ position: String, _ message: String) {
        #expect(
            complaints("rule: R\nin: other\nwhere:\n  name-like: [x, \"\(pattern)\"]\ndo: trash\n") == [
                "\(position) the pattern `\(pattern)` cannot be read: \(message)"
            ])
    }

    @Test("Steps may use the fields, and no others") func templates() {
        func steps(_ template: String) -> [String] {
            complaints(
                "rule: R\nin: other\nwhere: { name-like: \"{vendor}.pdf\" }\n"
                    + "do: [{ append-block: { text: \"{{ \(template) }}\" } }]\n")
        }
        #expect(steps("match.vendor").isEmpty)
        #expect(steps("match.number").contains { $0.contains("unknown value `match.number`") })
    }

    @Test("The index excludes names with another ending") func index() throws {
        let set = RuleSet([try rule(where: "name-like: \"{a}_{n:00}.pdf\"")])
        func candidates(_ name: String) -> [Int] {
            set.index.candidates(place: "other", event: .arrived, name: Array(name.utf8))
        }
        #expect(candidates("x_01.pdf") == [0])
        #expect(candidates("x_01.txt") == [])
    }
}
