import Foundation
import Platform
import Rules
import TestSupport
import Testing

/// The result of each filter, as a table.
@Suite("Filters") struct FilterTests {
    private static let berlin = Zone(identifier: "Europe/Berlin") ?? .gmt
    private static let values: Values = [
        // 2026-11-23 00:30 in Berlin.
        "arrived": .date(Timestamp(seconds: 1_795_390_200)), "due": .text("2026-12-01"), "begun": .text("2026-03-28"),
        // The clock was put forward from two to three o'clock.
        "shown": .local(LocalTime(CivilDateTime(secondsSince1970: 1_774_751_400), offset: 3_600)),
        "leap": .text("2024-02-29"), "late": .text("2261-12-31"), "never": .text("9999-12-31"),
        "name": .text("  Ärger_mit der STRASSE 7 "), "polish": .text("Łódź"), "title": .text("a/b: \"Was?\" <1>*"),
        "tags": .list([.text("Eins"), .text("zwei"), .integer(3)]), "words": .text(" a ; b;; c "), "empty": .text(""),
        "net": .text("100.10"), "tax": .text("0.19"), "count": .integer(7), "low": .integer(-7), "zero": .integer(0),
        "bytes": .integer(1_468_006), "large": .text("999999999999999999999999999999"), "word": .text("abc"),
        "most": .integer(.max), "comma": .text("1,50"),
        // The last nanosecond of the hour.
        "brink": .date(Timestamp(nanoseconds: 1_795_391_999_999_999_999)),
    ]

    static func render(_ text: String, zone: Zone = berlin) throws -> String {
        try Template(text).rendered(TemplateContext(values: values, timeZone: zone))
    }

    @Test(
        "Text filters",
        arguments: [
            ("{{ name | trim }}", "Ärger_mit der STRASSE 7"), ("{{ name | trim | lower }}", "ärger_mit der strasse 7"),
            ("{{ polish | upper }}", "ŁÓDŹ"), ("{{ name | trim | title }}", "Ärger_mit Der STRASSE 7"),
            ("{{ word | title }}", "Abc"),
            ("{{ name | trim | replace: \"_\", with: \" \" }}", "Ärger mit der STRASSE 7"),
            ("{{ word | replace: b }}", "ac"), ("{{ word | replace: \"b\", with: \"\\\\\" }}", "a\\c"),
            ("{{ tags | lower }}", "eins, zwei, 3"), ("{{ tags | join: \" + \" }}", "Eins + zwei + 3"),
            ("{{ tags | first }}-{{ tags | last }}", "Eins-3"), ("{{ word | first }}", "abc"),
            ("{{ words | split: \";\" | join: \",\" }}", "a,b,c"), ("{{ empty | split: \",\" | first }}", ""),
            ("{{ name | match: \"\\d+\" }}", "7"), ("{{ name | match: \"(?<a>[A-Z]+) (?<b>\\d)\" }}", "STRASSE"),
            ("{{ name | match: \"(?<a>[A-Z]+) (?<b>\\d)\", group: b }}", "7"),
            ("{{ word | match: \"x|b\" }}", "b"), ("[{{ word | match: \"\\d\" }}]", "[]"),
            ("{{ word | match: \"\\d\" | default: none }}", "none"), ("[{{ missing | upper }}]", "[]"),
            ("{{ title | safe-name }}", "a-b - 'Was_' _1_"), ("{{ 'CON.txt' | safe-name }}", "CON_.txt"),
            ("{{ 'x. ' | safe-name }}", "x"), ("{{ '\\u{202E}' | safe-name }}", "_u{202E}"),
        ])
    func text(_ template: String, _ expected: String) throws {
        #expect(try Self.render(template) == expected)
    }

    @Test(
        "Letters of any script have plain equivalents",
        arguments: [
            ("{{ polish | ascii }}", "Lodz"), ("{{ 'Straße Ä' | ascii }}", "Strasse A"),
            ("{{ 'Straße Ärger Öl' | ascii: de }}", "Strasse Aerger Oel"),
            ("{{ 'Ærøskøbing' | ascii: da }}", "Aeroeskoebing"),
            ("{{ 'Ærøskøbing' | ascii }}", "AEroskobing"), ("{{ 'Привет мир' | ascii }}", "Privet mir"),
            ("{{ 'Αθήνα' | ascii }}", "Athena"), ("{{ '東京' | ascii | lower }}", "dong jing"),
            ("{{ 'İstanbul ﬁ' | ascii }}", "Istanbul fi"), ("{{ 'a\u{308}' | ascii: de }}", "ae"),
            ("{{ 'plain' | ascii }}", "plain"), ("{{ 'x🎉y' | ascii }}", "xy"),
            ("{{ 'Łódź Привет' | ascii | slug }}", "lodz-privet"), ("{{ 'Łódź' | slug }}", "odz"),
        ])
    func ascii(_ template: String, _ expected: String) throws {
        #expect(try Self.render(template) == expected)
    }

