import Foundation
import JSONText
import Platform
import Testing

@Suite("JSON output")
struct JSONTextTests {
    private struct Sample: Codable, Equatable {
        var zebra = "a/b"
        var apple = 1
        var when = Date(timeIntervalSince1970: 1_700_000_000)
        var steers = "\u{202E}\u{7F}"
    }

    @Test("Members are ordered by name and slashes are not escaped, in every layout")
    func encoded() throws {
        let value = ["b": "x/y", "a": "1"]
        #expect(try JSONText.line(value) == #"{"a":"1","b":"x/y"}"#)
        #expect(try JSONText.shownLine(value) == #"{"a":"1","b":"x/y"}"#)
        let indented = "{\n  \"a\" : \"1\",\n  \"b\" : \"x/y\"\n}"
        #expect(try JSONText.indented(value) == indented)
        #expect(try JSONText.document(value) == indented + "\n")
        #expect(try JSONText.shown(value) == indented)
    }

    @Test("Stored JSON is read back unchanged; displayed JSON has readable dates, and cannot control a terminal")
    func shown() throws {
        let value = Sample()
        for text in [try JSONText.line(value), try JSONText.document(value)] {
            #expect(try JSONDecoder().decode(Sample.self, from: Data(text.utf8)) == value)
        }
        for text in [try JSONText.shownLine(value), try JSONText.shown(value)] {
            #expect(text.contains("2023-11-14T22:13:20Z"))
            #expect(text.contains(#"\u202e\u007f"#) && !text.contains("\u{202E}"))
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            #expect(try decoder.decode(Sample.self, from: Data(text.utf8)) == value)
        }
    }

    @Test(
        "JSON that was read is written unchanged",
        arguments: [
            #"{"b":[1,-2,0.5,true,null],"a":{"x":"\n\u0001é"},"c":[],"d":{}}"#, "9223372036854775807", "\"\"",
        ])
    func parsed(_ text: String) throws {
        let value = try JSON(parsing: Array(text.utf8))
        #expect(value.sent == text)
        #expect(try JSON(parsing: Array(JSONText.line(value).utf8)).sent.count == text.count, "members are sorted")
    }

    @Test("A value built by hand keeps its order, and is the same JSON in every layout")
    func ordered() throws {
        let value: JSON = [
            "z": "q\"\\\n\u{1}\u{202E}", "a": [1, true, .null, .number(0.25), .number(2), .number(.infinity)], "e": [:],
            "v": .verbatim("{\"x\":[]}"),
        ]
        let head = #"{"z":"q\"\\\n\u0001"#, tail = #"","a":[1,true,null,0.25,2,null],"e":{},"v":{"x":[]}}"#
        #expect(value.sent == head + "\u{202E}" + tail)
        #expect(value.line == value.sent.replacing("\u{202E}", with: #"\u202e"#))
        #expect(value.indented.hasPrefix("{\n  \"z\": ") && value.indented.contains("\n  \"a\": [\n    1,\n"))
        let read = try [value.sent, value.line, value.indented].map {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary
        }
        #expect(read[0] != nil && read[0] == read[1] && read[1] == read[2])
    }
}
