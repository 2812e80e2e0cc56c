import Foundation
import Platform
import Rules
import Testing

@Suite("Templates") struct TemplateTests {
    private let values: Values = [
        "name": .text("Säga: {{ other }}  #1"), "other": .text("SECRET"), "empty": .text(""), "count": .integer(7),
        "yes": .boolean(true), "when": .date(Timestamp(seconds: 1_763_717_445)),
        "list": .list([.text("a"), .integer(2)]),
        "day": .text("2026-11-21"), "stamp": .text("2026-11-21T09:30:00+02:00"),
    ]

    private func render(_ text: String, zone: Zone = utc) throws -> String {
        try Template(text).rendered(TemplateContext(values: values, timeZone: zone))
    }

    @Test(
        "A template shows values",
        arguments: [
            ("plain", "plain"), ("{{ name }}", "Säga: {{ other }}  #1"), ("{{name}}!", "Säga: {{ other }}  #1!"),
            ("a {{ count }} b {{ yes }} {{ list }}", "a 7 b true a, 2"), ("[{{ missing }}]", "[]"),
            ("{{ missing | default: none }}", "none"), ("{{ empty | default: \"a | b\" }}", "a | b"),
            ("{{ count | default: 3 }}", "7"),
            ("{{ name | slug }}", "saga-other-1"), ("{{ name | truncate: 5 }}", "Säga…"),
            ("{{ other | truncate: 6 }}", "SECRET"),
            ("{{ name | json }}", "\"Säga: {{ other }}  #1\""), ("{{ list | json }}", "[\"a\",2]"),
            ("{{ missing | json }}", "null"),
            ("{{ when | date: %Y-%m-%d %H%M }}", "2025-11-21 0930"),
            ("{{ when | date: '%e %B %Y, %A %V %j' }}", "21 November 2025, Friday 47 325"),
            ("{{ day | date: %d.%m.%y }}", "21.11.26"), ("{{ stamp | date: \"%H:%M %s\" }}", "07:30 1795246200"),
            ("{{ missing | date: %Y | default: never }}", "never"), ("{{ name | slug | truncate: 4 }}", "sag…"),
            ("\\{{ name }}", "{{ name }}"), ("{{ \"{{\" }} x }}", "{{ x }}"), ("{{ 'it\\'s' }}", "it's"),
            ("}} { {", "}} { {"), ("{{ name | md }}", "Säga: \\{\\{ other \\}\\}  \\#1"),
            ("{{ name | raw }}", "Säga: {{ other }}  #1"),
            ("{{ \"a*b_[c]`<~|\\\\\" | md }}", "a\\*b\\_\\[c\\]\\`\\<\\~\\|\\\\"),
        ])
    func templateShowsValues(_ template: String, _ expected: String) throws {
        #expect(try render(template) == expected)
    }

    @Test("Dates are shown in the given zone") func datesShownZone() throws {
        let zone = try #require(Zone(identifier: "America/New_York"))
        #expect(
            try render("{{ when | date: %H:%M%z }} {{ when }}", zone: zone) == "04:30-05:00 2025-11-21T04:30:45-05:00")
        #expect(try render("{{ day | date: %F %T }}", zone: zone) == "2026-11-21 00:00:00")
        #expect(try render("{{ when }}") == "2025-11-21T09:30:45Z")
    }

    @Test("Text that is not a date is rejected") func textDateRefused() {
        #expect(throws: Fault.self) { try render("{{ name | date: %Y }}") }
    }

    @Test(
        "An error names its position",
        arguments: [
            ("a {{ name", 0, 0), ("{{ a }} {{ | }}", 1, 3), ("{{ name | slugg }}", 0, 10),
            ("{{ name | truncate }}", 0, 10),
            ("{{ name | truncate: x }}", 0, 10), ("{{ name | date: %Q }}", 0, 10), ("{{ name | slug: 3 }}", 0, 10),
            ("{{ a b }}", 0, 5),
            ("{{ \"x }}", 0, 3), ("{{ name | md | truncate: 3 }}", 0, 15), ("{{ name | raw | md }}", 0, 16),
            ("{{ name | date: \"\" }}", 0, 10),
        ])
    func faultNamesPlace(_ template: String, _ braces: Int, _ offset: Int) {
        do {
            _ = try Template(template)
            Issue.record("\(template) was read")
        } catch {
            #expect(error.place == Template.Place(braces: braces, offset: offset))
        }
    }
}
