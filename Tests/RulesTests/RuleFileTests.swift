import Foundation
import Platform
import Rules
import TestSupport
import Testing

@Suite("Rule files") struct RuleFileTests {
    static let whole = """
        # Comics go to the vault.
        - rule: Import comics
          in: comics
          on: [arrived, renamed]
          where:
            name: "*.{cbz,cbr}"
            size: "<= 2 GiB"
          settle: 2s
          existing: skip
          do:
            - import-comic: { into: main }
            - append-block:
                place: notes
                heading: Comics
                text: "Imported **{{ comic.title }}**, {{ comic.pages | default: 0 }} pages, {{ front.series }}"
                repeat: safe
          refused: leave
          then: stop
        - rule: Clean up
          in: [dropbox, other]
          do: trash
        """

    @Test("A rule has everything its file says") func ruleSaysEverything() throws {
        let rules = try rules(Self.whole)
        #expect(rules.map(\.name) == ["Import comics", "Clean up"])
        let comics = rules[0]
        #expect(comics.places.map(\.name) == ["comics"])
        #expect(comics.events == [.arrived, .renamed])
        #expect(comics.settle == 2)
        #expect(comics.existing(in: places()[2]) == .skip)
        #expect(comics.refused(in: places()[2]) == .leave)
        #expect(comics.then == .stop)
        #expect(comics.steps.map(\.declaration.name) == ["import-comic", "append-block"])
        #expect(comics.steps.map(\.repeatSafe) == [false, true])
        #expect(comics.steps.map(\.index) == [0, 1])
        #expect(comics.source == "rules.d/10-x.yaml:2")
        #expect(comics.valueNames == ["comic.title", "comic.pages", "front.series"])
    }

    @Test("Defaults of a rule come from the place") func ruleSayFollows() throws {
        let rule = try rules(Self.whole)[1]
        let (dropbox, other) = (places()[3], places()[4])
        #expect(rule.events == [.arrived])
        #expect(rule.settle == 1)
        #expect(rule.existing(in: dropbox) == .process)
        #expect(rule.existing(in: other) == .skip)
        #expect(rule.refused(in: dropbox) == .quarantine)
        #expect(rule.refused(in: other) == .leave)
        #expect(rule.then == .continue)
        #expect(rule.steps[0].arguments.all.isEmpty)
    }

    @Test(
        "An action without parameters can be abbreviated",
        arguments: ["- trash", "- trash:", "- trash: {}", "- trash: ~"])
    func actionWithoutParameters(_ step: String) throws {
        #expect(try rules("rule: R\nin: other\ndo:\n  \(step)\n").first?.steps.count == 1)
    }

    @Test("Arguments are typed") func argumentsAreTyped() throws {
        let rule = try rules(
            """
            - rule: R
              in: other
              do:
                - append-block:
                    text: "{{ file.name }} at {{ arrived | date: %H:%M }}"
                    limit: 3
                    quiet: yes
                    tags: [a, "{{ host }}"]
                    set: { z: "1", a: "{{ host }}" }
                    device: phone
            """)[0]
        let arguments = rule.steps[0].arguments
        let values: Values = [
            "file.name": .text("{{ host }}"), "host": .text("box"), "arrived": .date(Timestamp(seconds: 3_600)),
        ]
        #expect(try arguments.text("text", values: values) == "{{ host }} at 01:00")
        #expect(try arguments.text("heading", values: values) == "Log of box")
        #expect(try arguments.place("place").kind == .notes)
        #expect(try arguments.choice("exists") == "rename")
        #expect(try arguments.int("limit") == 3)
        #expect(try arguments.bool("quiet"))
        #expect(try arguments.duration("wait") == 30)
        #expect(try arguments.texts("tags", values: values) == ["a", "box"])
        #expect(try arguments.map("set", values: values).map { "\($0.name)=\($0.text)" } == ["z=1", "a=box"])
        #expect(try arguments.literal("device") == "phone")
        #expect(arguments.given == ["text", "limit", "quiet", "tags", "set", "device"])
        #expect(throws: Fault.self) { try arguments.int("text") }
        #expect(throws: Fault.self) { try arguments.text("nothing", values: values) }
    }

    @Test("The digest depends on content only") func digestKnowsContent() throws {
        let plain = try rules("- rule: R\n  in: other\n  where: { size: '> 1', name: 'a*' }\n  do: [trash]\n")[0]
        let dressed = try rules(
            """
            # A comment
            - { rule: Z, in: other, do: [trash] }

            -   do:
                - "trash"
                where:
                  name: "a*"  # here
                  size: "> 1"
                in: "other"
                rule: R
            """)[1]
        #expect(plain.digest == dressed.digest)
        let changed = try rules("- rule: R\n  in: other\n  where: { size: '> 2', name: 'a*' }\n  do: [trash]\n")[0]
        #expect(plain.digest != changed.digest)
    }

