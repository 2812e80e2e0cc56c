import ArgumentParser
import Glibc
import Platform
import Synchronization

/// The words of the command line as raw bytes. The parser takes text, and the library's own conversion replaces bytes
/// that are not UTF-8: a file with such a name could not be named, and the wrong one might be.
package enum GivenWords {
    /// A byte that is not UTF-8 is represented by the private-use scalar at this base plus the byte. A word that
    /// already contains such scalars is encoded this way byte by byte, so the mapping is unambiguous.
    private static let base: UInt32 = 0x10_F700
    private static let stand = (base + 0x80)...(base + 0xFF)

    /// All words but the program's name, as text for the parser.
    package static let words: [String] = (1..<max(1, Int(CommandLine.argc))).compactMap { number in
        CommandLine.unsafeArgv[number].map { text(of: UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
    }

    /// Text that ``bytes(of:)`` converts back to these bytes; plain UTF-8 stays as it is.
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

    /// Whether the original was entirely UTF-8.
    package static func isPlain(_ text: String) -> Bool { !text.unicodeScalars.contains { stand.contains($0.value) } }

    // MARK: Words that are neither UTF-8 nor paths

    private static let paths = Mutex<Set<String>>([])

    static func noteTaken(asPath text: String) {
        if !isPlain(text) { paths.withLock { _ = $0.insert(text) } }
    }

    /// - Throws: `ValidationError` if a word is not UTF-8 and was used for anything but a path.
    fileprivate static func refuseWhatIsNoText() throws {
        let taken = paths.withLock { $0 }
        for word in words where !isPlain(word) && !taken.contains(where: { word.hasSuffix($0) }) {
            throw ValidationError("\(BytePath.escape(bytes(of: word))) is not UTF-8, and is not a path")
        }
    }
}

extension AsyncParsableCommand {
    /// Like `main()`, but with the original bytes.
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
