import ArgumentParser
import Glibc
import Platform
import Synchronization

/// The words of the command line in the bytes in which they were given. The parser takes text, and the library's own way to it
/// replaces bytes that are no UTF-8: a file of such a name could not be named, and another would be.
package enum GivenWords {
    /// Each byte that is no UTF-8 stands in the text as the scalar of this number and the byte's, one for private use. A word
    /// that has such scalars itself is written so byte by byte, so that nothing else is read from them.
    private static let base: UInt32 = 0x10_F700
    private static let stand = (base + 0x80)...(base + 0xFF)

    /// All but the program's name, as text for the parser.
    package static let words: [String] = (1..<max(1, Int(CommandLine.argc))).compactMap { number in
        CommandLine.unsafeArgv[number].map { text(of: UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    /// Text from which ``bytes(of:)`` makes these bytes again; they themselves where they are UTF-8.
    package static func text(of bytes: some Collection<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self), isPlain(text) { return text }
        var out = String.UnicodeScalarView()
        var rest = Array(bytes)[...]
        while let first = rest.first {
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            let part = rest.prefix(length)
            if let text = String(validating: part, as: UTF8.self), text.unicodeScalars.count == 1, isPlain(text) {
                out += text.unicodeScalars
                rest = rest.dropFirst(part.count)
            } else {
                if let scalar = Unicode.Scalar(base + UInt32(first)) { out.append(scalar) }
                rest = rest.dropFirst()
            }
        }
        return String(out)
    }

    package static func bytes(of text: String) -> [UInt8] {
        if isPlain(text) { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            stand.contains(scalar.value) ? [UInt8(scalar.value - base)] : Array(String(scalar).utf8)
        }
    }

    /// Whether all of it was UTF-8 as it was given.
    package static func isPlain(_ text: String) -> Bool { !text.unicodeScalars.contains { stand.contains($0.value) } }

    // MARK: Words that are no text, and no path

    private static let paths = Mutex<Set<String>>([])

    static func noteTaken(asPath text: String) {
        if !isPlain(text) { paths.withLock { _ = $0.insert(text) } }
    }

    /// - Throws: `ValidationError` where a word is no UTF-8 and was taken for anything but a path.
    fileprivate static func refuseWhatIsNoText() throws {
        let taken = paths.withLock { $0 }
        for word in words where !isPlain(word) && !taken.contains(where: { word.hasSuffix($0) }) {
            throw ValidationError("\(BytePath.escape(bytes(of: word))) is no text in UTF-8, and stands for no path")
        }
    }
}

extension AsyncParsableCommand {
    /// What `main()` does, of the words as they were given.
    package static func mainAsGiven() async {
        do {
            var command = try await asyncParseAsRoot(GivenWords.words)
            try GivenWords.refuseWhatIsNoText()
            if var waiting = command as? any AsyncParsableCommand {
                try await waiting.run()
            } else {
                try command.run()
            }
        } catch {
            exit(withError: error)
        }
    }
}
