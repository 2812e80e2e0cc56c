import Foundation
import TKCore
import TestSupport
import Testing

@Suite("JSON in a model's output")
struct ProviderJSONSalvageTests {
    struct Item: Codable, Sendable, Equatable {
        var quote: String
        var n: Int?
    }

    static func items(_ text: String) -> (items: [Item], isPartial: Bool, dropped: Int)? {
        JSONSalvage.items(Item.self, key: "suggestions", from: text).map {
            ($0.value.elements, $0.isPartial, $0.value.dropped)
        }
    }

    @Test(
        "Prose, fences and a wrong first fence do not hide the list",
        arguments: [
            #"{"suggestions":[{"quote":"a"},{"quote":"b"}]}"#,
            #"[{"quote":"a"},{"quote":"b"}]"#,
            "```json\n[{\"quote\":\"a\"},{\"quote\":\"b\"}]\n```",
            "Here you are [1], as {asked}:\n```\nnot json\n```\n```json\n{\"suggestions\": [{\"quote\":\"a\"},{\"quote\":\"b\"},],}\n```\nBye {you}!",
            "{\"other\":[1,2,3]} {\"suggestions\":[{\"quote\":\"a\"},{\"quote\":\"b\"}]}",
            "{\"quote\":\"a\"}\n{\"quote\":\"b\"}",
            "\u{FEFF}{\"notes\":None,\"suggestions\":[{\"quote\":\"a\"},{\"quote\":\"b\",\"extra\":True}]}",
        ])
    func around(_ text: String) throws {
        let found = try #require(Self.items(text))
        #expect(found.items == [Item(quote: "a"), Item(quote: "b")])
        #expect(!found.isPartial && found.dropped == 0)
    }

    @Test("Fences, quotes and line breaks inside strings are unchanged")
    func insideStrings() throws {
        let text =
            "```json\n[{\"quote\":\"use ```swift\\nlet x = \\\"}]\\\"\\n``` here\"},{\"quote\":\"two\nlines\tand \\u00e9 \\ud83d\\ude42 \\ud83d \\'q\\'\"}]\n```"
        let found = try #require(Self.items(text))
        #expect(
            found.items == [
                Item(quote: "use ```swift\nlet x = \"}]\"\n``` here"),
                Item(quote: "two\nlines\tand é 🙂 \u{FFFD} 'q'"),
            ])
    }

    @Test("Truncated at every byte, a list yields exactly its complete items, and is reported as partial")
    func cut() throws {
        let whole =
            #"{"summary":"ü [1] {x}","suggestions":[{"quote":"a\"é🙂","n":1},{"quote":"b,]}","n":22},{"quote":"c","n":3}],"end":true}"#
        let bytes = Array(whole.utf8)
        let all = try #require(Self.items(whole)).items
        #expect(all.count == 3)
        for length in 0..<bytes.count {
            let text = String(decoding: bytes[..<length], as: UTF8.self)
            guard let found = Self.items(text) else { continue }
            #expect(found.items.elementsEqual(all.prefix(found.items.count)), "\(text)")
            #expect(found.isPartial || found.items.isEmpty, "\(text)")
            let closed = bytes[..<length].filter { $0 == UInt8(ascii: "}") }.count - 1
            if length > 50 { #expect(found.items.count >= min(closed - 1, 3), "\(text)") }
        }
    }

    @Test("An item broken in the middle costs that item, not those after it")
    func brokenItem() throws {
        let found = try #require(
            Self.items(#"[{"quote":"a"},{"quote":"he said "no" twice"},{"quote":"c"},{"quote":"d"}]"#))
        #expect(found.items == [Item(quote: "a"), Item(quote: "c"), Item(quote: "d")])
        #expect(found.isPartial)
    }

    @Test("An item of another shape is omitted and counted")
    func wrongItem() throws {
        let found = try #require(Self.items(#"[{"quote":"a"},{"qoute":"b"},7,{"quote":"c","n":"x"}]"#))
        #expect(found.items == [Item(quote: "a")])
        #expect(found.dropped == 3 && !found.isPartial)
    }

    @Test("A value is decoded from the first place where it fits; a complete one is preferred")
    func values() throws {
        let text = #"{"quote": "cut", "n": {"# + "\n" + #"Again: {"quote":"whole","n":2}"#
        let found = try #require(JSONSalvage.decode(Item.self, from: text))
        #expect(found.value == Item(quote: "whole", n: 2) && !found.isPartial)
        #expect(JSONSalvage.decode(Item.self, from: "nothing of the kind [ ] { }") == nil)
        #expect(JSONSalvage.values(in: "").isEmpty)
    }

    @Test("Hostile text is cheap and breaks nothing")
    func hostile() {
        let size = 200_000
        for text in [
            String(repeating: "[", count: size), String(repeating: "{\"a\":", count: size / 5),
            String(repeating: "[\"", count: size / 2), String(repeating: "[1,", count: size / 3),
            "[" + String(repeating: "{},", count: size / 3), "[\"" + String(repeating: "\\u", count: size / 2),
            "{\"a\":\"" + String(repeating: "\\", count: size), String(repeating: "[{\"a\":[", count: size / 7),
        ] {
            for found in JSONSalvage.values(in: text) {
                #expect((try? JSONSerialization.jsonObject(with: Data(found.json.utf8))) != nil)
            }
        }
    }

    @Test("Whatever the bytes, the result is valid JSON")
    func random() {
        var random = SeededGenerator(for: "JSONSalvage")
        let parts = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d83d", "1", "-", "1.5e3", "0", "true", "null", "None",
            "a",
            "é", "🙂", "\n", " ", "\"k\"", "\"k\":1", "```", "e", ".", "\u{0}",
        ]
        var (whole, partial, without) = (0, 0, 0)
        for number in 0..<3000 {
            // One complete value and one that breaks off come first.
            let start = number % 10 == 0 ? "[1]" : number % 10 == 1 ? "[1,:" : ""
            let rest = (0..<Int.random(in: 1...40, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }
            .joined()
            let text = start + rest
            let values = JSONSalvage.values(in: text)
            if values.isEmpty { without += 1 }
            for found in values {
                if found.isPartial { partial += 1 } else { whole += 1 }
                #expect(
                    (try? JSONSerialization.jsonObject(with: Data(found.json.utf8))) != nil, "\(text) → \(found.json)")
            }
        }
        // Three in ten of the random ones contain no opening bracket.
        #expect(whole >= 300 && partial >= 300 && without > 500, "\(whole) whole, \(partial) partial, \(without) none")
    }
}
