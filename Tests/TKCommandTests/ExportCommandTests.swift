import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Exports as other programs see them.
@Suite("Exports as other programs see them", .timeLimit(.minutes(30)))
struct ExportCommandTests {
    private let fixture: CommandFixture

    init() throws {
        fixture = try CommandFixture()
        try fixture.write(
            "draft.md",
            """
            ---
            title: "A & B"
            ---
            # Heading

            Some *words*, `code` and a [link](https://example.org/?a=1&b=2). <script>alert(1)</script>

            1. one
               - nested
            2. two

            - [x] done

            | a | b |
            |---|---|
            | 1 | <2> |

            > quoted

            ```
            let x = 1
            ```

            [bad](javascript:alert(1))

            """)
    }

    @Test("A docx is a valid archive of well-formed parts, with the draft's text")
    func docx() throws {
        #expect(try fixture.tk(["export", "draft.md", "-o", "draft.docx"]).status == 0)
        #expect(try fixture.shell("python3 -m zipfile -t draft.docx").output == "Done testing\n")
        try fixture.write(
            "check.py",
            """
            import xml.etree.ElementTree as tree, zipfile
            z = zipfile.ZipFile("draft.docx")
            w = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
            parts = {n: tree.fromstring(z.read(n)) for n in z.namelist()}
            kinds = parts["[Content_Types].xml"]
            for override in kinds.iter("{http://schemas.openxmlformats.org/package/2006/content-types}Override"):
                assert override.get("PartName")[1:] in parts, override.get("PartName")
            body = parts["word/document.xml"]
            used = {e.get(w + "val") for e in body.iter(w + "pStyle")}
            assert used <= {e.get(w + "styleId") for e in parts["word/styles.xml"].iter(w + "style")}, used
            numbers = {e.get(w + "val") for e in body.iter(w + "numId")}
            assert numbers <= {e.get(w + "numId") for e in parts["word/numbering.xml"].iter(w + "num")}, numbers
            links = z.read("word/_rels/document.xml.rels").decode()
            assert "https://example.org/?a=1&amp;b=2" in links and "javascript" not in links
            print("|".join("".join(t.text or "" for t in p.iter(w + "t")) for p in body.iter(w + "p")))
            """)
        let result = try fixture.shell("python3 check.py")
        #expect(result.errors == "")
        for words in [
            "Heading|", "Some words, code and a link. alert(1)", "one|nested|two", "☑ done", "1|<2>", "quoted",
        ] {
            #expect(result.output.contains(words), "\(words) in \(result.output)")
        }
        let first = try fixture.shell("sha256sum < draft.docx; tk export draft.md -f docx | sha256sum").output
        #expect(Set(first.split(separator: "\n")).count == 1, "the same draft is the same bytes")
    }

    @Test("HTML is safe, and escapes the title")
    func html() throws {
        let html = try fixture.tk(["export", "draft.md", "--format", "html"]).output
        #expect(html.contains("<title>A &amp; B</title>"))
        #expect(!html.contains("<script") && !html.contains("javascript:"))
        #expect(html.contains("<table>") && html.contains("checked=\"\""))
        #expect(!html.contains("title: "), "front matter is not text")
        let titled = try fixture.tk(["export", "--format", "html", "--title", "<T>"], input: "text\n").output
        #expect(titled.contains("<title>&lt;T&gt;</title>"))
    }

    @Test("A txt has the words without markup; md is the draft itself")
    func text() throws {
        let text = try fixture.tk(["export", "draft.md", "--format", "txt"]).output
        #expect(text.hasPrefix("Heading\n\nSome words, code and a link (https://example.org/?a=1&b=2)."))
        #expect(text.contains("1. one\n   - nested\n2. two"))
        #expect(try fixture.tk(["export", "draft.md"]).output == fixture.read("draft.md"))
    }

    @Test("The format follows from the name; a name without one is rejected")
    func formats() throws {
        #expect(try fixture.tk(["export", "draft.md", "-o", "page.htm"]).status == 0)
        #expect(try fixture.read("page.htm").hasPrefix("<!DOCTYPE html>"))
        let own = try fixture.shell("umask 027; tk export draft.md -o own.html && stat -c %a own.html")
        #expect(own.output == "640\n", "a new file is made as the umask says")
        let wrong = try fixture.tk(["export", "draft.md", "-o", "draft.dox"])
        #expect(wrong.status == 1 && wrong.errors.contains("`docx`"), "\(wrong.errors)")
        #expect(try fixture.tk(["export", "draft.md", "-o", "draft.dox", "-f", "docx"]).status == 0)
    }

    @Test("A PDF without a renderer names those that would work")
    func pdf() throws {
        let result = try fixture.tk(["export", "draft.md", "-o", "draft.pdf"], variables: ["PATH": "/nowhere"])
        #expect(result.status == 1 && result.errors.contains("weasyprint"))
        #expect(try FileStatus.of(fixture.home.path.appending("draft.pdf")) == nil)
    }

    @Test("Plain text is exported literally")
    func plainText() throws {
        let text = "1. no *list* and # no heading\n    no code, no <b>tag</b> & no [link](x)\n\n- no item_or_so\n"
        try fixture.write("draft.txt", text)
        let html = try fixture.tk(["export", "draft.txt", "-f", "html"])
        #expect(html.status == 0, "\(html.errors)")
        #expect(
            html.output.contains(
                "<p>1. no *list* and # no heading\nno code, no &lt;b&gt;tag&lt;/b&gt; &amp; no [link](x)</p>"),
            "\(html.output)")
        #expect(html.output.contains("<p>- no item_or_so</p>"), "\(html.output)")
        #expect(try fixture.tk(["export", "draft.txt", "-f", "txt"]).output == text)
    }

    @Test("MDX is exported without its imports and elements")
    func mdx() throws {
        try fixture.write(
            "draft.mdx",
            "import Tabs from './tabs'\n\n# Title\n\n<Tabs kind=\"a\">\n\nSome *words* <Mark />here.\n\n</Tabs>\n\n"
                + "```js\nimport kept from 'example'\n```\n")
        let found = try fixture.tk(["export", "draft.mdx"])
        #expect(found.status == 0, "\(found.errors)")
        #expect(
            found.output.contains("# Title") && found.output.contains("Some *words* here.")
                && found.output.contains("import kept from 'example'"), "\(found.output)")
        #expect(!found.output.contains("Tabs") && !found.output.contains("Mark"), "\(found.output)")
    }

    @Test(
        "A format that would be misread is rejected, and a converter is named",
        arguments: [
            ("draft.rst", "reStructuredText", "pandoc -f rst"), ("draft.adoc", "AsciiDoc", "asciidoctor"),
            ("draft.org", "Org", "pandoc -f org"), ("draft.tex", "LaTeX", "pandoc -f latex"),
        ])
    func otherFormats(_ name: String, _ format: String, _ tool: String) throws {
        try fixture.write(BytePath(name), "Some words.\n")
        let found = try fixture.tk(["export", name, "-o", "draft.docx"])
        #expect(found.status == 1 && found.errors.contains("\(name) is in \(format)"), "\(found.errors)")
        #expect(found.errors.contains(tool), "\(found.errors)")
        #expect(try fixture.shell("ls draft.docx 2>&1").status != 0)
    }
}
