import Foundation
import Platform
import TestSupport
import Testing

@Suite("Displaying foreign text")
struct ShownTextTests {
    private static let hostile =
        "a\u{1B}]52;c;cHduZWQ=\u{07}b\u{9B}2Jc\u{202E}d\u{2067}e\u{061C}f\u{2028}g\u{7F}h\u{85}i\r\u{0}j"
    private static let shown =
        "a\\x1B]52;c;cHduZWQ=\\x07b\\xC2\\x9B2Jc\\xE2\\x80\\xAEd\\xE2\\x81\\xA7e\\xD8\\x9Cf\\xE2\\x80\\xA8g\\x7Fh\\xC2\\x85i\\x0D\\x00j"

    @Test("Control characters are escaped, in one line, in several, and next to colours")
    func escapes() {
        #expect(ShownText.line(Self.hostile) == Self.shown)
        #expect(ShownText.lines(Self.hostile) == Self.shown)
        #expect(ShownText.coloured(Self.hostile) == Self.shown)
        #expect(ShownText.line("a\nb\tc") == "a\\x0Ab\tc")
        #expect(ShownText.lines("a\nb\tc\r\n") == "a\nb\tc\\x0D\n")
    }

    @Test(
        "Ordinary text is unchanged, in any script", arguments: ["Grüße 漫画", "👩‍🚀 🏳️‍🌈", "שלום", "مرحبا", "a\\x41", ""])
    func ordinary(text: String) {
        #expect(ShownText.line(text) == text)
        #expect(ShownText.json(text) == text)
    }

    @Test("Of terminal sequences only colours are kept")
    func colours() {
        #expect(ShownText.coloured("\u{1B}[1;31mred\u{1B}[0m\n") == "\u{1B}[1;31mred\u{1B}[0m\n")
        #expect(ShownText.coloured("\u{1B}[2J\u{1B}\u{1B}[31m\u{1B}[3") == "\\x1B[2J\\x1B\u{1B}[31m\\x1B[3")
    }

    @Test("Displayed text is not escaped twice")
    func twice() {
        let line = ShownText.line(Self.hostile)
        #expect(ShownText.lines(ShownText.coloured(ShownText.line(line))) == line)
        let name = BytePath("\u{2028}\u{202E}\u{1B}\\").description
        #expect(name == "\\xE2\\x80\\xA8\\xE2\\x80\\xAE\\x1B\\x5C")
        #expect(ShownText.line(name) == name)
    }

    @Test("A JSON document keeps its values")
    func json() throws {
        let document = String(decoding: try JSONEncoder().encode([Self.hostile]), as: UTF8.self)
        let safe = ShownText.json(document)
        #expect(!safe.unicodeScalars.contains(where: ShownText.acts))
        #expect(try JSONDecoder().decode([String].self, from: Data(safe.utf8)) == [Self.hostile])
    }
}
