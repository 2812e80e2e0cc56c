import Foundation
import Platform
import TestSupport
import Testing

@testable import Rules

@Suite("Values from outside")
struct RunningValueTests {
    private func arguments(_ template: String) throws -> Arguments {
        Arguments(action: "probe", timeZone: .gmt, all: ["text": .template(try Template(template))], given: ["text"])
    }

    private func path(_ template: String, _ values: [String: String]) throws -> String {
        try arguments(template).pathText("text", values: values.mapValues { .text($0) })
    }

    private func block(_ template: String, _ values: [String: String]) throws -> String {
        try arguments(template).blockText("text", values: values.mapValues { .text($0) })
    }

    @Test("In a path a value is one name, and never leads elsewhere")
    func paths() throws {
        #expect(try path("{{ v }}", ["v": "../../etc/passwd"]) == "-..-etc-passwd")
        #expect(try path("a/{{ v }}/b", ["v": ".."]) == "a//b")
        #expect(try path("{{ v }}", ["v": "/etc"]) == "-etc")
        #expect(try path("{{ v }}", ["v": ".bashrc"]) == "bashrc")
        #expect(try path("{{ v }}", ["v": " . ./x"]) == "-x")
        #expect(try path("{{ v }}{{ w }}", ["v": "", "w": ".."]) == "")
        #expect(try path("{{ v }}", ["v": "a\u{0}b\nc\u{1B}[2Jd\u{202E}e"]) == "a b c [2Jde")
        // With a combining accent they are different characters but the same bytes.
        #expect(try path("{{ v }}", ["v": "a/\u{301}b"]).utf8.elementsEqual("a-\u{301}b".utf8))
        #expect(try path("{{ v }}", ["v": ".\u{301}bashrc"]).utf8.elementsEqual("\u{301}bashrc".utf8))
        #expect(try path("x-{{ v }}.md", ["v": "Saga 1.5"]) == "x-Saga 1.5.md")
    }

    @Test("The file's own path and folder remain paths")
    func ownPath() throws {
        #expect(try path("{{ file.folder }}/x", ["file.folder": "a/b"]) == "a/b/x")
        #expect(try path("{{ file.path }}", ["file.path": "a/.b"]) == "a/.b")
    }

    @Test("In a line a value stays one line, whatever it contains")
    func lines() throws {
        let hostile = "a\r\nb\u{2028}c\u{2029}d\u{85}e\u{0B}f\u{0}g\u{200E}h\u{FEFF}i"
        let text = try arguments("{{ v }}!").lineText("text", values: ["v": .text(hostile)])
        #expect(text == "a b c d e f ghi!")
        #expect(try arguments("{{ v }}").lineText("text", values: ["v": .text("👩‍🚀")]) == "👩‍🚀")
    }

    @Test(
        "A value cannot begin an anchor, a heading, a list, a quotation, a fence or any other Markdown block",
        arguments: [
            "^jrnl-0930", "# Title", "- item", "+ item", "* item", "> quote", "```", "~~~", "===", "|a|b|", "___",
            "<!--",
            "1. item", "12) item",
        ])
    func blockStarts(hostile: String) throws {
        for (template, prefix) in [
            ("{{ v }}", ""), ("x\n{{ v }}", "x\n"), ("x\n  {{ v }}", "x\n  "), ("{{ w }}{{ v }}", ""),
        ] {
            for before in ["", " ", "\n", "\u{200B}", "\t \r\n"] {
                let text = try block(template, ["v": before + hostile, "w": ""])
                let line = text.dropFirst(prefix.count)
                #expect(line.contains("\\"), "\(text)")
                #expect(line.filter { $0 != "\\" } == hostile)
                let first = try #require(line.first)
                #expect(first == "\\" || first.isNumber)
            }
        }
    }

    @Test("A value in the middle of a line is shown as typed, and the template's own lines are unchanged")
    func blockMiddle() throws {
        #expect(try block("Read #{{ v }}\n- {{ v }}", ["v": "# a\n^b"]) == "Read #\\# a \\^b\n- \\# a \\^b")
        #expect(try block("{{ v }}", ["v": "1.5 GB"]) == "1.5 GB")
        #expect(try block("{{ v }}", ["v": "plain - text"]) == "plain \\- text")
        #expect(try block("{{ v }}", ["v": ""]) == "")
    }

    @Test("A template inside a value is text: values are substituted once")
    func onePass() throws {
        #expect(try block("{{ v }}", ["v": "{{ secret }}", "secret": "x"]) == "\\{\\{ secret \\}\\}")
    }

    @Test("A step's arguments are read back from the ledger unchanged")
    func stored() throws {
        let place = PlaceInfo(name: "out", kind: .folder, root: BytePath(bytes: [0x2F, 0xFF]))
        let arguments = Arguments(
            action: "probe", timeZone: try #require(Zone(identifier: "Europe/Vienna")),
            all: [
                "template": .template(try Template("{{ a | default: \"x\" }} \\{{ {{ b }}")),
                "templates": .templates([try Template("1"), try Template("{{ c }}")]), "literal": .literal("{{ no }}"),
                "boolean": .boolean(true), "integer": .integer(.min), "duration": .duration(0.1),
                "place": .place(place),
                "map": .map([("z", try Template("{{ d }}")), ("a", try Template("2"))]),
            ], given: ["template", "map"])
        let json = try arguments.json()
        let back = try Arguments(json: json, for: Probe.declaration, in: PlaceMap([place]))
        #expect(try back.json() == json)
        #expect(back.timeZone.identifier == "Europe/Vienna")
        #expect(back.given == ["template", "map"])
        let values: Values = ["b": .text("B"), "c": .text("C"), "d": .text("D")]
        #expect(try back.text("template", values: values) == arguments.text("template", values: values))
        #expect(try back.texts("templates", values: values) == ["1", "C"])
        #expect(try back.literal("literal") == "{{ no }}")
        #expect(try back.bool("boolean"))
        #expect(try back.int("integer") == .min)
        #expect(try back.duration("duration") == 0.1)
        #expect(try back.place("place") == place)
        #expect(try back.map("map", values: values).map(\.name) == ["z", "a"])
        #expect(back.valueNames == arguments.valueNames)
        #expect(!json.contains("root"), "where a place lies the configuration says")
        let moved = PlaceInfo(name: "out", kind: .folder, root: "/elsewhere")
        #expect(try Arguments(json: json, for: Probe.declaration, in: PlaceMap([moved])).place("place") == moved)
        let lost = json.replacing("Europe\\/Vienna", with: "Mars").replacing("Europe/Vienna", with: "Mars")
        let fault = #expect(throws: Fault.self) { try Arguments(json: lost, for: Probe.declaration, in: PlaceMap([])) }
        #expect(fault?.message.contains("the time zone Mars") == true)
        #expect(throws: Fault.self) { try Arguments(json: "{\"all\": 1}", for: Probe.declaration, in: PlaceMap([])) }
    }

    @Test("Waits double from a second to ten minutes, give or take a fifth")
    func backoff() {
        var backoff = Backoff.ofJobs
        backoff.generator = SeededGenerator(for: "Backoff")
        for (attempt, base) in [
            (0, 1.0), (1, 1), (2, 2), (3, 4), (5, 16), (10, 512), (11, 600), (64, 600), (Int.max, 600),
        ] {
            for _ in 0..<200 {
                let seconds = backoff.seconds(failures: attempt)
                #expect(seconds >= base * 0.8 && seconds <= base * 1.2, "\(attempt)")
            }
        }
    }
}
