import Foundation
import Platform
import TestSupport
import Testing

@testable import Rules

@Suite("Values in Markdown")
struct SafeMarkdownTests {
    private enum Target: CaseIterable { case block, file }

    private func render(_ template: String, _ values: [String: String], as target: Target = .block) throws -> String {
        let arguments = Arguments(
            action: "probe", timeZone: .gmt, all: ["text": .template(try Template(template))], given: ["text"])
        let values = values.mapValues { Value.text($0) }
        return switch target {
        case .block: try arguments.blockText("text", values: values)
        case .file: try arguments.fileText("text", values: values)
        }
    }

    @Test(
        "A value is displayed as typed: possible markup is escaped, but not plain sentences and addresses",
        arguments: [
            ("a <img src=x onerror=y>", "a \\<img src=x onerror=y\\>"),
            ("a </b> <!-- c", "a \\<\\/b\\> \\<\\!\\-\\- c"),
            ("a < b <3 <= c", "a \\< b \\<3 \\<\\= c"), ("see <https://a.example/x>", "see \\<https://a.example/x\\>"),
            ("a <javascript:x>", "a \\<javascript:x\\>"),
            ("a ![p](http://e/p.png)", "a \\!\\[p\\]\\(http://e/p.png)"), ("a ![p][r]", "a \\!\\[p\\]\\[r\\]"),
            ("a [x](javascript:y)", "a \\[x\\]\\(javascript:y)"),
            ("a [x]( JavaScript:y)", "a \\[x\\]\\( JavaScript:y)"),
            ("a [x](javascript\\:y)", "a \\[x\\]\\(javascript\\\\\\:y)"),
            ("a [x](&#106;avascript:y)", "a \\[x\\]\\(\\&\\#106;avascript:y)"),
            ("a [x](data:y) [z](vbscript:y)", "a \\[x\\]\\(data:y) \\[z\\]\\(vbscript:y)"),
            ("a [x](https://b.example/) *b*", "a \\[x\\]\\(https://b.example/) \\*b\\*"),
            ("a [x](b.md)", "a \\[x\\]\\(b.md)"), ("a &lt;b>", "a \\&lt;b\\>"), ("a \\<b>", "a \\\\\\<b\\>"),
            ("R&D; 100 %", "R\\&D; 100 \\%"), ("C:\\new", "C\\:\\\\new"),
            ("<%* tp.system.prompt() %>", "\\<\\%\\* tp.system.prompt\\(\\) \\%\\>"),
            ("a %%b%% c", "a \\%\\%b\\%\\% c"),
            ("#tag ==a== $x$ key:: v", "\\#tag \\=\\=a\\=\\= \\$x\\$ key\\:\\: v"),
            ("a*b*c a^b a~b~c", "a\\*b\\*c a\\^b a\\~b\\~c"),
            ("`$= dv.pages()`", "\\`\\$\\= dv.pages\\(\\)\\`"),
            ("[[note]] ((x)) {{y}}", "\\[\\[note\\]\\] \\(\\(x)) \\{\\{y\\}\\}"),
        ])
    func inert(value: String, expected: String) throws {
        for target in Target.allCases {
            #expect(try render("x {{ v }}.", ["v": value], as: target) == "x \(expected).")
        }
    }

    @Test(
        "Sentences, names, times and addresses are unchanged",
        arguments: [
            "Hello, world (so it is): it's \"fine\"!", "snake_case a.b-c 12:30 10% of a/b, and/or 5%a.",
            "see https://a.example/x_y?c=1&d=2#e, or HTTP://b.example/.", "me@a.example: really?! Yes.",
            "shop/.env and .bashrc", "Report (1).pdf",
        ])
    func plain(value: String) throws {
        let expected = value.replacing("10% of", with: "10\\% of")
        for target in Target.allCases { #expect(try render("x {{ v }}", ["v": value], as: target) == "x \(expected)") }
    }

    @Test(
        "Adjacent values, or a value next to template text, form no comment and no plugin command")
    func plugins() throws {
        #expect(try render("x {{ a }}{{ b }}", ["a": "<", "b": "% y %>"]) == "x \\<\\% y \\%\\>")
        #expect(try render("x {{ a }}% y", ["a": "<"]) == "x \\<\\% y")
        #expect(try render("x {{ a }}% y %{{ a }}", ["a": "%"]) == "x \\%\\% y %\\%")
        #expect(
            try render("[x](<{{ a }}>)", ["a": "b<%* y %>%%c 100%25.md"]) == "[x](<b%3C%25* y %25%3E%25%25c 100%25.md>)"
        )
        #expect(try render("[x](<{{ a }}>)", ["a": "%b.md"]) == "[x](<./%25b.md>)")
        #expect(try render("[x](<{{ a }}>)", ["a": "<b.md"]) == "[x](<./%3Cb.md>)")
        #expect(try render("---\nt: {{ a }}\n---\nx", ["a": "<% y %>"], as: .file) == "---\nt: < % y %>\n---\nx")
    }

