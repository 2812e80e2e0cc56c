import CTextCat
import Sandbox

/// The worker's command `language`: detects the language of the given text with libexttextcat.
final class LanguagePass {
    /// Where Debian installs libexttextcat-data.
    private static let folder = "/usr/share/libexttextcat/"
    /// Bytes examined; more of the same text would not improve the result.
    private static let most = 8_192

    /// In bytes; with less, the library guesses.
    private static let least = 40

    private let handle: UnsafeMutableRawPointer

    /// Loads the language data, before the cage is closed.
    ///
    /// - Returns: nil if it is not installed.
    init?() {
        guard let handle = special_textcat_Init(LanguagePass.folder + "fpdb.conf", LanguagePass.folder) else {
            return nil
        }
        self.handle = handle
    }

    func run(_ file: HandedFile, _ output: ContentOutput) throws -> Never {
        var bytes = try file.read(at: 0, count: Self.most)
        // Do not cut through a character.
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