    @Test(
        "Arithmetic on numbers is exact",
        arguments: [
            ("{{ count | plus: 1 }}", "8"), ("{{ count | minus: 10 }}", "-3"), ("{{ count | times: 2.5 }}", "17.5"),
            ("{{ net | times: tax }}", "19.019"), ("{{ net | times: tax | round: 2 }}", "19.02"),
            ("{{ net | plus: 0.2 }}", "100.3"), ("{{ net | plus: count | round }}", "107"),
            ("{{ count | divided-by: 2 }}", "3.5"), ("{{ '1' | divided-by: 3 }}", "0.333333333333333333"),
            ("{{ '1' | divided-by: 3 | times: 3 | round: 2 }}", "1.00"), ("{{ '2.5' | round }}", "3"),
            ("{{ '-2.5' | round }}", "-3"), ("{{ '-0.4' | round }}", "0"), ("{{ count | round: 2 }}", "7.00"),
            ("{{ '12.5' | round: 2 }}", "12.50"), ("{{ most | plus: 1 }}", "9223372036854775808"),
            ("{{ count | pad: 4 }}", "0007"), ("{{ low | pad: 4 }}", "-007"), ("{{ count | pad: 1 }}", "7"),
            ("{{ '+5' | plus: 0 }}", "5"), ("{{ ' 5 ' | plus: 0 }}", "5"), ("[{{ missing | plus: 1 }}]", "[]"),
            ("[{{ count | plus: missing }}]", "[]"), ("{{ missing | plus: 1 | default: 0 }}", "0"),
            ("{{ bytes | size }}", "1.4 MiB"), ("{{ bytes | size: kB }}", "1468 kB"),
            ("{{ bytes | size: KiB }}", "1433.6 KiB"),
            ("{{ count | size }}", "7 B"), ("{{ zero | size }}", "0 B"), ("{{ '1024' | size }}", "1 KiB"),
            ("{{ bytes | size: GiB }}", "0 GiB"),
        ])
    func numbers(_ template: String, _ expected: String) throws {
        #expect(try Self.render(template) == expected)
    }

    @Test(
        "Dates are shifted by the calendar in the agent's time zone",
        arguments: [
            ("{{ arrived | date: '%F %H:%M' }}", "2026-11-23 00:30"),
            ("{{ due | plus: 30d | date: %F }}", "2026-12-31"),
            ("{{ due | minus: 2w | date: %F }}", "2026-11-17"), ("{{ due | plus: -1 month | date: %F }}", "2026-11-01"),
            ("{{ leap | plus: 1 year | date: %F }}", "2025-02-28"),
            ("{{ leap | minus: 1 year | date: %F }}", "2023-02-28"),
            ("{{ leap | minus: 2 years | date: %F }}", "2022-02-28"),
            ("{{ leap | plus: 4 years | date: %F }}", "2028-02-29"),
            ("{{ '2026-01-31' | plus: 1 month | date: %F }}", "2026-02-28"),
            ("{{ due | plus: 2 years 3 months | date: %F }}", "2029-03-01"),
            // The day of the change has 23 hours.
            ("{{ begun | plus: 1 day | plus: 1 day | date: '%F %H:%M' }}", "2026-03-30 00:00"),
            ("{{ begun | plus: 48h | date: '%F %H:%M' }}", "2026-03-30 01:00"),
            // A time skipped by the clock stays as written.
            (
                "{{ shown }} {{ shown | date: '%F %T%z %s' }}",
                "2026-03-29T02:30:00+01:00 2026-03-29 02:30:00+01:00 1774747800"
            ),
            ("{{ shown | format: 'yyyy-MM-dd HH:mm' }}", "2026-03-29 02:30"),
            ("{{ shown | minus: 1 day | date: '%F %T' }}", "2026-03-28 02:30:00"),
            ("{{ shown | plus: 1 year | date: '%F %T' }}", "2027-03-29 02:30:00"),
            ("{{ shown | plus: 1h | date: '%F %T' }}", "2026-03-29 04:30:00"),
            ("{{ shown | start-of: hour | date: '%F %T' }}", "2026-03-29 03:00:00"),
            ("{{ '2026-03-29 02:30' | date: '%F %T' }}", "2026-03-29 02:30:00"),
            ("{{ '2026-03-29 02:30+01:00' | date: '%F %T' }}", "2026-03-29 03:30:00"),
            ("{{ arrived | start-of: month | date: '%F %T' }}", "2026-11-01 00:00:00"),
            ("{{ arrived | end-of: month | date: '%F %T' }}", "2026-11-30 23:59:59"),
            ("{{ arrived | start-of: week | date: '%a %F' }}", "Mon 2026-11-23"),
            ("{{ arrived | end-of: week | date: '%a %F' }}", "Sun 2026-11-29"),
            ("{{ due | start-of: quarter | date: %F }}", "2026-10-01"),
            ("{{ due | end-of: quarter | date: %F }}", "2026-12-31"),
            ("{{ due | start-of: year | date: %F }}", "2026-01-01"),
            ("{{ due | end-of: year | date: '%F %T' }}", "2026-12-31 23:59:59"),
            ("{{ arrived | end-of: hour | date: %T }}", "00:59:59"), ("{{ due | end-of: day | date: %T }}", "23:59:59"),
            ("{{ due | days-until }}", "8"), ("{{ begun | days-since }}", "240"), ("{{ arrived | days-until }}", "0"),
            ("{{ begun | days-until: due }}", "-248"), ("{{ due | days-since: begun }}", "-248"),
            ("[{{ missing | days-until }}]", "[]"), ("[{{ due | days-since: missing }}]", "[]"),
            ("[{{ empty | plus: 1d }}]", "[]"),
        ])
    func dates(_ template: String, _ expected: String) throws {
        #expect(try Self.render(template) == expected)
    }

