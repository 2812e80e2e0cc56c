import Platform
import Rules
import Testing

@Suite("Examples beside a rule") struct RuleExampleTests {
    private static let rule = "- rule: R\n  in: other\n  do: [trash]\n"

    @Test("They are read with their expectations and positions")
    func reading() throws {
        let example = try #require(
            try rules(
                Self.rule + """
                      examples:
                        - name: Old files go
                          file: { name: sub/a.tmp, content: x, age: 40d, tags: [old] }
                          there: [{ place: comics, name: b, size: 2 KiB }]
                          expect: { trashed: true, holds: { other/b: text } }
                    """
            ).first?.examples.first)
        #expect(example.name == "Old files go")
        #expect(example.event == .arrived)
        #expect(example.file.path == "sub/a.tmp")
        #expect(example.file.tags == ["old"])
        #expect(example.there.map(\.place) == ["comics"])
        #expect(example.expectations.map(\.position.line) == [8, 8])
        guard case .ago(let seconds) = example.file.modified else {
            Issue.record("an age is a time before now")
            return
        }
        #expect(seconds == 40 * 86_400)
        guard case .holds("other/b", "text") = example.expectations[1].what else {
            Issue.record("a path and a text")
            return
        }
    }

    @Test("A rule with a different example is the same rule")
    func digest() throws {
        let bare = try #require(try rules(Self.rule).first)
        let examples = "  examples: [{ file: { name: a }, expect: { stays: true } }]\n"
        let shown = try #require(try rules(Self.rule + examples).first)
        #expect(shown.examples.count == 1)
        #expect(shown.digest == bare.digest)
    }

    @Test(
        "An invalid example is reported at its position",
        arguments: [
            ("{ file: { name: a } }", "an example needs `file` and `expect`"),
            ("{ file: { name: ../a }, expect: { stays: true } }", "is no path below a place"),
            ("{ file: { name: a, content: x, size: 1 B }, expect: { stays: true } }", "exclude each other"),
            ("{ file: { name: a, size: 1 GiB }, expect: { stays: true } }", "at most 64 MiB"),
            ("{ file: { name: a, modified: soon }, expect: { stays: true } }", "`modified` must be a date"),
            ("{ file: { name: a }, on: changed, expect: { stays: true } }", "needs `before`"),
            ("{ file: { name: a }, expect: { moved-two: b } }", "did you mean `moved-to`?"),
            ("{ file: { name: a }, expect: { trashed: false } }", "only ever `true`"),
            ("{ file: { name: a }, expect: {} }", "`expect` is empty"),
        ])
    func complaints(_ example: String, _ complaint: String) {
        let (found, diagnostics) = parse(Self.rule + "  examples: [\(example)]\n")
        #expect(found.isEmpty)
        #expect(diagnostics.contains { $0.line == 4 && $0.headline.contains(complaint) }, "\(diagnostics)")
    }
}
