import Platform
import Rules
import TestSupport
import Testing

@Suite("The rule index") struct RuleIndexTests {
    /// Evaluates every rule directly, without the index.
    private func naive(_ set: RuleSet, _ facts: FileFacts) throws -> [String] {
        var names: [String] = []
        for rule in set.rules where rule.places.contains(facts.place) && rule.events.contains(facts.event) {
            guard try rule.condition.holds(facts, block: nil) else { continue }
            names.append(rule.name)
            if rule.then == .stop { break }
        }
        return names
    }

    @Test("The index finds the same as asking every rule") func indexFindsAsking() throws {
        var random = SeededGenerator(for: "theIndexFindsWhatAskingEveryRuleFinds")
        let ends = ["cbz", "CBZ", "md", "txt", "tar.gz", "gz", "ü", "u\u{308}", "K"]
        func pick(_ words: [String]) -> String { words.randomElement(using: &random) ?? "" }
        func leaf() -> String {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: "name: \"*.\(pick(ends))\""
            case 1: "name: [\"*.{\(pick(ends)),\(pick(ends))}\", \"a*\"]"
            case 2: "extension: [\(pick(ends)), \(pick(ends))]"
            case 3: "path: \"**/*.\(pick(ends))\""
            case 4: "name: \"\(pick(["a", "b", "*"])).{\(pick(ends)),\(pick(ends))}\""
            case 5: "name: \"\(pick(["bill-*", "*ill-{1,22}*", "[bB]ill-?.*", "bill-1.md"]))\""
            case 6: "name: [\"*-\(pick(["lll", "1.m", "22."]))*\", \"b\(pick(["il", "illl"]))*\"]"
            case 7: "path: \"\(pick(["x", "[xy]", "y", "*", "**"]))/**\""
            case 8: "kind: \(pick(["text", "other", "[note, other]", "pdf"]))"
            default: "depth: \(Int.random(in: 0...1, using: &random))"
            }
        }
        func condition(_ depth: Int) -> String {
            switch depth == 0 ? 0 : Int.random(in: 0..<4, using: &random) {
            case 1: "any: [{ \(condition(depth - 1)) }, { \(condition(depth - 1)) }]"
            case 2: "all: [{ \(condition(depth - 1)) }, { \(condition(depth - 1)) }]"
            case 3: "not: { \(condition(depth - 1)) }"
            default: leaf()
            }
        }
        var text = ""
        for number in 0..<300 {
            let events = pick(["arrived", "changed", "[arrived, changed]"])
            let then = Int.random(in: 0..<20, using: &random) == 0 ? "stop" : "continue"
            text +=
                "- { rule: R\(number), in: [\(pick(["other", "notes", "other, notes"]))], on: \(events), then: \(then),"
            text += " where: { \(condition(2)) }, do: trash }\n"
        }
        let set = RuleSet(try rules(text))
        let names =
            ["a", "b", "x", ".cbz", "a.CbZ", "b.\u{212A}", "bill-1.md", "bill-22.pdf", "Bill-1.gz", "b-lll", "billl"]
            + ends.flatMap { end in ["a", "b", "x/y"].map { "\($0).\(end)" } }
        for name in names {
            let unread = FileFacts(
                place: places()[0], path: BytePath(name), status: nil, event: .arrived, now: Timestamp(seconds: 0),
                content: .unread)
            for rule in set.rules {
                // The first stops as soon as the answer is known, the second evaluates every part.
                let (found, told) = (rule.condition.outlook(unread), rule.condition.explained(unread, block: nil))
                #expect(found.held == told.held && found.next == nil, "\(rule.name) \(name)")
            }
            for place in [places()[0], places()[4]] {
                for event in [FileEvent.arrived, .changed] {
                    let facts = FileFacts(
                        place: place, path: BytePath(name), status: nil, event: event, now: Timestamp(seconds: 0),
                        content: .none)
                    #expect(
                        try set.match(facts).map(\.rule.name) == naive(set, facts), "\(name) \(place.name) \(event)")
                }
            }
        }
    }

    @Test("Other extensions, places and events are not examined") func otherExtensionsPlaces() throws {
        let text = (0..<1_000).map { "- { rule: R\($0), in: other, where: { extension: e\($0) }, do: trash }\n" }
            .joined()
        let set = RuleSet(try rules(text))
        #expect(set.index.candidates(place: "other", event: .arrived, name: Array("x.e7".utf8)) == [7])
        #expect(set.index.candidates(place: "other", event: .changed, name: Array("x.e7".utf8)) == [])
        #expect(set.index.candidates(place: "notes", event: .arrived, name: Array("x.e7".utf8)) == [])
    }

    @Test("Of a thousand rules for different files few are examined") func fewOfMany() throws {
        let text = (0..<1_000).map {
            "- { rule: R\($0), in: other, where: { name: \"invoice-\($0)-*.pdf\" }, do: trash }\n"
        }.joined()
        let set = RuleSet(try rules(text))
        for number in [0, 7, 42, 999] {
            let name = Array("invoice-\(number)-acme.pdf".utf8)
            let found = set.index.candidates(place: "other", event: .arrived, name: name)
            #expect(found.contains(number) && found.count < 50, "\(found)")
        }
        #expect(set.index.candidates(place: "other", event: .arrived, name: Array("letter.pdf".utf8)).count < 50)
    }

    @Test("The settle time is the longest of the rules that might match") func settleTimeLongest() throws {
        let set = RuleSet(
            try rules(
                """
                - { rule: A, in: other, settle: 5s, where: { extension: cbz }, do: trash }
                - { rule: B, in: other, settle: 500ms, on: changed, where: { size: "> 0" }, do: trash }
                - { rule: C, in: other, settle: 1h, on: removed, do: trash }
                - { rule: D, in: notes, where: { extension: md }, do: trash }
                """))
        #expect(set.settleTime(place: "other", name: Array("a.cbz".utf8)) == 5)
        #expect(set.settleTime(place: "other", name: Array("a.md".utf8)) == 0.5)
        #expect(set.settleTime(place: "notes", name: Array("a.md".utf8)) == 1)
        #expect(set.settleTime(place: "notes", name: Array("a.txt".utf8)) == nil)
        #expect(set.settleTime(place: "none", name: Array("a.txt".utf8)) == nil)
    }
}