    @Test(
        "Dates are formatted in a given language",
        arguments: [
            ("{{ arrived | format: \"d. MMMM yyyy\", locale: de }}", "23. November 2026"),
            ("{{ due | format: \"EEEE, d. MMMM\", locale: de }}", "Dienstag, 1. Dezember"),
            ("{{ due | format: \"EEEE d MMMM\", locale: fr }}", "mardi 1 décembre"),
            ("{{ due | format: \"d MMMM yyyy\" }}", "1 December 2026"),
            ("{{ due | format: \"yyyy 'Q'Q\" }}", "2026 Q4"),
            ("{{ due | format: \"MMMM\", locale: de-AT }}", "Dezember"), ("{{ arrived | format: HH:mm }}", "00:30"),
            ("[{{ missing | format: yyyy }}]", "[]"), ("{{ brink | format: \"HH:mm:ss.SSS\" }}", "00:59:59.999"),
        ])
    func locales(_ template: String, _ expected: String) throws {
        #expect(try Self.render(template) == expected)
    }

    @Test(
        "Anything but a number or date, as input or result, is rejected and named",
        arguments: [
            ("{{ word | plus: 1 }}", "`word` holds no number but `abc`"),
            ("{{ count | times: word }}", "`word` holds no number"),
            ("{{ comma | plus: 1 }}", "`comma` holds no number"),
            ("{{ count | divided-by: zero }}", "cannot be divided"),
            ("{{ count | divided-by: 0 }}", "cannot be divided"), ("{{ large | times: large }}", "more than 30 digits"),
            ("{{ large | plus: 1 }}", "more than 30 digits"), ("{{ word | plus: 1d }}", "`word` holds no date"),
            ("{{ never | plus: 1d }}", "holds no date"), ("{{ never | date: %Y }}", "holds no date"),
            ("{{ late | plus: 1 year }}", "no date between 1678 and 2261"), ("{{ tags | round }}", "holds no number"),
            ("{{ word | format: yyyy }}", "holds no date"), ("{{ due | days-until: word }}", "`word` holds no date"),
        ])
    func refused(_ template: String, _ message: String) {
        do {
            let text = try Self.render(template)
            Issue.record("\(template) gave \(text)")
        } catch {
            #expect("\(error)".contains(message) || explain(error).contains(message), "\(explain(error))")
            #expect((error as? Platform.Fault)?.kind == .refused)
        }
    }

