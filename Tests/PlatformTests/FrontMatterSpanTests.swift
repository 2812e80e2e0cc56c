import Platform
import Testing

/// The position of front matter; the cases of which notes have some are in `Tests/Fixtures/front-matter.json`, which
/// applies to all readers of notes.
@Suite("Position of front matter")
struct FrontMatterSpanTests {
    private func span(_ note: some Sequence<UInt8>, _ fences: FrontMatterSpan.Fences = .usual) -> FrontMatterSpan? {
        let bytes = Array(note)
        return FrontMatterSpan(bytes.span, fences: fences)
    }

    /// The result, as the text between the fences and the text after them.
    private func parts(_ note: String, _ fences: FrontMatterSpan.Fences = .usual) -> [String]? {
        let bytes = Array(note.utf8)
        return span(bytes, fences).map { found in
            [String(decoding: bytes[found.inner], as: UTF8.self), String(decoding: bytes[found.end...], as: UTF8.self)]
        }
    }

    @Test("Whole lines are between the fences, and the text begins after the closing fence's line ending")
    func ranges() {
        #expect(parts("---\na: b\n---\ntext\n") == ["a: b\n", "text\n"])
        #expect(parts("\u{FEFF}---\r\na: b\r\n--- \r\ntext") == ["a: b\r\n", "text"])
        #expect(parts("---\ra: b\r---\r\ntext") == ["a: b\r", "text"])
        #expect(parts("+++\na = 1\n+++\n\ntext") == ["a = 1\n", "\ntext"])
        #expect(parts("---\n---\n") == ["", ""])
        #expect(parts("---\na: b\n...") == ["a: b\n", ""])
        #expect(parts("---\na: b\n---\n---\nc: d\n---\n") == ["a: b\n", "---\nc: d\n---\n"])
    }

    @Test("A4's fences are exactly `---` and LF, whatever is between them")
    func a4() {
        #expect(parts("---\n\nprose\n...\n--- \n---\ntext", .a4) == ["\nprose\n...\n--- \n", "text"])
        for note in [
            "--- \na: b\n---\n", "---\r\na: b\r\n---\r\n", "---\na: b\n---", "+++\na = 1\n+++\n", "\u{FEFF}---\n---\n",
        ] {
            #expect(parts(note, .a4) == nil)
        }
    }

    @Test("It reports its format and its number of lines")
    func kinds() {
        let yaml = span("---\r\na: b\r\n\r\nc: d\r\n---\r\n".utf8)
        #expect(yaml?.syntax == .yaml)
        #expect(yaml?.lineCount == 5)
        #expect(span("+++\n[a]\n+++".utf8)?.syntax == .toml)
    }

    @Test("Bytes that are not text are skipped")
    func noText() {
        let note = Array("---\na: ".utf8) + [0xFF, 0xC3, 0x00] + Array("\n---\n".utf8) + [0xFE]
        for fences in [FrontMatterSpan.Fences.usual, .a4] { #expect(span(note, fences)?.end == note.count - 1) }
        #expect(span([0xEF, 0xBB] + Array("---\na: b\n---\n".utf8)) == nil, "half a byte order mark")
    }

    @Test("Truncated anywhere, a note has its complete front matter or none")
    func cut() {
        let note = Array("\u{FEFF}---\r\n# c\r\n\r\na: b\r\n---\r\ntext\r\n".utf8)
        let fence = note.count - "\r\ntext\r\n".utf8.count
        for count in 0...note.count {
            let found = span(note.prefix(count))
            #expect((found == nil) == (count < fence))
            if let found { #expect(found.inner.upperBound == fence - 3) }
        }
    }

    @Test("YAML ends at a line of dashes or dots, with optional trailing blanks")
    func ends() {
        for (line, isEnd) in [
            ("---", true), ("...", true), ("--- \t", true), ("---\r\n", true), ("----", false), (" ---", false),
            ("", false),
            ("+++", false), ("--", false), ("--- x", false),
        ] {
            #expect(FrontMatterSpan.endsYAML(line.utf8.span) == isEnd)
        }
    }
}