    @Test("A value at the start of a template's list item or quotation begins no block")
    func containers() throws {
        #expect(try render("- {{ v }}\n> {{ v }}\n1. {{ v }}", ["v": "# a"]) == "- \\# a\n> \\# a\n1. \\# a")
        #expect(try render("- {{ v }}", ["v": "[ ] a"]) == "- \\[ \\] a")
        #expect(try render("- [ ] {{ v }}", ["v": "[a]: b"]) == "- [ ] \\[a\\]\\: b")
        #expect(try render("1{{ v }}", ["v": "2) x"]) == "12\\) x")
        #expect(try render("*{{ v }}*", ["v": " x"]) == "*x*")
        #expect(try render("**{{ v }}**", ["v": "*"]) == "**\\***")
        #expect(try render("[{{ v }}]: x", ["v": "^a"]) == "[\\^a]: x")
        #expect(try render("{{ a }}{{ b }}", ["a": "12", "b": ") x"]) == "12\\) x")
        #expect(try render("| {{ v }} | b |", ["v": "a | c"]) == "| a \\| c | b |")
    }

    @Test("A value and its neighbour cannot combine into markup")
    func neighbours() throws {
        #expect(try render("x {{ a }}[b](c)", ["a": "Ho!"]) == "x Ho\\![b](c)")
        #expect(try render("Ho!{{ a }}", ["a": "[b](http://e/p.png)"]) == "Ho!\\[b\\]\\(http://e/p.png)")
        #expect(try render("x {{ a }}({{ b }})", ["a": "[x]", "b": "javascript:y"]) == "x \\[x\\](javascript:y)")
        #expect(try render("x {{ a }}{{ b }}", ["a": "<", "b": "img src=x>"]) == "x \\<img src=x\\>")
        #expect(try render("x {{ a }}{{ b }}", ["a": "[x](java", "b": "script:y)"]) == "x \\[x\\]\\(javascript:y)")
        #expect(try render("x <{{ a }}>", ["a": "img src=x"]) == "x \\<img src=x>")
        #expect(try render("x <{{ a }}>", ["a": "https://a.example/"]) == "x <https://a.example/>")
    }