    @Test(
        "Invalid filters are found when the rule is loaded",
        arguments: [
            ("{{ a | plus }}", "needs an argument"), ("{{ a | plus: 1x }}", "needs a number"),
            ("{{ a | times: 30d }}", "needs a number"), ("{{ a | round: 13 }}", "from 0 to 12"),
            ("{{ a | size: Mib }}", "no unit of sizes"), ("{{ a | pad: 0 }}", "from 1 to 100"),
            ("{{ a | start-of: decade }}", "none of hour, day"), ("{{ a | format: \"%Y\" }}", "`date` takes"),
            ("{{ a | format: \"yyyy 'x\" }}", "never closed"),
            ("{{ a | format: \"yyyy T\" }}", "no letter of date patterns"),
            ("{{ a | format: \"yyyy\", locale: xx }}", "no language"),
            ("{{ a | format: \"yyyy\", lokale: de }}", "no option `lokale`"),
            ("{{ a | format: \"yyyy\", locale: de, locale: fr }}", "twice"),
            ("{{ a | format: \"yyyy\", }}", "an option is needed"),
            ("{{ a | match: \"(\" }}", "no regular expression"),
            ("{{ a | match: \"(?<x>.)\", group: y }}", "no group `y`"),
            ("{{ a | ascii: xx }}", "knows no letters of its own"), ("{{ a | replace: \"\" }}", "needs the text"),
            ("{{ a | split: \"\" }}", "needs the text"), ("{{ a | days-until: 5 }}", "not the name of a date"),
            ("{{ counter: }}", "needs a name"), ("{{ counter:a b }}", "needs a name"),
            ("{{ counter:a@Y }}", "letters of dates"),
            ("{{ counter:a@%Q }}", "no letter of date formats"), ("{{ lookup:a[b] }}", "a look-up is written"),
            ("{{ lookup:a.b }}", "a look-up is written"), ("{{ lookup:a.b[] }}", "a look-up is written"),
        ])
    func faults(_ template: String, _ message: String) {
        do {
            _ = try Template(template)
            Issue.record("\(template) was read")
        } catch {
            #expect(error.message.contains(message), "\(error.message)")
        }
    }

    @Test("A filter can reference other values, including counters and look-ups")
    func references() throws {
        let template = try Template(
            "{{ a | plus: b.c }}{{ d | plus: 3 }}{{ e | days-since: f }}{{ counter:n@%Y | pad: 4 }}{{ lookup:t.c d[k.l] }}"
        )
        #expect(
            template.references.map(\.name) == ["a", "b.c", "d", "e", "f", "counter:n@%Y", "lookup:t.c d[k.l]", "k.l"])
    }

    @Test("No value makes a filter trap, and each result has the declared type")
    func hostile() throws {
        var random = SeededGenerator(for: "Filters")
        let alphabet = Array(
            "aZ09 -+._/\\:\"'<>|?*%{}[]\n\t\u{0}\u{1B}\u{7F}\u{202E}\u{200D}\u{301}äßŁПя東🎉ﬁ٣٥".unicodeScalars)
        let values = (0..<400).map { _ -> Value in
            let text = String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 0...30, using: &random)).map { _ in
                        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                    }))
            return switch Int.random(in: 0..<6, using: &random) {
            case 0: .integer(Int.random(in: .min ... .max, using: &random))
            case 1: .date(Timestamp(nanoseconds: Int64.random(in: .min ... .max, using: &random)))
            case 2: .list([.text(text), .integer(.min)])
            case 3: .boolean(true)
            case 4: .text(String(repeating: "9", count: Int.random(in: 1...80, using: &random)))
            default: .text(text)
            }
        }
        for filter in TemplateFilter.all {
            let template = try Template(filter.example)
            let name = try #require(template.references.first?.name)
            for value in values {
                let end: Values = ["arrived": .date(Timestamp(nanoseconds: .max))]
                let context = TemplateContext(values: end.merging([name: value]) { $1 }, timeZone: Self.berlin)
                guard let text = try? template.rendered(context) else { continue }
                if filter.name == "ascii" { #expect(text.utf8.allSatisfy { $0 < 0x80 }) }
                if filter.name == "safe-name" {
                    #expect(!text.unicodeScalars.contains { "/\\:\"<>|?*\u{0}".unicodeScalars.contains($0) })
                    #expect(text.last != "." && text.last != " ")
                }
            }
        }
    }

    @Test("Integer arithmetic matches the machine's")
    func wholeNumbers() throws {
        var random = SeededGenerator(for: "Whole numbers")
        for _ in 0..<2_000 {
            let (left, right) = (
                Int.random(in: -1_000_000_000...1_000_000_000, using: &random),
                Int.random(in: -1_000_000...1_000_000, using: &random)
            )
            let context = TemplateContext(values: ["l": .integer(left), "r": .integer(right)], timeZone: .gmt)
            func result(_ filter: String) throws -> String { try Template("{{ l | \(filter): r }}").rendered(context) }
            #expect(try result("plus") == String(left + right))
            #expect(try result("minus") == String(left - right))
            #expect(try result("times") == String(left * right))
            if right != 0, left % right == 0 { #expect(try result("divided-by") == String(left / right)) }
        }
    }
}