    @Test("All errors are reported at once with their positions") func allComplaintsCome() {
        let text = """
            - rule: Import comics
              in: comix
              on: [arived]
              were: {}
              where:
                name: "*.{cbz"
                size: big
                extention: cbz
              settle: 5
              do:
                - imort-comic: { into: main }
                - append-block:
                    text: "a {{ file.nmae }} b {{ x | slugg }}"
                    exists: renam
                    limit: 10
                    headng: x
                    place: noted
                - import-comic: { into: nowhere }
                - move:
              then: halt
            """
        #expect(
            complaints(text) == [
                "2:7 unknown place `comix`; did you mean `comics`?",
                "3:8 `on` must be one of `arrived`, `changed`, `renamed`, `removed`, not `arived`; did you mean `arrived`?",
                "4:3 unknown key `were` in a rule; did you mean `where`?",
                "6:14 the pattern `*.{cbz` cannot be read: `{` is never closed",
                "7:11 `size` must be a comparison such as `<= 2 GiB`, not `big`",
                "8:5 unknown key `extention` in `where`; did you mean `extension`?",
                "9:11 `settle` must be a duration such as `2s`, `500ms`, `1h` or `7d`, not `5`; did you mean `5s`?",
                "11:7 unknown action `imort-comic`; did you mean `import-comic`?",
                "13:21 unknown value `file.nmae`; did you mean `file.name`?",
                "13:39 unknown value `x`",
                "13:43 unknown filter `slugg`; did you mean `slug`?",
                "14:17 `exists` must be one of `rename`, `skip`, not `renam`; did you mean `rename`?",
                "15:16 `limit` must be between 1 and 9, not 10",
                "16:9 unknown key `headng` in `append-block`; did you mean `heading`?",
                "17:16 unknown place `noted`; did you mean `notes`?",
                "18:29 `into` of `import-comic`: there is no vault `nowhere`",
                "19:7 `move` needs `to`; Where to.",
                "20:9 `then` must be one of `continue`, `stop`, not `halt`",
            ])
    }

    @Test("A default place must be configured") func defaultPlaceConfigured() {
        let some = Array(places().dropFirst())
        let text = "- { rule: R, in: other, do: [append-block: { text: x }] }"
        #expect(
            parse(text, places: some).1.map(\.message) == [
                "`append-block` uses the place `notes`, which is not configured, unless `place` is given"
            ])
    }

    @Test("An error shows its line and a caret") func complaintShowsLine() {
        let (_, diagnostics) = parse("- rule: R\n  in: other\n  do:\n    - imort-comic:\n")
        #expect(
            diagnostics.map(\.description) == [
                """
                rules.d/10-x.yaml:4:7: error: unknown action `imort-comic`; did you mean `import-comic`?
                        - imort-comic:
                          ^
                """
            ])
    }

    @Test("Errors survive JSON") func complaintsSurviveJSON() throws {
        let diagnostic = try #require(parse("- 1").1.first)
        let coded = try JSONEncoder().encode(diagnostic)
        #expect(try JSONDecoder().decode(Diagnostic.self, from: coded) == diagnostic)
    }

    @Test("Values are known when rules are loaded") func valuesKnownRules() {
        func complaint(_ template: String, where condition: String = "{}") -> [String] {
            complaints(
                """
                - rule: R
                  in: notes
                  where: \(condition)
                  do:
                    - append-block: { text: "\(template)" }
                    - import-comic
                """)
        }
        #expect(complaint("{{ file.name }} {{ front.any.key }} {{ job.id }}").isEmpty)
        #expect(
            complaint("{{ comic.pages }}") == [
                "5:33 unknown value `comic.pages`; `import-comic` provides it, and must be an earlier step of this rule"
            ])
        #expect(
            complaint("{{ block.text }}") == ["5:33 unknown value `block.text`; `block.*` needs the condition `anchor`"]
        )
        #expect(complaint("{{ block.text }}", where: "{ anchor: jrnl }").isEmpty)
        #expect(complaint("{{ env.HOME }}") == ["5:33 unknown value `env.HOME`"])
        #expect(complaint("{{ file.name") == ["5:30 `{{` is never closed; add `}}`"])
    }

    @Test("A position in a folded or literal block is found") func placeFoldedLiteral() {
        let text = """
            - rule: R
              in: other
              do:
                - append-block:
                    text: |
                      one {{ host }}
                      two {{ nope }}
            """
        #expect(complaints(text) == ["7:18 unknown value `nope`"])
    }

    @Test("Duplicate keys do not hide other errors") func duplicateKeysHide() {
        let text = "- rule: R\n  in: other\n  in: notes\n  do: [trash]\n  do: [trash]\n  zzzzzzzz: 1\n"
        #expect(
            complaints(text).map { $0.prefix(44) } == [
                "3:3 the key `in` is repeated; the first is o", "5:3 the key `do` is repeated; the first is o",
                "6:3 unknown key `zzzzzzzz` in a rule; known:",
            ])
    }

    @Test(
        "Common mistakes in YAML get a hint",
        arguments: [
            ("- rule: R\n  name: *.cbz\n", "quote the pattern"),
            ("- rule: R\n  in: x\n  where:\n    size: > 5\n", "quote the comparison"),
            ("a: {{ x }\n", "quote the text"),
        ])
    func commonMistakesYaml(_ text: String, _ hint: String) {
        #expect(parse(text).1.contains { $0.hint?.hasPrefix(hint) == true }, "\(complaints(text))")
    }

    @Test("Bare braces get a hint") func bareBracesGet() {
        let text = "- rule: R\n  in: other\n  do:\n    - append-block:\n        text: {{ host }}\n"
        #expect(
            complaints(text) == [
                "5:15 `text` must be text, not a mapping; quote text that begins with `{{`: \"{{ … }}\"",
                "5:16 a key must be text; quote text that begins with `{` or `[`",
            ])
    }
}