    @Test(
        "No code span begins in one value and ends in another, nor in the template's code")
    func code() throws {
        #expect(
            try render("x {{ a }} ![{{ b }}](<c.png>)", ["a": "`", "b": "d`"]) == "x \\` ![d\\`](<c.png>)")
        #expect(SafeMarkdown.line("- `a` ![b](c)") == "\\- `a` \\!\\[b\\]\\(c)")
        #expect(try render("x `{{ a }}` {{ a }}", ["a": "b` <i>"]) == "x `b' \\<i\\>` b\\` \\<i\\>")
    }

    @Test("A value cannot leave the template's link or picture, nor make it a script or a remote picture")
    func ownLinks() throws {
        let link = "x [{{ t }}](<{{ u }}>)"
        #expect(
            try render(link, ["t": "a](javascript:y) [", "u": "b c.md"]) == "x [a\\]\\(javascript:y) \\[](<b c.md>)")
        #expect(try render(link, ["t": "a", "u": "b>) <script>"]) == "x [a](<b%3E) %3Cscript%3E>)")
        #expect(try render(link, ["t": "a", "u": " javascript:y"]) == "x [a](<./javascript:y>)")
        #expect(
            try render(link, ["t": "a", "u": "https://b.example/?c=1&d=2"]) == "x [a](<https://b.example/?c=1&d=2>)")
        #expect(try render("x [{{ t }}]({{ u }})", ["t": "a", "u": "b (1).md"]) == "x [a](b%20\\(1\\).md)")
        let picture = "x ![{{ t }}](<{{ u }}>)"
        #expect(try render(picture, ["t": "a", "u": "b/c.png"]) == "x ![a](<b/c.png>)")
        #expect(try render(picture, ["t": "a", "u": "http:/e/p.png"]) == "x ![a](<./http:/e/p.png>)")
        #expect(try render(picture, ["t": "a", "u": "//e/p.png"]) == "x ![a](<.///e/p.png>)")
        #expect(
            try render(picture, ["t": "](http://e/p.png) ![", "u": "b"]) == "x ![\\]\\(http://e/p.png) \\!\\[](<b>)")
        #expect(try render("[x]: {{ u }}", ["u": "data:y"]) == "[x]: ./data:y")
    }

    @Test(
        "`raw` keeps lines and markup of the file's own body, but makes no anchor; in a block it is one line")
    func raw() throws {
        let body = "# Title\n\n- <b>one</b>\n^todo-0930\r^cap-0931 x\n![p](http://e/p.png)\n"
        #expect(
            try render("{{ v | raw }}", ["v": body], as: .file)
                == "# Title\n\n- <b>one</b>\n\\^todo-0930\r\\^cap-0931 x\n![p](http://e/p.png)\n")
        #expect(try render("{{ v | raw }}", ["v": "^todo-0930"], as: .file) == "\\^todo-0930")
        #expect(try render("{{ v | raw }}", ["v": "## A\n^b-0000 <b>"]) == "\\## A ^b-0000 <b>")
        #expect(try render("{{ v | raw }}{{ w }}", ["v": "a\\", "w": "<b>"], as: .file) == "a\\\\\\<b\\>")
    }

    @Test("In the template's own front matter a value is one line, and ends nothing; below it is Markdown")
    func frontMatter() throws {
        let template = "---\ntitle: {{ v | json }}\nold: {{ w }}\n{{ w }}\n---\n{{ w }} {{ v }}"
        #expect(
            try render(template, ["v": "a <b>\nc", "w": "---"], as: .file)
                == "---\ntitle: \"a <b>\\nc\"\nold: ---\n\\---\n---\n\\-\\-\\- a \\<b\\> c")
        #expect(try render("---\n{{ v }}", ["v": "<b>"], as: .file) == "---\n\\<b\\>", "a line, and no front matter")
        #expect(
            try render("---\n\n{{ v }}\n---\n", ["v": "<b>"], as: .file) == "---\n\n\\<b\\>\n---\n", "a thematic break")
    }

    @Test(
        "A template's front matter has the same fences as a note's, and Markdown begins below it",
        arguments: ["\n", "\r\n", "\r", " \n", "\t\r\n"])
    func frontMatterFences(lineEnd: String) throws {
        for closing in ["---", "..."] {
            let template = ["---", "title: {{ v }}", closing, "{{ v }}"].joined(separator: lineEnd)
            let wanted = ["---", "title: a <b>", closing, "a \\<b\\>"].joined(separator: lineEnd)
            #expect(try render(template, ["v": "a <b>"], as: .file) == wanted)
        }
    }

    @Test("Adjacent values make no fence in a template's front matter")
    func fenceInPieces() throws {
        for (template, mark) in [("{{ v }}{{ w }}", "-"), ("{{ w }}{{ v }}", "."), ("{{ v }}{{ v }}{{ v }}", ".")] {
            let note = try render(
                "---\na: b\n\(template)\nc: {{ c }}\n---\n", ["v": mark, "w": mark + mark, "c": "<b>"], as: .file)
            let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(FrontMatterSpan(note.utf8.span)?.lineCount == 5, "\(lines)")
            #expect(lines[3] == "c: <b>")
        }
    }

    @Test("A value that closes the template's angle brackets itself is text, all of it")
    func addressThenText() throws {
        #expect(try render("<{{ v }}>", ["v": "http://e/a%b"], as: .block) == "<http://e/a%25b>")
        let note = try render("<{{ v }}>", ["v": "http://e/p.png>|<% x"], as: .block)
        #expect(note.hasPrefix("\\<http://e/p.png\\>") && !note.contains("<%"), "\(note)")
    }

    @Test("A value in a heading is one line")
    func heading() throws {
        let arguments = Arguments(
            action: "probe", timeZone: .gmt, all: ["text": .template(try Template("{{ v }}\nx"))], given: ["text"])
        #expect(try arguments.headingText("text", values: ["v": .text("a\n# <b>")]) == "a \\# \\<b\\> x")
    }

    // MARK: As CommonMark reads it

    private static let pieces = [
        "[", "]", "(", ")", "!", "<", ">", "\\", "`", "*", "_", "&", "#", ";", ":", "|", "~", "=", "^", "\"", "'", "/",
        " ",
        "a", "1", ".", "-", "javascript:", "data:x", "http://e/p.png", "//e/p.png", "<img src=x>", "![", "](", "![p](",
        "[x]",
        "[x]: ", "&lt;", "&#60;", "&#x6a;avascript:", "~~~", "```", "---", "===", "1. ", "2) ", "- ", "+ ", "> ", "| ",
        "^cap-0930", "\n", "\r\n", "\t", "    ", "\u{2028}", "\u{202E}", "<!--", "-->", "<?", "?>", "</a>", "<script>",
        "[^1]",
        "[^1]: ", ":-|-", "<%", "%>", "%%", "<%*", "`$=", "==", "{", "}", "$$", "<https://a.example/>", "java",
        "script:y)", "[ ] ", "# ",
    ]

    private static func hostile(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 1...8, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "a" }.joined()
    }

    private static let templates = [
        "{{ v }}", "x {{ v }} y", "# {{ v }}", "- {{ v }}", "> {{ v }}", "- [ ] {{ v }}", "1. {{ v }}\n2. {{ w }}",
        "[{{ v }}](<{{ w }}>)", "![{{ v }}](<{{ w }}>)", "![{{ v }}]({{ w }})", "[{{ v }}]({{ w }}) z", "<{{ v }}>",
        "{{ v }}{{ w }}", "{{ v }}[{{ w }}](<x>)", "{{ v }}({{ w }})", "Wow!{{ v }}", "**{{ v }}**\n{{ w }}",
        "1{{ v }}",
        "![a {{ v }}\n{{ w }}](<x.png>)", "a\n\n{{ v }}\n{{ w }}\n\nb", "| a | b |\n|---|---|\n| {{ v }} | {{ w }} |",
        "[x]({{ v }}{{ w }})", "![x](<{{ v }}{{ w }}>)", "[{{ v }}][{{ w }}]", "^{{ v }}", "{{ v }}!{{ w }}",
        "x [a {{ v }}]({{ w }}), [b {{ w }}]", "[{{ v }}: {{ w }}]", "> - {{ v }}: {{ w }}",
        "({{ v }})[{{ w }}]({{ v }})",
    ]

    @Test("No value changes the blocks of a text, adds HTML, fetches a picture or leads to a script")
    func random() throws {
        var random = SeededGenerator(for: "SafeMarkdownTests.random")
        for round in 0..<8_000 {
            let template = Self.templates[round % Self.templates.count]
            let (v, w) = (Self.hostile(&random), Self.hostile(&random))
            // A value that ends up empty leaves an empty block, as it should.
            guard [v, w].allSatisfy({ SafeText.withoutControls($0).contains { $0 != " " } }) else { continue }
            for target in Target.allCases {
                let text = try render(template, ["v": v, "w": w], as: target)
                let read = MarkdownReading(text)
                let plain = MarkdownReading(try render(template, ["v": "v", "w": "w"], as: target))
                let what = "\(template) with \(v.debugDescription) and \(w.debugDescription): \(text.debugDescription)"
                #expect(read.blocks == plain.blocks, "\(what)")
                #expect(read.html == [], "\(what)")
                #expect(!text.contains("<%") && !text.contains("%%"), "\(what)")
                #expect(read.pictures.isEmpty || template.contains("!["), "\(what)")
                #expect(
                    read.pictures.allSatisfy { !$0.contains(/^\s*([\/\\]{2}|[A-Za-z][A-Za-z0-9+.-]*:)/) }, "\(what)")
                #expect(
                    read.links.allSatisfy {
                        !$0.contains(/^\s*[A-Za-z][A-Za-z0-9+.-]*:/)
                            || $0.contains(/^\s*(https?|mailto):/.ignoresCase())
                    }, "\(what)")
                #expect(!text.contains(/(^|[\n\r])\^[a-z]+-[0-9]{4}/) || template.hasPrefix("^"), "\(what)")
                #expect(text.split(separator: "\n").count == template.split(separator: "\n").count, "\(what)")
            }
        }
    }

    @Test("The displayed text is exactly the value; `md` agrees")
    func escaped() throws {
        var random = SeededGenerator(for: "SafeMarkdownTests.escaped")
        for _ in 0..<4_000 {
            let value = Self.hostile(&random)
            for template in ["x{{ v | md }}y", "x{{ v }}y"] {
                let text = try render(template, ["v": value])
                let read = MarkdownReading(text)
                #expect(read.inlines == ["text"], "\(value.debugDescription): \(text.debugDescription)")
                #expect(read.text == "x\(SafeText.withoutControls(value))y", "\(value.debugDescription)")
            }
        }
    }
}
