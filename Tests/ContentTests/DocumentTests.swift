import FileActions
import Platform
import Rules
import Sandbox
import Testing

@Suite("The text of documents") struct DocumentTests {
    @Test("Plain text in UTF-8 is unchanged") func plain() async throws {
        let found = try await look(.document, Sample.bytes("Grüße\n\tfrom afar\n"))
        #expect(found.text == "Grüße\n\tfrom afar\n")
        #expect(found.trouble == nil && !found.isCut)
    }

    @Test("UTF-16 with a byte order mark is read in both byte orders", arguments: [true, false])
    func wide(_ isLittle: Bool) async throws {
        let units = [0xFEFF] + Array("Straße 5 €".utf16)
        let bytes = units.flatMap { unit -> [UInt8] in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 255))
            return isLittle ? [low, high] : [high, low]
        }
        #expect(try await look(.document, bytes).text == "Straße 5 €")
    }

    @Test("HTML yields its visible text, a line for each block") func html() async throws {
        let page = """
            <!doctype html><html><head><title>Invoice 7</title><meta name=author content="The Shop">
            <style>p { color: red }</style></head>
            <body><h1>Your  order</h1><p>Total: <b>12&nbsp;&euro;</b> &amp; more</p><script>alert("no")</script></body></html>
            """
        let found = try await look(.document, Sample.bytes(page), mime: "text/html")
        #expect(found.text == "Your order\nTotal: 12\u{A0}€ & more\n")
        #expect(found.fields[.documentTitle] == "Invoice 7")
        #expect(found.fields[.documentAuthor] == "The Shop")
    }

    @Test("HTML in Latin 1 is decoded as it declares; an unsupported encoding is named")
    func encodings() async throws {
        let latin = Sample.bytes("<html><meta charset=iso-8859-1><p>Gr") + [0xFC, 0xDF, 0x80] + Sample.bytes("</p>")
        #expect(try await look(.document, latin).text?.hasPrefix("Grüß€") == true)
        let other = try await look(.document, Sample.bytes("<html><meta charset=shift_jis><p>x</p></html>"))
        #expect(other.text == nil)
        #expect(other.trouble?.contains("shift_jis") == true)
    }

    @Test("DOCX yields its paragraphs, title, author and pages") func docx() async throws {
        let found = try await look(.document, Sample.docx(["Invoice INV-17", "Total &lt; 5"], title: "Bill"))
        #expect(found.text == "Invoice INV-17\nTotal < 5\n")
        #expect(found.fields[.documentTitle] == "Bill")
        #expect(found.fields[.documentAuthor] == "A. Writer")
        #expect(found.fields[.documentPages] == "3")
    }

    @Test("ODT yields its paragraphs, title and pages") func odt() async throws {
        let found = try await look(.document, Sample.odt(["Dear <text:span>Ms</text:span> Smith", "Bye"]))
        #expect(found.text == "Dear Ms Smith\nBye\n")
        #expect(found.fields[.documentTitle] == "Letter")
        #expect(found.fields[.documentPages] == "2")
    }

    @Test("EPUB yields its chapters and its title") func epub() async throws {
        let found = try await look(.document, Sample.epub(["<p>One&nbsp;day</p>", "<p>Two</p>"]))
        #expect(found.text == "One\u{A0}day\nTwo\n")
        #expect(found.fields[.documentTitle] == "The Book")
        #expect(found.fields[.documentAuthor] == "B. Author")
    }

    @Test("PDF yields its text, title, author and pages") func pdf() async throws {
        let found = try await look(.document, Sample.pdf(["Invoice INV-42", "Total 99.00"]), mime: "application/pdf")
        #expect(found.trouble == nil)
        #expect(found.text?.contains("Invoice INV-42") == true)
        #expect(found.fields[.documentTitle] == "A Title")
        #expect(found.fields[.documentAuthor] == "C. Sender")
        #expect(found.fields[.documentPages] == "1")
    }

    @Test("At most a mebibyte of text is returned, and the report says so") func much() async throws {
        let found = try await look(.document, [UInt8](repeating: 0x61, count: ContentLimits.text + 10))
        #expect(found.text?.utf8.count == ContentLimits.text)
        #expect(found.isCut)
    }

    @Test("A ZIP that is not a document is reported as such") func noDocument() async throws {
        let found = try await look(.document, ZipWriter.archive([("a.bin", [1, 2, 3])]))
        #expect(found.text == nil)
        #expect(found.trouble?.contains("no document") == true)
    }

    @Test("A text's language is detected, but not from a few letters") func language() async throws {
        let german = """
            Der Hund lief durch den Garten und suchte seinen Ball, den die Kinder am Morgen unter den Büschen verloren
            hatten. Niemand wusste, wo er geblieben war, und so gingen alle am Abend noch einmal hinaus, um ihn zu suchen.
            """
        let english = """
            The dog ran through the garden and looked for his ball, which the children had lost under the bushes in the
            morning. Nobody knew where it had gone, and so they all went out once more in the evening to search for it.
            """
        #expect(try await look(.language, Sample.bytes(german)).fields[.documentLanguage] == "de")
        #expect(try await look(.language, Sample.bytes(english)).fields[.documentLanguage] == "en")
        let short = try await look(.language, Sample.bytes("x"))
        #expect(short.fields[.documentLanguage] == nil && short.trouble != nil)
    }
}
