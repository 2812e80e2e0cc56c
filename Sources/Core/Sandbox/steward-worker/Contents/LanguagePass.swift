import CTextCat
import Sandbox

/// The worker's command `language`: in which language the text that it is handed is written, by libexttextcat.
final class LanguagePass {
    /// Where Debian's libexttextcat-data lies.
    private static let folder = "/usr/share/libexttextcat/"
    /// Bytes that are looked at; more of the same text tells no more.
    private static let most = 8_192

    /// Bytes; the library guesses at less.
    private static let least = 40

    private let handle: UnsafeMutableRawPointer

    /// Reads what is known of languages: before the cage is closed.
    ///
    /// - Returns: nil where it is not installed.
    init?() {
        guard let handle = special_textcat_Init(LanguagePass.folder + "fpdb.conf", LanguagePass.folder) else {
            return nil
        }
        self.handle = handle
    }

    func run(_ file: HandedFile, _ output: ContentOutput) throws -> Never {
        var bytes = try file.read(at: 0, count: Self.most)
        // Not through a character.
        while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
        if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
        guard bytes.count >= Self.least else { output.end(.unreadable, "its text is too short") }
        let answer = bytes.withUnsafeBytes { buffer -> String in
            textcat_Classify(handle, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count).map {
                String(cString: $0)
            } ?? ""
        }
        // `[de--utf8]`, the likeliest first.
        guard answer.hasPrefix("["), let end = answer.firstIndex(where: { $0 == "]" || $0 == "-" }) else {
            output.end(.unreadable, answer == "SHORT" ? "its text is too short" : "no language is like its text")
        }
        output.field(.documentLanguage, answer[answer.index(after: answer.startIndex)..<end].lowercased())
        output.end(.complete)
    }
}
